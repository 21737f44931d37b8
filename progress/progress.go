// Package progress tells how far a debate has come, as hooks: a round, a phase, an agent, a summary and the synthesis,
// each when it starts and when it ends.
//
// Give every event of [debate.Debate.Run] or [debate.Debate.Watch] to [Hooks.See]:
//
//	h := progress.Hooks{Phase: func(m progress.Mark) { fmt.Println(m) }}
//	for event, err := range d.Run(ctx) {
//		...
//		h.See(event)
//	}
//
// What has started ends, once, also where a debate fails, is canceled or pauses: a pause ends what is open, and what goes
// on afterwards starts again, with the first step that does.
//
// Run shows nothing of what was there before it: of another process, and of what Resume, Decide and Retry did before a
// second Run. Give the events of [debate.Debate.Replay] first where counts have to be right from there on; those that
// were seen before are passed over. Set the functions after that to hear nothing of the past.
package progress

import (
	"fmt"
	"slices"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// Hooks are called where something starts or ends; those that are nil are not. They run on the goroutine that calls See.
// A Hooks is for one debate, is not to be copied after the first event, and is not safe for concurrent use.
type Hooks struct {
	Round     func(Mark) // its speeches and their assessment
	Phase     func(Mark) // steps that a protocol has do one thing, such as "critique"
	Agent     func(Mark) // one step of a participant, a judge or a helper, with all its attempts
	Summary   func(Mark) // likewise, of the helper that sums up, or of anybody in a phase that is called "digest"
	Synthesis func(Mark) // the conclusion: a verdict, a solution, a decision

	seq    int64                  // of the last durable event that was seen
	whole  span                   // the round or the synthesis at hand; in the prelude there is none
	phase  span                   // at hand
	phases []Mark                 // of the round, the prelude or the synthesis at hand
	steps  []*span                // in flight
	done   map[transcript.Key]int // how many steps, by round and phase
}

// span is something that starts and ends. One that has ended may start again, as long as it is at hand.
type span struct {
	Mark
	told bool // that it has started, and not that it has ended
}

// Mark is a start or an end.
type Mark struct {
	What   string           // "round", "phase", "agent", "summary" or "synthesis"
	Stage  transcript.Kind  // of a phase, and of its steps
	End    bool             // else it starts
	Round  int              // 0 before the first
	Rounds int              // the limit
	Phase  string           // empty for rounds and the synthesis
	Done   int              // steps of the phase that are done
	Steps  int              // that it has; 0 where the event that says so was not seen
	Key    transcript.Key   // of an agent's or a summary's step
	Turn   *transcript.Turn // what came of the step; nil at a start, and where nothing did
}

// String reads "round 2 of 5 starts" or "critique 3/6: Ada ends".
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

// See takes the next event in. A durable one that was seen before is passed over.
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

// Phases returns a mark for each phase of the current round, of the prelude or of the conclusion, in the order in which
// they first started. It needs no function to be set. Before the first phase it returns none.
func (h *Hooks) Phases() []Mark {
	list := slices.Clone(h.phases)
	for i, m := range list {
		list[i].Done = h.done[transcript.Key{Round: m.Round, Phase: m.Phase}]
	}
	return list
}

// begin has a phase be the one at hand, and the round or the synthesis that it belongs to.
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
	if ev.Steps > 0 && h.done[at] >= ev.Steps { // another one of this name
		delete(h.done, at)
	}
	h.whole.Mark = whole
	h.phase.Mark = Mark{
		What: "phase", Stage: ev.Stage, Round: ev.Round, Rounds: ev.Rounds, Phase: ev.Phase, Done: h.done[at], Steps: ev.Steps,
	}
	h.list(h.phase.Mark)
}

// list adds a phase to those of the round, or updates the one of that name.
func (h *Hooks) list(phase Mark) {
	i := slices.IndexFunc(h.phases, func(m Mark) bool { return m.Phase == phase.Phase })
	if i < 0 {
		h.phases = append(h.phases, phase)
		return
	}
	if phase.Steps == 0 { // its start was not seen this time
		phase.Steps = h.phases[i].Steps
	}
	h.phases[i] = phase
}

// at says whether a phase is the one at hand.
func (h *Hooks) at(round int, phase string) bool {
	return h.phase.What != "" && h.phase.Round == round && h.phase.Phase == phase
}

// open tells that what is at hand has started.
func (h *Hooks) open() {
	h.tell(&h.whole)
	h.tell(&h.phase)
}

// start has a step begin. Further attempts are no other start.
func (h *Hooks) start(ev debate.TurnStarted) {
	k := ev.Key
	if slices.ContainsFunc(h.steps, func(s *span) bool { return s.Key == k }) {
		return
	}
	if !h.at(k.Round, k.Phase) { // its start was not seen
		h.begin(debate.PhaseStarted{Stage: ev.Kind, Round: k.Round, Rounds: h.phase.Rounds, Phase: k.Phase})
	}
	h.open()
	s := &span{Mark: h.step(k)}
	h.steps = append(h.steps, s)
	h.tell(s)
}

// step is the mark of a step of the phase at hand.
func (h *Hooks) step(k transcript.Key) Mark {
	m := h.phase.Mark
	m.What, m.Key = "agent", k
	if k.Actor == protocol.Summarizing || k.Phase == "digest" {
		m.What = "summary"
	}
	return m
}

// count counts a step that is done, whether it was seen to start or not. Remarks have a phase of their own.
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

// finish has a step end. One that was not seen to start, such as a remark, was nobody's.
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

// halt has the steps of an actor end of which nothing came, or of all actors.
func (h *Hooks) halt(actor string) {
	for _, s := range slices.Clone(h.steps) {
		if actor == "" || s.Key.Actor == actor {
			h.finish(s.Key, nil)
		}
	}
}

// move ends what a transition ends. What goes on after a pause starts with its next step.
func (h *Hooks) move(ev debate.StateChanged) {
	h.halt("")
	h.end(&h.phase)
	if ev.To != fsm.Judging { // which is of the same round
		h.end(&h.whole)
	}
	if ev.On == fsm.Reset {
		h.whole, h.phase, h.phases, h.done = span{}, span{}, nil, nil
	}
}

// tell tells that something has started, where somebody wants to know and was not told.
func (h *Hooks) tell(s *span) {
	if f := h.hook(s.What); f != nil && !s.told {
		s.told = true
		f(s.Mark)
	}
}

// end tells that something has ended whose start was told.
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
