// Package progress reports how far a debate has come. It calls your functions when a round, a phase, a step, a summary or
// the synthesis starts and when it ends, and counts the steps of each phase.
//
// Pass every event of [debate.Debate.Run] or [debate.Debate.Watch] to [Hooks.Observe]:
//
//	func run(ctx context.Context, d *debate.Debate) error {
//		h := progress.Hooks{Phase: func(u progress.Update) { fmt.Println(u) }} // such as "critique 0/2 starts"
//		for event, err := range d.Run(ctx) {
//			if err != nil {
//				return err
//			}
//			h.Observe(event)
//		}
//		return nil
//	}
//
// Everything that starts also ends, exactly once, even if the debate fails, is canceled or pauses. A pause ends
// everything that has started. When the debate continues, a round or a phase starts again with its next step.
//
// Use [Hooks.Phases] to read the counts of the current round at any time, for example to draw a progress bar.
//
// # Resuming
//
// Run yields only what happens after the call. It does not yield what another process did, nor what Resume, Decide and
// Retry did before a second Run. To get the right counts, pass the events of [debate.Debate.Replay] to Observe first.
// Observe ignores events that it has seen before. To ignore the past, set the functions after the replay.
package progress

import (
	"fmt"
	"slices"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// Hooks holds the functions to call when something starts or ends. A nil function is not called. Observe calls them on
// the goroutine that called it. Use one Hooks per debate. Do not copy it after the first event. It is not safe for
// concurrent use.
type Hooks struct {
	Round     func(Update) // a round: its speeches and their assessment
	Phase     func(Update) // a phase: the steps that do one thing, such as "critique"
	Agent     func(Update) // one step of a participant, a judge or a system actor, with all its attempts
	Summary   func(Update) // like Agent, for steps of the summarizer and of phases named "digest"
	Synthesis func(Update) // the conclusion: a verdict, a solution or a decision

	seq     int64                  // sequence number of the last durable event
	stage   scopeState             // the current round or synthesis; its Scope is empty during the setup
	phase   scopeState             // the current phase
	phases  []Update               // the phases of the current round, setup or conclusion
	running []*scopeState          // the running steps
	done    map[transcript.Key]int // number of finished steps by round and phase
}

// scopeState is a round, a phase, a step or the synthesis. It can start again after it has ended, as long as it is the
// current one.
type scopeState struct {
	Update
	started bool // true between the report of the start and that of the end
}

// Update reports the start or the end of a round, a phase, a step or the synthesis.
type Update struct {
	Scope  string           // "round", "phase", "agent", "summary" or "synthesis"
	Stage  transcript.Kind  // stage of the debate, such as transcript.Speech; empty for rounds and the synthesis
	End    bool             // true for an end, false for a start
	Round  int              // number of the round; 0 before the first
	Rounds int              // limit on the number of rounds
	Phase  string           // name of the phase; empty for rounds and the synthesis
	Done   int              // number of finished steps of the phase
	Steps  int              // number of all steps of the phase; 0 if its PhaseStarted event was not observed
	Key    transcript.Key   // key of the step; zero for rounds, phases and the synthesis
	Turn   *transcript.Turn // turn that the step produced; nil at the start, or if it produced none
}

// String returns a short description, such as "round 2 of 5 starts" or "critique 3/6: Ada ends".
func (m Update) String() string {
	verb := "starts"
	if m.End {
		verb = "ends"
	}
	switch m.Scope {
	case "round":
		return fmt.Sprintf("round %d of %d %s", m.Round, m.Rounds, verb)
	case "synthesis":
		return "the synthesis " + verb
	case "phase":
		return fmt.Sprintf("%s %d/%d %s", m.Phase, m.Done, m.Steps, verb)
	}
	return fmt.Sprintf("%s %d/%d: %s %s", m.Phase, m.Done, m.Steps, m.Key.Actor, verb)
}

// Observe records the next event and calls the functions that it concerns. It ignores durable events that it has seen
// before.
func (h *Hooks) Observe(ev debate.Event) {
	if s := ev.Meta(); !s.Live {
		if s.Seq <= h.seq {
			return
		}
		h.seq = s.Seq
	}
	switch ev := ev.(type) {
	case debate.PhaseStarted:
		h.setPhase(ev)
		h.startCurrent()
	case debate.TurnStarted:
		h.startStep(ev)
	case debate.TurnDone:
		h.countStep(ev.Turn)
		h.endStep(ev.Turn.Key, &ev.Turn)
	case debate.Dropped:
		h.endSteps(ev.Name)
	case debate.StateChanged:
		h.endOnTransition(ev)
	}
}

// Phases returns an Update for each phase of the current round, setup or conclusion, in the order in which they first
// started. It works even if no function is set. Before the first phase it returns nil.
func (h *Hooks) Phases() []Update {
	list := slices.Clone(h.phases)
	for i, m := range list {
		list[i].Done = h.done[transcript.Key{Round: m.Round, Phase: m.Phase}]
	}
	return list
}

// setPhase sets the current phase, and the round or the synthesis that it belongs to.
func (h *Hooks) setPhase(ev debate.PhaseStarted) {
	whole := Update{Round: ev.Round, Rounds: ev.Rounds}
	switch ev.Stage {
	case transcript.Setup:
	case transcript.Conclusion:
		whole.Scope = "synthesis"
	default:
		whole.Scope = "round"
	}
	if !h.isCurrent(ev.Round, ev.Phase) || h.stage.Scope != whole.Scope {
		h.reportEnd(&h.phase)
	}
	if h.stage.Scope != whole.Scope || h.stage.Round != whole.Round {
		h.reportEnd(&h.stage)
		h.phases = nil
	}
	at := transcript.Key{Round: ev.Round, Phase: ev.Phase}
	if ev.Steps > 0 && h.done[at] >= ev.Steps { // another phase with the same name
		delete(h.done, at)
	}
	h.stage.Update = whole
	h.phase.Update = Update{
		Scope: "phase", Stage: ev.Stage, Round: ev.Round, Rounds: ev.Rounds, Phase: ev.Phase, Done: h.done[at], Steps: ev.Steps,
	}
	h.recordPhase(h.phase.Update)
}

// recordPhase adds a phase to the phases of the round, or updates the one with the same name.
func (h *Hooks) recordPhase(phase Update) {
	i := slices.IndexFunc(h.phases, func(m Update) bool { return m.Phase == phase.Phase })
	if i < 0 {
		h.phases = append(h.phases, phase)
		return
	}
	if phase.Steps == 0 { // the start was not observed this time
		phase.Steps = h.phases[i].Steps
	}
	h.phases[i] = phase
}

// isCurrent reports whether a phase is the current one.
func (h *Hooks) isCurrent(round int, phase string) bool {
	return h.phase.Scope != "" && h.phase.Round == round && h.phase.Phase == phase
}

// startCurrent reports the start of the current round or synthesis, and of the current phase.
func (h *Hooks) startCurrent() {
	h.reportStart(&h.stage)
	h.reportStart(&h.phase)
}

// startStep records and reports the start of a step. Another attempt at the same step is not another start.
func (h *Hooks) startStep(ev debate.TurnStarted) {
	k := ev.Key
	if slices.ContainsFunc(h.running, func(s *scopeState) bool { return s.Key == k }) {
		return
	}
	if !h.isCurrent(k.Round, k.Phase) { // the start of the phase was not observed
		h.setPhase(debate.PhaseStarted{Stage: ev.Kind, Round: k.Round, Rounds: h.phase.Rounds, Phase: k.Phase})
	}
	h.startCurrent()
	s := &scopeState{Update: h.stepUpdate(k)}
	h.running = append(h.running, s)
	h.reportStart(s)
}

// stepUpdate returns an Update for a step of the current phase.
func (h *Hooks) stepUpdate(k transcript.Key) Update {
	m := h.phase.Update
	m.Scope, m.Key = "agent", k
	if k.Actor == protocol.Summarizer || k.Phase == "digest" {
		m.Scope = "summary"
	}
	return m
}

// countStep counts a finished step, even if its start was not observed. Remarks count too, but in a phase of their own.
func (h *Hooks) countStep(t transcript.Turn) {
	if h.done == nil {
		h.done = map[transcript.Key]int{}
	}
	at := transcript.Key{Round: t.Round, Phase: t.Phase}
	h.done[at]++
	if h.isCurrent(t.Round, t.Phase) {
		h.phase.Done = h.done[at]
	}
}

// endStep reports the end of a step, and the end of the phase if this was its last step. It ignores a step whose start
// was not observed, such as a remark.
func (h *Hooks) endStep(k transcript.Key, t *transcript.Turn) {
	if i := slices.IndexFunc(h.running, func(s *scopeState) bool { return s.Key == k }); i >= 0 {
		s := h.running[i]
		h.running = slices.Delete(h.running, i, i+1)
		s.Done, s.Turn = h.phase.Done, t
		h.reportEnd(s)
	}
	if h.phase.Steps > 0 && h.phase.Done >= h.phase.Steps {
		h.reportEnd(&h.phase)
	}
}

// endSteps ends the running steps of an actor without a turn, or of all actors if actor is empty.
func (h *Hooks) endSteps(actor string) {
	for _, s := range slices.Clone(h.running) {
		if actor == "" || s.Key.Actor == actor {
			h.endStep(s.Key, nil)
		}
	}
}

// endOnTransition reports the end of everything that a transition of the lifecycle ends.
func (h *Hooks) endOnTransition(ev debate.StateChanged) {
	h.endSteps("")
	h.reportEnd(&h.phase)
	if ev.To != fsm.Judging { // judging belongs to the round
		h.reportEnd(&h.stage)
	}
	if ev.On == fsm.Reset {
		h.stage = scopeState{}
		h.phase = scopeState{}
		h.phases = nil
		h.done = nil
	}
}

// reportStart reports a start, unless it was reported before.
func (h *Hooks) reportStart(s *scopeState) {
	if f := h.hookFor(s.Scope); f != nil && !s.started {
		s.started = true
		f(s.Update)
	}
}

// reportEnd reports an end if the start was reported.
func (h *Hooks) reportEnd(s *scopeState) {
	if f := h.hookFor(s.Scope); f != nil && s.started {
		m := s.Update
		m.End = true
		f(m)
	}
	s.started = false
}

// hookFor returns the function for a scope, or nil if there is none.
func (h *Hooks) hookFor(what string) func(Update) {
	switch what {
	case "round":
		return h.Round
	case "phase":
		return h.Phase
	case "agent":
		return h.Agent
	case "summary":
		return h.Summary
	case "synthesis":
		return h.Synthesis
	}
	return nil
}
