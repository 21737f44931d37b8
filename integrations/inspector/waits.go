package inspector

import (
	"fmt"
	"strings"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/integrations/debatehttp"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// An advice says what a debate waits for, and what a person can do.
type advice struct {
	Kind string // "people", "paused", "failure", "refused", "new" or "limit"
	Text string
	Then string // what to do, in a sentence
}

// adviceOn returns what a debate waits for, or nil if it waits for nothing, or for a decision, which has a form of its own.
func (v *visit) adviceOn(h *history) *advice {
	r, state := h.result, h.status.State
	switch {
	case r.Question != nil:
		return nil
	case len(h.status.Waiting) > 0 && !h.held:
		return &advice{
			"people", "The debate waits for " + joinNames(h.status.Waiting) + ".",
			"Take the seat, and reply in this page. The debate goes on by itself.",
		}
	case state == fsm.Error && r.Failure != nil:
		return &advice{"failure", "The debate cannot go on: " + r.Failure.Error() + ".", sentence(upper(v.Hint(r.Failure))) +
			" Then press Retry."}
	case len(r.Problems) > 0:
		return &advice{
			"refused", "The debate could not begin.",
			"Remove the cause below, then press Start. To change the debate itself, use it as a template.",
		}
	case state == fsm.Paused && len(h.status.Waiting) == 0 || h.held:
		return &advice{"paused", "A person has paused the debate.", "Press Resume to go on."}
	case state == fsm.Configuring || state == fsm.Ready:
		return &advice{"new", "The debate has not begun.", "Press Start."}
	}
	return adviceOnLimit(r.Ending.Outcome)
}

// limits says which limit an outcome comes from. A limit of rounds is the usual end of a debate, and none of these.
var limits = map[transcript.Outcome]string{
	transcript.CostBudget: "costs", transcript.TokenBudget: "tokens", transcript.TimeBudget: "time",
}

// adviceOnLimit returns what to do about a debate that a limit has ended early, or nil if none has.
func adviceOnLimit(o transcript.Outcome) *advice {
	limit, ok := limits[o]
	if !ok {
		return nil
	}
	return &advice{
		"limit", "The limit of " + limit + " has ended the debate early.",
		"The answer comes from what was said until then. To debate longer, use this debate as a template, with a larger limit.",
	}
}

// upper returns a text with a capital letter at its beginning.
func upper(text string) string {
	if text == "" {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// joinNames returns names as a sentence lists them.
func joinNames(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// maxLine limits the answer of a debate in a list, in bytes.
const maxLine = 140

// lineOf returns what a list says of a debate, as far as the visitor may see it.
func (v *visit) lineOf(s store.Status) line {
	if text := waitsOf(s); text != "" {
		return line{Waits: text}
	}
	if !s.State.Final() && s.State != fsm.Paused || v.allow(&debatehttp.Access{Action: debatehttp.Result, Debate: s}) != nil {
		return line{}
	}
	key := lineKey{s.ID, s.Created.UnixNano(), s.Seq}
	return v.site.lines.get(key, func() (line, bool) {
		d, err := v.engine.Open(v.r.Context(), s.ID)
		if err != nil {
			return line{}, false // it was deleted meanwhile, or is damaged, which its own page says
		}
		r, err := d.Result(v.r.Context())
		if err != nil {
			return line{}, false
		}
		return lineFrom(r), true
	})
}

// lineFrom returns what a list says of the result of a debate that has ended or is paused.
func lineFrom(r *debate.Result) line {
	switch {
	case r.State.Final():
		return line{Answer: oneLine(r.Answer.Text)}
	case r.Question != nil:
		return line{Waits: "waits for a decision: " + cut(r.Question.Cause, maxLine)}
	}
	return line{Waits: "waits until a person resumes it"}
}

// waitsOf returns for whom or what a debate waits, as far as its status tells.
func waitsOf(s store.Status) string {
	switch {
	case len(s.Waiting) > 0:
		return "waits for " + joinNames(s.Waiting)
	case s.FailureKind == "rejected":
		return "waits for a change: its start was refused"
	case s.FailureKind == "authentication":
		return "waits for a valid key"
	case s.State == fsm.Error:
		return fmt.Sprintf("waits for a retry, after the failure %s", words(s.FailureKind))
	case s.State == fsm.Configuring || s.State == fsm.Ready:
		return "waits to be started"
	}
	return ""
}

// oneLine returns the beginning of a text in one line.
func oneLine(text string) string {
	return cut(strings.Join(strings.Fields(text), " "), maxLine)
}
