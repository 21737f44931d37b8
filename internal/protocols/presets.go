package protocols

import (
	"reflect"
	"slices"

	"github.com/elenchus-go/debate/internal/findings"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/judge/decision"
	"github.com/elenchus-go/debate/judge/reply"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/arbitration"
	"github.com/elenchus-go/debate/protocol/council"
	"github.com/elenchus-go/debate/protocol/mad"
	"github.com/elenchus-go/debate/protocol/oversight"
	"github.com/elenchus-go/debate/protocol/pairwise"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/protocol/procon"
	"github.com/elenchus-go/debate/protocol/refine"
	"github.com/elenchus-go/debate/protocol/review"
	"github.com/elenchus-go/debate/protocol/skeptic"
	"github.com/elenchus-go/debate/protocol/vote"
)

// presets lists the protocols of the library by name, so that no protocol is asked for its name. The default one comes first.
var presets = []preset{
	{"panel/1", panel.Protocol{}},
	{"skeptic/1", skeptic.Protocol{}},
	{"refine/1", refine.Protocol{}},
	{"arbitration/1", arbitration.Protocol{}},
	{"procon/1", procon.Protocol{}},
	{"vote/1", vote.Protocol{}},
	{"council/1", council.Protocol{}},
	{"mad/1", mad.Protocol{}},
	{"review/1", review.Protocol{}},
	{"pairwise/1", pairwise.Protocol{}},
	{"oversight/1", oversight.Protocol{}},
}

// preset is a protocol of the library with its name.
type preset struct {
	name string
	protocol.Protocol
}

// All returns the protocols of the library.
func All() []protocol.Protocol {
	list := make([]protocol.Protocol, len(presets))
	for i, p := range presets {
		list[i] = p.Protocol
	}
	return list
}

// Has reports whether a protocol is one of the library.
func Has(p protocol.Protocol) bool {
	return slices.ContainsFunc(presets, func(own preset) bool { return reflect.TypeOf(own.Protocol) == reflect.TypeOf(p) })
}

// Contracts returns the contracts of all replies that these protocols and the engine ask for.
func Contracts() []*reply.Contract {
	return []*reply.Contract{
		judge.AssessmentContract, judge.VerdictContract, protocol.PersonasContract, findings.VectorContract, skeptic.DocumentsContract,
		skeptic.PlanContract,
		refine.CritiqueContract, refine.SummaryContract, refine.SolutionContract, arbitration.ArgumentContract, arbitration.RulingContract,
		procon.JudgmentContract, panel.AudienceContract, vote.BallotContract, vote.RulingContract,
		council.RankingContract, council.AnswerContract,
		mad.ModerationContract, mad.CandidatesContract, mad.DecisionContract, pairwise.Contract, decision.Contract,
		oversight.CredenceContract, oversight.ChoiceContract, review.ClaimsContract, review.VotesContract, review.RulingsContract,
	}
}
