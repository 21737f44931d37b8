// Package progress reports how far a debate has come. It calls your functions when a round, a phase, a step, a summary or
// the synthesis starts and when it ends, and counts the steps of each phase.
//
// Pass every event of [debate.Debate.Run] or [debate.Debate.Watch] to [Hooks.See]:
//
//	func run(ctx context.Context, d *debate.Debate) error {
//		h := progress.Hooks{Phase: func(m progress.Mark) { fmt.Println(m) }} // critique 0/2 starts
//		for event, err := range d.Run(ctx) {
//			if err != nil {
//				return err
//			}
//			h.See(event)
//		}
//		return nil
//	}
//
// Everything that starts also ends, exactly once, even if the debate fails, is canceled or pauses. A pause ends everything
// that is open. When the debate continues, a round or a phase starts again with its next step.
//
// Use [Hooks.Phases] to read the counts of the current round at any time, for example to draw a progress bar.
//
// # Resuming
//
// Run yields only what happens after the call. It does not show what another process did, nor what Resume, Decide and
// Retry did before a second Run. To get the right counts, pass the events of [debate.Debate.Replay] to See first; See
// ignores events that it has seen before. To hear nothing of the past, set the functions after the replay.
package progress

import (
	"fmt"
	"slices"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// Hooks holds the functions to call when something starts or ends. A nil function is not called. See calls them on its own
// goroutine. Use one Hooks per debate. Do not copy it after the first event. It is not safe for concurrent use.
type Hooks struct {
	Round     func(Mark) // a round: its speeches and their assessment
	Phase     func(Mark) // a phase: the steps that do one thing, such as "critique"
	Agent     func(Mark) // one step of a participant, a judge or a system actor, with all its attempts
	Summary   func(Mark) // like Agent, for steps of the summarizer and of phases named "digest"
	Synthesis func(Mark) // the conclusion: a verdict, a solution or a decision

	seq    int64                  // sequence number of the last durable event
	whole  span                   // the current round or synthesis; the prelude has none
	phase  span                   // the current phase
	phases []Mark                 // the phases of the current round, prelude or conclusion
	steps  []*span                // the running steps
	done   map[transcript.Key]int // finished steps by round and phase
}

// span is something that starts and ends. It can start again after it has ended, as long as it is the current one.
type span struct {
	Mark
	told bool // the start was reported, the end was not
}

// Mark is the start or the end of something.
type Mark struct {
	What   string           // "round", "phase", "agent", "summary" or "synthesis"
	Stage  transcript.Kind  // stage of the debate; empty for rounds and the synthesis
	End    bool             // true for an end, false for a start
	Round  int              // number of the round; 0 before the first
	Rounds int              // limit on the number of rounds
	Phase  string           // name of the phase; empty for rounds and the synthesis
	Done   int              // finished steps of the phase
	Steps  int              // all steps of the phase; 0 if the event with the number was not seen
	Key    transcript.Key   // key of the step; zero for rounds, phases and the synthesis
	Turn   *transcript.Turn // turn that the step produced; nil at the start, or if it produced none
}

// String returns a short description, such as "round 2 of 5 starts" or "critique 3/6: Ada ends".
func (m Mark) String() string {
	verb := "starts"
	if m.End {
		verb = "ends"
	}
	switch m.What {
	case "round":
		return fmt.Sprintf("round %d of %d %s", m.Round, m.Rounds, verb)
	case "synthesis":
		return "the synthesis " + verb
	case "phase":
		return fmt.Sprintf("%s %d/%d %s", m.Phase, m.Done, m.Steps, verb)
	}
	return fmt.Sprintf("%s %d/%d: %s %s", m.Phase, m.Done, m.Steps, m.Key.Actor, verb)
}

// See records the next event and calls the functions that it concerns. It ignores durable events that it has seen before.
func (h *Hooks) See(ev debate.Event) {
	if s := ev.Event(); !s.Live {
		if s.Seq <= h.seq {
			return
		}
		h.seq = s.Seq
	}
	switch ev := ev.(type) {
	case debate.PhaseStarted:
		h.begin(ev)
		h.open()
	case debate.TurnStarted:
		h.start(ev)
	case debate.TurnDone:
		h.count(ev.Turn)
		h.finish(ev.Turn.Key, &ev.Turn)
	case debate.Dropped:
		h.halt(ev.Name)
	case debate.StateChanged:
		h.move(ev)
	}
}

// Phases returns a mark for each phase of the current round, prelude or conclusion, in the order in which they first
// started. It works even if no function is set. Before the first phase it returns nil.
func (h *Hooks) Phases() []Mark {
	list := slices.Clone(h.phases)
	for i, m := range list {
		list[i].Done = h.done[transcript.Key{Round: m.Round, Phase: m.Phase}]
	}
	return list
}

// begin makes a phase the current one, and with it its round or the synthesis.
func (h *Hooks) begin(ev debate.PhaseStarted) {
	whole := Mark{Round: ev.Round, Rounds: ev.Rounds}
	switch ev.Stage {
	case transcript.Prelude:
	case transcript.Conclusion:
		whole.What = "synthesis"
	default:
		whole.What = "round"
	}
	if !h.at(ev.Round, ev.Phase) || h.whole.What != whole.What {
		h.end(&h.phase)
	}
	if h.whole.What != whole.What || h.whole.Round != whole.Round {
		h.end(&h.whole)
		h.phases = nil
	}
	at := transcript.Key{Round: ev.Round, Phase: ev.Phase}
	if ev.Steps > 0 && h.done[at] >= ev.Steps { // another phase with the same name
		delete(h.done, at)
	}
	h.whole.Mark = whole
	h.phase.Mark = Mark{
		What: "phase", Stage: ev.Stage, Round: ev.Round, Rounds: ev.Rounds, Phase: ev.Phase, Done: h.done[at], Steps: ev.Steps,
	}
	h.list(h.phase.Mark)
}

// list adds a phase to the phases of the round, or updates the one with the same name.
func (h *Hooks) list(phase Mark) {
	i := slices.IndexFunc(h.phases, func(m Mark) bool { return m.Phase == phase.Phase })
	if i < 0 {
		h.phases = append(h.phases, phase)
		return
	}
	if phase.Steps == 0 { // the start was not seen this time
		phase.Steps = h.phases[i].Steps
	}
	h.phases[i] = phase
}

// at reports whether a phase is the current one.
func (h *Hooks) at(round int, phase string) bool {
	return h.phase.What != "" && h.phase.Round == round && h.phase.Phase == phase
}

// open reports the start of the current round or synthesis, and of the current phase.
func (h *Hooks) open() {
	h.tell(&h.whole)
	h.tell(&h.phase)
}

// start records the start of a step. Another attempt at the same step is not another start.
func (h *Hooks) start(ev debate.TurnStarted) {
	k := ev.Key
	if slices.ContainsFunc(h.steps, func(s *span) bool { return s.Key == k }) {
		return
	}
	if !h.at(k.Round, k.Phase) { // the start of the phase was not seen
		h.begin(debate.PhaseStarted{Stage: ev.Kind, Round: k.Round, Rounds: h.phase.Rounds, Phase: k.Phase})
	}
	h.open()
	s := &span{Mark: h.step(k)}
	h.steps = append(h.steps, s)
	h.tell(s)
}

// step returns the mark of a step of the current phase.
func (h *Hooks) step(k transcript.Key) Mark {
	m := h.phase.Mark
	m.What, m.Key = "agent", k
	if k.Actor == protocol.Summarizing || k.Phase == "digest" {
		m.What = "summary"
	}
	return m
}

// count counts a finished step, even if its start was not seen. Remarks are counted too, but in a phase of their own.
func (h *Hooks) count(t transcript.Turn) {
	if h.done == nil {
		h.done = map[transcript.Key]int{}
	}
	at := transcript.Key{Round: t.Round, Phase: t.Phase}
	h.done[at]++
	if h.at(t.Round, t.Phase) {
		h.phase.Done = h.done[at]
	}
}

// finish ends a step. It ignores a step whose start was not seen, such as a remark.
func (h *Hooks) finish(k transcript.Key, t *transcript.Turn) {
	if i := slices.IndexFunc(h.steps, func(s *span) bool { return s.Key == k }); i >= 0 {
		s := h.steps[i]
		h.steps = slices.Delete(h.steps, i, i+1)
		s.Done, s.Turn = h.phase.Done, t
		h.end(s)
	}
	if h.phase.Steps > 0 && h.phase.Done >= h.phase.Steps {
		h.end(&h.phase)
	}
}

// halt ends the running steps of an actor without a turn, or of all actors if actor is empty.
func (h *Hooks) halt(actor string) {
	for _, s := range slices.Clone(h.steps) {
		if actor == "" || s.Key.Actor == actor {
			h.finish(s.Key, nil)
		}
	}
}

// move ends what a transition of the lifecycle ends.
func (h *Hooks) move(ev debate.StateChanged) {
	h.halt("")
	h.end(&h.phase)
	if ev.To != fsm.Judging { // judging belongs to the round
		h.end(&h.whole)
	}
	if ev.On == fsm.Reset {
		h.whole, h.phase, h.phases, h.done = span{}, span{}, nil, nil
	}
}

// tell reports a start, unless it was reported before.
func (h *Hooks) tell(s *span) {
	if f := h.hook(s.What); f != nil && !s.told {
		s.told = true
		f(s.Mark)
	}
}

// end reports an end if the start was reported.
func (h *Hooks) end(s *span) {
	if f := h.hook(s.What); f != nil && s.told {
		m := s.Mark
		m.End = true
		f(m)
	}
	s.told = false
}

func (h *Hooks) hook(what string) func(Mark) {
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
