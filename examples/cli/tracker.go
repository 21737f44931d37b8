package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/examples/internal/console"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/progress"
	"github.com/elenchus-go/debate/transcript"
)

// tracker follows a debate: how far it has come, and what is being written.
type tracker struct {
	progress.Hooks
	speakers []*speaker
}

type speaker struct {
	key  transcript.Key
	text string // as far as it has come
}

// apply takes an event in, and gives the lines that tell of it.
func (t *tracker) apply(ev debate.Event) (lines []string) {
	before := t.title()
	t.See(ev)
	if title := t.title(); title != before && title != "" {
		lines = append(lines, "== "+title+" ==")
	}
	switch e := ev.(type) {
	case debate.PhaseStarted:
		how := ""
		if e.Parallel && e.Steps > 1 {
			how = " at once"
		}
		return append(lines, fmt.Sprintf("%s: %d to come%s", e.Phase, e.Steps, how))
	case debate.TurnStarted:
		t.silence(e.Key)
		t.speakers = append(t.speakers, &speaker{key: e.Key})
	case debate.Chunk:
		t.hear(e)
	case debate.TurnFailed:
		return append(lines, t.failed(e))
	case debate.TurnDone:
		t.silence(e.Turn.Key)
		return append(lines, t.done(e.Turn))
	case debate.Dropped:
		return append(lines, clean(fmt.Sprintf("%s takes no further part: %v", e.Name, e.Failure)))
	case debate.Warning:
		return append(lines, clean("warning: "+e.Text))
	case debate.StateChanged:
		return append(lines, moved(e)...)
	}
	return lines
}

// title is the round, or what is beside the rounds; empty before the first phase.
func (t *tracker) title() string {
	phases := t.Phases()
	if len(phases) == 0 {
		return ""
	}
	m := phases[len(phases)-1]
	if m.Stage == transcript.Prelude || m.Stage == transcript.Conclusion {
		return string(m.Stage)
	}
	return fmt.Sprintf("round %d of %d", m.Round, m.Rounds)
}

// silence takes a speaker out.
func (t *tracker) silence(k transcript.Key) {
	t.speakers = slices.DeleteFunc(t.speakers, func(s *speaker) bool { return s.key == k })
}

func (t *tracker) hear(e debate.Chunk) {
	for _, s := range t.speakers {
		if s.key == e.Key {
			s.text = s.text[:min(e.Offset, len(s.text))] + e.Text
		}
	}
}

func (t *tracker) failed(e debate.TurnFailed) string {
	line := fmt.Sprintf("  %s: %s failed: %s", e.Key.Phase, who(e.Key), e.Message)
	switch {
	case e.Again > 0:
		line += fmt.Sprintf("; trying again in %v", e.Again.Round(time.Second))
	case e.Again < 0:
		t.silence(e.Key)
	}
	return clean(line)
}

func (t *tracker) done(turn transcript.Turn) string {
	count := ""
	for _, m := range t.Phases() {
		if m.Phase == turn.Phase && turn.Kind != transcript.Remark {
			count = " " + counted(m)
		}
	}
	parts := []string{who(turn.Key), fmt.Sprintf("%d tokens", turn.Usage.Output), seconds(turn.Ended.Sub(turn.Began))}
	for _, f := range turn.Flags {
		parts = append(parts, string(f))
	}
	return clean(fmt.Sprintf("  %s%s: %s", turn.Phase, count, strings.Join(parts, ", ")))
}

// counted is how many steps of a phase are done, such as "1/2".
func counted(m progress.Mark) string { return fmt.Sprintf("%d/%d", m.Done, max(m.Steps, m.Done)) }

func moved(e debate.StateChanged) []string {
	switch {
	case e.Ending.Outcome != "":
		return []string{clean(fmt.Sprintf("the debate ends: %s: %s", e.Ending.Outcome, e.Ending.Evidence))}
	case e.To == fsm.Paused:
		return []string{"paused"}
	}
	return nil
}

// who is whose step it is, and whom it is about.
func who(k transcript.Key) string {
	if k.Target != "" {
		return k.Actor + " on " + k.Target
	}
	return k.Actor
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1fs", d.Seconds()) }

// clean makes one line of a text, without what could command a terminal.
func clean(text string) string {
	var b strings.Builder
	fmt.Fprint(console.Printable{Writer: &b}, strings.Join(strings.Fields(text), " "))
	return text[:len(text)-len(strings.TrimLeft(text, " "))] + b.String()
}
