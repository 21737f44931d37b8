package inspector

import (
	"errors"
	"slices"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/transcript"
)

// A control is a button that changes a debate's state.
type control struct {
	Name   string // last part of the address of the form
	Title  string
	Effect string // what the control does
	Reason string // why the debate's state does not allow it; empty if it does
}

// controlNames lists the controls in the order of the page.
var controlNames = []control{
	{Name: "start", Title: "Start", Effect: "check the configuration and run the debate"},
	{Name: "pause", Title: "Pause", Effect: "start no new steps"},
	{Name: "resume", Title: "Resume", Effect: "continue after a pause"},
	{Name: "stop", Title: "Stop", Effect: "end with a conclusion from the turns so far"},
	{Name: "cancel", Title: "Cancel", Effect: "end at once, without a conclusion"},
	{Name: "retry", Title: "Retry", Effect: "continue with the step that failed"},
	{Name: "reset", Title: "Reset", Effect: "go back to the configuration for a new run"},
}

// controls returns the controls with the reasons of those that the debate refuses.
func (v *visit) controls(h *history) ([]control, error) {
	facts := fsm.Facts{
		ValidConfig: true, // a debate that is ready is valid; a start checks one that is not
		Recoverable: h.result.Failure != nil && h.result.Failure.Recoverable, NoOpenQuestion: h.result.Question == nil,
	}
	if h.status.State == fsm.Paused && len(h.status.Waiting) > 0 {
		models, err := v.debate.Preview(v.r.Context()) // the steps of people are not in it
		if err != nil && !errors.Is(err, debate.ErrUnsupported) {
			return nil, err
		}
		facts.AwaitsPeople = len(models) == 0
	}
	list := slices.Clone(controlNames)
	for i := range list {
		list[i].Reason = reason(list[i].Name, h, facts)
	}
	return list, nil
}

// reason returns why a debate refuses a control, or "" if it does not.
func reason(name string, h *history, facts fsm.Facts) string {
	event := fsm.Event(name)
	if name == "start" && h.position.State == fsm.Configuring {
		event = fsm.Validate
	}
	_, err := fsm.Next(h.position, event, facts)
	waits := h.position.State == fsm.Paused && facts.NoOpenQuestion
	switch {
	case name == "pause" && waits && !h.held, name == "resume" && waits && h.held && facts.AwaitsPeople:
		return "" // holds a debate that waits for people, or no longer
	case name == "stop" && h.status.Cursor.Stage == transcript.Conclusion && !h.status.State.Final() && err == nil && len(h.status.Waiting) == 0:
		return "the conclusion has begun"
	case name == "stop" && h.status.Cursor.Stage == transcript.Conclusion && len(h.status.Waiting) > 0:
		return "" // declines what people are asked
	case err != nil:
		return err.Error()
	}
	return ""
}
