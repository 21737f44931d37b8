package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/protocol/skeptic"
)

// skepticism retrieves reasoning templates for the topic, from the library's own collection, before the first round.
var skepticism = kind{
	about: "a proposer revises its answer until a skeptic finds no critical issue",
	topic: "How should we move our data to another database?",
	config: debate.Config{
		Protocol:     skeptic.Protocol{ReadyScore: 8}, // from this score on, of 0 to 10, the skeptic can end the debate
		Participants: []debate.Participant{{Name: "Ada", Role: "proposer"}, {Name: "Bo", Role: "skeptic"}},
		Judges:       people("Synthesizer"),
		// If the retrieval fails, continue without templates.
		OnRetrievalFailure: debate.Continue,
	},
	show: showTrace,
}

// showTrace prints the answer and, from the trace, the templates, the issues of each round and the reason for the end.
func showTrace(w io.Writer, r *debate.Result) error {
	t, err := skeptic.DecodeAnswer(r.Answer)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%s\n\nreasoning templates: %s\n", t.Answer, strings.Join(t.Templates, ", "))
	for _, round := range t.Rounds {
		fmt.Fprintf(w, "round %d:", round.Round)
		if round.Critique == nil {
			fmt.Fprintln(w, " no critique")
			continue
		}
		for _, issue := range round.Critique.Issues {
			fmt.Fprintf(w, " [%s] %s", issue.Severity, issue.Text)
		}
		fmt.Fprintln(w)
	}
	how := "at a limit"
	if t.StoppedEarly {
		how = "early: " + r.Ending.Evidence
	}
	fmt.Fprintf(w, "ended %s\nduration: %s\n", how, t.Timing.Total.Round(time.Millisecond))
	return nil
}
