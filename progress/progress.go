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
// on afterwards starts again.
package progress

import (
	"fmt"

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
	Summary   func(Mark) // likewise, of whoever makes summaries
	Synthesis func(Mark) // the conclusion: a verdict, a solution, a decision

	round     *Mark
	phase     *Mark
	synthesis *Mark
	steps     []Mark // in flight
}

// Mark is a start or an end.
type Mark struct {
	What   string           // "round", "phase", "agent", "summary" or "synthesis"
	End    bool             // else it starts
	Round  int              // 0 before the first
	Rounds int              // the limit
	Phase  string           // empty for rounds and the synthesis
	Done   int              // steps of the phase that are done
	Steps  int              // that it has
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

// See takes the next event in.
func (h *Hooks) See(ev debate.Event) {
	switch ev := ev.(type) {
	case debate.PhaseStarted:
		h.begin(ev)
	case debate.TurnStarted:
		h.start(ev.Key)
	case debate.TurnDone:
		h.finish(ev.Turn.Key, &ev.Turn)
	case debate.TurnFailed:
		if ev.Again < 0 {
			h.finish(ev.Key, nil)
		}
	case debate.StateChanged:
		h.move(ev)
	}
}

func (h *Hooks) begin(ev debate.PhaseStarted) {
	m := Mark{Round: ev.Round, Rounds: ev.Rounds, Phase: ev.Phase, Steps: ev.Steps}
	if h.phase != nil && (h.phase.Phase != m.Phase || h.phase.Round != m.Round) {
		h.endPhase()
	}
	switch {
	case ev.Stage == transcript.Conclusion && h.synthesis == nil:
		h.endRound()
		h.synthesis = h.open(h.Synthesis, Mark{What: "synthesis", Round: ev.Round, Rounds: ev.Rounds})
	case ev.Stage != transcript.Prelude && ev.Stage != transcript.Conclusion && (h.round == nil || h.round.Round != ev.Round):
		h.endRound()
		h.round = h.open(h.Round, Mark{What: "round", Round: ev.Round, Rounds: ev.Rounds})
	}
	if h.phase == nil { // else it goes on
		m.What = "phase"
		h.phase = h.open(h.Phase, m)
	}
}

// start has a step begin. Further attempts are no other start.
func (h *Hooks) start(k transcript.Key) {
	for _, m := range h.steps {
		if m.Key == k {
			return
		}
	}
	m := h.step(k)
	h.steps = append(h.steps, m)
	tell(h.hook(m), m)
}

// step is the mark of a step of the phase at hand.
func (h *Hooks) step(k transcript.Key) Mark {
	m := Mark{What: "agent", Round: k.Round, Phase: k.Phase, Key: k}
	if h.phase != nil {
		m.Rounds, m.Done, m.Steps = h.phase.Rounds, h.phase.Done, h.phase.Steps
	}
	if k.Actor == protocol.Summarizing {
		m.What = "summary"
	}
	return m
}

// finish has a step end. One that was not seen to start, such as a remark, was nobody's.
func (h *Hooks) finish(k transcript.Key, t *transcript.Turn) {
	for i, m := range h.steps {
		if m.Key != k {
			continue
		}
		h.steps = append(h.steps[:i:i], h.steps[i+1:]...)
		if h.phase != nil && h.phase.Phase == k.Phase && t != nil {
			h.phase.Done++
		}
		m = h.step(k)
		m.End, m.Turn = true, t
		tell(h.hook(m), m)
		break
	}
	if h.phase != nil && h.phase.Done >= h.phase.Steps {
		h.endPhase()
	}
}

// move ends what a transition ends.
func (h *Hooks) move(ev debate.StateChanged) {
	switch ev.To {
	case fsm.Judging: // of the same round
		h.endPhase()
	case fsm.RoundComplete, fsm.Awaiting, fsm.Completing:
		if ev.On != fsm.Resume {
			h.endRound()
		}
	case fsm.Paused, fsm.Error, fsm.Completed, fsm.Canceled:
		for len(h.steps) > 0 {
			h.finish(h.steps[0].Key, nil)
		}
		h.endRound()
		h.end(h.Synthesis, &h.synthesis)
	default:
	}
}

func (h *Hooks) endPhase() { h.end(h.Phase, &h.phase) }

func (h *Hooks) endRound() {
	h.endPhase()
	h.end(h.Round, &h.round)
}

func (h *Hooks) hook(m Mark) func(Mark) {
	if m.What == "summary" {
		return h.Summary
	}
	return h.Agent
}

func (h *Hooks) open(f func(Mark), m Mark) *Mark {
	tell(f, m)
	return &m
}

// end ends what is open.
func (h *Hooks) end(f func(Mark), open **Mark) {
	if m := *open; m != nil {
		m.End, *open = true, nil
		tell(f, *m)
	}
}

func tell(f func(Mark), m Mark) {
	if f != nil {
		f(m)
	}
}
