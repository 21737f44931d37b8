package debatea2a_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2aclient/agentcard"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/integrations/debatea2a"
	"github.com/elenchus-go/debate/integrations/debatetool"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/store/sqlite"
)

// serverFile names the environment variable with the file of debates, which makes this program a server. If the variable
// serverHangs is set, the server's model answers three calls only.
const (
	serverFile  = "DEBATE_A2A_FILE"
	serverHangs = "DEBATE_A2A_HANGS"
)

func TestMain(m *testing.M) {
	if file := os.Getenv(serverFile); file != "" {
		panic(serveUntilKilled(file, os.Getenv(serverHangs) != ""))
	}
	os.Exit(m.Run())
}

// serveUntilKilled runs a server whose debates are in a file. It writes its URL to standard output.
func serveUntilKilled(file string, hangs bool) error {
	s, err := sqlite.Open(file)
	if err != nil {
		return err
	}
	m, calls := &model{}, atomic.Int32{}
	m.say = func(providers.Request) (string, error) {
		if calls.Add(1) > 3 && hangs {
			select {}
		}
		return "", nil
	}
	e, err := debate.NewEngine(debate.Options{
		Store: s, Providers: map[string]providers.Provider{"m": m},
		HeartbeatInterval: 500 * time.Millisecond, // the next server continues soon
	})
	if err == nil {
		err = e.Recover(context.Background())
	}
	if err != nil {
		return err
	}
	agent, err := debatea2a.New(e, debatea2a.Options{Tools: presets(debatetest.ShortPanel(2))})
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // until the process is killed
	if err != nil {
		return err
	}
	url := "http://" + l.Addr().String()
	fmt.Println(url)
	return http.Serve(l, agent.Handler(agent.Card(url))) //nolint:gosec // the process is killed
}

// model speaks for everybody.
type model struct {
	gate chan struct{}                             // speeches wait until it is closed; may be nil
	say  func(r providers.Request) (string, error) // the reply or the error of a call, or "" for an ordinary reply; may be nil
}

func (m *model) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	if m.gate != nil && r.Schema == nil {
		select {
		case <-m.gate:
		case <-ctx.Done():
			return providers.Response{}, providers.ContextError(ctx, providers.Response{})
		}
	}
	if m.say != nil {
		if text, err := m.say(r); text != "" || err != nil {
			return providers.Response{Text: text}, err
		}
	}
	if r.Schema == nil {
		return providers.Response{Text: "I say yes."}, nil
	}
	return (&debatetest.DigestModel{Names: []string{"Ada", "Bo"}}).Generate(ctx, r)
}

// blocked returns a model whose speeches never end.
func blocked() *model { return &model{gate: make(chan struct{})} }

func presets(c debate.Config) debatetool.Options {
	return debatetool.Options{Presets: map[string]debatetool.Preset{"default": {Description: "A panel.", Config: c}}}
}

// newAgent returns an agent on a store, and its engine.
func newAgent(t *testing.T, s store.Store, m providers.Provider, o debatetool.Options) (*debatea2a.Agent, *debate.Engine) {
	t.Helper()
	e := debatetest.Engine(t, debate.Options{Store: s, Providers: map[string]providers.Provider{"m": m}})
	t.Cleanup(func() { debatetest.Kill(e) })
	a, err := debatea2a.New(e, debatea2a.Options{Tools: o})
	require.NoError(t, err)
	return a, e
}

// serve returns the URL of a server of the agent.
func serve(t *testing.T, a *debatea2a.Agent, interceptors ...a2asrv.CallInterceptor) string {
	t.Helper()
	server := httptest.NewUnstartedServer(nil)
	url := "http://" + server.Listener.Addr().String()
	server.Config.Handler = a.Handler(a.Card(url), interceptors...)
	server.Start()
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return url
}

var transports = []a2a.TransportProtocol{a2a.TransportProtocolJSONRPC, a2a.TransportProtocolHTTPJSON}

// connect returns a client of the SDK that uses a transport, JSON-RPC by default.
func connect(t *testing.T, url string, transport ...a2a.TransportProtocol) *a2aclient.Client {
	t.Helper()
	card, err := agentcard.DefaultResolver.Resolve(t.Context(), url)
	require.NoError(t, err)
	c, err := a2aclient.NewFromCard(t.Context(), card, a2aclient.WithConfig(a2aclient.Config{PreferredTransports: transport}))
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Destroy() })
	return c
}

// message returns a request with a message to a task; a new one if the id is empty.
func message(id a2a.TaskID, parts ...*a2a.Part) *a2a.SendMessageRequest {
	m := a2a.NewMessage(a2a.MessageRoleUser, parts...)
	m.TaskID = id
	return &a2a.SendMessageRequest{Message: m}
}

func question() *a2a.SendMessageRequest { return message("", a2a.NewTextPart("Ban cars?")) }

// send sends a message, and returns the task as the call leaves it.
func send(t *testing.T, c *a2aclient.Client, r *a2a.SendMessageRequest) *a2a.Task {
	t.Helper()
	result := debatetest.Call(t, c.SendMessage, r)
	task, ok := result.(*a2a.Task)
	require.True(t, ok, "%T", result)
	return task
}

// start starts a task, and returns it while it runs.
func start(t *testing.T, c *a2aclient.Client) *a2a.Task {
	t.Helper()
	r := question()
	r.Config = &a2a.SendMessageConfig{ReturnImmediately: true}
	task := send(t, c, r)
	require.Equal(t, a2a.TaskStateWorking, task.Status.State)
	return task
}

// names returns the names of artifacts.
func names(list []*a2a.Artifact) (names []string) {
	for _, a := range list {
		names = append(names, a.Name)
	}
	return names
}

// textOf returns the text of a status.
func textOf(s a2a.TaskStatus) string {
	if s.Message == nil {
		return ""
	}
	return s.Message.Parts[0].Text()
}

// asUser makes the value of a header the user.
type asUser struct {
	a2asrv.PassthroughCallInterceptor
}

func (asUser) Before(ctx context.Context, c *a2asrv.CallContext, _ *a2asrv.Request) (context.Context, any, error) {
	values, _ := c.ServiceParams().Get("X-User")
	if len(values) == 0 {
		return ctx, nil, a2a.ErrUnauthenticated
	}
	c.User = &a2asrv.User{Name: values[0], Authenticated: true}
	return ctx, nil, nil
}

var errService = errors.New("the service is <<<ill>>>")
