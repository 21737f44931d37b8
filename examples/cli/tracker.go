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

// observe takes an event in, and gives the lines that tell of it.
func (t *tracker) observe(ev debate.Event) (lines []string) {
	before := t.title()
	t.Observe(ev)
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
		t.removeSpeaker(e.Key)
		t.speakers = append(t.speakers, &speaker{key: e.Key})
	case debate.Chunk:
		t.appendChunk(e)
	case debate.TurnFailed:
		return append(lines, t.failureLine(e))
	case debate.TurnDone:
		t.removeSpeaker(e.Turn.Key)
		return append(lines, t.turnLine(e.Turn))
	case debate.Dropped:
		return append(lines, printableLine(fmt.Sprintf("%s takes no further part: %v", e.Name, e.Failure)))
	case debate.Warning:
		return append(lines, printableLine("warning: "+e.Text))
	case debate.StateChanged:
		return append(lines, stateLines(e)...)
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
	if m.Stage == transcript.Setup || m.Stage == transcript.Conclusion {
		return string(m.Stage)
	}
	return fmt.Sprintf("round %d of %d", m.Round, m.Rounds)
}

// removeSpeaker takes a speaker out.
func (t *tracker) removeSpeaker(k transcript.Key) {
	t.speakers = slices.DeleteFunc(t.speakers, func(s *speaker) bool { return s.key == k })
}

func (t *tracker) appendChunk(e debate.Chunk) {
	for _, s := range t.speakers {
		if s.key == e.Key {
			s.text = s.text[:min(e.Offset, len(s.text))] + e.Text
		}
	}
}

func (t *tracker) failureLine(e debate.TurnFailed) string {
	line := fmt.Sprintf("  %s: %s failed: %s", e.Key.Phase, actorLabel(e.Key), e.Message)
	switch {
	case e.RetryIn > 0:
		line += fmt.Sprintf("; trying again in %v", e.RetryIn.Round(time.Second))
	case e.RetryIn < 0:
		t.removeSpeaker(e.Key)
	}
	return printableLine(line)
}

func (t *tracker) turnLine(turn transcript.Turn) string {
	count := ""
	for _, m := range t.Phases() {
		if m.Phase == turn.Phase && turn.Kind != transcript.Remark {
			count = " " + formatCount(m)
		}
	}
	parts := []string{actorLabel(turn.Key), fmt.Sprintf("%d tokens", turn.Usage.Output), seconds(turn.Ended.Sub(turn.Started))}
	for _, f := range turn.Flags {
		parts = append(parts, string(f))
	}
	return printableLine(fmt.Sprintf("  %s%s: %s", turn.Phase, count, strings.Join(parts, ", ")))
}

// formatCount is how many steps of a phase are done, such as "1/2".
func formatCount(m progress.Update) string { return fmt.Sprintf("%d/%d", m.Done, max(m.Steps, m.Done)) }

func stateLines(e debate.StateChanged) []string {
	switch {
	case e.Ending.Outcome != "":
		return []string{printableLine(fmt.Sprintf("the debate ends: %s: %s", e.Ending.Outcome, e.Ending.Evidence))}
	case e.To == fsm.Paused:
		return []string{"paused"}
	}
	return nil
}

// actorLabel is whose step it is, and whom it is about.
func actorLabel(k transcript.Key) string {
	if k.Target != "" {
		return k.Actor + " on " + k.Target
	}
	return k.Actor
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1fs", d.Seconds()) }

// printableLine makes one line of a text, without what could command a terminal.
func printableLine(text string) string {
	var b strings.Builder
	fmt.Fprint(console.SafeWriter{Writer: &b}, strings.Join(strings.Fields(text), " "))
	return text[:len(text)-len(strings.TrimLeft(text, " "))] + b.String()
}
