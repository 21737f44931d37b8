package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/examples/internal/console"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/transcript"
)

// progress is how far a debate has come: the fold of its events.
type progress struct {
	title    string   // of the round, or what is beside the rounds
	phases   []*phase // in order
	speakers []*speaker
}

type phase struct {
	name           string
	done, expected int
}

type speaker struct {
	key  transcript.Key
	text string // as far as it has come
}

// apply takes an event in, and gives the lines that tell of it.
func (p *progress) apply(ev debate.Event) []string {
	switch e := ev.(type) {
	case debate.PhaseStarted:
		return p.begin(e)
	case debate.TurnStarted:
		p.silence(e.Key)
		p.speakers = append(p.speakers, &speaker{key: e.Key})
	case debate.Chunk:
		p.hear(e)
	case debate.TurnFailed:
		return p.failed(e)
	case debate.TurnDone:
		p.silence(e.Turn.Key)
		return []string{p.done(e.Turn)}
	case debate.Dropped:
		return []string{clean(fmt.Sprintf("%s takes no further part: %v", e.Name, e.Failure))}
	case debate.Warning:
		return []string{clean("warning: " + e.Text)}
	case debate.StateChanged:
		return p.moved(e)
	}
	return nil
}

func (p *progress) begin(e debate.PhaseStarted) (lines []string) {
	title := fmt.Sprintf("round %d of %d", e.Round, e.Rounds)
	if e.Stage == transcript.Prelude || e.Stage == transcript.Conclusion {
		title = string(e.Stage)
	}
	if title != p.title {
		p.title, p.phases = title, nil
		lines = append(lines, "== "+title+" ==")
	}
	at := slices.IndexFunc(p.phases, func(ph *phase) bool { return ph.name == e.Phase })
	if at < 0 { // else it goes on after an error
		p.phases = append(p.phases, &phase{name: e.Phase, expected: e.Steps})
	}
	how := ""
	if e.Parallel && e.Steps > 1 {
		how = " at once"
	}
	return append(lines, fmt.Sprintf("%s: %d to come%s", e.Phase, e.Steps, how))
}

// silence takes a speaker out.
func (p *progress) silence(k transcript.Key) {
	p.speakers = slices.DeleteFunc(p.speakers, func(s *speaker) bool { return s.key == k })
}

func (p *progress) hear(e debate.Chunk) {
	for _, s := range p.speakers {
		if s.key == e.Key {
			s.text = s.text[:min(e.Offset, len(s.text))] + e.Text
		}
	}
}

func (p *progress) failed(e debate.TurnFailed) []string {
	line := fmt.Sprintf("  %s: %s failed: %s", e.Key.Phase, who(e.Key), e.Message)
	switch {
	case e.Again > 0:
		line += fmt.Sprintf("; trying again in %v", e.Again.Round(time.Second))
	case e.Again < 0:
		p.silence(e.Key)
	}
	return []string{clean(line)}
}

func (p *progress) done(t transcript.Turn) string {
	count := ""
	for _, ph := range p.phases {
		if ph.name == t.Phase && t.Kind != transcript.Remark {
			ph.done++
			count = fmt.Sprintf(" %d/%d", ph.done, max(ph.expected, ph.done))
		}
	}
	parts := []string{who(t.Key), fmt.Sprintf("%d tokens", t.Usage.Output), seconds(t.Ended.Sub(t.Began))}
	for _, f := range t.Flags {
		parts = append(parts, string(f))
	}
	return clean(fmt.Sprintf("  %s%s: %s", t.Phase, count, strings.Join(parts, ", ")))
}

func (p *progress) moved(e debate.StateChanged) []string {
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
