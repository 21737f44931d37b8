package debatetest

import (
	"fmt"

	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/transcript"
)

// Mesh is a protocol with features that panel lacks: rounds of several parallel and sequential phases, steps with a
// target, steps with their own view, and phases that depend on earlier statements. Rounds is the number of these last
// phases.
type Mesh struct {
	Rounds int `json:"rounds"`
}

// Name returns "mesh/1".
func (Mesh) Name() string { return "mesh/1" }

// Check accepts every debate.
func (Mesh) Check(*protocol.Record) []protocol.Problem { return nil }

// Phases returns three parallel phases, then one phase for each further speaker.
func (m Mesh) Phases(r *protocol.Record) []protocol.Phase {
	if r.Cursor.Stage != transcript.Speech {
		return panel.Protocol{}.Phases(r)
	}
	propose := protocol.Phase{Name: "propose", Parallel: true}
	critique := protocol.Phase{Name: "critique", Parallel: true}
	refine := protocol.Phase{Name: "refine", Parallel: true}
	for _, a := range r.Participants {
		propose.Steps = append(propose.Steps, Step(a.Name, "", nil))
		for _, b := range r.Participants {
			if a.Name != b.Name {
				critique.Steps = append(critique.Steps, Step(a.Name, b.Name, own(r.Cursor.Round, "propose", b.Name)))
			}
		}
		refine.Steps = append(refine.Steps, Step(a.Name, "", nil))
	}
	phases := []protocol.Phase{propose, critique, refine}
	for i := range m.Rounds { // the previous statement selects each speaker
		at := 0
		if i > 0 {
			last, ok := r.FindCurrent(fmt.Sprintf("free-%d", i-1), r.Participants[0].Name, "")
			for _, s := range r.Participants {
				if !ok {
					last, ok = r.FindCurrent(fmt.Sprintf("free-%d", i-1), s.Name, "")
				}
			}
			if !ok {
				return phases
			}
			at = int(last.Text[0]) % len(r.Participants)
		}
		phases = append(phases, protocol.Phase{Name: fmt.Sprintf("free-%d", i), Steps: []protocol.Step{Step(r.Participants[at].Name, "", nil)}})
	}
	return phases
}

// End ends the debate under the same rules as panel.
func (Mesh) End(r *protocol.Record) transcript.Ending { return panel.Protocol{}.End(r) }

// own returns a filter for the turns of one actor in one phase.
func own(round int, phase, actor string) func(*transcript.Turn) bool {
	return func(t *transcript.Turn) bool { return t.Round == round && t.Phase == phase && t.Actor == actor }
}

// Step returns a step of actor about target with a free-form prompt; show selects the turns that it shows, nil for all.
func Step(actor, target string, show func(*transcript.Turn) bool) protocol.Step {
	s := protocol.Step{Prompt: "free-form", Vars: map[string]string{"format": "free-form"}, Show: show}
	s.Actor, s.Target = actor, target
	return s
}

// SummarizingPanel is a panel whose conclusion is a step of the summarizer.
type SummarizingPanel struct{ panel.Protocol }

// Name returns "summed/1".
func (SummarizingPanel) Name() string { return "summed/1" }

// Phases returns the panel's phases with another conclusion.
func (s SummarizingPanel) Phases(r *protocol.Record) []protocol.Phase {
	if r.Cursor.Stage == transcript.Conclusion {
		return []protocol.Phase{{Name: "sum", Steps: []protocol.Step{Step(protocol.Summarizer, "", nil)}}}
	}
	return s.Protocol.Phases(r)
}
