package acp

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"sync"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/elenchus-go/debate/transcript"
)

// Limits of a turn.
const (
	maxSpoken = 8 << 20 // bytes of the reply and of what the agent thinks
	maxAsked  = 100     // requests for permission
)

// turn is what an agent sends while it works on one prompt. The connection adds to it, and the call takes from it.
type turn struct {
	dir        string
	permission func(transcript.Access) bool
	news       chan struct{} // has an element if there is something to take

	mu      sync.Mutex
	begun   bool // the prompt has been sent
	size    int  // bytes of all messages
	spoken  int
	asked   int
	events  []event
	read    []*looked
	usage   transcript.Usage // only the cost
	broken  bool             // the agent says that its turn has failed
	wrong   Reason           // why the turn ends before the agent ends it
	because error
}

// looked is a use of a tool.
type looked struct {
	id     string
	access transcript.Access
}

// event is a piece of what an agent says or thinks, or, if both are empty, the begin of the use of a tool.
type event struct {
	message string // its number; empty if the agent gives none
	text    string
	thought string
}

func newTurn(dir string, permission func(transcript.Access) bool) *turn {
	return &turn{dir: dir, permission: permission, news: make(chan struct{}, 1)}
}

// begin begins to take what the agent sends. What came before, such as a notice about the mode, is no part of a reply.
func (t *turn) begin() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.begun = true
}

// update adds an update of the session.
func (t *turn) update(params json.RawMessage) {
	var m struct {
		Update change `json:"update"`
	}
	if json.Unmarshal(params, &m) != nil { // an update of another version
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.begun {
		return
	}
	t.size += len(params)
	t.add(&m.Update)
	switch {
	case t.size > maxTurn:
		t.fail(Flooding, fmt.Errorf("it has sent more than %d bytes", maxTurn))
	case t.spoken > maxSpoken:
		t.fail(Flooding, fmt.Errorf("its reply has more than %d bytes", maxSpoken))
	}
	t.wake()
}

// wake tells the call that there is something to take.
func (t *turn) wake() {
	select {
	case t.news <- struct{}{}:
	default: // it has been told
	}
}

// fail ends the turn. The first reason counts.
func (t *turn) fail(reason Reason, err error) {
	if t.wrong == "" {
		t.wrong, t.because = reason, err
	}
	t.events = nil
}

// change is an update of a session. It has the fields of all kinds.
type change struct {
	Kind    string          `json:"sessionUpdate"`
	Message string          `json:"messageId"`
	Content json.RawMessage `json:"content"` // a block, or a list of what a tool has shown
	Cost    *cost           `json:"cost"`
	toolChange
	Meta struct {
		Codex struct {
			Status struct {
				Type string `json:"type"`
			} `json:"threadStatus"`
		} `json:"codex"`
	} `json:"_meta"`
}

type cost struct {
	Amount   float64 `json:"amount"`
	Currency string  `json:"currency"`
}

// toolChange is what a message says about the use of a tool. A field that is nil does not change.
type toolChange struct {
	ID     string  `json:"toolCallId"`
	Title  *string `json:"title"`
	Tool   *string `json:"kind"`
	Status *string `json:"status"`
	Places []struct {
		Path string `json:"path"`
		Line int    `json:"line"`
	} `json:"locations"`
}

// add adds an update.
func (t *turn) add(c *change) {
	switch c.Kind {
	case "agent_message_chunk":
		t.say(event{message: c.Message, text: textOf(c.Content)})
	case "agent_thought_chunk":
		t.say(event{message: c.Message, thought: textOf(c.Content)})
	case "tool_call", "tool_call_update":
		t.use(&c.toolChange)
	case "usage_update":
		if c.Cost != nil && c.Cost.Currency == "USD" && c.Cost.Amount > 0 { // built-in prices are in dollars
			t.usage.Cost = c.Cost.Amount
		}
	case "session_info_update":
		t.broken = t.broken || c.Meta.Codex.Status.Type == "systemError"
	}
}

// textOf returns the text of a block. Other blocks, such as images, have none.
func textOf(content json.RawMessage) string {
	var block struct {
		Text string `json:"text"`
	}
	_ = json.Unmarshal(content, &block)
	return block.Text
}

// say adds what the agent says or thinks.
func (t *turn) say(e event) {
	size := len(e.text) + len(e.thought)
	if size == 0 || t.wrong != "" {
		return
	}
	t.spoken += size
	t.events = append(t.events, e)
}

// use notes the use of a tool.
func (t *turn) use(c *toolChange) {
	var found *looked
	for _, l := range t.read {
		if l.id == c.ID {
			found = l
		}
	}
	if found == nil {
		const most = 1000 // the engine keeps fewer
		if len(t.read) >= most {
			return
		}
		found = &looked{id: c.ID}
		t.read = append(t.read, found)
		t.events = append(t.events, event{})
	}
	c.apply(&found.access, t.dir)
}

// apply changes an access to what a message says about it.
func (c *toolChange) apply(a *transcript.Access, dir string) {
	if c.Title != nil {
		a.Title = strings.Join(strings.Fields(*c.Title), " ")
	}
	if c.Tool != nil {
		a.Kind = *c.Tool
	}
	if c.Status != nil {
		a.Failed = *c.Status == string(sdk.ToolCallStatusFailed)
	}
	if c.Places == nil {
		return
	}
	a.Places = nil
	for _, place := range c.Places {
		a.Places = append(a.Places, transcript.Place{Path: below(dir, place.Path), Line: place.Line})
	}
}

// below returns a path relative to the folder that it is below, with slashes.
func below(dir, path string) string {
	if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
		path = rel
	}
	return filepath.ToSlash(path)
}

// decide answers a request for permission. Unless it is permitted, it chooses the option that refuses once.
func (t *turn) decide(params json.RawMessage) sdk.RequestPermissionResponse {
	var asked struct {
		Options []struct {
			ID   string `json:"optionId"`
			Kind string `json:"kind"`
		} `json:"options"`
		Tool toolChange `json:"toolCall"`
	}
	_ = json.Unmarshal(params, &asked) // without options, the answer is that the request is canceled
	wanted := []string{"reject_once", "reject_always"}
	if t.permits(&asked.Tool) {
		wanted = []string{"allow_once", "allow_always"}
	}
	for _, kind := range wanted {
		for _, option := range asked.Options {
			if option.Kind == kind {
				return sdk.RequestPermissionResponse{Outcome: sdk.NewRequestPermissionOutcomeSelected(sdk.PermissionOptionId(option.ID))}
			}
		}
	}
	return sdk.RequestPermissionResponse{Outcome: sdk.NewRequestPermissionOutcomeCancelled()}
}

// permits reports whether the agent may use a tool.
func (t *turn) permits(c *toolChange) bool {
	var access transcript.Access
	t.mu.Lock()
	t.asked++
	if t.asked > maxAsked {
		t.fail(Insisting, fmt.Errorf("it has asked for permission %d times", t.asked))
	}
	for _, l := range t.read {
		if l.id == c.ID {
			access = l.access
		}
	}
	t.wake()
	t.mu.Unlock()
	if t.permission == nil {
		return false
	}
	c.apply(&access, t.dir)
	return t.permission(access)
}

// take returns what has come since the last call, and why the turn ends early, if it does.
func (t *turn) take() (list []event, wrong Reason, because error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	list = t.events
	t.events = nil
	return list, t.wrong, t.because
}

// accesses returns what the agent has looked at. Thinking is a tool of some agents, and looks at nothing.
func (t *turn) accesses() (list []transcript.Access) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, l := range t.read {
		switch sdk.ToolKind(l.access.Kind) {
		case sdk.ToolKindThink, sdk.ToolKindSwitchMode:
		default:
			list = append(list, l.access)
		}
	}
	return list
}

// result returns the cost, and whether the agent says that its turn has failed.
func (t *turn) result() (spent float64, failed bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.usage.Cost, t.broken
}
