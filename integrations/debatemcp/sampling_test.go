package debatemcp_test

import (
	"context"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/integrations/debatemcp"
	"github.com/elenchus-go/debate/integrations/debatetool"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// sampled is a client with a model of its own.
type sampled struct {
	mu    sync.Mutex
	asked []*mcp.CreateMessageParams
	// say answers the nth request, counted from 0, instead of the model. It may be nil.
	say func(n int) (*mcp.CreateMessageResult, error)
	// takes is the time that a reply takes.
	takes time.Duration
}

func (s *sampled) handle(ctx context.Context, r *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
	s.mu.Lock()
	n := len(s.asked)
	s.asked = append(s.asked, r.Params)
	s.mu.Unlock()
	select {
	case <-time.After(s.takes):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if s.say != nil {
		return s.say(n)
	}
	return &mcp.CreateMessageResult{
		Role: "assistant", Model: "mine", StopReason: "endTurn",
		Content: &mcp.TextContent{Text: "I say yes."},
	}, nil
}

func (s *sampled) requests() []*mcp.CreateMessageParams {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

// sampledPanel is a debate whose participants are models of the client.
func sampledPanel() debate.Config {
	c := debatetest.ShortPanel(1)
	for i := range c.Participants {
		c.Participants[i].Provider, c.Participants[i].Model = "client", "clever"
	}
	c.Judges[0].Provider = "judge"
	return c
}

// samplingServer returns a server whose participants are models of the client, and whose judge is not.
func samplingServer(t *testing.T, wait time.Duration, versions ...string) (*debate.Engine, debatemcp.Options) {
	t.Helper()
	sampler := debatemcp.NewSampler()
	e := debatetest.Engine(t, debate.Options{Providers: map[string]providers.Provider{
		"client": sampler, "judge": &debatetest.DigestModel{Names: []string{"Ada", "Bo"}},
	}})
	t.Cleanup(func() { debatetest.Kill(e) })
	return e, debatemcp.Options{
		Sampler: sampler, Server: mcp.ServerOptions{SupportedProtocolVersions: versions},
		Tools: debatetool.Options{MaxWait: wait, Presets: map[string]debatetool.Preset{"panel": {Config: sampledPanel()}}},
	}
}

// sampling connects a client with a model, or without one if own is nil.
func sampling(t *testing.T, transport mcp.Transport, own *sampled) *client {
	t.Helper()
	o := &mcp.ClientOptions{}
	if own != nil {
		o.CreateMessageHandler = own.handle
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, o).Connect(t.Context(), transport, nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = session.Close() })
	return &client{ClientSession: session}
}

// overLines connects a client in memory, as over standard input and output.
func overLines(t *testing.T, e *debate.Engine, o debatemcp.Options, own *sampled) *client {
	t.Helper()
	server, err := debatemcp.NewServer(e, o)
	require.NoError(t, err)
	here, there := mcp.NewInMemoryTransports()
	session, err := server.Connect(t.Context(), there, nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = session.Wait() })
	return sampling(t, here, own)
}

func TestDebatesUseTheModelOfTheClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, o := samplingServer(t, 0, "2025-11-25")
		own := &sampled{takes: time.Second}
		c := overLines(t, e, o, own)
		out, _ := c.call(t, "debate", map[string]any{"topic": "Ban cars?", "id": "x"})
		require.Equal(t, "completed", out.Status)
		asked := own.requests()
		require.Len(t, asked, 2, "one for each speech")
		require.Contains(t, asked[0].SystemPrompt, "You are Ada")
		require.Equal(t, "clever", asked[0].ModelPreferences.Hints[0].Name)
		require.Positive(t, asked[0].MaxTokens)
		d, err := e.Open(t.Context(), "x")
		require.NoError(t, err)
		turns := debatetest.Result(t, d).Turns
		require.Equal(t, "I say yes.", turns[0].Text)
		require.Equal(t, "mine", turns[0].Attempts[0].Model)
	})
}

// What the client's model leaves around a reply is removed, as with any other provider.
func TestASampleIsReadAsAnyReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, o := samplingServer(t, 0, "2025-11-25")
		own := &sampled{say: func(int) (*mcp.CreateMessageResult, error) {
			const text = "<|channel|>analysis<|message|>Argue.<|end|><|start|>assistant<|channel|>final<|message|>I say yes.<|im_end|>"
			return &mcp.CreateMessageResult{
				Role: "assistant", Model: "mine", StopReason: "maxTokens",
				Content: &mcp.TextContent{Text: text},
			}, nil
		}}
		_, _ = overLines(t, e, o, own).call(t, "debate", map[string]any{"topic": "Ban cars?", "id": "x"})
		d, err := e.Open(t.Context(), "x")
		require.NoError(t, err)
		turn := debatetest.Result(t, d).Turns[0]
		require.Equal(t, "I say yes.", turn.Text)
		require.Equal(t, []transcript.Flag{transcript.Truncated}, turn.Flags)
	})
}

// A debate that nobody waits for asks no client, and a reply that comes after the call counts.
func TestAClientIsAskedOnlyWhileItWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, o := samplingServer(t, 10*time.Second, "2025-11-25")
		own := &sampled{takes: 15 * time.Second}
		c := overLines(t, e, o, own)
		_, _ = c.call(t, "debate_start", map[string]any{"topic": "Ban cars?", "id": "x"})
		time.Sleep(20 * time.Second)
		synctest.Wait()
		require.Empty(t, own.requests())
		out, _ := c.call(t, "debate", map[string]any{"id": "x"}) // for 10 seconds
		require.Equal(t, "running", out.Status)
		require.Empty(t, out.Turns)
		time.Sleep(20 * time.Second)
		out, _ = c.call(t, "debate_status", map[string]any{"id": "x"})
		require.Len(t, out.Turns, 1, "the reply has come meanwhile")
		require.Len(t, own.requests(), 1, "and the next one waits for a call")
		for out.Status == "running" {
			out, _ = c.call(t, "debate", map[string]any{"id": "x"})
		}
		require.Equal(t, "completed", out.Status)
		require.Len(t, own.requests(), 2)
	})
}

// What keeps a client from replying is a failure that names it.
func TestAClientThatGivesNoSample(t *testing.T) {
	for name, tt := range map[string]struct {
		say     func(int) (*mcp.CreateMessageResult, error)
		version string
		none    bool
		want    string
	}{
		"its user refuses": {say: func(int) (*mcp.CreateMessageResult, error) {
			return nil, &jsonrpc.Error{Code: -1, Message: "User rejected sampling request"}
		}, want: "the client refuses the request"},
		"it has no model": {none: true, want: "the client does not offer sampling, use another model"},
		"it has another model": {say: func(int) (*mcp.CreateMessageResult, error) {
			return nil, &jsonrpc.Error{Code: -32602, Message: "no such model"}
		}, want: "no such model"},
		"it sends an image": {say: func(int) (*mcp.CreateMessageResult, error) {
			return &mcp.CreateMessageResult{
				Role: "assistant", Model: "m",
				Content: &mcp.ImageContent{Data: []byte{1}, MIMEType: "image/png"},
			}, nil
		}, want: "want a text"},
		"it speaks a version without samples": {
			version: "2026-07-28",
			want:    "protocol 2026-07-28 has no requests for samples during a call",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				version := tt.version
				if version == "" {
					version = "2025-11-25"
				}
				e, o := samplingServer(t, time.Hour, version)
				own := &sampled{say: tt.say}
				if tt.none {
					own = nil
				}
				_, _ = overLines(t, e, o, own).CallTool(t.Context(),
					&mcp.CallToolParams{Name: "debate", Arguments: map[string]any{"topic": "Ban cars?", "id": "x"}})
				d, err := e.Open(t.Context(), "x")
				require.NoError(t, err)
				r := debatetest.Result(t, d)
				require.NotNil(t, r.Failure)
				require.Contains(t, r.Failure.Error(), tt.want)
			})
		})
	}
}

// Over streamable HTTP, each debate asks the client that waits for it.
func TestSamplesOverHTTP(t *testing.T) {
	e, o := samplingServer(t, 0)
	h, err := debatemcp.NewHandler(e, o)
	require.NoError(t, err)
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	var all sync.WaitGroup
	for _, name := range []string{"x", "y"} {
		own := &sampled{say: func(int) (*mcp.CreateMessageResult, error) {
			return &mcp.CreateMessageResult{
				Role: "assistant", Model: name, StopReason: "endTurn",
				Content: &mcp.TextContent{Text: "I am " + name + "."},
			}, nil
		}}
		c := sampling(t, &mcp.StreamableClientTransport{Endpoint: s.URL}, own)
		all.Go(func() {
			_, err := c.CallTool(t.Context(),
				&mcp.CallToolParams{Name: "debate", Arguments: map[string]any{"topic": "Ban cars?", "id": name}})
			if err == nil {
				err = c.Close()
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for _, name := range []string{"x", "y"} {
		d, err := e.Open(t.Context(), name)
		require.NoError(t, err)
		r := debatetest.Result(t, d)
		require.EqualValues(t, "completed", r.State)
		require.Equal(t, "I am "+name+".", r.Turns[0].Text)
	}
}

// What a request for a sample cannot carry is refused before a client is asked.
func TestASamplerSaysWhatItCannot(t *testing.T) {
	s := debatemcp.NewSampler()
	seed := int64(1)
	found := s.Unsupported(providers.Request{
		TopP: 0.5, Seed: &seed, Reasoning: "high", Tools: []providers.Tool{{Name: "search"}},
		Messages: []providers.Message{{Role: providers.User, Parts: []providers.Part{{Attachment: &providers.Attachment{Name: "a.png"}}}}},
	})
	require.Len(t, found, 5)
	require.Empty(t, s.Unsupported(providers.Request{Stop: []string{"x"}}))
	_, err := s.Generate(t.Context(), providers.Request{Messages: []providers.Message{{Role: providers.User, Text: "Hello."}}})
	require.ErrorContains(t, err, "a sampler serves debates only")
}
