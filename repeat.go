package debate

import (
	"time"

	"github.com/elenchus-go/debate/detect"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/transcript"
)

// repetition returns the next entry of the course of a rejudged debate, as the debate has it. It returns nil if the judges must
// be asked first, and in any other debate. stampOf stamps the entry, and ending returns why the debate would end after the round.
func repetition(r *record, now time.Time, stampOf func(kind string) EventMeta, ending func(found ...detect.Finding) transcript.Ending) Event {
	if !r.onCourse() || r.lifecycle.State == fsm.Paused || r.course.asks() && len(r.next()) > 0 {
		return nil
	}
	ev := r.course.next(r.isParticipating)
	stamp := func() EventMeta {
		m := stampOf(ev.Meta().Type)
		m.Repeats = ev.Meta().Seq
		return m
	}
	switch ev := ev.(type) {
	case StateChanged:
		ev.Instead = instead(r, &ev, ending)
		ev.EventMeta, ev.At, ev.From = stamp(), now, r.lifecycle.State
		return ev
	case PhaseStarted:
		ev.EventMeta, ev.At, ev.Summary = stamp(), now, r.course.summary(ev.Summary)
		return ev
	case TurnDone:
		visible := r.course.seqOf(ev.Turn.VisibleSeq)
		if ev.PromptSeq = r.course.seqOf(ev.PromptSeq); ev.Turn.Kind == transcript.Remark {
			visible = r.Seq
		}
		ev.EventMeta, ev.At = stamp(), now
		ev.Turn.Seq, ev.Turn.VisibleSeq = ev.Seq, visible
		return ev
	case Dropped:
		ev.EventMeta, ev.At = stamp(), now
		return ev
	case ToolsCalled:
		ev.EventMeta, ev.At, ev.VisibleSeq = stamp(), now, r.course.seqOf(ev.VisibleSeq)
		return ev
	}
	return nil
}

// instead returns what the judges of a rejudged debate would have decided at a transition of its course, or nil if they would
// have decided the same.
func instead(r *record, ev *StateChanged, ending func(found ...detect.Finding) transcript.Ending) *transcript.Ending {
	if ev.On != fsm.Assessed && ev.On != fsm.Advance || r.Ending.Outcome != "" || r.course.departed(r.Cursor.Round) {
		return nil
	}
	is := ending(ev.Findings...)
	byLimit := is.Outcome == transcript.RoundLimit || is.Outcome == "" && ev.Ending.Outcome == transcript.RoundLimit
	if is.Outcome == ev.Ending.Outcome || byLimit {
		return nil
	}
	is.Round = r.Cursor.Round
	return &is
}
