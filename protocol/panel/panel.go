// Package panel is the classic debate: two to four participants respond to one another round by round, a judge assesses
// each round, and a verdict concludes.
package panel

import (
	"slices"

	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// Format is what is expected of the rounds, and what ends them.
type Format string

// The formats of a panel.
const (
	FreeForm           Format = "free-form"           // the judge says when enough is said
	StructuredRounds   Format = "structured-rounds"   // opening, rebuttals, closing; it ends with the closing
	RoundLimited       Format = "round-limited"       // all rounds are held, whatever the judge says
	ConvergenceSeeking Format = "convergence-seeking" // it ends on convergence, diminishing returns or the judge's word
)

// Mode is who hears whom.
type Mode string

// The modes of a panel.
const (
	Sequential   Mode = "sequential"   // each hears what was said before, in the round too
	Simultaneous Mode = "simultaneous" // all speak at once, and hear one another in the next round
)

// Style is how personas are assigned.
type Style string

// The styles of personas.
const (
	Binary           Style = "binary"            // two sides in turn
	Spectrum         Style = "spectrum"          // from one end of the opinions to the other
	MultiPerspective Style = "multi-perspective" // different ways to look at the topic
)

// Protocol holds a panel's parameters; its zero value is a free-form sequential panel.
type Protocol struct {
	Format   Format `json:"format,omitempty"`   // defaults to free-form
	Mode     Mode   `json:"mode,omitempty"`     // defaults to sequential
	Personas Style  `json:"personas,omitempty"` // a model assigns personas before round 1; empty: none does
}

var (
	formats = []Format{"", FreeForm, StructuredRounds, RoundLimited, ConvergenceSeeking}
	modes   = []Mode{"", Sequential, Simultaneous}
	styles  = []Style{"", Binary, Spectrum, MultiPerspective}
)

// Name is "panel/1".
func (Protocol) Name() string { return "panel/1" }

// Check wants two to four participants, a judge and enough rounds for the format.
func (p Protocol) Check(r *protocol.Record) (problems []protocol.Problem) {
	wrong := func(field, format string, args ...any) {
		problems = append(problems, protocol.Problemf(field, format, args...))
	}
	if n := len(r.Seats); n < 2 || n > 4 {
		wrong("participants", "%d enabled, a panel takes 2 to 4", n)
	}
	if len(r.Judges) == 0 {
		wrong("judges", "none, a panel needs one")
	}
	if !slices.Contains(formats, p.Format) {
		wrong("protocol.format", "%q is unknown, the formats are %q", p.Format, formats[1:])
	}
	if !slices.Contains(modes, p.Mode) {
		wrong("protocol.mode", "%q is unknown, the modes are %q", p.Mode, modes[1:])
	}
	if !slices.Contains(styles, p.Personas) {
		wrong("protocol.personas", "%q is unknown, the styles are %q", p.Personas, styles[1:])
	}
	if p.Format == StructuredRounds && r.MaxRounds < 2 {
		wrong("limits.max_rounds", "%d, structured rounds need at least 2: an opening and a closing", r.MaxRounds)
	}
	return problems
}

// Phases are one phase a stage.
func (p Protocol) Phases(r *protocol.Record) []protocol.Phase {
	switch r.Cursor.Stage {
	case transcript.Prelude:
		if p.Personas != "" {
			return phase("personas", false, protocol.Step{Prompt: "personas", Output: protocol.PersonasContract.Name(), Vars: p.vars()}, protocol.Casting)
		}
	case transcript.Speech:
		return p.speeches(r)
	case transcript.Assessment:
		return phase("assess", true, protocol.Step{Prompt: "assess", Output: judge.AssessmentContract.Name(), Vars: p.vars()}, r.Judges...)
	case transcript.Conclusion:
		return phase("verdict", false, protocol.Step{Prompt: "verdict", Output: judge.VerdictContract.Name(), Vars: p.vars()}, r.Judges[:min(1, len(r.Judges))]...)
	case transcript.Remark:
	}
	return nil
}

func (p Protocol) speeches(r *protocol.Record) []protocol.Phase {
	name, prompt := p.part(r.Cursor.Round, r.MaxRounds)
	if begun := spoken(r); begun != "" && p.Format == StructuredRounds { // a limit that was edited does not change it
		name, prompt = begun, begun
	}
	steps := make([]protocol.Step, len(r.Seats))
	for i := range r.Seats {
		steps[i].Actor, steps[i].Prompt, steps[i].Vars = r.Seats[i].Name, prompt, p.vars()
	}
	return []protocol.Phase{{Name: name, Parallel: p.Mode == Simultaneous, Steps: steps}}
}

// spoken is the phase in which somebody has spoken in the round at hand.
func spoken(r *protocol.Record) string {
	for _, t := range r.Since(r.Cursor.Round) {
		if t.Kind == transcript.Speech {
			return t.Phase
		}
	}
	return ""
}

// part is the name of a round's phase and of its prompt.
func (p Protocol) part(round, rounds int) (phase, prompt string) {
	switch {
	case p.Format == "":
		return "respond", string(FreeForm)
	case p.Format != StructuredRounds:
		return "respond", string(p.Format)
	case round == 1:
		return "opening", "opening"
	case round >= rounds:
		return "closing", "closing"
	}
	return "rebuttal", "rebuttal"
}

func phase(name string, parallel bool, step protocol.Step, actors ...string) []protocol.Phase {
	steps := make([]protocol.Step, len(actors))
	for i, a := range actors {
		steps[i] = step
		steps[i].Actor = a
	}
	return []protocol.Phase{{Name: name, Parallel: parallel, Steps: steps}}
}

// vars is shared by all steps of the same parameters, since a step is made for each look at the record.
func (p Protocol) vars() map[string]string {
	return vars[Protocol{Format: p.Format, Personas: p.Personas}]
}

var vars = func() map[Protocol]map[string]string {
	m := map[Protocol]map[string]string{}
	for _, f := range formats {
		for _, s := range styles {
			name := f
			if f == "" {
				name = FreeForm
			}
			m[Protocol{Format: f, Personas: s}] = map[string]string{"format": string(name), "style": string(s)}
		}
	}
	return m
}()

// End counts the judges' words, as far as the format listens to them. More than half of the judges end a debate.
func (p Protocol) End(r *protocol.Record) transcript.Ending {
	switch p.Format {
	case RoundLimited, StructuredRounds:
		return transcript.Ending{}
	case ConvergenceSeeking:
		if e := most(r, transcript.Converged, func(a judge.Assessment) bool { return a.Converged }); e.Outcome != "" {
			return e
		}
		if e := most(r, transcript.DiminishingReturns, func(a judge.Assessment) bool { return a.DiminishingReturns }); e.Outcome != "" {
			return e
		}
	default:
	}
	return most(r, transcript.JudgeDecided, func(a judge.Assessment) bool { return !a.ShouldContinue })
}

// most is the outcome if more than half of the judges said so, with the reasoning of the first of them.
func most(r *protocol.Record, o transcript.Outcome, says func(judge.Assessment) bool) transcript.Ending {
	count, evidence := 0, ""
	for _, name := range r.Judges {
		t, ok := r.At("assess", name, "")
		if !ok {
			continue
		}
		a, err := transcript.Decode[judge.Assessment](t)
		if err != nil || !says(a) {
			continue
		}
		if count++; evidence == "" {
			evidence = name + ": " + a.Reasoning
		}
	}
	if 2*count <= len(r.Judges) {
		return transcript.Ending{}
	}
	return transcript.Ending{Outcome: o, Evidence: evidence}
}
