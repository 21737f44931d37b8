package prompting

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/internal/reasoning"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// History is what the turns of a debate are fitted into the context windows of its readers with. The zero value has no turns.
type History struct {
	Wanted *window.SummaryPlan // the summary to make now; nil if there is none
	Scales Scales

	tokens    int                         // of all turns except summaries
	summaries []madeSummary               // in order
	opaque    map[int64]*reasoning.Opaque // by the seq of the turn
}

// madeSummary is a turn that replaces earlier turns in prompts.
type madeSummary struct {
	reader string // the reader that it is for; empty if it is for every reader that sees all speeches
	upTo   int64  // the seq of the last turn that it covers
	seq    int64
	round  int
	tokens int
	failed bool // whether the summary is empty or incomplete
}

// Add adds a turn of a round.
func (h *History) Add(t *transcript.Turn, round int) {
	if t.Kind == transcript.Summary {
		h.addSummary(t, round)
	} else {
		h.tokens += t.Tokens + checkedTokens(t, strings.Repeat("0", 20))
	}
	if t.Reasoning == nil {
		return
	}
	if o := reasoning.ParseOpaque(t.Reasoning.Opaque); o != nil {
		if h.opaque == nil {
			h.opaque = map[int64]*reasoning.Opaque{}
		}
		h.opaque[t.Seq] = o
		h.tokens += o.Tokens
	}
}

// addSummary records a new summary.
func (h *History) addSummary(t *transcript.Turn, round int) {
	if h.Wanted == nil || len(h.Wanted.Covers) == 0 {
		return // it is a summary of the protocol's own
	}
	h.summaries = append(h.summaries, madeSummary{
		reader: h.Wanted.Reader,
		upTo:   h.Wanted.Covers[len(h.Wanted.Covers)-1],
		seq:    t.Seq,
		round:  round,
		tokens: t.Tokens,
		failed: slices.Contains(t.Flags, transcript.Defaulted) ||
			slices.Contains(t.Flags, transcript.Filtered),
	})
	h.Wanted = nil
}

// A Model is the model of an actor.
type Model struct {
	Provider, Name    string // as configured
	Window, MaxTokens int
}

// room returns the tokens that a reply of the usual length leaves in the window.
func (m Model) room() int {
	return m.Window - cmp.Or(m.MaxTokens, window.DefaultReplyTokens)
}

// isSame reports whether two actors have the same model of the same provider.
func (m Model) isSame(other Model) bool {
	return m.Provider == other.Provider && m.Name == other.Name
}

// Models returns the models of a debate's actors by the actor's name, or false if there is no such actor.
type Models interface {
	ModelOf(actor string) (Model, bool)
}

// Scales are the calibrations of a debate's actors: by how much estimates of tokens differ from what services count. The zero value
// has none.
type Scales struct {
	now    map[string]window.Calibration            // by actor
	frozen map[string]map[string]window.Calibration // those with which each phase of the current round began
}

// Of returns the calibration of an actor, or that with which an open parallel phase began, if phase is not empty: what the
// turns of such a phase show applies from the next phase on, regardless of their order. An actor without counts of its own
// starts from the largest factor of the actors with the same model.
func (s *Scales) Of(actor, phase string, models Models) window.Calibration {
	scales := s.now
	if frozen, ok := s.frozen[phase]; ok && phase != "" {
		scales = frozen
	}
	own, known := scales[actor]
	if known {
		return own
	}
	model, _ := models.ModelOf(actor)
	for name, other := range scales {
		is, ok := models.ModelOf(name)
		if !ok || !is.isSame(model) {
			continue
		}
		if start := other.Start(); !known || start.Factor() > own.Factor() {
			own, known = start, true
		}
	}
	return own
}

// Learn updates the calibration of an actor from its attempts at a step. phase is as for Of.
func (s *Scales) Learn(actor, phase string, models Models, attempts []transcript.Attempt) {
	model, ok := models.ModelOf(actor)
	if !ok {
		return
	}
	start, known := s.now[actor]
	if !known {
		start = s.Of(actor, phase, models)
	}
	scale := start
	for _, a := range attempts {
		switch {
		case a.PromptTokens == 0: // the attempt has no estimate
			continue
		case a.ErrorKind == string(providers.ContextOverflow):
			scale = scale.WithOverflow(a.PromptTokens, model.Window-model.MaxTokens)
		case a.Cut:
			scale = scale.WithCut(a.Usage.Input)
		case (a.ErrorKind == "" || a.Counted) && !a.Usage.Estimated:
			scale = scale.WithReported(a.PromptTokens, a.Usage.Input)
		}
	}
	if scale == start { // the attempts say nothing: the actor continues to follow others with the same model
		return
	}
	if s.now == nil {
		s.now = map[string]window.Calibration{}
	}
	s.now[actor] = scale
}

// Freeze saves the calibrations with which a phase of the round begins. A phase that continues after an interruption keeps
// the saved ones.
func (s *Scales) Freeze(phase string) {
	if _, again := s.frozen[phase]; again {
		return
	}
	if s.frozen == nil {
		s.frozen = map[string]map[string]window.Calibration{}
	}
	s.frozen[phase] = maps.Clone(s.now)
}

// Refreeze applies what an actor's attempts have shown to a phase that has begun, too.
func (s *Scales) Refreeze(actor, phase string) {
	if begun := s.frozen[phase]; begun != nil {
		begun[actor] = s.now[actor]
	}
}

// NextRound forgets the calibrations with which phases began.
func (s *Scales) NextRound() { s.frozen = nil }

// Reconfigure forgets the calibrations of actors whose model has changed.
func (s *Scales) Reconfigure(old, now Models) {
	for name := range s.now {
		was, had := old.ModelOf(name)
		is, has := now.ModelOf(name)
		kept := had && has && was.isSame(is)
		if !kept || is.Window > 0 && was.Window != is.Window {
			delete(s.now, name)
			s.frozen = nil
		}
	}
}
