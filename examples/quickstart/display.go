package main

// This file prints the progress of a debate and its verdict.

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/transcript"
)

// view shows the progress of a debate: speeches word by word if live is true, everything else turn by turn.
type view struct {
	io.Writer
	live bool
}

func (v view) show(event debate.Event) {
	switch e := event.(type) {
	case debate.PhaseStarted:
		if e.Stage == transcript.Speech {
			fmt.Fprintf(v, "\n== round %d of %d ==\n", e.Round, e.Rounds)
		}
	case debate.TurnStarted:
		fmt.Fprintf(v, "\n%s (%s):\n", e.Key.Actor, e.Key.Phase)
	case debate.Chunk:
		if v.live && e.Kind == transcript.Speech { // a judge's chunks are JSON
			fmt.Fprint(v, e.Text)
		}
	case debate.TurnFailed:
		fmt.Fprintf(v, "\n%s failed: %s\n", e.Key.Actor, e.Message)
		if e.RetryIn > 0 {
			fmt.Fprintln(v, "retrying in", e.RetryIn.Round(time.Second))
		}
	case debate.Warning:
		fmt.Fprintln(v, "warning:", e.Text)
	case debate.TurnDone:
		switch {
		case e.Turn.Kind == transcript.Conclusion: // printResult prints it
		case v.live && e.Turn.Kind == transcript.Speech: // its chunks were shown
			fmt.Fprintln(v)
		default:
			fmt.Fprintln(v, e.Turn.Text)
		}
	}
}

// printResult prints the verdict and returns the exit code.
func printResult(w io.Writer, r *debate.Result) int {
	fmt.Fprintf(w, "%s\nended in round %d: %s\n", r.Topic, r.Round, r.Ending.Outcome)
	if r.Verdict == nil {
		fmt.Fprintln(w, "the debate has no verdict")
		return 1
	}
	v, err := transcript.Decode[judge.Verdict](*r.Verdict)
	if err != nil {
		fmt.Fprintln(w, "quickstart:", err)
		return 1
	}
	fmt.Fprintf(w, "winner: %s\n\n%s\n", cmp.Or(v.Winner, "none"), v.Summary)
	for _, p := range v.Participants {
		fmt.Fprintf(w, "\n%s:\n- %s\n", p.Name, strings.Join(p.Points, "\n- "))
	}
	return 0
}
