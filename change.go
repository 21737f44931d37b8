package debate

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/detect"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// change is a write in the making: each event is folded into the record as it is added, so that what follows from it
// can be asked of the record. A record whose change was not committed is thrown away.
type change struct {
	rec    *record
	now    time.Time
	after  int64
	events []Event
	// schedule commits the head even where there are no events, so that a store that schedules has a job for the plan.
	schedule bool
}

func begin(r *record) *change {
	now := time.Now().UTC().Truncate(time.Microsecond) // as databases keep it
	if now.Before(r.updated) {                         // a clock that went back, or another machine's
		now = r.updated
	}
	return &change{rec: r, now: now, after: r.Seq}
}

func (c *change) stamp(kind string) Stamp {
	return Stamp{Type: kind, Seq: c.rec.Seq + 1}
}

func (c *change) add(ev Event) error {
	c.events = append(c.events, ev)
	return c.rec.apply(ev, c.now)
}

// fire adds the transition that the lifecycle chooses for an event, or gives its refusal.
func (c *change) fire(on fsm.Event, with StateChanged) error {
	facts := c.rec.facts()
	facts.Ending = facts.Ending || with.Ending.Outcome != ""
	facts.AssessmentDue = on == fsm.Responded && len(c.rec.phases(transcript.Assessment)) > 0
	next, err := fsm.Next(c.rec.snap, on, facts)
	if err != nil {
		return err
	}
	if with.Ending.Outcome != "" {
		with.Ending.Round = c.rec.Cursor.Round
	}
	with.Stamp, with.At, with.From, with.On, with.To = c.stamp("state"), c.now, c.rec.snap.State, on, next.State
	with.Round = c.rec.roundAfter(on, next.State)
	return c.add(with)
}

// settle adds all that follows without work: transitions from states whose work is done, and the start of a phase.
func (c *change) settle() error {
	if err := c.rec.drivable(); err != nil {
		return err
	}
	for c.rec.snap.State.Active() && c.rec.snap.State != fsm.Validating {
		if more, err := c.proceed(); err != nil || !more {
			return err
		}
	}
	return nil
}

// begun says whether a phase is open that has steps to run: then nothing follows without work.
func (r *record) begun() bool {
	steps := r.next()
	return r.snap.State.Active() && len(steps) > 0 && steps[0].Phase == r.Cursor.Phase
}

// done are the events that say that a state's work is done.
var done = map[fsm.State]fsm.Event{
	fsm.Initializing: fsm.Initialized, fsm.Completing: fsm.Concluded,
}

func (c *change) proceed() (more bool, err error) {
	r := c.rec
	if r.snap.State == fsm.RoundComplete {
		if c.now.Before(r.due()) {
			return false, nil
		}
		return true, c.fire(fsm.Advance, StateChanged{Ending: c.decide()})
	}
	steps := r.next()
	switch {
	case len(steps) == 0 && r.snap.State == fsm.Judging:
		found := r.measured(true)
		return true, c.fire(fsm.Assessed, StateChanged{Findings: found, Ending: c.decide(found...)})
	case len(steps) == 0 && r.snap.State == fsm.Awaiting:
		return true, c.fire(fsm.Responded, StateChanged{Findings: r.measured(false)})
	case len(steps) == 0:
		return true, c.fire(done[r.snap.State], StateChanged{})
	}
	open := steps[0].Phase == r.Cursor.Phase
	if !open || !r.parallel { // what a parallel phase needs was made before it began
		if w := r.summingUp(steps); w != nil {
			return c.sumUp(w)
		}
	}
	if open {
		return false, nil
	}
	phase := r.phase(steps[0].Phase)
	if e := r.exhausted(r.missing(phase, steps)); e.Outcome != "" {
		return true, c.fire(fsm.Stop, StateChanged{Ending: e})
	}
	return false, c.add(PhaseStarted{
		Stamp: c.stamp("phase"), At: c.now, Stage: r.Cursor.Stage, Round: steps[0].Round, Rounds: r.MaxRounds,
		Phase: phase.Name, Parallel: phase.Parallel, Steps: len(phase.Steps),
	})
}

// sumUp has a summary made before anything else.
func (c *change) sumUp(w *window.Summing) (more bool, err error) {
	step := protocol.Step{Key: transcript.Key{Actor: protocol.Summarizing}}
	if e := c.rec.exhausted([]protocol.Step{step}); e.Outcome != "" {
		return true, c.fire(fsm.Stop, StateChanged{Ending: e})
	}
	return false, c.add(PhaseStarted{
		Stamp: c.stamp("phase"), At: c.now, Stage: c.rec.Cursor.Stage, Round: c.rec.Cursor.Round, Rounds: c.rec.MaxRounds,
		Phase: summing, Steps: 1, Summing: w,
	})
}

// decide is the outcome of a complete round, with what was just found in it, by the precedence of all outcomes; those that a person, a budget or a lost
// quorum bring about have stopped the debate before. It is empty when the debate goes on, or when it was decided before.
func (c *change) decide(found ...detect.Finding) (e transcript.Ending) {
	r := c.rec
	if r.Ending.Outcome != "" {
		return transcript.Ending{}
	}
	if r.Cursor.Round >= r.MinRounds {
		if e = r.config.Protocol.End(&r.Record); e.Outcome == "" {
			e = r.alarm(found...)
		}
	}
	if e.Outcome == "" && r.Cursor.Round >= r.MaxRounds {
		e = transcript.Ending{Outcome: transcript.RoundLimit, Evidence: fmt.Sprintf("%d rounds were held", r.Cursor.Round)}
	}
	return e
}

// due is when the next round may begin.
func (r *record) due() time.Time { return r.entered.Add(r.config.Limits.RoundDelay) }

func (r *record) phase(name string) protocol.Phase {
	phases := r.phases(r.Cursor.Stage)
	i := slices.IndexFunc(phases, func(p protocol.Phase) bool { return p.Name == name })
	return phases[i]
}

// missing are all steps of a phase that are not committed, of which next offers one that runs in sequence one by one.
func (r *record) missing(p protocol.Phase, next []protocol.Step) []protocol.Step {
	if p.Parallel {
		return next
	}
	return p.Steps[next[0].Order:]
}

// exhausted says which budget has no room for a phase and the conclusion after it.
func (r *record) exhausted(steps []protocol.Step) transcript.Ending {
	if r.Cursor.Stage == transcript.Conclusion {
		return transcript.Ending{}
	}
	need, l := r.worst(steps)+r.reserve(), r.config.Limits
	if r.usage.Output+need > l.OutputTokens {
		return transcript.Ending{Outcome: transcript.TokenBudget, Evidence: fmt.Sprintf(
			"%d of %d output tokens are used, and up to %d more are needed for the next phase and the conclusion", r.usage.Output, l.OutputTokens, need)}
	}
	if e := r.overspent(steps); e.Outcome != "" {
		return e
	}
	if r.remaining() <= 0 {
		return r.late()
	}
	return transcript.Ending{}
}

// late says which time is over.
func (r *record) late() transcript.Ending {
	l := r.config.Limits
	evidence := fmt.Sprintf("%v of %v have passed, and the rest is kept for the conclusion", r.running.Round(time.Second), l.Time)
	if took := r.running - r.roundBegan; l.Round > 0 && took >= l.Round && r.inRound() {
		evidence = fmt.Sprintf("round %d has taken %v of %v", r.Cursor.Round, took.Round(time.Second), l.Round)
	}
	return transcript.Ending{Outcome: transcript.TimeBudget, Evidence: evidence}
}

// inRound says whether a round is going on that the limit of a round's time is for.
func (r *record) inRound() bool {
	return r.Cursor.Stage == transcript.Speech || r.Cursor.Stage == transcript.Assessment
}

// overspent says whether the budget of all tokens, or of money, has no room for steps and the conclusion after them.
func (r *record) overspent(steps []protocol.Step) transcript.Ending {
	l := r.config.Limits
	if l.Tokens == 0 && l.Cost == 0 {
		return transcript.Ending{}
	}
	most := r.worstUsage(steps)
	if used, need := r.usage.Input+r.usage.Output, most.Input+most.Output; l.Tokens > 0 && used+need > l.Tokens {
		return transcript.Ending{Outcome: transcript.TokenBudget, Evidence: fmt.Sprintf(
			"%d of %d tokens are used, and up to %d more are needed for the next phase and the conclusion", used, l.Tokens, need)}
	}
	if used := r.usage.Cost; l.Cost > 0 && used+most.Cost > l.Cost {
		return transcript.Ending{Outcome: transcript.CostBudget, Evidence: fmt.Sprintf(
			"%.4f of %.4f are spent, and up to %.4f more are needed for the next phase and the conclusion", used, l.Cost, most.Cost)}
	}
	return transcript.Ending{}
}

// worstUsage is what steps and the conclusion use when each prompt is as long as the history will be by then, with an
// allowance for what is not history, but no longer than its reader's window, and each reply as long as its cap.
func (r *record) worstUsage(steps []protocol.Step) (all transcript.Usage) {
	history := r.history
	for _, p := range r.phases(transcript.Conclusion) {
		steps = append(slices.Clip(steps), p.Steps...)
	}
	for _, s := range steps {
		if p, seat, ok := r.actor(s.Actor); ok && !wordless(s.Actor) {
			u := transcript.Usage{Input: min(history+r.beside(seat), p.Window-p.MaxTokens), Output: p.MaxTokens}
			u.Cost = r.dearest(p, slices.Contains(r.Judges, s.Actor), u)
			all = all.Add(u)
			history += p.MaxTokens
		}
	}
	return all
}

// dearest is what a usage costs by the model of an actor, or by the dearest of its substitutes.
func (r *record) dearest(p *Participant, judge bool, u transcript.Usage) (cost float64) {
	models := []string{p.Model}
	for _, s := range r.config.Substitutes {
		if judge {
			models = append(models, s.Model)
		}
	}
	for _, m := range models {
		known, _ := r.config.Prices.Of(m)
		cost = max(cost, known.Cost(u))
	}
	return cost
}

// beside is what the prompts of a reader have beside the history, in tokens: what the configuration and the personas say,
// and an allowance for all that is the library's own.
func (r *record) beside(me transcript.Seat) int {
	tokens := window.Estimate(r.config.Topic + r.config.Background + me.Persona + me.Instructions + strings.Join(me.KeyArguments, ""))
	for _, s := range r.everyone {
		tokens += window.Estimate(s.Role + s.Side + s.Position)
	}
	return allowance + tokens
}

const allowance = 2048

// worst is what steps cost when each reply is as long as its cap.
func (r *record) worst(steps []protocol.Step) (tokens int) {
	for _, s := range steps {
		if p, _, ok := r.actor(s.Actor); ok && !wordless(s.Actor) {
			tokens += p.MaxTokens
		}
	}
	return tokens
}

// wordless says whether an actor writes nothing: it finds or measures.
func wordless(actor string) bool { return actor == protocol.Retrieving || actor == protocol.Embedding }

// reserve is the room in tokens that is kept for the conclusion.
func (r *record) reserve() (tokens int) {
	for _, p := range r.phases(transcript.Conclusion) {
		tokens += r.worst(p.Steps)
	}
	return tokens
}

// remaining is how long the stage at hand may still run. A fifth of the time budget, but not more than the step timeout,
// is kept for the conclusion.
func (r *record) remaining() time.Duration {
	l := r.config.Limits
	reserve := min(l.Time/5, l.StepTimeout)
	if r.Cursor.Stage == transcript.Conclusion {
		return max(l.Time-r.running, reserve)
	}
	left := l.Time - reserve - r.running
	if l.Round > 0 && r.inRound() {
		left = min(left, l.Round-(r.running-r.roundBegan))
	}
	return left
}

// head is the record summed up.
func (r *record) head() store.Head {
	return store.Head{
		ID: r.ID, Seq: r.Seq, State: r.snap.State, Cursor: r.Cursor, Rounds: r.MaxRounds, Ending: r.Ending,
		Topic: r.config.Topic, Protocol: r.config.Protocol.Name(), Labels: maps.Clone(r.config.Labels),
		Usage: r.usage, Running: r.running, Format: r.format, Created: r.created, Updated: r.updated, Plan: r.plan(),
	}
}

// plan is what may run now, under a name that a crash, a pause, a remark or a part that is done does not change.
func (r *record) plan() (p store.Plan) {
	if !r.snap.State.Active() {
		return p
	}
	if r.drivable() != nil && r.snap.State != fsm.Validating { // what is to come only an engine with the protocol can tell
		return r.planned
	}
	at := transcript.Key{Run: r.Cursor.Run, Round: r.Cursor.Round, Phase: string(r.snap.State)}
	switch {
	case r.snap.State == fsm.RoundComplete:
		p.Due = r.due()
	case r.begun() && !r.parallel:
		at = r.next()[0].Key
	case r.begun():
		at.Phase = r.Cursor.Phase
	}
	p.Key, p.Within = at.String(), r.config.Limits.StepTimeout*time.Duration(r.turnsOfOne())
	return p
}

// turnsOfOne is the most steps of what may run now that one actor performs, one after the other.
func (r *record) turnsOfOne() int {
	if len(r.next()) < 2 {
		return 1
	}
	count := map[string]int{"": 1}
	for _, s := range r.next() {
		count[s.Actor]++
	}
	return slices.Max(slices.Collect(maps.Values(count)))
}
