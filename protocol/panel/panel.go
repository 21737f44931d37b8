// Package panel is the classic debate: two to four participants answer one another in rounds, judges assess each round,
// and their verdict concludes the debate.
//
//	d, err := debate.New(ctx, debate.Config{
//		Topic:        "Should cities ban private cars?",
//		Protocol:     panel.Protocol{Format: panel.ConvergenceSeeking},
//		Participants: []debate.Participant{{Name: "Ada"}, {Name: "Bo"}},
//		Judges:       []debate.Participant{{Name: "Cy"}},
//	}, options)
//
// In a JSON configuration the protocol's name is "panel/1", and the fields of [Protocol] stand next to it:
//
//	"protocol": {"name": "panel/1", "format": "convergence-seeking", "mode": "simultaneous"}
//
// # Prompts
//
// The prompt of a speech depends on the format. With [StructuredRounds] it is "opening" in the first round, "closing"
// in the last and "rebuttal" in between. With any other format the prompt has the name of the format: "free-form",
// "round-limited" or "convergence-seeking". Judges get "assess" after each round and "verdict" at the end. If
// [Protocol.Personas] is set, the prompt "personas" comes before round 1.
//
// # Answer
//
// The data of the answer decodes to a judge.Opinion[judge.Verdict], also where there is only one judge. Its text is the
// verdict in words, followed by what the judges disagreed about.
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

// PersonaStyle is how personas are assigned.
type PersonaStyle string

// The styles of personas.
const (
	Binary           PersonaStyle = "binary"            // two sides in turn
	Spectrum         PersonaStyle = "spectrum"          // from one end of the opinions to the other
	MultiPerspective PersonaStyle = "multi-perspective" // different ways to look at the topic
)

// Protocol holds a panel's parameters; its zero value is a free-form sequential panel.
type Protocol struct {
	Format   Format       `json:"format,omitempty"`   // defaults to free-form
	Mode     Mode         `json:"mode,omitempty"`     // defaults to sequential
	Personas PersonaStyle `json:"personas,omitempty"` // a model assigns personas before round 1; empty: none does
	// Jury is how several judges' words become one, and whether each judges twice, in two orders.
	Jury judge.Jury `json:"jury,omitzero"`
}

var (
	formats = []Format{"", FreeForm, StructuredRounds, RoundLimited, ConvergenceSeeking}
	modes   = []Mode{"", Sequential, Simultaneous}
	styles  = []PersonaStyle{"", Binary, Spectrum, MultiPerspective}
)

// Name is "panel/1".
func (Protocol) Name() string { return "panel/1" }

// Check wants two to four participants, a judge and enough rounds for the format.
func (p Protocol) Check(r *protocol.Record) (problems []protocol.Problem) {
	wrong := func(field, format string, args ...any) {
		problems = append(problems, protocol.Problemf(field, format, args...))
	}
	if n := len(r.Participants); n < 2 || n > 4 {
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
	for _, problem := range p.Jury.Check() {
		wrong("protocol.jury", "%s", problem)
	}
	if !slices.Contains(styles, p.Personas) {
		wrong("protocol.personas", "%q is unknown, the styles are %q", p.Personas, styles[1:])
	}
	if p.Format == StructuredRounds && r.MaxRounds < 2 {
		wrong("limits.max_rounds", "%d, structured rounds need at least 2: an opening and a closing", r.MaxRounds)
	}
	return problems
}

// The phases of judges.
const (
	phaseAssess  = "assess"
	phaseVerdict = "verdict"
)

// Phases are one phase a stage.
func (p Protocol) Phases(r *protocol.Record) []protocol.Phase {
	switch r.Cursor.Stage {
	case transcript.Setup:
		if p.Personas != "" {
			return onePhase("personas", false, protocol.Step{Prompt: "personas", Contract: protocol.PersonasContract.Name(), Vars: p.vars()}, protocol.PersonaAssigner)
		}
	case transcript.Speech:
		return p.speeches(r)
	case transcript.Assessment:
		return p.judgePhases(phaseAssess, protocol.Step{Prompt: "assess", Contract: judge.AssessmentContract.Name()}, r.Judges)
	case transcript.Conclusion:
		return p.judgePhases(phaseVerdict, protocol.Step{Prompt: "verdict", Contract: judge.VerdictContract.Name()}, r.Judges)
	case transcript.Remark, transcript.Summary, transcript.Embeddings:
	}
	return nil
}

func (p Protocol) speeches(r *protocol.Record) []protocol.Phase {
	name, prompt := p.phaseAndPrompt(r.Cursor.Round, r.MaxRounds)
	if begun := startedPhase(r); begun != "" && p.Format == StructuredRounds { // a limit that was edited does not change it
		name, prompt = begun, begun
	}
	steps := make([]protocol.Step, len(r.Participants))
	for i := range r.Participants {
		steps[i].Actor, steps[i].Prompt, steps[i].Vars = r.Participants[i].Name, prompt, p.vars()
	}
	return []protocol.Phase{{Name: name, Parallel: p.Mode == Simultaneous, Steps: steps}}
}

// startedPhase is the phase in which somebody has startedPhase in the round at hand.
func startedPhase(r *protocol.Record) string {
	for _, t := range r.TurnsFrom(r.Cursor.Round) {
		if t.Kind == transcript.Speech {
			return t.Phase
		}
	}
	return ""
}

// phaseAndPrompt is the name of a round's phase and of its prompt.
func (p Protocol) phaseAndPrompt(round, rounds int) (phase, prompt string) {
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

func onePhase(name string, parallel bool, step protocol.Step, actors ...string) []protocol.Phase {
	steps := make([]protocol.Step, len(actors))
	for i, a := range actors {
		steps[i] = step
		steps[i].Actor = a
	}
	return []protocol.Phase{{Name: name, Parallel: parallel, Steps: steps}}
}

// judgePhases has all judges judge at once, each twice where the order is swapped. They do not know who is who.
func (p Protocol) judgePhases(name string, step protocol.Step, judges []string) []protocol.Phase {
	step.Vars, step.Blind = p.vars(), true
	phases := onePhase(name, true, step, judges...)
	if !p.Jury.Swap {
		return phases
	}
	for _, s := range onePhase(name, true, step, judges...)[0].Steps {
		s.Target, s.Swap = judge.Swapped, true
		phases[0].Steps = append(phases[0].Steps, s)
	}
	return phases
}

// vars is shared by all steps of the same parameters, since a step is made for each look at the record.
func (p Protocol) vars() map[string]string {
	return varsByParameters[Protocol{Format: p.Format, Personas: p.Personas}]
}

var varsByParameters = func() map[Protocol]map[string]string {
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
