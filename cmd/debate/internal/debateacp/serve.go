// Package debateacp serves debates to editors over the Agent Client Protocol: the engine is an agent, such as the coding agents
// that Zed, JetBrains and Neovim show in a panel.
//
// A session is a conversation about any number of debates. A prompt is the topic of a debate, with the attached files as
// background. The presets are the modes of the session. Turns are messages that begin with the speaker's name, phases are the plan,
// and questions of the debate are requests for permission. If the debate waits for what a person says, the next prompt is the
// reply.
//
// A debate is stored, so it depends neither on the connection nor on the process. When the client cancels a prompt, or goes, the debate
// pauses. The next prompt of the session asks whether that debate continues or another one begins. A client that loads the session sees
// what was said.
package debateacp

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/coder/acp-go-sdk"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/integrations/debatetool"
)

const (
	sessionLabel = "acp.session" // the session of a debate
	folderLabel  = "acp.folder"  // the working directory of that session
	defaultMode  = "default"     // the mode with which a session begins
	maxText      = 100_000       // characters of a turn
	maxReplayed  = 100           // debates of a session
	maxListed    = 2_000         // debates among which sessions are listed
)

// Options configures an agent.
type Options struct {
	// Presets are the kinds of debates, by name. A session begins with the one that is named "default".
	Presets map[string]debatetool.Preset
	// Version is that of the program.
	Version string
	// Logger receives errors with an internal cause.
	Logger *slog.Logger
}

// agent implements acp.Agent and acp.AgentLoader.
type agent struct {
	Options
	engine     *debate.Engine
	client     *acp.AgentSideConnection
	sessions   sync.Map     // of *session, by acp.SessionId
	readsFiles atomic.Bool  // whether the client reads files for us
	serving    sync.RWMutex // locked for reading by each prompt in flight
}

// Serve serves the debates of an engine to the client that writes to in and reads from out. It returns when the client has closed
// in, or when ctx ends, and the debates of the prompts in flight are paused. A read of in may then still wait.
func Serve(ctx context.Context, e *debate.Engine, o Options, in io.Reader, out io.Writer) {
	lines, feed := io.Pipe()
	a := &agent{Options: o, engine: e}
	a.client = acp.NewAgentSideConnection(a, out, lines)
	a.client.SetLogger(slog.New(slog.DiscardHandler)) // it would log what the client sends
	go func() {                                       // not before: handlers use a.client
		_, err := io.Copy(feed, in)
		feed.CloseWithError(err)
	}()
	select {
	case <-ctx.Done():
		feed.CloseWithError(io.EOF)
	case <-a.client.Done():
	}
	<-a.client.Done()
	a.serving.Lock() // when the prompts in flight have ended; no other one begins
}

// refuse returns the error for a request that is wrong.
func refuse(format string, args ...any) error {
	return &acp.RequestError{Code: acp.NewInvalidParams(nil).Code, Message: fmt.Sprintf(format, args...)}
}
