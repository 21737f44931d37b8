package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/examples/console"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/progress"
	"github.com/elenchus-go/debate/transcript"
)

// tracker follows the progress of a debate and the replies in flight.
type tracker struct {
	progress.Hooks
	speakers []*speaker
	hidden   bool // a frame shows no text, because a reader may speak in the same phase
}

// speaker is a step whose reply is in flight.
type speaker struct {
	key  transcript.Key
	text string // the reply so far
}

// observe records an event and returns the lines that describe it.
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
			how = ", in parallel"
		}
		return append(lines, fmt.Sprintf("%s (steps: %d%s)", e.Phase, e.Steps, how))
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
		return append(lines, printableLine(fmt.Sprintf("%s dropped out: %v", e.Name, e.Failure)))
	case debate.Warning:
		return append(lines, printableLine("warning: "+e.Text))
	case debate.StateChanged:
		return append(lines, stateLines(e)...)
	}
	return lines
}

// title returns the round or, outside of the rounds, the stage. It returns an empty string before the first phase.
func (t *tracker) title() string {
	phases := t.Phases()
	if len(phases) == 0 {
		return ""
	}
	m := phases[len(phases)-1]
	return stageTitle(m.Stage, m.Round, m.Rounds)
}

// stageTitle returns a title for a stage, or for its round if the stage has rounds. If rounds is 0, it leaves out the
// maximum number of rounds.
func stageTitle(stage transcript.Kind, round, rounds int) string {
	switch {
	case stage == transcript.Setup || stage == transcript.Conclusion:
		return string(stage)
	case rounds == 0:
		return fmt.Sprintf("round %d", round)
	}
	return fmt.Sprintf("round %d of %d", round, rounds)
}

// removeSpeaker removes the step from the replies in flight.
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

// failureLine describes a failed attempt. If another attempt follows, the line fits on a terminal; an error that ends the
// step is complete.
func (t *tracker) failureLine(e debate.TurnFailed) string {
	line := fmt.Sprintf("  %s: %s failed", e.Key.Phase, actorLabel(e.Key))
	switch {
	case e.RetryIn < 0:
		t.removeSpeaker(e.Key)
		return printableLine(line + ": " + e.Message)
	case e.RetryIn > 0:
		line += fmt.Sprintf(", retrying in %v", max(e.RetryIn.Round(time.Second), time.Second))
	default:
		line += ", retrying"
	}
	return truncateRight(printableLine(line+": "+e.Message), defaultColumns)
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

// formatCount returns the number of finished steps of a phase, such as "1/2".
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

// actorLabel returns the actor of a step and its target, such as "Ann (Bo)".
func actorLabel(k transcript.Key) string {
	if k.Target != "" {
		return k.Actor + " (" + k.Target + ")"
	}
	return k.Actor
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1fs", d.Seconds()) }

// printableLine returns a text on one line, without characters that could control a terminal.
func printableLine(text string) string {
	var b strings.Builder
	fmt.Fprint(console.SafeWriter{Writer: &b}, strings.Join(strings.Fields(text), " "))
	return text[:len(text)-len(strings.TrimLeft(text, " "))] + b.String()
}
