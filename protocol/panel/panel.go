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
// The data of the answer decodes to a judge.Opinion[judge.Verdict], even with a single judge. Its text is the
// verdict in words, followed by dissenting opinions and disagreements of the judges.
package panel

import (
	"slices"

	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// Format determines the task of each round and what ends the debate.
type Format string

// The formats of a panel.
const (
	FreeForm           Format = "free-form"           // no fixed tasks; a judge's decision ends the debate
	StructuredRounds   Format = "structured-rounds"   // opening, rebuttals, closing; the judges do not end the debate
	RoundLimited       Format = "round-limited"       // no fixed tasks; the judges do not end the debate
	ConvergenceSeeking Format = "convergence-seeking" // convergence, diminishing returns or a judge's decision ends the debate
)

// Mode determines the order in which participants speak.
type Mode string

// The modes of a panel.
const (
	Sequential   Mode = "sequential"   // one after another; each sees all earlier statements
	Simultaneous Mode = "simultaneous" // in parallel; each sees the statements of earlier rounds only
)

// PersonaStyle determines how positions are distributed among the personas.
type PersonaStyle string

// The styles of personas.
const (
	Binary           PersonaStyle = "binary"            // for and against alternately
	Spectrum         PersonaStyle = "spectrum"          // evenly over the range of opinions
	MultiPerspective PersonaStyle = "multi-perspective" // a different perspective for each
)

// Protocol holds the parameters of a panel. The zero value is a free-form sequential panel.
type Protocol struct {
	Format   Format       `json:"format,omitempty"`   // defaults to free-form
	Mode     Mode         `json:"mode,omitempty"`     // defaults to sequential
	Personas PersonaStyle `json:"personas,omitempty"` // style of personas that a model assigns before round 1; empty for none
	// Jury determines how the opinions of several judges are combined, and whether each judge judges twice, with the
	// participants in opposite orders.
	Jury judge.Jury `json:"jury,omitzero"`
}

var (
	formats = []Format{"", FreeForm, StructuredRounds, RoundLimited, ConvergenceSeeking}
	modes   = []Mode{"", Sequential, Simultaneous}
	styles  = []PersonaStyle{"", Binary, Spectrum, MultiPerspective}
)

// Name returns "panel/1".
func (Protocol) Name() string { return "panel/1" }

// Check requires two to four participants, a judge, known parameters and enough rounds for the format.
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

// Phases returns one phase for each stage.
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

// speeches returns the phase of the current round.
func (p Protocol) speeches(r *protocol.Record) []protocol.Phase {
	name, prompt := p.phaseAndPrompt(r.Cursor.Round, r.MaxRounds)
	// Editing the limit does not change a round that has begun.
	if begun := startedPhase(r); begun != "" && p.Format == StructuredRounds {
		name, prompt = begun, begun
	}
	steps, vars := make([]protocol.Step, len(r.Participants)), p.vars()
	for i := range r.Participants {
		steps[i].Actor, steps[i].Prompt, steps[i].Vars = r.Participants[i].Name, prompt, vars
	}
	return []protocol.Phase{{Name: name, Parallel: p.Mode == Simultaneous, Steps: steps}}
}

// startedPhase returns the speech phase of the current round that already has a turn, or "".
func startedPhase(r *protocol.Record) string {
	for _, t := range r.TurnsFrom(r.Cursor.Round) {
		if t.Kind == transcript.Speech {
			return t.Phase
		}
	}
	return ""
}

// phaseAndPrompt returns the names of a round's phase and prompt.
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

// onePhase returns a single phase in which each actor performs the step.
func onePhase(name string, parallel bool, step protocol.Step, actors ...string) []protocol.Phase {
	steps := make([]protocol.Step, len(actors))
	for i, a := range actors {
		steps[i] = step
		steps[i].Actor = a
	}
	return []protocol.Phase{{Name: name, Parallel: parallel, Steps: steps}}
}

// judgePhases returns a parallel phase of all judges, each with two steps if the jury swaps the order. The judges see
// pseudonyms instead of names.
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

// vars returns the parameters of the prompts. All steps with the same parameters share one map, because Phases is called
// for every look at the record.
func (p Protocol) vars() map[string]string {
	return varsByParameters[Protocol{Format: p.Format, Personas: p.Personas}]
}

// varsByParameters has the result of vars for each combination of format and style.
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
