package debateacp

import (
	"context"
	"crypto/rand"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/coder/acp-go-sdk"

	"github.com/elenchus-go/debate/integrations/debatetool"
	"github.com/elenchus-go/debate/store"
)

// Initialize implements acp.Agent.
func (a *agent) Initialize(_ context.Context, p acp.InitializeRequest) (acp.InitializeResponse, error) {
	a.readsFiles.Store(p.ClientCapabilities.Fs.ReadTextFile)
	return acp.InitializeResponse{
		ProtocolVersion: acp.ProtocolVersionNumber,
		AgentInfo:       &acp.Implementation{Name: "debate", Title: new("Debates between models"), Version: a.Version},
		AuthMethods:     []acp.AuthMethod{},
		AgentCapabilities: acp.AgentCapabilities{
			LoadSession:        true,
			PromptCapabilities: acp.PromptCapabilities{EmbeddedContext: true},
			SessionCapabilities: acp.SessionCapabilities{
				Close: &acp.SessionCloseCapabilities{}, List: &acp.SessionListCapabilities{}, Resume: &acp.SessionResumeCapabilities{},
			},
		},
	}, nil
}

// Authenticate implements acp.Agent. The command has the keys of the models.
func (*agent) Authenticate(context.Context, acp.AuthenticateRequest) (acp.AuthenticateResponse, error) {
	return acp.AuthenticateResponse{}, acp.NewMethodNotFound(acp.AgentMethodAuthenticate)
}

// SetSessionConfigOption implements acp.Agent. Sessions have no options besides the mode.
func (*agent) SetSessionConfigOption(context.Context, acp.SetSessionConfigOptionRequest) (acp.SetSessionConfigOptionResponse, error) {
	return acp.SetSessionConfigOptionResponse{}, acp.NewMethodNotFound(acp.AgentMethodSessionSetConfigOption)
}

// NewSession implements acp.Agent. A session is stored with its first debate.
func (a *agent) NewSession(ctx context.Context, p acp.NewSessionRequest) (acp.NewSessionResponse, error) {
	s, err := a.newSession(acp.SessionId("session-"+rand.Text()), p.Cwd)
	if err != nil {
		return acp.NewSessionResponse{}, a.explain(ctx, err)
	}
	a.sessions.Store(s.id, s)
	return acp.NewSessionResponse{SessionId: s.id, Modes: s.modes()}, nil
}

// SetSessionMode implements acp.Agent. The mode is that of the next debate.
func (a *agent) SetSessionMode(_ context.Context, p acp.SetSessionModeRequest) (acp.SetSessionModeResponse, error) {
	s, err := a.find(p.SessionId)
	if err != nil {
		return acp.SetSessionModeResponse{}, err
	}
	mode := string(p.ModeId)
	if _, known := a.Presets[mode]; !known {
		return acp.SetSessionModeResponse{}, refuse("modeId: %q is unknown, use one of %q", mode, slices.Sorted(maps.Keys(a.Presets)))
	}
	s.mode.Store(&mode)
	return acp.SetSessionModeResponse{}, nil
}

// find returns a session of this connection.
func (a *agent) find(id acp.SessionId) (*session, error) {
	s, found := a.sessions.Load(id)
	if !found {
		return nil, refuse("sessionId: there is no session %q, load it or begin a new one", id)
	}
	return s.(*session), nil
}

// LoadSession implements acp.AgentLoader. The client gets what was said.
func (a *agent) LoadSession(ctx context.Context, p acp.LoadSessionRequest) (acp.LoadSessionResponse, error) {
	s, list, err := a.reopen(ctx, p.SessionId, p.Cwd)
	for i := len(list) - 1; i >= 0 && err == nil; i-- {
		err = s.replay(ctx, list[i])
	}
	if err != nil {
		return acp.LoadSessionResponse{}, a.explain(ctx, err)
	}
	return acp.LoadSessionResponse{Modes: s.modes()}, nil
}

// ResumeSession implements acp.Agent. The client knows what was said.
func (a *agent) ResumeSession(ctx context.Context, p acp.ResumeSessionRequest) (acp.ResumeSessionResponse, error) {
	s, _, err := a.reopen(ctx, p.SessionId, p.Cwd)
	if err != nil {
		return acp.ResumeSessionResponse{}, a.explain(ctx, err)
	}
	return acp.ResumeSessionResponse{Modes: s.modes()}, nil
}

// reopen returns a session of this or an earlier connection, with its last debates, newest first.
func (a *agent) reopen(ctx context.Context, id acp.SessionId, folder string) (*session, []debatetool.Output, error) {
	s, unknown := a.find(id)
	if unknown != nil {
		var err error
		s, err = a.newSession(id, folder)
		if err != nil {
			return nil, nil, err
		}
	}
	list, err := s.tools.List(ctx, "", maxReplayed)
	if err == nil && len(list) == 0 {
		err = unknown
	}
	if err != nil {
		return nil, nil, err
	}
	a.sessions.Store(id, s)
	return s, list, nil
}

// ListSessions implements acp.Agent. Newer sessions come first.
func (a *agent) ListSessions(ctx context.Context, p acp.ListSessionsRequest) (acp.ListSessionsResponse, error) {
	q := store.Query{Limit: maxListed}
	if p.Cwd != nil {
		q.Labels = map[string]string{folderLabel: *p.Cwd}
	}
	found := []acp.SessionInfo{}
	for d, err := range a.engine.List(ctx, q) {
		if err != nil && d.ID == "" {
			return acp.ListSessionsResponse{}, a.explain(ctx, err)
		}
		id := acp.SessionId(d.Labels[sessionLabel])
		at := slices.IndexFunc(found, func(s acp.SessionInfo) bool { return s.SessionId == id })
		if at < 0 && id != "" {
			at = len(found)
			found = append(found, acp.SessionInfo{
				SessionId: id, Cwd: d.Labels[folderLabel],
				UpdatedAt: new(d.Updated.Format(time.RFC3339)),
			})
		}
		if at >= 0 { // in the end, the title is the first topic
			first, _, _ := strings.Cut(strings.TrimSpace(d.Topic), "\n")
			found[at].Title = &first
		}
	}
	return acp.ListSessionsResponse{Sessions: found}, nil
}

// CloseSession implements acp.Agent. The debates of the session stay.
func (a *agent) CloseSession(_ context.Context, p acp.CloseSessionRequest) (acp.CloseSessionResponse, error) {
	s, err := a.find(p.SessionId)
	if err != nil {
		return acp.CloseSessionResponse{}, err
	}
	s.close()
	a.sessions.Delete(p.SessionId)
	return acp.CloseSessionResponse{}, nil
}

// Cancel implements acp.Agent. The SDK ends the context of the prompt.
func (*agent) Cancel(context.Context, acp.CancelNotification) error { return nil }

// Prompt implements acp.Agent.
func (a *agent) Prompt(ctx context.Context, p acp.PromptRequest) (acp.PromptResponse, error) {
	s, err := a.find(p.SessionId)
	if err != nil {
		return acp.PromptResponse{}, err
	}
	serving := a.serving.TryRLock()
	if !serving {
		return acp.PromptResponse{StopReason: acp.StopReasonCancelled}, nil
	}
	defer a.serving.RUnlock()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.open, cancel)() //nolint:contextcheck // the session ends the request too
	s.turn.Lock()                             // the SDK has canceled the prompt before this one
	defer s.turn.Unlock()
	err = s.prompt(ctx, p.Prompt)
	switch {
	case ctx.Err() != nil:
		s.say(context.WithoutCancel(ctx), "The debate is paused. Your next message can continue it.")
		return acp.PromptResponse{StopReason: acp.StopReasonCancelled}, nil
	case err != nil:
		return acp.PromptResponse{}, a.explain(ctx, err)
	}
	return acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, nil
}

// explain returns the error for a client: what is wrong with its request. The log gets internal causes.
func (a *agent) explain(ctx context.Context, err error) error {
	if _, told := errors.AsType[*acp.RequestError](err); told {
		return err
	}
	if e, ok := errors.AsType[*debatetool.Error](err); ok && !e.Internal() {
		return refuse("%s", e.Error())
	}
	a.Logger.ErrorContext(ctx, "serve editor", "error", err)
	return acp.NewInternalError(nil)
}
