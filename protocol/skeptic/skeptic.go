// Package skeptic is a debate between two: a proposer answers the topic and defends the answer, and a skeptic attacks
// it in every round. The first judge is the synthesizer, who writes the final answer.
//
//	d, err := debate.New(ctx, debate.Config{
//		Topic:        "How can we release every day?",
//		Protocol:     skeptic.Protocol{},
//		Participants: []debate.Participant{{Name: "Ada", Role: "proposer"}, {Name: "Bo", Role: "skeptic"}},
//		Judges:       []debate.Participant{{Name: "Cy"}},
//	}, options)
//
// In a JSON configuration the protocol's name is "skeptic/1", and the fields of [Protocol] stand next to it:
//
//	"protocol": {"name": "skeptic/1", "templates": -1, "ready_score": 7.5}
//
// Before round 1 a retriever looks for reasoning templates that fit the topic, and the proposer's system prompt shows
// them. If the debate has documents that everybody reads, passages of them are found for the topic too, by their words, and the
// proposer's system prompt shows these as passages, with the numbers of their sources. The debate ends early if the skeptic accepts
// the answer or finds no critical issue; see [Protocol].
//
// # Prompts
//
// The prompts are "skeptic-retrieve" for the retriever, "skeptic-propose" and "skeptic-defend" for the proposer in the
// first and in later rounds, "skeptic-attack" for the skeptic, and "skeptic-synthesis" for the synthesizer, or "skeptic-plan"
// if the topic is a plan.
//
// # Answer
//
// The data of the answer decodes to a [Trace]. Its text is the synthesis, or the improved plan with what changed and what it does not
// meet.
package skeptic

import (
	"cmp"

	"github.com/elenchus-go/debate/protocol"
)

// Protocol holds the parameters of a skeptic debate. It takes two participants with the roles "proposer" and
// "skeptic". Without roles, the first participant is the proposer. The default temperatures depend on the order: set your
// own if the skeptic is listed first.
//
// Each critique is prose that ends with a JSON block; see [ParseCritique]. A round ends the debate early if the skeptic
// finds the answer ready with a score of at least ReadyScore, if it finds the answer ready by the marker without a score,
// or if the critique has no critical issue. A critique that cannot be read or was cut off counts as a critical issue. The
// last round that the limit allows never ends a debate early.
type Protocol struct {
	// Templates is the maximum number of retrieved reasoning templates that the proposer sees, and of passages of the debate's
	// documents, from 1 to 8. Defaults to 3. A negative number skips the retrieval.
	Templates int `json:"templates,omitempty"`
	// ReadyScore is the lowest score, from 0 to 10, at which "ready" ends the debate. Defaults to 8.
	ReadyScore float64 `json:"ready_score,omitempty"`
	// Plan says that the topic is a plan or a specification, which the proposer improves and defends. The synthesizer then writes the
	// improved plan, and says what changed and, of each issue of the last critique, whether the plan meets it; see [ImprovedPlan].
	Plan bool `json:"plan,omitempty"`
}

// The defaults of the parameters, and the maximum number of documents.
const (
	defaultTemplates  = 3
	maxTemplates      = 8
	defaultReadyScore = 8
	planTokens        = 8192 // of a reply that repeats a whole plan
)

// The roles of participants.
const (
	roleProposer = "proposer"
	roleSkeptic  = "skeptic"
)

// The phases.
const (
	phaseRetrieve  = "retrieval"
	phasePassages  = "passages"
	phasePropose   = "propose"
	phaseDefend    = "defend"
	phaseAttack    = "attack"
	phaseSynthesis = "synthesis"
)

// templateCount returns the maximum number of documents that the proposer sees.
func (p Protocol) templateCount() int {
	return min(cmp.Or(p.Templates, defaultTemplates), maxTemplates)
}

// Name returns "skeptic/1".
func (Protocol) Name() string { return "skeptic/1" }

// Defaults returns 3 to 5 rounds, and the temperatures 0.7 for the proposer, 0.8 for the skeptic and 0.5 for the
// synthesizer. For a plan, it returns 2 to 3 rounds and replies of 8,192 tokens.
func (p Protocol) Defaults() protocol.Defaults {
	synthesis := 0.5
	d := protocol.Defaults{MinRounds: 3, MaxRounds: 5, Temperatures: []float64{0.7, 0.8}, JudgeTemperature: &synthesis}
	if p.Plan {
		d.MinRounds = 2
		d.MaxRounds = 3
		d.StepTokens = planTokens
		d.JudgeTokens = planTokens
	}
	return d
}
