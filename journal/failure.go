package journal

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/elenchus-go/debate/internal/reasoning"
	"github.com/elenchus-go/debate/internal/toolcall"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/tool"
	"github.com/elenchus-go/debate/transcript"
)

// Problems lists everything that is wrong with a configuration, a remark, an annotation or the edits of a fork, field by
// field.
type Problems struct {
	List []protocol.Problem `json:"list"`

	// Subject is what the fields belong to. Defaults to "configuration".
	Subject string `json:"-"`
}

// Error returns one line for each problem.
func (p *Problems) Error() string {
	lines := make([]string, len(p.List))
	for i, x := range p.List {
		lines[i] = x.String()
	}
	return "check " + cmp.Or(p.Subject, "configuration") + ": " + strings.Join(lines, "\n")
}

// Failure describes why a step failed after all attempts. It stops the debate in an error or drops the actor,
// depending on the policy.
type Failure struct {
	Key            transcript.Key       `json:"key"`  // the step
	Kind           providers.ErrorKind  `json:"kind"` // the kind of the last error
	Provider       string               `json:"provider,omitempty"`
	Model          string               `json:"model,omitempty"`
	Attempts       int                  `json:"attempts"`
	AttemptDetails []transcript.Attempt `json:"attempt_details,omitempty"` // in order, each with its usage
	Started        time.Time            `json:"started,omitzero"`          // start of the first attempt
	At             time.Time            `json:"at,omitzero"`               // end of the last attempt
	Message        string               `json:"message"`                   // text of the last error
	Stack          string               `json:"stack,omitempty"`           // where the program's code panicked, up to 8 kB; not in reports
	Recoverable    bool                 `json:"recoverable"`               // whether Retry is possible
	// Unreachable says that the provider could not be reached: for as long as the time budget allowed or, if it has never
	// answered, on the first call of Run.
	Unreachable   bool          `json:"unreachable,omitempty"`
	OnlyReasoning bool          `json:"only_reasoning,omitempty"` // the model reasoned and wrote no reply
	OutOfTime     bool          `json:"out_of_time,omitempty"`    // the time budget was used up, so that the step could not try again
	RetryAfter    time.Duration `json:"retry_after,omitempty"`    // the wait that the service asks for, if the debate has less time left

	// Cause is the last error, such as a *providers.Error. It is nil if the failure was read from the store.
	Cause error `json:"-"`
}

// Error returns a message that names the step, the provider, the model and the cause.
func (f *Failure) Error() string {
	if f.Key.Actor == "" { // the panic of a protocol or a hook
		return fmt.Sprintf("plan round %d: %s", f.Key.Round, f.Message)
	}
	s := fmt.Sprintf("run step %s of %s in round %d", f.Key.Phase, f.Key.Actor, f.Key.Round)
	if f.Provider != "" {
		s += fmt.Sprintf(": call provider %s", f.Provider)
	}
	if f.Model != "" {
		s += fmt.Sprintf(", model %s", f.Model)
	}
	if f.Attempts > 1 {
		s += fmt.Sprintf(" (%d attempts)", f.Attempts)
	}
	return s + ": " + f.Message
}

// Usage returns what all attempts used.
func (f *Failure) Usage() (u transcript.Usage) {
	for _, a := range f.AttemptDetails {
		u = u.Add(a.Usage)
	}
	return u
}

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Cause }

// Hint returns advice on how to fix the failure, in terms of the API of package debate.
func (f *Failure) Hint() string {
	if f.Kind == providers.Panic {
		return "code that the debate calls panicked: see Failure.Stack, correct the code, then Retry"
	}
	if f.Kind == providers.Declined {
		return fmt.Sprintf("%s gives no reply: Retry asks again, or Edit the debate", f.Key.Actor)
	}
	if f.Provider == "" { // no model was called
		return fmt.Sprintf(
			"step %s of %s cannot run: add what the message names to Options, or Edit the debate, then Retry",
			f.Key.Phase,
			f.Key.Actor,
		)
	}
	about := f.modelHint()
	if about == "" {
		about = f.serviceHint()
	}
	return about
}

// modelHint returns advice about what the model said. It returns "" for the failure of a service.
func (f *Failure) modelHint() string {
	switch f.Kind { //nolint:exhaustive // the others are failures of the service
	case providers.ContentFiltered:
		return fmt.Sprintf(
			"provider %s filters what model %q should read or wrote: change the topic or the wording, or choose another model, then Retry",
			f.Provider,
			f.Model,
		)
	case providers.ContextOverflow:
		return fmt.Sprintf(
			"the prompt is too long for model %q: lower the Window of %s, or choose a model with a larger context window",
			f.Model,
			f.Key.Actor,
		)
	case providers.Timeout:
		return fmt.Sprintf(
			"model %q is too slow for the timeouts: raise Limits.StepTimeout, or choose a faster model",
			f.Model,
		)
	case providers.InvalidResponse:
		if f.OnlyReasoning {
			return fmt.Sprintf("model %q reasons and writes no reply: %s, then Retry", f.Model, reasoning.Less(f.Key.Actor))
		}
		return fmt.Sprintf(
			"model %q gives no usable reply: choose a model that follows a format, or raise its token limit",
			f.Model,
		)
	case providers.Loop:
		return fmt.Sprintf(
			"model %q repeats itself without end: choose another model, or another temperature for %s, then Retry",
			f.Model,
			f.Key.Actor,
		)
	case providers.Refused:
		return fmt.Sprintf(
			"model %q declines to speak for %s: choose another model, put the topic in other words, "+
				"or set OnRefusal to continue, then Retry",
			f.Model,
			f.Key.Actor,
		)
	}
	return ""
}

// serviceHint returns advice about the service of a model.
func (f *Failure) serviceHint() string {
	switch f.Kind { //nolint:exhaustive // the others are of the model
	case providers.Authentication:
		return fmt.Sprintf("provider %s rejects its key: set a valid one in Options.Providers, then Retry", f.Provider)
	case providers.Billing:
		return fmt.Sprintf(
			"provider %s does not serve this account: check its credit, its plan and the region, "+
				"or set another key in Options.Providers, then Retry",
			f.Provider,
		)
	case providers.InvalidRequest:
		return fmt.Sprintf(
			"provider %s rejects the request: check that it has a model %q and that the parameters fit the model, "+
				"Edit the debate, then Retry",
			f.Provider,
			f.Model,
		)
	case providers.WrongAddress:
		return fmt.Sprintf(
			"a web page answers at the address of provider %s: set the address of its API in Options.Providers, then Retry",
			f.Provider,
		)
	case providers.RateLimit:
		if f.RetryAfter > 0 {
			return fmt.Sprintf("provider %s accepts no more calls for %v: Retry after that, set another key in Options.Providers, "+
				"or choose a model of another provider", f.Provider, f.RetryAfter.Round(time.Minute))
		}
		return fmt.Sprintf(
			"provider %s limits the rate of calls: Retry later, raise its limits, or set a lower rate with a middleware",
			f.Provider,
		)
	case providers.Network:
		if f.Unreachable {
			return fmt.Sprintf(
				"provider %s cannot be reached: start it, or check its address and the network, then Retry; all participants continue",
				f.Provider,
			)
		}
		return fmt.Sprintf(
			"provider %s cannot be reached, or the connection broke: check its address and the network, then Retry",
			f.Provider,
		)
	case providers.OutOfMemory:
		return fmt.Sprintf(
			"provider %s has too little memory for model %q: choose a smaller model, "+
				"or a smaller context window (NumCtx of package providers/ollama), or free memory on the server, then Retry",
			f.Provider,
			f.Model,
		)
	}
	return fmt.Sprintf("provider %s failed: see its message; Retry may help", f.Provider)
}

// Question asks a person for a decision. The debate is paused until Debate.Decide answers it.
type Question struct {
	ID      string   `json:"id"` // unique in the debate; an argument for Decide
	Cause   string   `json:"cause"`
	Failure *Failure `json:"failure,omitempty"`
	// Gate is the gate that asks, such as "round 2", "verdict" or "cost". It is empty for a failure.
	Gate string `json:"gate,omitempty"`
	// Call is the call of a tool about which the person decides, and Step the step that makes it.
	Step    transcript.Key `json:"step,omitzero"`
	Call    *tool.Record   `json:"call,omitempty"`
	Choices []Choice       `json:"choices"`
}

// String returns what the person has to know: the cause, and below it the arguments of a call, whole and as indented JSON.
// Models wrote the arguments: escape them where you show them.
func (q *Question) String() string {
	if q.Call == nil {
		return q.Cause
	}
	return q.Cause + " with these arguments:\n" + toolcall.Readable(q.Call.Arguments)
}

// Choice is a possible answer to a question.
type Choice struct {
	Action      string `json:"action"` // the argument for Decide
	Label       string `json:"label"`
	Description string `json:"description"`
}
