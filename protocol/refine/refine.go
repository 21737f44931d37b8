// Package refine lets a group of agents work on one solution. In each round every agent proposes a solution, criticizes
// each of the others, and refines its own. At the end a judge combines them into one solution.
//
//	d, err := debate.New(ctx, debate.Config{
//		Topic:        "How should a small team store its logs?",
//		Protocol:     refine.Protocol{},
//		Participants: []debate.Participant{{Name: "Ada", Role: "architect"}, {Name: "Bo", Role: "security"}},
//		Judges:       []debate.Participant{{Name: "Cy"}},
//	}, options)
//
// In a JSON configuration the protocol's name is "refine/1", and the fields of [Protocol] stand next to it:
//
//	"protocol": {"name": "refine/1", "roles": {"lawyer": {"system": "You check what the law allows."}}}
//
// It takes 2 to 8 agents and a judge. The agents run in parallel in each of the three phases, and no agent sees what
// the others say in the current phase. Agents have built-in roles or your own. By default, an agent remembers only its
// own view of earlier rounds: its proposals and refinements, and the critiques that it received. If that view grows too
// long, a model summarizes it.
//
// # Prompts
//
// The agents' prompts are "refine-propose", "refine-critique" and "refine-refine", and "refine-summary" for the summary
// of an agent's view. The judge's prompts are "refine-digest", which summarizes a long final round, and
// "refine-synthesis".
//
// # Answer
//
// The data of the answer decodes to a [Result]. Its text is the solution.
package refine

import (
	"cmp"

	"github.com/elenchus-go/debate/protocol"
)

// Protocol holds the parameters of a refine debate. The zero value has the built-in roles and the default
// policies.
type Protocol struct {
	// Roles are your own roles by name, in addition to the built-in roles architect, performance, security, testing and
	// generalist. If a role has the name of a built-in role, its non-empty fields replace those of the built-in role. A
	// participant's Role names its role and defaults to generalist.
	Roles map[string]RolePrompt `json:"roles,omitempty"`
	// FullHistory shows the whole debate to agents and judge. Otherwise an agent sees its own proposals and refinements of
	// earlier rounds, the critiques that it received, and the turns of the current round that its task needs: for a
	// critique the proposal, for a refinement its own proposal and all critiques. The judge sees the final round.
	FullHistory bool `json:"full_history,omitempty"`
	// SummaryPolicy determines when an agent's view of earlier rounds is summarized. The threshold defaults to 5,000
	// characters.
	SummaryPolicy SummaryPolicy `json:"summary_policy,omitzero"`
	// AgentSummaryPolicies replace SummaryPolicy for single agents, by name. Each name must be a participant when the debate
	// starts.
	AgentSummaryPolicies map[string]SummaryPolicy `json:"agent_summary_policies,omitempty"`
	// FinalSummaryPolicy determines when the judge first summarizes what it sees, and then writes the solution from the
	// summary only. The threshold defaults to 16,000 characters.
	FinalSummaryPolicy SummaryPolicy `json:"final_summary_policy,omitzero"`
}

// SummaryPolicy determines when a text is summarized. Lengths are in characters.
type SummaryPolicy struct {
	Disabled     bool `json:"disabled,omitempty"`      // whether the text is never summarized
	Threshold    int  `json:"threshold,omitempty"`     // a longer text is summarized; the default depends on the field
	TargetLength int  `json:"target_length,omitempty"` // requested length of the summary; defaults to half of Threshold
}

// withDefaults returns the policy with defaults for zero fields.
func (l SummaryPolicy) withDefaults(above int) SummaryPolicy {
	l.Threshold = cmp.Or(l.Threshold, above)
	l.TargetLength = cmp.Or(l.TargetLength, l.Threshold-l.Threshold/2)
	return l
}

const (
	defaultThreshold      = 5000
	defaultFinalThreshold = 16000
)

// policyOf returns the policy of an agent.
func (p Protocol) policyOf(agent string) SummaryPolicy {
	if own, ok := p.AgentSummaryPolicies[agent]; ok {
		return own.withDefaults(defaultThreshold)
	}
	return p.SummaryPolicy.withDefaults(defaultThreshold)
}

// finalPolicy returns the policy of what the judge sees.
func (p Protocol) finalPolicy() SummaryPolicy {
	return p.FinalSummaryPolicy.withDefaults(defaultFinalThreshold)
}

// The phases, in order. The last two belong to the judge.
const (
	phaseSummarize  = "summarize"
	phasePropose    = "propose"
	phaseCritique   = "critique"
	phaseRefine     = "refine"
	phaseDigest     = "digest"
	phaseSynthesize = "synthesize"
)

// Name returns "refine/1".
func (Protocol) Name() string { return "refine/1" }

// Defaults returns a limit of three rounds.
func (Protocol) Defaults() protocol.Defaults { return protocol.Defaults{MaxRounds: 3} }
