package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/tools"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/examples/console"
	"github.com/elenchus-go/debate/examples/offline"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/langchain"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/providers/tool"
)

func offlineOnly(string) string { return "" }

// with returns options in which p speaks for all participants.
func with(p providers.Provider) debate.Options {
	return debate.Options{Providers: map[string]providers.Provider{"model": p}}
}

func TestTheAgentAnswersWithTheVerdict(t *testing.T) {
	var stdout, stderr bytes.Buffer
	code := console.Run(t.Context(), run, []string{"Should", "tea", "be", "free?"}, &stdout, &stderr, offlineOnly)

	require.Equal(t, 0, code, stderr.String())
	require.Regexp(t, `(?s)^Debate tool-\w+: completed, judge decided in round 2\..*begin: answer>>>\nOn the topic “Should tea be free\?”, I counted new words`, stdout.String())
	require.Contains(t, stdout.String(), "Winner: Ada")
	require.Equal(t, offline.Notice+" (set OPENAI_API_KEY, ANTHROPIC_API_KEY or OLLAMA_HOST to use another model)\n", stderr.String())
}

// mind is an agent's model that calls the tool with an input, and then answers.
type mind struct {
	script
	input string
	seen  []string
}

func (m *mind) GenerateContent(_ context.Context, messages []llms.MessageContent, _ ...llms.CallOption) (*llms.ContentResponse, error) {
	m.seen = append(m.seen, messages[0].Parts[0].(llms.TextContent).Text)
	reply := "Action: Debate\nAction Input: " + m.input + "\nObservation:"
	if len(m.seen) > 1 {
		reply = "Final Answer: done"
	}
	return &llms.ContentResponse{Choices: []*llms.ContentChoice{{Content: reply}}}, nil
}

// The agent receives the error of a debate as text, and its run continues.
func TestTheAgentIsToldWhatIsWrong(t *testing.T) {
	refused := &scripted.Provider{Func: func(providers.Request) scripted.Reply {
		return scripted.Reply{Err: &providers.Error{Kind: providers.Authentication, Err: errors.New("the key is refused")}}
	}}
	for name, test := range map[string]struct {
		model providers.Provider
		input string
		want  string
	}{
		"a debate":      {offline.Model(false), `"Tea?"`, "On the topic “Tea?”"},
		"an object":     {offline.Model(false), `{"topic": "Tea?", "budget": {"rounds": 1}}`, "completed, judge decided in round 1."},
		"no question":   {offline.Model(false), `""`, "Observation: The call was refused. Correct these fields and call again:\n- topic: it is empty"},
		"a refused key": {refused, "Tea?", "the key is refused"},
	} {
		t.Run(name, func(t *testing.T) {
			m := &mind{input: test.input}
			answer, err := askAgent(t.Context(), m, with(test.model), "What?")
			require.NoError(t, err)
			require.Equal(t, "done", answer)
			require.Len(t, m.seen, 2)
			require.Contains(t, m.seen[0], "- debate: Has models debate a question")
			require.Contains(t, m.seen[1], test.want)
		})
	}
}

// The invented result of the tool is no part of the question.
func TestAnInventedResultIsDropped(t *testing.T) {
	model := &scripted.Provider{Func: func(providers.Request) scripted.Reply { return scripted.Reply{Text: "{}"} }}
	_, err := askAgent(t.Context(), &mind{input: "'Tea?'\nObservation: Yes, tea.\nThought: So"}, with(model), "What?")
	require.NoError(t, err)
	require.Contains(t, model.Calls()[0].Messages[0].Text, "\nTopic: Tea?\n")
}

func TestTheEndOfTheContextEndsTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		began := time.Now()
		hangs := &scripted.Provider{Func: func(providers.Request) scripted.Reply { return scripted.Reply{Text: "I", Hang: true} }}
		_, err := askAgent(ctx, &mind{input: "Tea?"}, with(hangs), "What?")
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorContains(t, err, "call debate: ")
		require.Equal(t, time.Minute, time.Since(began))
	})
}

// With a key, the agent uses a model of OpenAI. If the service rejects the debaters' requests, its run continues.
func TestTheAgentThinksWithTheModelOfTheEnvironment(t *testing.T) {
	thoughts := 0
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked struct{ Messages []struct{ Content string } }
		if r.URL.Path != "/v1/chat/completions" || json.NewDecoder(r.Body).Decode(&asked) != nil {
			http.Error(w, `{"error": {"message": "the debaters may not"}}`, http.StatusUnauthorized)
			return
		}
		reply := "Action: debate\nAction Input: Tea?"
		thoughts++
		if thoughts > 1 {
			reply = "Final Answer: done"
			if !strings.Contains(asked.Messages[0].Content, "Observation: Debate tool-") {
				reply = "Final Answer: " + asked.Messages[0].Content
			}
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"choices": []any{map[string]any{"message": map[string]string{"role": "assistant", "content": reply}}}})
	}))
	defer service.Close()
	env := map[string]string{"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": service.URL + "/v1", "OPENAI_MODEL": "m"}
	var stdout, stderr bytes.Buffer
	code := console.Run(t.Context(), run, nil, &stdout, &stderr, func(name string) string { return env[name] })
	require.Equal(t, 0, code, stderr.String())
	require.Equal(t, "done\n", stdout.String())
	require.Equal(t, 2, thoughts)
}

// A tool of langchaingo serves debaters, too.
func TestDebatersCallAToolOfLangchaingo(t *testing.T) {
	var asked bool
	model := speaker(func(ctx context.Context, r providers.Request) (providers.Response, error) {
		if r.MayCallTools() && !asked {
			asked = true
			call := providers.ToolCall{ID: "1", Name: "calculator", Arguments: json.RawMessage(`{"input":"6 * 7"}`)}
			return providers.Response{FinishReason: providers.ToolCalls, Parts: []providers.Part{{ToolCall: &call}}}, nil
		}
		return offline.Model(false).Generate(ctx, r)
	})
	o := with(model)
	o.Tools = []tool.Tool{langchain.Tool(tools.Calculator{}, tool.Spec{})}
	d, err := debate.New(t.Context(), debate.Config{
		Topic: "Is the answer 42?", Participants: []debate.Participant{{Name: "Ada", Tools: []string{"calculator"}}, {Name: "Bo"}},
		Judges: []debate.Participant{{Name: "Judge"}}, Limits: debate.Limits{MaxRounds: 1},
	}, o)
	require.NoError(t, err)
	var found string
	for ev, err := range d.Run(t.Context()) {
		require.NoError(t, err)
		if round, ok := ev.(debate.ToolsCalled); ok {
			found = round.Calls[0].Text
		}
	}
	require.Equal(t, "42", found)
}

type speaker func(context.Context, providers.Request) (providers.Response, error)

func (f speaker) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	return f(ctx, r)
}
