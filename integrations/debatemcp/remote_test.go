package debatemcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/integrations/debatemcp"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/providers/tool"
)

type query struct {
	Words string `json:"words" jsonschema:"what to look for"`
}

type finding struct {
	Count int `json:"count"`
}

// library is a server of the official SDK whose tools reply in every form.
func library() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "library"}, nil)
	add := func(name string, a *mcp.ToolAnnotations, f func(context.Context, string) (*mcp.CallToolResult, error)) {
		mcp.AddTool(s, &mcp.Tool{Name: name, Description: "Does " + name + ".", Annotations: a}, func(ctx context.Context, _ *mcp.CallToolRequest, in query) (*mcp.CallToolResult, any, error) {
			r, err := f(ctx, in.Words)
			return r, nil, err
		})
	}
	content := func(list ...mcp.Content) func(context.Context, string) (*mcp.CallToolResult, error) {
		return func(context.Context, string) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: list}, nil
		}
	}
	text := &mcp.TextContent{Text: "It rains."}
	page := &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "file:///a.txt", Text: "All of a."}}
	add("text", nil, content(text, &mcp.TextContent{Text: "It pours."}))
	add("files.read", nil, content(page, &mcp.ResourceLink{URI: "https://example.com/b", Name: "b", Title: "Book b"}))
	add("mixed", nil, content(text, page, &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "file:///c.bin", MIMEType: "application/zip", Blob: make([]byte, 7)}},
		&mcp.ImageContent{MIMEType: "image/png", Data: make([]byte, 9)}, &mcp.AudioContent{Data: []byte{1}}))
	add("empty", nil, content())
	add("says", nil, func(_ context.Context, words string) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: words}}}, nil
	})
	add("fails", nil, func(context.Context, string) (*mcp.CallToolResult, error) {
		return nil, errors.New("there is no year 1200")
	})
	add("silent", nil, func(context.Context, string) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{IsError: true}, nil
	})
	add("hangs", nil, func(ctx context.Context, _ string) (*mcp.CallToolResult, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	for name, a := range map[string]*mcp.ToolAnnotations{
		"reads": {ReadOnlyHint: true}, "claims": {ReadOnlyHint: true, DestructiveHint: new(true)}, "repeats": {IdempotentHint: true},
		"writes": {Title: "Writes"}, "adds": {DestructiveHint: new(false)}, "destroys": {DestructiveHint: new(true), IdempotentHint: true},
	} {
		add(name, a, content(text))
	}
	mcp.AddTool(s, &mcp.Tool{Name: "counts"}, func(context.Context, *mcp.CallToolRequest, query) (*mcp.CallToolResult, finding, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{}}, finding{3}, nil
	})
	object := map[string]any{"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object"}
	for name, code := range map[string]int64{"refuses": jsonrpc.CodeInvalidParams, "breaks": jsonrpc.CodeInternalError} {
		s.AddTool(&mcp.Tool{Name: name, InputSchema: object}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return nil, &jsonrpc.Error{Code: code, Message: "words: must not be empty"}
		})
	}
	return s
}

// sessions returns sessions with a server: in memory, and over HTTP.
func sessions(t *testing.T, test func(t *testing.T, s *mcp.Server, c *mcp.ClientSession)) {
	t.Run("in memory", func(t *testing.T) {
		s := library()
		test(t, s, inMemory(t, s, nil).ClientSession)
	})
	t.Run("HTTP", func(t *testing.T) {
		s := library()
		h := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil))
		t.Cleanup(func() {
			h.CloseClientConnections()
			h.Close()
		})
		test(t, s, connect(t, &mcp.StreamableClientTransport{Endpoint: h.URL}, nil).ClientSession)
	})
}

// Each form of result is a text for the model, and resources are sources, too.
func TestResultsOfAServersTools(t *testing.T) {
	sessions(t, func(t *testing.T, _ *mcp.Server, c *mcp.ClientSession) {
		page := tool.Source{URI: "file:///a.txt", Text: "All of a."}
		for name, want := range map[string]tool.Result{
			"text":       {Text: "It rains.\n\nIt pours."},
			"files.read": {Sources: []tool.Source{page, {URI: "https://example.com/b", Title: "Book b"}}},
			"mixed": {
				Text:    "It rains.\n\n[application/zip of 7 bytes, left out] file:///c.bin\n\n[image/png of 9 bytes, left out]\n\n[data of 1 bytes, left out]\n\nfile:///a.txt\nAll of a.",
				Sources: []tool.Source{page},
			},
			"empty":  {},
			"says":   {Text: "rain"},
			"counts": {Text: `{"count":3}`},
		} {
			list, err := debatemcp.Tools(t.Context(), c, map[string]tool.Spec{name: {}})
			require.NoError(t, err)
			require.Len(t, list, 1)
			require.Contains(t, string(list[0].Spec().Schema), `"type":"object"`)
			got, err := list[0].Call(t.Context(), tool.Call{Arguments: json.RawMessage(`{"words":"rain"}`)})
			require.NoError(t, err)
			require.Equal(t, want, got, name)
		}
	})
}

// What a server says of an error in a call is for the model. Other errors are not.
func TestErrorsOfAServersTools(t *testing.T) {
	sessions(t, func(t *testing.T, s *mcp.Server, c *mcp.ClientSession) {
		call := func(name, arguments string) error {
			list, err := debatemcp.Tools(t.Context(), c, map[string]tool.Spec{name: {}})
			require.NoError(t, err)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if name == "hangs" {
				time.AfterFunc(time.Millisecond, cancel)
			}
			if name == "empty" {
				s.RemoveTools("empty") // after it was listed
			}
			r, err := list[0].Call(ctx, tool.Call{Arguments: json.RawMessage(arguments)})
			require.Zero(t, r)
			return err
		}
		for name, want := range map[string]tool.Refusal{
			"fails": "there is no year 1200", "silent": "The tool failed.", "refuses": "The server refuses the call: words: must not be empty",
		} {
			require.Equal(t, want, call(name, `{"words":"x"}`), name)
		}
		refusal, ok := errors.AsType[tool.Refusal](call("text", `{"words":3}`))
		require.True(t, ok, "the SDK's server checks arguments, too")
		require.Contains(t, string(refusal), "words")
		for name, want := range map[string]string{"breaks": "words: must not be empty", "hangs": "context canceled"} {
			err := call(name, `{"words":"x"}`)
			require.ErrorContains(t, err, `call tool "`+name+`" of MCP server: `)
			require.ErrorContains(t, err, want)
			require.NotErrorAs(t, err, new(tool.Refusal))
		}
		require.Error(t, call("empty", `{"words":"x"}`), "the server no longer has it")
	})
}

// Hints of a server add to what the program demands, and take nothing from it.
func TestHintsOnlyLowerTrust(t *testing.T) {
	c := inMemory(t, library(), nil).ClientSession
	strict := tool.Spec{Once: true, Approval: true, Fresh: true}
	for name, want := range map[string]tool.Spec{
		"text": {}, "reads": {}, "claims": {}, "repeats": {}, "writes": {Once: true}, "adds": {Once: true}, "destroys": {Once: true, Approval: true},
	} {
		list, err := debatemcp.Tools(t.Context(), c, map[string]tool.Spec{name: {}})
		require.NoError(t, err)
		got := list[0].Spec()
		require.Equal(t, want, tool.Spec{Once: got.Once, Approval: got.Approval, Fresh: got.Fresh}, name)
		list, err = debatemcp.Tools(t.Context(), c, map[string]tool.Spec{name: strict})
		require.NoError(t, err)
		got = list[0].Spec()
		require.Equal(t, strict, tool.Spec{Once: got.Once, Approval: got.Approval, Fresh: got.Fresh}, name)
	}
}

// Only what the program allows can be called, under names that all services accept.
func TestOnlyAllowedToolsAreThere(t *testing.T) {
	c := inMemory(t, library(), nil).ClientSession
	list, err := debatemcp.Tools(t.Context(), c, map[string]tool.Spec{"files.read": {}, "text": {Name: "weather", Description: "Tells the weather.", Schema: json.RawMessage(`{}`)}})
	require.NoError(t, err)
	got := map[string]tool.Spec{}
	for _, x := range list {
		got[x.Spec().Name] = x.Spec()
		require.NotContains(t, string(x.Spec().Schema), "$schema")
		require.Contains(t, string(x.Spec().Schema), "what to look for")
	}
	require.Len(t, got, 2)
	require.Equal(t, "Does files.read.", got["files_read"].Description)
	require.Equal(t, "Tells the weather.", got["weather"].Description)
	list, err = debatemcp.Tools(t.Context(), c, nil)
	require.NoError(t, err)
	require.Empty(t, list)
	_, err = debatemcp.Tools(t.Context(), c, map[string]tool.Spec{"text": {}, "serach": {}})
	require.EqualError(t, err, `list tools of MCP server: it has no tool ["serach"], remove it from the list`)
	_, err = debatemcp.Tools(t.Context(), c, map[string]tool.Spec{"text": {Name: "the weather"}})
	require.ErrorContains(t, err, `read tool "text" of MCP server: the name "the weather" is not valid`)
	require.NoError(t, c.Close())
	_, err = debatemcp.Tools(t.Context(), c, map[string]tool.Spec{"text": {}})
	require.ErrorContains(t, err, "list tools of MCP server: ")
}

// A participant calls a server's tool in a debate. When the server has changed its list, the call fails and the debate goes on.
func TestAServersToolsInADebate(t *testing.T) {
	sessions(t, func(t *testing.T, s *mcp.Server, c *mcp.ClientSession) {
		list, err := debatemcp.Tools(t.Context(), c, map[string]tool.Spec{"says": {Name: "search", Fresh: true}})
		require.NoError(t, err)
		var asked atomic.Int64
		model := debatetest.ProviderFunc(func(ctx context.Context, r providers.Request) (providers.Response, error) {
			last := r.Messages[len(r.Messages)-1]
			if !r.MayCallTools() || len(last.Parts) > 0 && last.Parts[0].ToolResult != nil {
				if r.Schema != nil {
					return (&scripted.Provider{Replies: []scripted.Reply{scripted.Values{}.Reply(r)}}).Generate(ctx, r)
				}
				return providers.Response{Text: "I have read it."}, nil
			}
			if asked.Add(1) == 2 {
				s.RemoveTools("says")
			}
			return providers.Response{FinishReason: providers.ToolCalls, Parts: []providers.Part{{ToolCall: &providers.ToolCall{ID: "1", Name: "search", Arguments: json.RawMessage(`{"words":"rain"}`)}}}}, nil
		})
		e := debatetest.Engine(t, debate.Options{Providers: map[string]providers.Provider{"m": model}, Tools: list})
		cfg := debatetest.PairConfig(panel.Protocol{})
		cfg.Limits.MaxRounds = 1
		for i := range cfg.Participants {
			cfg.Participants[i].Provider, cfg.Participants[i].Tools = "m", []string{"search"}
		}
		cfg.Judges[0].Provider = "m"
		d := debatetest.Create(t, e, cfg)
		events := debatetest.Finish(t, d)
		var texts []string
		for _, ev := range events {
			if round, ok := ev.(debate.ToolsCalled); ok {
				texts = append(texts, round.Calls[0].Text)
			}
		}
		require.Equal(t, []string{"rain", `The server refuses the call: unknown tool "says"`}, texts)
		require.Equal(t, "completed", string(debatetest.Result(t, d).State))
	})
}
