package eval

import (
	"encoding/json"
	"math"
	"slices"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/judge/agreement"
	"github.com/elenchus-go/debate/judge/decision"
	"github.com/elenchus-go/debate/protocol/procon"
	"github.com/elenchus-go/debate/transcript"
)

// Agreement says how far the judges of an arm's debates agree when they conclude them: on the winner, or on one of several options.
// Senior judges of a selection do not count.
type Agreement struct {
	Judges  []string `json:"judges"`
	Debates int      `json:"debates"`
	// Raw is the share of pairs of decisions that are equal. AlphaDecisions is Krippendorff's alpha of all decisions, and AlphaVotes
	// that of the judges' votes: a judge whose decisions in the two orders differ has none, so read both.
	Raw            Interval `json:"raw"`
	AlphaDecisions Interval `json:"alpha_decisions"`
	AlphaVotes     Interval `json:"alpha_votes"`
	// Gold is the number of debates of which it is known whether each judge is right: those that decide between options, if
	// answers are compared with gold. Effective is the number of judges with independent errors who are worth as much (Kish).
	Gold      int      `json:"gold"`
	Effective Interval `json:"effective"`
}

// judged holds what the judges of a debate have decided.
type judged struct {
	values map[string][]float64 // by judge: an option or a participant by its number; NaN without one
	right  agreement.Item       // A for a right decision and B for a wrong one; without gold if that is not known
}

// judgedBy reads what the judges of a run have decided. It returns nil if there are no two of them.
func (r *runner) judgedBy(t Task, result *debate.Result) *judged {
	x := judged{values: map[string][]float64{}, right: agreement.Item{ID: result.ID, Group: t.Group, Decisions: map[string][]agreement.Decision{}}}
	options := slices.ContainsFunc(result.Turns, func(t transcript.Turn) bool { return t.Contract == decision.Contract.Name() })
	for _, turn := range result.Turns {
		if turn.Kind != transcript.Conclusion || turn.Phase == "senior" {
			continue
		}
		value, right := math.NaN(), agreement.None
		valid := !slices.Contains(turn.Flags, transcript.Defaulted)
		switch {
		case options && turn.Contract == decision.Contract.Name():
			var c decision.Choice
			if json.Unmarshal(turn.Data, &c) == nil && valid && c.Option > 0 {
				value, right = float64(c.Option), agreement.B
				if r.Scorer.compare(t, c.Chosen).Right {
					right = agreement.A
				}
			}
		case !options && (turn.Contract == judge.VerdictContract.Name() || turn.Contract == procon.JudgmentContract.Name()):
			var v struct{ Winner string }
			if json.Unmarshal(turn.Data, &v) == nil && valid { // 0 for nobody
				value = float64(1 + slices.IndexFunc(result.Participants, func(p debate.ParticipantStatus) bool { return p.Name == v.Winner }))
			}
		default:
			continue
		}
		x.values[turn.Actor] = append(x.values[turn.Actor], value)
		x.right.Decisions[turn.Actor] = append(x.right.Decisions[turn.Actor], right)
	}
	if len(x.values) < 2 {
		return nil
	}
	if options && r.Scorer.Func == nil && r.Scorer.Judge == nil {
		x.right.Gold = agreement.A
	}
	return &x
}

// agreementOf returns how far judges agree, or nil without any.
func agreementOf(list []*judged) *Agreement {
	a := Agreement{Debates: len(list)}
	for _, x := range list {
		for name := range x.values {
			if !slices.Contains(a.Judges, name) {
				a.Judges = append(a.Judges, name)
			}
		}
	}
	if len(list) == 0 {
		return nil
	}
	slices.Sort(a.Judges)
	var decisions, votes []agreement.Unit
	var items []agreement.Item
	for _, x := range list {
		each, voted := agreement.Unit{Group: x.right.Group}, agreement.Unit{Group: x.right.Group}
		for _, name := range a.Judges {
			values := x.values[name]
			each.Values = append(each.Values, values...)
			vote := math.NaN()
			if len(values) > 0 && !slices.ContainsFunc(values, func(v float64) bool { return v != values[0] }) {
				vote = values[0]
			}
			voted.Values = append(voted.Values, vote)
		}
		decisions, votes, items = append(decisions, each), append(votes, voted), append(items, x.right)
	}
	a.Raw, a.AlphaDecisions, a.AlphaVotes = agreement.Raw(decisions, 0), agreement.Alpha(decisions, agreement.Nominal), agreement.Alpha(votes, agreement.Nominal)
	known := agreement.Summarize(items, a.Judges...)
	a.Gold, a.Effective = known.Gold, known.Effective
	return &a
}
