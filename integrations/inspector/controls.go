package inspector

import (
	"slices"

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

// controlsOf returns the controls with the reasons of those that the debate refuses.
func controlsOf(h *history) []control {
	list := slices.Clone(controlNames)
	for i := range list {
		list[i].Reason = reason(list[i].Name, h)
	}
	return list
}

// reason returns why a debate refuses a control, or "" if it does not.
func reason(name string, h *history) string {
	state, question := h.status.State, h.result.Question
	on := fsm.Event(name)
	if name == "start" && state == fsm.Configuring {
		on = fsm.Validate
	}
	concluding := h.status.Cursor.Stage == transcript.Conclusion
	switch err := h.last.Refusal(on); {
	case name == "pause" && state == fsm.Paused && question == nil && !h.held: // holds a debate that waits for people
	case name == "resume" && state == fsm.Paused && question == nil && h.held: // lets replies continue it again
	case name == "stop" && concluding && question != nil && question.Gate != "":
		return "The conclusion is next already; the open question decides whether it begins."
	case name == "stop" && concluding && len(h.status.Waiting) > 0: // declines what people are asked
	case err != nil:
		return err.Error()
	}
	return ""
}
