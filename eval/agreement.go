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

// judged holds the decisions of the judges of a debate.
type judged struct {
	decisions []decided
	known     bool // it is known which decisions are right
}

// decided holds a decision of a judge.
type decided struct {
	judge string
	value int // an option or a participant by its number, and 0 for nobody; undecided without a decision
	right bool
}

const undecided = -1

// judgedBy reads what the judges of a run have decided. It returns nil if there are no two of them.
func (r *runner) judgedBy(t Task, result *debate.Result) *judged {
	options := slices.ContainsFunc(result.Turns, func(t transcript.Turn) bool { return t.Contract == decision.Contract.Name() })
	x := judged{known: options && r.Scorer.Func == nil && r.Scorer.Judge == nil}
	for _, turn := range result.Turns {
		if turn.Kind != transcript.Conclusion || turn.Phase == "senior" {
			continue
		}
		d := decided{judge: turn.Actor, value: undecided}
		valid := !slices.Contains(turn.Flags, transcript.Defaulted)
		switch {
		case options && turn.Contract == decision.Contract.Name():
			var c decision.Choice
			if json.Unmarshal(turn.Data, &c) == nil && valid && c.Option > 0 {
				d.value, d.right = c.Option, r.Scorer.compare(t, c.Chosen).Right
			}
		case !options && (turn.Contract == judge.VerdictContract.Name() || turn.Contract == procon.JudgmentContract.Name()):
			var v struct{ Winner string }
			if json.Unmarshal(turn.Data, &v) == nil && valid {
				d.value = 1 + slices.IndexFunc(result.Participants, func(p debate.ParticipantStatus) bool { return p.Name == v.Winner })
			}
		default:
			continue
		}
		x.decisions = append(x.decisions, d)
	}
	if !slices.ContainsFunc(x.decisions, func(d decided) bool { return d.judge != x.decisions[0].judge }) {
		return nil
	}
	return &x
}

// jury holds what the judges of an arm's debates have decided, with a few bytes for each decision: there can be many debates.
type jury struct {
	names    []string
	debates  []juried
	opinions []opinion
}

// juried holds the opinions of a jury on a debate.
type juried struct {
	group string
	end   int // of its opinions
	known bool
}

// opinion holds a decision of a judge of a jury.
type opinion struct {
	judge int32 // the index of its name
	value int32
	right bool
}

func (j *jury) add(x *judged, group string) {
	for _, d := range x.decisions {
		at := slices.Index(j.names, d.judge)
		if at < 0 {
			at, j.names = len(j.names), append(j.names, d.judge)
		}
		j.opinions = append(j.opinions, opinion{int32(at), int32(d.value), d.right}) //nolint:gosec // small numbers
	}
	j.debates = append(j.debates, juried{group, len(j.opinions), x.known})
}

// agreement returns how far the judges agree, or nil without any.
func (j *jury) agreement() *Agreement {
	if len(j.debates) == 0 {
		return nil
	}
	a := Agreement{Judges: slices.Sorted(slices.Values(j.names)), Debates: len(j.debates)}
	decisions := j.units(func(list []opinion, _ bool) (values []float64) {
		for _, v := range list {
			values = append(values, v.rating())
		}
		return values
	})
	a.Raw, a.AlphaDecisions = agreement.Raw(decisions, 0), agreement.Alpha(decisions, agreement.Nominal)
	a.AlphaVotes = agreement.Alpha(j.units(func(list []opinion, _ bool) []float64 { return j.each(list, voteOf) }), agreement.Nominal)
	wrong := j.units(func(list []opinion, known bool) []float64 {
		if !known {
			return nil
		}
		return j.each(list, shareWrong)
	})
	wrong = slices.DeleteFunc(wrong, func(u agreement.Unit) bool { return u.Values == nil || slices.ContainsFunc(u.Values, math.IsNaN) })
	a.Gold, a.Effective = len(wrong), agreement.Effective(wrong)
	return &a
}

// units returns a unit for each debate, with the values that f returns for the opinions about it.
func (j *jury) units(f func(list []opinion, known bool) []float64) []agreement.Unit {
	units, begin := make([]agreement.Unit, len(j.debates)), 0
	for i, d := range j.debates {
		units[i] = agreement.Unit{Group: d.group, Values: f(j.opinions[begin:d.end], d.known)}
		begin = d.end
	}
	return units
}

// each returns a value for each judge, from its opinions among those of a debate.
func (j *jury) each(list []opinion, f func(own []opinion) float64) []float64 {
	values := make([]float64, len(j.names))
	var own []opinion
	for n := range values {
		own = own[:0]
		for _, v := range list {
			if int(v.judge) == n {
				own = append(own, v)
			}
		}
		values[n] = f(own)
	}
	return values
}

// voteOf returns the rating that all decisions of a judge are, or NaN if there is none.
func voteOf(own []opinion) float64 {
	if len(own) == 0 || slices.ContainsFunc(own, func(v opinion) bool { return v.value != own[0].value }) {
		return math.NaN()
	}
	return own[0].rating()
}

// shareWrong returns the share of a judge's decisions that are not right, or NaN if it has made none.
func shareWrong(own []opinion) float64 {
	if len(own) == 0 {
		return math.NaN()
	}
	wrong := 0
	for _, v := range own {
		if !v.right {
			wrong++
		}
	}
	return float64(wrong) / float64(len(own))
}

// rating returns the value as a rating.
func (v opinion) rating() float64 {
	if v.value == undecided {
		return math.NaN()
	}
	return float64(v.value)
}
