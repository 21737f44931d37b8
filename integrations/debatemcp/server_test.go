package debatemcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/examples/offline"
	"github.com/elenchus-go/debate/integrations/debatemcp"
	"github.com/elenchus-go/debate/integrations/debatetool"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/providers"
)

// slowly is the offline model. It takes ten seconds for each reply.
type slowly struct{ providers.Provider }

func (s slowly) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	select {
	case <-time.After(10 * time.Second):
	case <-ctx.Done():
		return providers.Response{}, providers.ContextError(ctx, providers.Response{})
	}
	return s.Provider.Generate(ctx, r)
}

// client is a client of a server, and the progress that it was notified of.
type client struct {
	*mcp.ClientSession
	mu       sync.Mutex
	progress []string
	updated  []string
}

func (c *client) seen() (progress, updated []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string(nil), c.progress...), append([]string(nil), c.updated...)
}

// versions runs a test with the versions of the protocol before and after clients could be asked repeatedly.
func versions(t *testing.T, test func(t *testing.T, version string)) {
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(version, func(t *testing.T) { synctest.Test(t, func(t *testing.T) { test(t, version) }) })
	}
}

// newServer returns a server whose debates have the configuration. It speaks the given versions of the protocol.
func newServer(t *testing.T, model providers.Provider, c debate.Config, versions ...string) *mcp.Server {
	t.Helper()
	e := debatetest.Engine(t, debate.Options{Providers: map[string]providers.Provider{"m": model}})
	t.Cleanup(func() { debatetest.Kill(e) })
	s, err := debatemcp.NewServer(e, debatemcp.Options{
		Tools:  debatetool.Options{Presets: map[string]debatetool.Preset{"panel": {Config: c}}},
		Server: mcp.ServerOptions{SupportedProtocolVersions: versions},
	})
	require.NoError(t, err)
	return s
}

// connect connects a client over a transport.
func connect(t *testing.T, transport mcp.Transport, elicit func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error)) *client {
	t.Helper()
	c := &client{}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, &mcp.ClientOptions{
		ElicitationHandler: elicit,
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.progress = append(c.progress, r.Params.Message)
		},
		ResourceUpdatedHandler: func(_ context.Context, r *mcp.ResourceUpdatedNotificationRequest) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.updated = append(c.updated, r.Params.URI)
		},
	}).Connect(t.Context(), transport, nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = session.Close() })
	c.ClientSession = session
	return c
}

// inMemory connects a client to a server in memory.
func inMemory(t *testing.T, s *mcp.Server, elicit func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error)) *client {
	t.Helper()
	here, there := mcp.NewInMemoryTransports()
	session, err := s.Connect(t.Context(), there, nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = session.Close() })
	return connect(t, here, elicit)
}

// call calls a tool, and returns its output, which its text says too.
func (c *client) call(t *testing.T, tool string, input map[string]any) (out debatetool.Output, text string) {
	t.Helper()
	out, text = c.callLoose(t, tool, input)
	if out.ID != "" {
		require.Equal(t, out.Text(), text)
	}
	return out, text
}

// callLoose does what call does, for outputs with a schema, which JSON may write in another order.
func (c *client) callLoose(t *testing.T, tool string, input map[string]any) (out debatetool.Output, text string) {
	t.Helper()
	p := &mcp.CallToolParams{Name: tool, Arguments: input}
	p.SetProgressToken("p")
	r := debatetest.Call(t, c.CallTool, p)
	require.NotEmpty(t, r.Content)
	text = r.Content[0].(*mcp.TextContent).Text
	if r.StructuredContent == nil {
		require.True(t, r.IsError)
		return out, text
	}
	raw, err := json.Marshal(r.StructuredContent)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, &out))
	require.Equal(t, out.Status == "failed", r.IsError)
	return out, text
}

// read returns the text of a resource.
func (c *client) read(t *testing.T, uri string) string {
	t.Helper()
	r := debatetest.Call(t, c.ReadResource, &mcp.ReadResourceParams{URI: uri})
	require.Equal(t, "private", r.CacheScope, "no proxy serves a debate to others")
	return r.Contents[0].Text
}

// A call returns after 45 seconds, and the debate goes on. The client hears of each turn, and at least every 20 seconds.
func TestALongDebateNeedsSeveralCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := inMemory(t, newServer(t, slowly{offline.Model(false)}, debatetest.ShortPanel(2)), nil)
		began := time.Now()
		out, text := c.call(t, "debate", map[string]any{"topic": "Ban cars?", "id": "x"})
		require.Equal(t, 45*time.Second, time.Since(began))
		require.Equal(t, "running", out.Status)
		require.Len(t, out.Turns, 4)
		require.Contains(t, text, fmt.Sprintf(`Call debate with {"id": "x", "after": %d} to wait for the answer.`, out.Position))
		synctest.Wait()
		progress, _ := c.seen()
		require.Equal(t, []string{
			"Debate x: The debate runs.", "Debate x: Round 1 of at most 2: Ada has spoken.", "Debate x: Round 1 of at most 2: Bo has spoken.",
			"Debate x: Round 1 of at most 2: Judge has assessed the round.", "Debate x: Round 2 of at most 2: Ada has spoken.",
		}, progress)
		out, _ = c.call(t, "debate", map[string]any{"id": "x", "after": out.Position})
		require.Equal(t, "completed", out.Status)
		require.NotEmpty(t, out.Answer)
	})
}

func TestASilentDebateBeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := inMemory(t, newServer(t, hanging{}, debatetest.ShortPanel(2)), nil)
		_, _ = c.call(t, "debate", map[string]any{"topic": "Ban cars?", "id": "x"})
		synctest.Wait()
		progress, _ := c.seen()
		require.Len(t, progress, 3) // at 0, 20 and 40 seconds
	})
}

// hanging is a model that never replies.
type hanging struct{}

func (hanging) Generate(ctx context.Context, _ providers.Request) (providers.Response, error) {
	<-ctx.Done()
	return providers.Response{}, providers.ContextError(ctx, providers.Response{})
}

func TestTheToolsWorkTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := inMemory(t, newServer(t, slowly{offline.Model(false)}, debatetest.ShortPanel(2)), nil)
		tools, err := c.ListTools(t.Context(), nil)
		require.NoError(t, err)
		var names []string
		for _, tool := range tools.Tools {
			names = append(names, tool.Name)
		}
		require.ElementsMatch(t, []string{"debate", "debate_start", "debate_status", "debate_result", "debate_stop", "debate_answer", "debate_list"}, names)

		out, _ := c.call(t, "debate_start", map[string]any{"topic": "Ban cars?"})
		require.Equal(t, "running", out.Status)
		time.Sleep(15 * time.Second)
		status, _ := c.call(t, "debate_status", map[string]any{"id": out.ID})
		require.Len(t, status.Turns, 1)
		_, _ = c.call(t, "debate_stop", map[string]any{"id": out.ID})
		time.Sleep(time.Minute)
		result, _ := c.call(t, "debate_result", map[string]any{"id": out.ID})
		require.Equal(t, "completed", result.Status)
		require.Equal(t, "The debate ended early: stopped in round 1.", result.Notices[0])

		_, text := c.call(t, "debate", map[string]any{"topic": "Ban cars?", "budget": map[string]any{"rounds": 7}})
		require.Contains(t, text, "- budget.rounds: 7 is out of bounds, use more than 0 and at most 2")
	})
}

// Over HTTP, a client gets the answer, the progress, the resources and the notifications about them.
func TestOverHTTP(t *testing.T) {
	s := newServer(t, offline.Model(false), debatetest.ShortPanel(2))
	web := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil))
	t.Cleanup(web.Close) // after the session
	c := connect(t, &mcp.StreamableClientTransport{Endpoint: web.URL}, nil)
	out, _ := c.call(t, "debate", map[string]any{"topic": "Ban cars?", "id": "x"})
	require.Equal(t, "completed", out.Status)
	require.Contains(t, c.read(t, "debate://x/report"), "# Ban cars?")
	require.Regexp(t, `^<<<\d{20} begin: Ada, round 1>>>\n`, c.read(t, "debate://x/transcript"))
	require.Eventually(t, func() bool {
		progress, _ := c.seen()
		return len(progress) >= 8
	}, time.Minute, time.Millisecond)
	require.NoError(t, c.Close())
}

func TestSubscribersAreTold(t *testing.T) {
	versions(t, func(t *testing.T, version string) {
		s := newServer(t, slowly{offline.Model(false)}, debatetest.ShortPanel(2), version)
		c, other := inMemory(t, s, nil), inMemory(t, s, nil)
		_, _ = c.call(t, "debate_start", map[string]any{"topic": "Ban cars?", "id": "x"})
		for range 2 {
			require.NoError(t, c.Subscribe(t.Context(), &mcp.SubscribeParams{URI: "debate://x/report"}))
		}
		require.NoError(t, other.Subscribe(t.Context(), &mcp.SubscribeParams{URI: "debate://x/transcript"}))
		time.Sleep(15 * time.Second)
		synctest.Wait()
		_, updated := c.seen()
		require.NotEmpty(t, updated)
		require.Equal(t, "debate://x/report", updated[0])
		require.NoError(t, c.Unsubscribe(t.Context(), &mcp.UnsubscribeParams{URI: "debate://x/report"}))
		_, before := c.seen()
		time.Sleep(15 * time.Second)
		synctest.Wait()
		_, after := c.seen()
		require.Equal(t, before, after)
		require.NoError(t, other.Close()) // ends its subscription
		if err := c.Subscribe(t.Context(), &mcp.SubscribeParams{URI: "debate://y/report"}); version == "2025-11-25" {
			require.ErrorContains(t, err, "not found")
		}
	})
}

// Each subscriber is told once of each event, however many there are, and also after it has subscribed again.
func TestSubscribersOfOneResource(t *testing.T) {
	versions(t, func(t *testing.T, version string) {
		s := newServer(t, slowly{offline.Model(false)}, debatetest.ShortPanel(2), version)
		first := inMemory(t, s, nil)
		second := inMemory(t, s, nil)
		single := inMemory(t, s, nil)
		_, _ = first.call(t, "debate_start", map[string]any{"topic": "Ban cars?", "id": "x"})
		synctest.Wait()
		shared, own := "debate://x/report", "debate://x/transcript"
		require.NoError(t, single.Subscribe(t.Context(), &mcp.SubscribeParams{URI: own}))
		require.NoError(t, first.Subscribe(t.Context(), &mcp.SubscribeParams{URI: shared}))
		require.NoError(t, second.Subscribe(t.Context(), &mcp.SubscribeParams{URI: shared}))
		synctest.Wait()
		for range 3 {
			require.NoError(t, second.Unsubscribe(t.Context(), &mcp.UnsubscribeParams{URI: shared}))
			synctest.Wait()
			require.NoError(t, second.Subscribe(t.Context(), &mcp.SubscribeParams{URI: shared}))
			synctest.Wait()
		}
		time.Sleep(35 * time.Second)
		synctest.Wait()
		for _, c := range []*client{first, second} {
			_, want := single.seen()
			_, got := c.seen()
			require.NotEmpty(t, want)
			require.Len(t, got, len(want))
		}
	})
}

func TestUnknownResources(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := inMemory(t, newServer(t, offline.Model(false), debatetest.ShortPanel(2)), nil)
		for _, uri := range []string{"debate://x/report", "debate://x/other", "debate:///report", "other://x/report"} {
			_, err := c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
			require.ErrorContains(t, err, "not found", uri)
		}
	})
}

// people returns a debate in which a person speaks, after a gate.
func people() debate.Config {
	c := debatetest.ShortPanel(2)
	c.Participants[1].Human = true
	c.AskBeforeRounds = true
	c.Limits.MaxRounds = 1
	return c
}

// A client with elicitation asks people during the call.
func TestPeopleAreAskedByTheClient(t *testing.T) {
	versions(t, func(t *testing.T, version string) {
		var asked []string
		c := inMemory(t, newServer(t, offline.Model(false), people(), version), func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			asked = append(asked, r.Params.Message)
			if strings.HasPrefix(r.Params.Message, "For Bo\n\nAda, round 1:\n> ") {
				return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"text": "I disagree."}}, nil
			}
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"action": "approve"}}, nil
		})
		out, _ := c.call(t, "debate", map[string]any{"topic": "Ban cars?", "id": "x"})
		require.Equal(t, "completed", out.Status, "after one call")
		require.Len(t, asked, 2)
		require.Equal(t, version, c.InitializeResult().ProtocolVersion)
		require.NotEmpty(t, c.InitializeResult().ServerInfo.Version, "the protocol requires one")
		require.Contains(t, asked[0], "approve: ")
		require.NotContains(t, asked[1], "<<<")
		require.Contains(t, c.read(t, "debate://x/transcript"), "I disagree.")
	})
}

func TestPeopleMayDeclineOrDismiss(t *testing.T) {
	versions(t, func(t *testing.T, version string) {
		action := "cancel"
		c := inMemory(t, newServer(t, offline.Model(false), people(), version), func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: action}, nil
		})
		for _, action = range []string{"cancel", "decline"} { // leave the gate closed
			out, _ := c.call(t, "debate", map[string]any{"topic": "Ban cars?", "id": "x"})
			require.Equal(t, "waiting", out.Status)
		}
		out, _ := c.call(t, "debate_status", map[string]any{"id": "x"})
		_, _ = c.call(t, "debate_answer", map[string]any{"id": "x", "step": out.Waiting[0].Step, "action": "approve"})
		out, _ = c.call(t, "debate", map[string]any{"id": "x"})
		require.Equal(t, "failed", out.Status, "Bo has declined, and Ada is alone")
	})
}

// Without elicitation, the model passes on what people reply.
func TestTheModelPassesOnReplies(t *testing.T) {
	versions(t, func(t *testing.T, version string) {
		c := inMemory(t, newServer(t, offline.Model(false), people(), version), nil)
		out, text := c.call(t, "debate", map[string]any{"topic": "Ban cars?", "id": "x"})
		require.Contains(t, text, "pass each reply on with debate_answer")
		_, _ = c.call(t, "debate_answer", map[string]any{"id": "x", "step": out.Waiting[0].Step, "action": "approve"})
		out, _ = c.call(t, "debate", map[string]any{"id": "x"})
		_, _ = c.call(t, "debate_answer", map[string]any{"id": "x", "step": out.Waiting[0].Step, "text": "I disagree.", "by": "Robert"})
		out, _ = c.call(t, "debate", map[string]any{"id": "x"})
		require.Equal(t, "completed", out.Status)
	})
}

func TestOptions(t *testing.T) {
	e := debatetest.Engine(t, debate.Options{})
	_, err := debatemcp.NewServer(nil, debatemcp.Options{})
	require.EqualError(t, err, "make MCP server: make debate tools: the engine is nil")
	_, err = debatemcp.NewServer(e, debatemcp.Options{Heartbeat: -1})
	require.EqualError(t, err, "make MCP server: Heartbeat is -1ns, want 0 or more")
}
