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

// All returns the protocols of the library.
func All() []protocol.Protocol {
	return []protocol.Protocol{
		panel.Protocol{},
		skeptic.Protocol{},
		refine.Protocol{},
		arbitration.Protocol{},
		procon.Protocol{},
		vote.Protocol{},
		council.Protocol{},
		mad.Protocol{},
		review.Protocol{},
		pairwise.Protocol{},
		oversight.Protocol{},
	}
}

// Has reports whether a protocol is one of the library.
func Has(p protocol.Protocol) bool {
	return slices.ContainsFunc(All(), func(own protocol.Protocol) bool { return reflect.TypeOf(own) == reflect.TypeOf(p) })
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
