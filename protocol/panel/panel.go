// Package panel is the classic debate: two to four participants answer one another in rounds, judges assess each round,
// and their verdict concludes the debate. In the format [Oxford] the judges are an audience that votes.
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
// # Oxford style
//
// Two sides debate the topic as a motion. Give each participant the Side "for" or "against". Each side has one or more
// members, up to eight in all. They speak in the order in which they are listed. The judges are the audience: they vote
// for the motion, against it or undecided, before round 1 and at the end. Nobody assesses the rounds. The side that gains
// more votes wins; if both gain the same, nobody does. A member whose vote is missing or replaced by a default does not
// count. This is the rule of the public debates of Intelligence Squared, which Zhang et al. 2016 (arXiv 1604.03114) study.
// Changed: models and not people vote, they see pseudonyms of the speakers, and they are shown their first vote again.
//
// # Devil's advocate
//
// With [Protocol.DevilsAdvocate], an agreement must withstand an objection. If the judges find after a round that the
// participants have converged, the judges do not end the debate. In the next round, one participant must argue against
// the consensus and say that it does so as the devil's advocate. In round 2 this is the first of those who spoke in
// round 1, in round 3 the second of those who spoke in round 2, and so on in turn. After that round the format decides as
// usual. Until then, only the limits and the rules of Config.Detect end the debate.
//
// # Scores and winner
//
// A judge whose verdict names a winner with a lower mean score than another participant, over the rounds that this judge
// scored itself, is asked once more. The second verdict stands. If it still contradicts the scores, the answer has a warning.
// With [Protocol.ByScores], the scores decide.
//
// # Decision
//
// With [Protocol.Decision], the judges do not name a winner. They still score the arguments after each round. At the end they
// decide the topic on its merits: for one of your options, or in a contract of your own.
//
//	panel.Protocol{Decision: decision.Task{Options: []string{"Refund in full", "Refund half", "Refuse"}}}
//
// # A jury that may not decide everything
//
// With [Protocol.Selection], the judges conclude the debate only where gold labels show that they may. Elsewhere the senior
// judge does, who can be a stronger model or a person.
//
// # Prompts
//
// The prompt of a speech depends on the format. With [StructuredRounds] and [Oxford] it is "opening" in the first round,
// "closing" in the last and "rebuttal" in between. With any other format the prompt has the name of the format: "free-form",
// "round-limited" or "convergence-seeking". The devil's advocate gets "devils-advocate". Judges get "assess" after each
// round and "verdict" at the end, and an audience gets "audience-before" and "audience-after". With
// a decision, judges get "decide" in place of "verdict". If [Protocol.Personas] is
// set, the prompt "personas" comes before round 1.
//
// # Answer
//
// The data of the answer decodes to a judge.Opinion[judge.Verdict], even with a single judge. Its text is the
// verdict in words, followed by dissenting opinions and disagreements of the judges. With [Oxford], the data decodes to an
// [Audience], and with a decision to a decision.Joint.
package panel

import (
	"cmp"
	"maps"

	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/judge/agreement"
	"github.com/elenchus-go/debate/judge/decision"
	"github.com/elenchus-go/debate/protocol"
)

// Format determines the task of each round and what ends the debate.
type Format string

// The formats of a panel.
const (
	FreeForm           Format = "free-form"           // no fixed tasks; a judge's decision ends the debate
	StructuredRounds   Format = "structured-rounds"   // opening, rebuttals, closing; the judges do not end the debate
	RoundLimited       Format = "round-limited"       // no fixed tasks; the judges do not end the debate
	ConvergenceSeeking Format = "convergence-seeking" // convergence, diminishing returns or a judge's decision ends the debate
	Oxford             Format = "oxford"              // two sides; opening, rebuttals, closing; the judges vote before and after
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
	// RotateJudges lets one judge assess each round: the first judge round 1, the second round 2, and so on in turn. All
	// judges give a verdict.
	RotateJudges bool `json:"rotate_judges,omitempty"`
	// DevilsAdvocate makes a participant argue against the consensus in the round after the judges found that the
	// participants converged. Until then, only the limits and the rules of Config.Detect end the debate.
	DevilsAdvocate bool `json:"devils_advocate,omitempty"`
	// ByScores lets the scores decide who wins: the participant with the highest mean score over all rounds, rounded to a
	// tenth, and nobody if several have it. The judges name no winner.
	ByScores bool `json:"by_scores,omitempty"`
	// Decision lets the judges decide the topic on its merits, apart from the scores, instead of naming a winner.
	Decision decision.Task `json:"decision,omitzero"`
	// Selection lets the judges conclude the debate of two participants, or the decision between two options, only where they
	// may. Elsewhere the senior judge gives the verdict or decides, who does not assess rounds.
	Selection agreement.Selection `json:"selection,omitzero"`
}

var (
	formats = []Format{"", FreeForm, StructuredRounds, RoundLimited, ConvergenceSeeking, Oxford}
	styles  = []PersonaStyle{"", Binary, Spectrum, MultiPerspective}
)

// Name returns "panel/1".
func (Protocol) Name() string { return "panel/1" }

// Defaults returns three rounds for the format oxford: opening, rebuttal and closing. Other formats have the defaults of
// the library.
func (p Protocol) Defaults() (d protocol.Defaults) {
	if p.Format == Oxford {
		d.MaxRounds = 3
	}
	return d
}

// hasTasks reports whether the rounds have fixed tasks: opening, rebuttal and closing.
func (p Protocol) hasTasks() bool { return p.Format == StructuredRounds || p.Format == Oxford }

// The phases of judges.
const (
	phaseAssess  = "assess"
	phaseVerdict = "verdict"
	phaseBefore  = "audience-before"
	phaseAfter   = "audience-after"
)

// vars returns the parameters of the prompts. All steps with the same parameters share one map if there is no decision,
// because Phases is called for every look at the record.
func (p Protocol) vars() map[string]string {
	vars := varsByParameters[parameters{p.Format, p.Personas, p.DevilsAdvocate, p.ByScores}]
	if p.Decision.IsZero() {
		return vars
	}
	vars = maps.Clone(vars)
	maps.Copy(vars, p.Decision.Vars())
	return vars
}

// parameters are those parameters of which each combination has its own map.
type parameters struct {
	format             Format
	style              PersonaStyle
	advocate, byScores bool
}

// varsByParameters has the parameters of prompts without a decision.
var varsByParameters = func() map[parameters]map[string]string {
	m := map[parameters]map[string]string{}
	for _, f := range formats {
		for _, s := range styles {
			for i := range 4 {
				x := parameters{f, s, i&1 != 0, i&2 != 0}
				m[x] = map[string]string{"format": string(cmp.Or(f, FreeForm)), "style": string(s)}
				if x.advocate {
					m[x]["advocate"] = "yes"
				}
				if x.byScores {
					m[x]["by_scores"] = "yes"
				}
			}
		}
	}
	return m
}()
