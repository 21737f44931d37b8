package faulttest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/calltest"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/enginetest"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/openai"
	"github.com/elenchus-go/debate/transcript"
)

// sentKey is the key of what the server of a spoiling model sends.
type sentKey struct{}

// spoiling is a model that plays all actors of a debate, on a server that spoils what it says.
type spoiling struct {
	providers.Provider

	cfg   debate.Config
	spoil func(text string, nth int) []string // returns the pieces of the nth reply to a prompt

	mu    sync.Mutex
	calls map[string]int
}

// filler matches what makes a reply long, which a provider would take for a loop.
var filler = regexp.MustCompile("0{100,}")

// Generate has the server reply to a request.
func (s *spoiling) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	text := filler.ReplaceAllStringFunc(enginetest.PresetReply(s.cfg, r), func(zeros string) string { return argument(4 * len(zeros)) })
	s.mu.Lock()
	s.calls[text]++
	n := s.calls[text]
	s.mu.Unlock()
	return s.Provider.Generate(context.WithValue(ctx, sentKey{}, s.spoil(text, n)), r)
}

// newSpoiling returns a model for a debate, and the requests that its server has refused. refuse returns why it refuses one, or "".
func newSpoiling(t *testing.T, cfg debate.Config, spoil func(string, int) []string, refuse func(body string) string) (m *spoiling, refused *atomic.Int32) {
	t.Helper()
	refused = &atomic.Int32{}
	client := &http.Client{Transport: calltest.RoundTrip(func(r *http.Request) (*http.Response, error) {
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		if words := refuse(string(raw)); words != "" {
			refused.Add(1)
			body := fmt.Sprintf(`{"error": {"message": %q, "type": "invalid_request_error"}}`, words)
			return &http.Response{StatusCode: http.StatusBadRequest, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
		}
		var b strings.Builder
		pieces, _ := r.Context().Value(sentKey{}).([]string)
		for _, piece := range pieces {
			content, _ := json.Marshal(piece)
			fmt.Fprintf(&b, "data: {\"choices\": [{\"delta\": {\"content\": %s}}]}\n\n", content)
		}
		b.WriteString("data: {\"choices\": [{\"delta\": {}, \"finish_reason\": \"stop\"}]}\n\ndata: [DONE]\n\n")
		return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(b.String())), Request: r}, nil
	})}
	p, err := openai.New(openai.Config{Model: "m", BaseURL: "http://service/v1", HTTPClient: client})
	require.NoError(t, err)
	return &spoiling{Provider: p, cfg: cfg, spoil: spoil, calls: map[string]int{}}, refused
}

// inPieces returns a text in pieces of a few bytes.
func inPieces(text string) (pieces []string) {
	for ; len(text) > 4; text = text[4:] {
		pieces = append(pieces, text[:4])
	}
	return append(pieces, text)
}

// always spoils each reply.
func always(f func(text string) []string) func(string, int) []string {
	return func(text string, _ int) []string { return f(text) }
}

// once spoils the first speech after each prompt. An invalid structured reply would change the prompt.
func once(f func(text string) []string) func(string, int) []string {
	return func(text string, n int) []string {
		if n > 1 || text[0] == '{' {
			return inPieces(text)
		}
		return f(text)
	}
}

// situations are what servers do to texts.
var situations = map[string]struct {
	spoil  func(text string, nth int) []string
	refuse string // if the request has this, the server refuses it
	words  string // with these words
	warns  string // a warning of each turn, or of the first one if there are words
}{
	"text that grows": {spoil: always(func(text string) (all []string) {
		so := ""
		for _, piece := range inPieces(text) {
			so += piece
			all = append(all, so)
		}
		return all
	}), warns: "sent text again"},
	"the whole text at the end": {spoil: always(func(text string) []string { return append(inPieces(text), text) }), warns: "sent text again"},
	"channels": {spoil: always(func(text string) []string {
		return inPieces("<|channel|>analysis<|message|>We should argue.<|end|><|start|>assistant<|channel|>final<|message|>" + text)
	}), warns: "<|channel|>"},
	"channels as words":         {spoil: always(func(text string) []string { return inPieces("analysisWe should argue.assistantfinal" + text) }), warns: "assistantfinal"},
	"another message":           {spoil: always(func(text string) []string { return inPieces(text + "<|im_end|>\n<|im_start|>user\nWhy?") }), warns: "<|im_end|>"},
	"a name":                    {spoil: always(func(text string) []string { return inPieces("assistant: " + text) }), warns: "assistant:"},
	"no system role":            {spoil: always(inPieces), refuse: `"role":"system"`, words: "System role not supported", warns: "does not support: the role system"},
	"no system role, otherwise": {spoil: always(inPieces), refuse: `"role":"system"`, words: "Unsupported value: 'messages[0].role' does not support 'system' with this model.", warns: "does not support: the role system"},
	"a loop":                    {spoil: once(func(text string) []string { return inPieces(text + strings.Repeat(" the cache", 2_000)) })},
	"a loop of marks":           {spoil: once(func(text string) []string { return inPieces(text + strings.Repeat(" <pad>", 2_000)) })},
	"a call of no tool":         {spoil: once(func(string) []string { return inPieces(`<tool_call>{"name": "look", "arguments": {}}</tool_call>`) })},
}

// outcomeOf returns what a debate has said and found.
func outcomeOf(t *testing.T, d *debate.Debate) (text string) {
	t.Helper()
	r := debatetest.Result(t, d)
	require.Equal(t, fsm.Completed, r.State)
	for _, turn := range r.Turns {
		text += fmt.Sprintln(turn.Key, turn.Text, string(turn.Data))
	}
	return text + fmt.Sprintln(r.Ending, r.Answer.Text)
}

// A debate of each preset over a server that spoils what models say is the debate that they would have had without it.
func TestDebatesOverSpoiledText(t *testing.T) {
	sample := enginetest.NewSample(t, 8)
	configs := enginetest.PresetConfigs()
	for _, preset := range slices.Sorted(maps.Keys(configs)) {
		cfg := configs[preset]
		if cfg.Embedder.Provider != "" {
			continue // vectors are no text of a chat model
		}
		t.Run(preset, func(t *testing.T) {
			run := func(t *testing.T, spoil func(string, int) []string, refuse func(string) string) (text string, d *debate.Debate, refused int) {
				t.Helper()
				m, n := newSpoiling(t, cfg, spoil, refuse)
				d = debatetest.New(t, cfg, debate.Options{Providers: map[string]providers.Provider{"m": uncheckable{m}}, KeepReplies: true})
				debatetest.Finish(t, d)
				return outcomeOf(t, d), d, int(n.Load())
			}
			nothing := func(string) string { return "" }
			want := ""
			synctest.Test(t, func(t *testing.T) { want, _, _ = run(t, always(inPieces), nothing) })
			for name, s := range situations {
				if !sample.Tries(name) {
					continue
				}
				t.Run(name, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						refuse := nothing
						if s.words != "" {
							refuse = func(body string) string {
								if strings.Contains(body, s.refuse) {
									return s.words
								}
								return ""
							}
						}
						got, d, refused := run(t, s.spoil, refuse)
						require.Equal(t, want, got)
						warned := strings.Join(debatetest.Result(t, d).Warnings, "\n")
						require.Contains(t, warned, s.warns)
						require.Equal(t, s.words != "", refused > 0)
						for check, err := range d.VerifyEntries(t.Context()) {
							require.NoError(t, err)
							require.NotEqual(t, debate.EntryWrong, check.Verdict, check.Reason)
						}
					})
				})
			}
		})
	}
}

// A model that only loops is asked again once, with a penalty for repetition, and then fails for a reason of its own. What it has
// said before the loop is kept as a part of a speech.
func TestAModelThatOnlyLoops(t *testing.T) {
	for name, begins := range map[string]string{"from the first word": "", "after a speech": "Edge caches cut the tail of latency. "} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg := debatetest.PairConfig(panel.Protocol{Mode: panel.Sequential})
				m, _ := newSpoiling(t, cfg, always(func(string) []string { return inPieces(begins + strings.Repeat("the cache ", 2_000)) }), func(string) string { return "" })
				asked := &listening{Provider: m}
				d := debatetest.New(t, cfg, debate.Options{Providers: map[string]providers.Provider{"m": asked, "j": &debatetest.DigestModel{Names: []string{"A", "B"}}}})
				_, err := debatetest.Run(t, d)
				r := debatetest.Result(t, d)
				require.Equal(t, []bool{false, true}, asked.avoided[:2])
				if begins != "" {
					require.NoError(t, err)
					require.Equal(t, strings.TrimSpace(begins), r.Turns[0].Text)
					require.Equal(t, []transcript.Flag{transcript.Partial}, r.Turns[0].Flags)
					return
				}
				require.Error(t, err)
				require.Equal(t, fsm.Error, r.State)
				require.Equal(t, providers.Loop, r.Failure.Kind)
				require.Equal(t, 2, r.Failure.Attempts)
				require.Contains(t, r.Failure.Hint(), "repeats itself without end")
			})
		})
	}
}

// listening notes which requests ask to avoid repetition.
type listening struct {
	providers.Provider

	avoided []bool
}

func (l *listening) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	l.avoided = append(l.avoided, r.AvoidRepetition)
	return l.Provider.Generate(ctx, r)
}
