package forks

import (
	"slices"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/journal"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// FirstDecision returns the number of entries before the first phase of the last run in which judges decide, or 0 if there is
// none.
func FirstDecision(entries []journal.Event, given *journal.Course) (first int) {
	for i, ev := range entries {
		switch ev := ev.(type) {
		case journal.PhaseStarted:
			if first == 0 && ev.Summary == nil && given.Decides(ev.Phase) {
				first = i
			}
		case journal.StateChanged:
			if ev.On == fsm.Reset {
				first = 0
			}
		}
	}
	return first
}

// WithCourse returns a protocol with what a course changes for the judges who decide: they do not see what is left out, may see the
// participants in the opposite order, and are not reminded of what another judge of the same name has said.
func WithCourse(p protocol.Protocol, c *Course) protocol.Protocol { return withCourse{p, c} }

type withCourse struct {
	protocol.Protocol

	course *Course
}

func (p withCourse) Phases(r *protocol.Record) []protocol.Phase {
	c := p.course
	phases := p.Protocol.Phases(r)
	if !c.Begun() {
		return phases
	}
	phases = slices.Clone(phases)
	for i := range phases {
		if !c.Given.Decides(phases[i].Name) {
			continue
		}
		steps := slices.Clone(phases[i].Steps)
		for j := range steps {
			c.adaptStep(r, &steps[j], phases[i].Steps)
		}
		phases[i].Steps = steps
	}
	return phases
}

func (c *Course) adaptStep(r *protocol.Record, s *protocol.Step, phase []protocol.Step) {
	if show := s.Show; !c.Given.Omit.IsZero() {
		s.Show = func(t *transcript.Turn) bool {
			if show == nil && t.Kind != transcript.Speech && t.Kind != transcript.Remark {
				return false
			}
			return !c.Given.Omit.Has(t) && (show == nil || show(t))
		}
	}
	again := func(x protocol.Step) bool { return x.Actor == s.Actor && x.Swap != s.Swap }
	if c.Given.Swap && s.Blind && !slices.ContainsFunc(phase, again) {
		s.Swap = !s.Swap
	}
	if slices.ContainsFunc(
		r.Turns,
		func(t transcript.Turn) bool { return t.Actor == s.Actor && !c.Given.Decides(t.Phase) },
	) {
		s.Doubt = nil
	}
}

// RemainsIn reports whether the prompt of a step holds words of an earlier turn that is left out of it. documents holds the texts
// of documents that are left out. hide puts pseudonyms in place of names, as in the prompt.
func (c *Course) RemainsIn(
	r *protocol.Record, s *protocol.Step, prompt []providers.Message, documents []string, hide func(string) string,
) bool {
	if !c.Begun() || c.Given.Omit.IsZero() || !c.Given.Decides(s.Phase) {
		return false
	}
	omitted := slices.Clone(documents)
	for i := range r.Turns {
		if t := &r.Turns[i]; t.Seq <= s.VisibleSeq && c.Given.Omit.Has(t) {
			omitted = append(omitted, t.Text)
		}
	}
	for _, text := range slices.Clone(omitted) {
		omitted = append(omitted, hide(text))
	}
	return remains(omitted, prompt)
}
