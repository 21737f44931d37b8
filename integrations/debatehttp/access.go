package debatehttp

import (
	"context"
	"errors"
	"maps"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/store"
)

// Action is what a client wants to do.
type Action string

// The actions. Each belongs to the requests that the OpenAPI document lists under it.
const (
	Launch     Action = "launch"      // create and start a debate; also a chat completion
	List       Action = "list"        // list debates
	Inbox      Action = "inbox"       // list what debates ask the person who speaks for a seat
	Models     Action = "models"      // list the models of chat completions
	Status     Action = "status"      // read the status of a debate
	Result     Action = "result"      // read the result of a debate, which includes its background
	Report     Action = "report"      // read a report without prompts
	FullReport Action = "full_report" // read a report with the configuration and everything else
	Watch      Action = "watch"       // follow the events of a debate, which include its configuration
	Prompt     Action = "prompt"      // read what a step was asked with, which includes instructions that nobody else sees
	Waiting    Action = "waiting"     // read what a debate asks people
	Answer     Action = "answer"      // reply to a step of a person
	Decline    Action = "decline"     // give no reply to a step of a person
	Inject     Action = "inject"      // add a remark
	Annotate   Action = "annotate"    // store a note
	Decide     Action = "decide"      // answer a question of a debate
	Edit       Action = "edit"        // replace the configuration
	Fork       Action = "fork"        // create a debate from the first entries of another one, with everything that was said in it
	Start      Action = "start"       // drive a debate
	Pause      Action = "pause"       // start no new steps
	Resume     Action = "resume"      // continue a paused debate
	Stop       Action = "stop"        // end a debate with a conclusion
	Cancel     Action = "cancel"      // end a debate without a conclusion
	Retry      Action = "retry"       // continue a debate in error
	Reset      Action = "reset"       // take a debate in error back to its configuration
	Delete     Action = "delete"      // remove a debate
)

// Changes reports whether the action changes or creates a debate.
func (a Action) Changes() bool {
	switch a {
	case List, Inbox, Models, Status, Result, Report, FullReport, Watch, Prompt, Waiting:
		return false
	case Launch, Answer, Decline, Inject, Annotate, Decide, Edit, Fork, Start, Pause, Resume, Stop, Cancel, Retry, Reset, Delete:
	}
	return true
}

// Access is what a client asks for. Options.Authorize decides whether the client gets it.
type Access struct {
	Principal string // who asks, as Options.Principal tells; empty without that function
	Action    Action
	Host      string // host of the server as the request names it, with the port if there is one; see AllowEveryone
	// Debate is the status of the debate. It is zero for Launch, List, Inbox and Models.
	Debate store.Status
	// Seat is the participant or judge for whom the client speaks, in Answer, Decline, Inbox and Waiting, or whose view it
	// wants, in Watch and Prompt. In Inject and Decide it is the name under which the remark appears. It is empty if there is none.
	Seat string
	// Query selects the debates of List and Inbox. Add conditions to it to show fewer debates, such as a label.
	Query *store.Query
	// Config is the configuration in Launch and Edit. You may change it, for example add a label. In Fork it is the edited
	// configuration. If the client edits none, it has only the ID and the labels of the fork, and other fields have no
	// effect.
	Config *debate.Config
}

// AllowEveryone allows everything to everyone. Use it as Options.Authorize. Everyone who can reach the handler can then run
// debates at your expense, and read and delete all debates.
//
// At a loopback address, it refuses requests for other hosts, as [CheckHost] does. If a proxy on the same machine sends you
// such requests, use a function of your own that returns nil.
func AllowEveryone(ctx context.Context, a *Access) error {
	if isForeign(ctx, a.Host) {
		return foreignHost()
	}
	return nil
}

// OwnersOnly returns a function for Options.Authorize by which each principal sees and controls only the debates that it
// has launched, and their forks. The label with the given name holds the principal, and clients cannot change it. For everyone else the
// debates do not exist. Therefore clients cannot choose ids: a refusal would tell that an id is taken. They can find a
// debate again with an Idempotency-Key. An empty principal may do nothing.
func OwnersOnly(label string) func(context.Context, *Access) error {
	return func(_ context.Context, a *Access) error {
		switch {
		case a.Principal == "":
			return errors.New("there is no principal")
		case a.Action == Launch && a.Config.ID != "":
			return chosenID()
		case a.Action == Launch:
			a.Config.Labels = withLabel(a.Config.Labels, label, a.Principal)
		case a.Query != nil:
			a.Query.Labels = withLabel(a.Query.Labels, label, a.Principal)
		case a.Action == Models:
		case a.Debate.Labels[label] != a.Principal:
			return store.ErrNotFound
		case a.Action == Fork && a.Config.ID != "":
			return chosenID()
		case a.Config != nil:
			a.Config.Labels = withLabel(a.Config.Labels, label, a.Principal)
		}
		return nil
	}
}

// chosenID returns the problem of a client that has chosen an ID.
func chosenID() *Problem {
	return invalid("id", "the server chooses the ids, leave it out; with an Idempotency-Key you find the debate again")
}

// withLabel returns a copy of labels with one more label.
func withLabel(labels map[string]string, name, value string) map[string]string {
	labels = maps.Clone(labels)
	if labels == nil {
		labels = map[string]string{}
	}
	labels[name] = value
	return labels
}
