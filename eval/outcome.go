package eval

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/runs"
	"github.com/elenchus-go/debate/protocol/oversight"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// Run is the result of one run, and a line of Evaluation.Results.
type Run struct {
	Eval   string    `json:"eval"`
	Arm    string    `json:"arm"`
	Task   string    `json:"task"`
	Group  string    `json:"group,omitempty"`
	Sample int       `json:"sample"` // from 1
	ID     string    `json:"id"`     // of the debate
	State  fsm.State `json:"state,omitempty"`
	// Missing says that the run, or the debate that scores it, was interrupted, and that another Run goes on with it.
	Missing bool `json:"missing,omitempty"`
	// Failed says why there is no result, such as an error of a service or a wait for a person. Then the run counts neither
	// as right nor as wrong.
	Failed string `json:"failed,omitempty"`
	Text   string `json:"text,omitempty"`   // the answer as it was written, at most 4,000 characters
	Answer string `json:"answer,omitempty"` // the answer in the form that was compared; empty if there is none
	Tie    bool   `json:"tie,omitempty"`    // there is no answer because of a tie
	Right  bool   `json:"right"`
	// Probability is the one that the judges give to the right answer, from 0 to 1, in a debate of package oversight. RightFirst says that
	// the right answer is answer A of the debate.
	Probability *float64 `json:"probability,omitempty"`
	RightFirst  bool     `json:"right_first,omitempty"`
	// Rounds are the answers that participants gave in each round, from round 1, as far as their replies have a field for it
	// and answers are compared with gold.
	Rounds  []Round          `json:"rounds,omitempty"`
	Calls   int              `json:"calls"` // of models, failed attempts included
	Usage   transcript.Usage `json:"usage"`
	Latency time.Duration    `json:"latency"` // running time of the debate, in nanoseconds

	judged *judged // what several judges have decided; nil otherwise
}

// outcome reads the result of a run. It has no state if the run was not begun.
func (r *runner) outcome(ctx context.Context, a *Arm, t Task, sample int) (run Run, err error) {
	c, err := r.config(a, t, sample)
	if err != nil {
		return run, err
	}
	run = Run{Eval: r.Name, Arm: a.Name, Task: t.ID, Group: t.Group, Sample: sample, ID: c.ID}
	d, err := r.Engine.Open(ctx, c.ID)
	if errors.Is(err, store.ErrNotFound) {
		run.Missing = true
		return run, nil
	} else if err != nil {
		return run, err
	}
	result, err := d.Result(ctx)
	if err != nil {
		return run, err
	}
	run.Missing = goesOn(result)
	run.State = result.State
	run.Usage = result.Total.Usage
	run.Latency = result.RunningTime
	for _, turn := range result.Turns {
		run.Calls += len(turn.Attempts)
	}
	run.Failed = runs.FailureOf(result)
	if run.Failed == "" {
		run.judged, err = r.judgedBy(t, result), r.score(ctx, &run, t, result)
		run.setProbability(t, result)
	}
	return run, err
}

// goesOn reports whether a debate was interrupted, and goes on without a decision of a person.
func goesOn(r *debate.Result) bool {
	return !r.State.Final() && r.State != fsm.Error && r.Question == nil
}

// score sets what the answer of a run is and whether it is right.
func (r *runner) score(ctx context.Context, run *Run, t Task, result *debate.Result) error {
	text, tie := answerOf(result)
	run.Text, run.Tie = shorten(text, 4000), tie
	switch {
	case r.Scorer.Func != nil:
		s, err := r.Scorer.Func(ctx, t, result)
		if err != nil {
			return fmt.Errorf("score run %s of task %s: %w", run.ID, t.ID, err)
		}
		run.Answer, run.Right = s.Answer, s.Right
	case r.Scorer.Judge != nil:
		return r.readVerdict(ctx, run, t, text)
	default:
		s := r.Scorer.compare(t, text)
		run.Answer, run.Right = s.Answer, s.Right
		run.Rounds = r.rounds(t, result)
	}
	return nil
}

// readVerdict reads the judge's verdict on the answer of a run.
func (r *runner) readVerdict(ctx context.Context, run *Run, t Task, text string) error {
	run.Answer = text
	if text == "" {
		return nil
	}
	c, err := r.scoring(run.ID, t, text)
	if err != nil {
		return err
	}
	d, err := r.Engine.Open(ctx, c.ID)
	if errors.Is(err, store.ErrNotFound) {
		run.Failed, run.Missing = "its answer was not scored", true
		return nil
	} else if err != nil {
		return err
	}
	result, err := d.Result(ctx)
	if err != nil {
		return err
	}
	run.Missing = goesOn(result)
	verdict, _ := answerOf(result)
	switch failed := runs.FailureOf(result); {
	case failed != "":
		run.Failed = "score its answer: " + failed
	case verdict != verdictRight && verdict != verdictWrong:
		run.Failed = fmt.Sprintf("score its answer: the judge says %q, want %q or %q", shorten(verdict, 80), verdictRight, verdictWrong)
	}
	run.Right = verdict == verdictRight
	return nil
}

func shorten(text string, most int) string {
	if r := []rune(text); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return text
}

// rounds counts the answers of the participants' replies in each round.
func (r *runner) rounds(t Task, result *debate.Result) (list []Round) {
	last := map[string]bool{} // whether the speaker's last answer was right
	for _, turn := range result.Turns {
		if turn.Kind != transcript.Speech || turn.Contract == "" || turn.Contract == oversight.ChoiceContract.Name() || turn.Round < 1 || slices.Contains(turn.Flags, transcript.Defaulted) {
			continue
		}
		var data struct{ Answer *string }
		if json.Unmarshal(turn.Data, &data) != nil || data.Answer == nil {
			continue
		}
		for len(list) < turn.Round {
			list = append(list, Round{})
		}
		who, now := turn.Actor+"\x00"+turn.Target, r.Scorer.compare(t, *data.Answer).Right
		before, had := last[who]
		last[who] = now
		at := &list[turn.Round-1]
		at.Answers++
		if now {
			at.Right++
		}
		if had && now && !before {
			at.TurnedRight++
		}
		if had && !now && before {
			at.TurnedWrong++
		}
	}
	return list
}

// joined returns the outcome of several samples of one task: the most frequent answer, and of equally frequent ones the
// first.
func joined(runs []Run) Run {
	all := runs[0]
	all.Usage = transcript.Usage{}
	all.Calls = 0
	all.Latency = 0
	all.Rounds = nil
	all.judged = nil
	all.Probability = nil
	votes := map[string]int{}
	for _, x := range runs {
		votes[x.Answer]++
	}
	delete(votes, "")
	best := slices.MaxFunc(runs, func(a, b Run) int { // the first of the largest
		return cmp.Compare(votes[a.Answer], votes[b.Answer])
	})
	all.Answer = best.Answer
	all.Text = best.Text
	all.Right = best.Right
	all.Tie = best.Tie
	for _, x := range runs {
		all.Usage = all.Usage.Add(x.Usage)
		all.Calls += x.Calls
		all.Latency = max(all.Latency, x.Latency)
	}
	return all
}

// setProbability sets what a run says of the probability of the right answer.
func (x *Run) setProbability(t Task, r *debate.Result) {
	o, err := oversight.DecodeAnswer(r.Answer)
	if err != nil {
		return
	}
	a, b := t.isGold(t.letter(o.A)), t.isGold(t.letter(o.B))
	if a == b { // the task has no such answers
		return
	}
	p := o.Probability
	if b {
		p = 1 - p
	}
	x.Probability, x.RightFirst = &p, a
}
