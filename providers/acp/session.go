package acp

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/elenchus-go/debate/providers"
)

// session is a conversation with an agent. A call has one of its own.
type session struct {
	agent    *process
	id       string
	modes    *choices
	models   *choices
	options  []option
	model    string // that the session has
	warnings []string
}

// choices are the modes or the models of a session.
type choices struct {
	current string
	all     []string
}

// option is a setting of a session. Its category says what it is about.
type option struct {
	ID       string          `json:"id"`
	Category string          `json:"category"`
	Current  json.RawMessage `json:"currentValue"`
	Values   []struct {
		Value   string                   `json:"value"`
		Members []struct{ Value string } `json:"options"` // of a group
	} `json:"options"`
}

// The categories of options.
const (
	modeOption   = "mode"
	modelOption  = "model"
	effortOption = "thought_level"
)

// values returns what can be chosen.
func (o *option) values() (list []string) {
	for _, v := range o.Values {
		if v.Value != "" {
			list = append(list, v.Value)
		}
		for _, m := range v.Members {
			list = append(list, m.Value)
		}
	}
	return list
}

// current returns what is chosen.
func (o *option) current() string {
	var value string
	_ = json.Unmarshal(o.Current, &value) // a switch has no text
	return value
}

// openSession opens a session in the mode, with the model and the effort that a request names.
func openSession(ctx context.Context, p *process, model, reasoning string) (*session, error) {
	var got struct {
		ID    string `json:"sessionId"`
		Modes *struct {
			Current string `json:"currentModeId"`
			All     []struct {
				ID string `json:"id"`
			} `json:"availableModes"`
		} `json:"modes"`
		Models *struct {
			Current string `json:"currentModelId"`
			All     []struct {
				ID string `json:"modelId"`
			} `json:"availableModels"`
		} `json:"models"`
		Options []option `json:"configOptions"`
	}
	raw, err := call[json.RawMessage](ctx, p, sdk.AgentMethodSessionNew, sdk.NewSessionRequest{
		Meta: p.config.Session, Cwd: p.dir, McpServers: []sdk.McpServer{},
	})
	if err != nil {
		return nil, err
	}
	err = json.Unmarshal(raw, &got)
	if err != nil || got.ID == "" {
		return nil, p.config.failure(NotProtocol, fmt.Errorf("its answer to %s is not valid", sdk.AgentMethodSessionNew))
	}
	s := &session{agent: p, id: got.ID, options: got.Options}
	if got.Modes != nil {
		s.modes = &choices{current: got.Modes.Current}
		for _, m := range got.Modes.All {
			s.modes.all = append(s.modes.all, m.ID)
		}
	}
	if got.Models != nil {
		s.models = &choices{current: got.Models.Current}
		for _, m := range got.Models.All {
			s.models.all = append(s.models.all, m.ID)
		}
	}
	err = s.configure(ctx, model, reasoning)
	if err != nil {
		s.close(ctx)
		return nil, err
	}
	return s, nil
}

// configure sets mode, model and effort.
func (s *session) configure(ctx context.Context, model, reasoning string) error {
	if err := s.setMode(ctx, s.agent.config.Mode); err != nil {
		return err
	}
	if err := s.setModel(ctx, model); err != nil {
		return err
	}
	return s.setEffort(ctx, reasoning)
}

// option returns the option of a category, or nil.
func (s *session) option(category string) *option {
	at := slices.IndexFunc(s.options, func(o option) bool { return o.Category == category })
	if at < 0 {
		return nil
	}
	return &s.options[at]
}

// set chooses a value of an option. The others may change with it.
func (s *session) set(ctx context.Context, o *option, value string) error {
	type answer struct {
		Options []option `json:"configOptions"`
	}
	got, err := call[answer](ctx, s.agent, sdk.AgentMethodSessionSetConfigOption, sdk.SetSessionConfigOptionValueId{
		SessionId: sdk.SessionId(s.id), ConfigId: sdk.SessionConfigId(o.ID), Value: sdk.SessionConfigValueId(value),
	})
	if err == nil && got.Options != nil {
		s.options = got.Options
	}
	return err
}

// setMode sets the mode. A mode that the agent does not have is an error, because another one may permit more.
func (s *session) setMode(ctx context.Context, mode string) error {
	if mode == "" || s.modes != nil && s.modes.current == mode {
		return nil
	}
	o := s.option(modeOption)
	switch {
	case s.modes != nil && slices.Contains(s.modes.all, mode):
		_, err := call[json.RawMessage](ctx, s.agent, sdk.AgentMethodSessionSetMode, sdk.SetSessionModeRequest{
			SessionId: sdk.SessionId(s.id), ModeId: sdk.SessionModeId(mode),
		})
		return err
	case s.modes != nil:
		return s.refuse("mode", mode, s.modes.all)
	case o != nil && slices.Contains(o.values(), mode):
		return s.set(ctx, o, mode)
	case o != nil:
		return s.refuse("mode", mode, o.values())
	}
	return s.refuse("mode", mode, nil)
}

// refuse returns the error of a setting that the agent does not have.
func (s *session) refuse(what, value string, all []string) error {
	err := fmt.Errorf("agent %s has no %s %q, use one of %s", s.agent.config.program(), what, value, strings.Join(all, ", "))
	if len(all) == 0 {
		err = fmt.Errorf("agent %s has no %s to choose, want %q", s.agent.config.program(), what, value)
	}
	return &providers.Error{Kind: providers.InvalidRequest, Err: err}
}

// setModel sets the model. The agent decides whether it knows one that it does not list, because lists are incomplete.
func (s *session) setModel(ctx context.Context, model string) error {
	var err error
	o := s.option(modelOption)
	switch {
	case o != nil && (model == "" || model == o.current()):
		s.model = o.current()
		return nil
	case o != nil:
		err = s.set(ctx, o, model)
	case s.models != nil && (model == "" || model == s.models.current):
		s.model = s.models.current
		return nil
	case s.models != nil:
		_, err = call[json.RawMessage](ctx, s.agent, sdk.AgentMethodSessionSetModel, sdk.UnstableSetSessionModelRequest{
			SessionId: sdk.SessionId(s.id), ModelId: sdk.UnstableModelId(model),
		})
	case model != "":
		return s.refuse("model", model, nil)
	}
	s.model = model
	if refused, ok := err.(*agentError); ok { //nolint:errorlint // any other error is no answer
		var all []string
		if o != nil {
			all = o.values()
		} else {
			all = s.models.all
		}
		return &providers.Error{Kind: providers.InvalidRequest, Err: fmt.Errorf("%w: %w", s.refuse("model", model, all), refused)}
	}
	return err
}

// efforts are the words of agents for effort, in order.
var efforts = []string{"none", "minimal", "low", "medium", "high", "xhigh", "max"}

// setEffort sets how much the model reasons. If the agent lacks the word, it chooses the nearest one.
func (s *session) setEffort(ctx context.Context, reasoning string) error {
	if reasoning == "" {
		return nil
	}
	o := s.option(effortOption)
	value := ""
	if o != nil {
		value = nearest(effortOf(reasoning), o.values())
	}
	if value == "" {
		s.warnings = append(s.warnings, fmt.Sprintf("agent %s has no setting for reasoning with this model, so it chooses itself",
			s.agent.config.program()))
		return nil
	}
	if value == o.current() {
		return nil
	}
	return s.set(ctx, o, value)
}

// effortOf returns the word for a budget in tokens, or the word itself.
func effortOf(reasoning string) string {
	const low, medium = 2048, 8192
	budget, err := strconv.Atoi(reasoning)
	switch {
	case err != nil:
		return reasoning
	case budget <= 0:
		return "none"
	case budget <= low:
		return "low"
	case budget <= medium:
		return "medium"
	}
	return "high"
}

// nearest returns the value that is nearest to a word, or an empty one if no value is a word for effort.
func nearest(word string, values []string) (found string) {
	at := slices.Index(efforts, word)
	least := len(efforts)
	for i, w := range efforts {
		distance := max(i-at, at-i)
		if slices.Contains(values, w) && distance < least {
			found, least = w, distance
		}
	}
	return found
}

// close closes the session, and deletes what the agent keeps of it, if the agent can. It is done when the agent has answered, or ctx
// has ended. The debate is kept elsewhere, and a list of sessions is for those of people.
func (s *session) close(ctx context.Context) {
	request := sdk.CloseSessionRequest{SessionId: sdk.SessionId(s.id)}
	if s.agent.closes {
		_, _ = call[json.RawMessage](ctx, s.agent, sdk.AgentMethodSessionClose, request)
	}
	if s.agent.deletes {
		_, _ = call[json.RawMessage](ctx, s.agent, deleteSession, request)
	}
}

// deleteSession is a method that the library of the protocol does not know yet.
const deleteSession = "session/delete"
