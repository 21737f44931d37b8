package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/examples/console"
	"github.com/elenchus-go/debate/examples/offline"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/judge/reply"
	"github.com/elenchus-go/debate/providers"
)

// start runs the program without a terminal.
func start(t *testing.T, env map[string]string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, progress bytes.Buffer
	code = console.Run(t.Context(), run, args, &out, &progress, func(name string) string { return env[name] })
	return code, out.String(), progress.String()
}

// Claude streams. Nova gives whole replies, because langchaingo cannot stream them.
func TestModelsOfBedrock(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "id")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	for model, method := range map[string]string{
		"us.anthropic.claude-sonnet-4-5-20250929-v1:0": "invoke-with-response-stream",
		"amazon.nova-pro-v1:0":                         "invoke",
	} {
		t.Run(model, func(t *testing.T) {
			s := &service{t: t, path: "/model/" + model + "/" + method}
			server := httptest.NewServer(s)
			defer server.Close()
			t.Setenv("AWS_ENDPOINT_URL", server.URL)
			env := map[string]string{"AWS_REGION": "us-east-1"}
			code, stdout, stderr := start(t, env, "-bedrock", model, "Tea should be free")
			require.Equal(t, 0, code, stderr)
			require.Contains(t, stderr, "model: "+model)
			require.Contains(t, stdout, "On the topic “Tea should be free”, I counted new words")
			require.Equal(t, 7, s.calls, "two rounds of two speeches and an assessment, and the verdict")
		})
	}
}

func TestARefusedKeyEndsTheDebate(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "id")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	calls := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		calls++
		w.Header().Set("X-Amzn-ErrorType", "UnrecognizedClientException")
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, `{"message":"The security token included in the request is invalid."}`)
	}))
	defer server.Close()
	t.Setenv("AWS_ENDPOINT_URL", server.URL)
	code, stdout, stderr := start(t, map[string]string{"AWS_REGION": "us-east-1"}, "-bedrock", "amazon.nova-pro-v1:0")
	require.Equal(t, 0, code, stderr)
	require.Contains(t, stdout, "authentication", "the agent says it")
	require.Equal(t, 1, calls, stderr)
	code, _, stderr = start(t, nil, "-bedrock", "amazon.nova-pro-v1:0")
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "-bedrock: AWS_REGION is not set")
}

// service answers like Amazon Bedrock. The demo model writes its replies.
type service struct {
	t     *testing.T
	path  string
	calls int
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.calls++
	if r.URL.Path != s.path {
		http.NotFound(w, r)
		return
	}
	text := s.reply(r.Body)
	if strings.HasSuffix(s.path, "/invoke") {
		content := []map[string]string{{"text": text}}
		_ = json.NewEncoder(w).Encode(map[string]any{
			"output": map[string]any{"message": map[string]any{"role": "assistant", "content": content}}, "stopReason": "end_turn",
			"usage": map[string]int{"inputTokens": 10, "outputTokens": 5},
		})
		return
	}
	w.Header().Set("Content-Type", "application/vnd.amazon.eventstream")
	half := len(text) / 2
	for _, event := range []any{
		map[string]any{"type": "message_start", "message": map[string]any{"usage": map[string]int{"input_tokens": 10}}},
		map[string]any{"type": "content_block_delta", "delta": map[string]string{"type": "text_delta", "text": text[:half]}},
		map[string]any{"type": "content_block_delta", "delta": map[string]string{"type": "text_delta", "text": text[half:]}},
		map[string]any{"type": "message_delta", "delta": map[string]string{"stop_reason": "end_turn"}, "usage": map[string]int{"output_tokens": 5}},
	} {
		s.send(w, event)
	}
}

// send writes an event of a stream.
func (s *service) send(w io.Writer, event any) {
	data, err := json.Marshal(event)
	require.NoError(s.t, err)
	payload, err := json.Marshal(map[string][]byte{"bytes": data})
	require.NoError(s.t, err)
	m := eventstream.Message{Payload: payload}
	m.Headers.Set(":message-type", eventstream.StringValue("event"))
	m.Headers.Set(":event-type", eventstream.StringValue("chunk"))
	require.NoError(s.t, eventstream.NewEncoder().Encode(w, m))
}

// text is a text of a request. Claude's requests have the system prompt as a string, and Nova's as a list.
type text string

func (t *text) UnmarshalJSON(b []byte) error {
	var list []struct{ Text string }
	if json.Unmarshal(b, (*string)(t)) == nil || json.Unmarshal(b, &list) != nil {
		return nil
	}
	for _, item := range list {
		*t += text(item.Text)
	}
	return nil
}

// statement matches a statement of a participant. Messages of one role arrive as one.
var statement = regexp.MustCompile(`(?s)<<<\d+ begin: .*?\n<<<\d+ end>>>`)

// reply returns the demo model's reply to a request.
func (s *service) reply(body io.Reader) string {
	var asked struct {
		System   text
		Messages []struct {
			Role    providers.Role
			Content text
		}
	}
	require.NoError(s.t, json.NewDecoder(body).Decode(&asked))
	r := providers.Request{Messages: []providers.Message{{Role: providers.System, Text: string(asked.System)}}}
	task := ""
	for _, m := range asked.Messages {
		task = string(m.Content)
		for _, said := range statement.FindAllString(task, -1) {
			r.Messages = append(r.Messages, providers.Message{Role: m.Role, Text: said})
		}
		task = strings.TrimSpace(statement.ReplaceAllString(task, ""))
		if task != "" {
			r.Messages = append(r.Messages, providers.Message{Role: m.Role, Text: task})
		}
	}
	switch {
	case strings.Contains(task, "Assess"):
		r.SchemaName, r.Schema = contract(judge.Rubric(nil).Contract())
	case strings.Contains(string(asked.System), "You are Judge"):
		r.SchemaName, r.Schema = contract(judge.VerdictContract)
	}
	said, err := offline.Model(false).Generate(s.t.Context(), r)
	require.NoError(s.t, err)
	return said.Text
}

// contract returns the name of a judge's contract and its schema, with the names of the participants and the criteria.
func contract(c *reply.Contract) (name string, schema json.RawMessage) {
	names := []string{"Debater A", "Debater B"}
	return c.Name(), c.WithNames("participants", names).WithNames("active", names).WithNames("criteria", judge.Rubric(nil).Names()).Schema()
}
