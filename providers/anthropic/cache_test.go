package anthropic_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/calltest"
	"github.com/elenchus-go/debate/internal/test/fakellm"
	"github.com/elenchus-go/debate/internal/test/golden"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/anthropic"
	"github.com/elenchus-go/debate/transcript"
)

// prompt returns the prompt of reader after turns of the given speakers, in the form that debates use.
func prompt(reader string, speakers ...string) []providers.Message {
	list := []providers.Message{{Role: providers.System, Text: "You are " + reader + "."}}
	for i, name := range speakers {
		m := providers.Message{Role: providers.User, Text: fmt.Sprintf("%s: Turn %d.", name, i+1)}
		if name == reader {
			m = providers.Message{Role: providers.Assistant, Text: fmt.Sprintf("Turn %d.", i+1)}
		}
		list = append(list, m)
	}
	return append(list, providers.Message{Role: providers.User, Text: fmt.Sprintf("It is your turn, number %d.", len(speakers)+1)})
}

// bodies returns the request bodies that the service receives for prompts.
func bodies(t *testing.T, c anthropic.Config, prompts ...[]providers.Message) []map[string]any {
	t.Helper()
	p, s := provider(t, c, fakellm.Reply{Chunks: []string{"So."}})
	for _, m := range prompts {
		calltest.Generate(t, p, providers.Request{Messages: m, MaxTokens: 600})
	}
	var list []map[string]any
	for _, r := range s.Requests() {
		list = append(list, r.Body)
	}
	return list
}

// sentBlock is a block that the service received.
type sentBlock struct {
	role, text string
	marked     bool
}

// blocksOf returns the blocks of a body in the order in which the service caches them.
func blocksOf(t *testing.T, body map[string]any) []sentBlock {
	t.Helper()
	raw, err := json.Marshal(body)
	require.NoError(t, err)
	type block struct {
		Text string          `json:"text"`
		Mark json.RawMessage `json:"cache_control"`
	}
	var read struct {
		System   []block `json:"system"`
		Messages []struct {
			Role    string  `json:"role"`
			Content []block `json:"content"`
		} `json:"messages"`
	}
	require.NoError(t, json.Unmarshal(raw, &read))
	var list []sentBlock
	add := func(role string, blocks []block) {
		for _, b := range blocks {
			if b.Mark != nil {
				require.JSONEq(t, `{"type": "ephemeral"}`, string(b.Mark))
			}
			list = append(list, sentBlock{role, b.Text, b.Mark != nil})
		}
	}
	add("system", read.System)
	for _, m := range read.Messages {
		add(m.Role, m.Content)
	}
	return list
}

// marksOf returns the positions of the blocks with breakpoints.
func marksOf(blocks []sentBlock) (marks []int) {
	for i, b := range blocks {
		if b.marked {
			marks = append(marks, i)
		}
	}
	return marks
}

// serviceCache caches prompts as the service does: it stores the prefixes that end at a breakpoint. It looks for a
// prefix at each breakpoint and at the 19 blocks before it.
type serviceCache map[string]bool

// take returns how many blocks of a prompt are cached, and caches the prompt.
func (c serviceCache) take(blocks []sentBlock) (found int) {
	keys, key := make([]string, len(blocks)), ""
	for i, b := range blocks {
		key += fmt.Sprintf("%q %q\n", b.role, b.text)
		keys[i] = key
	}
	marks := marksOf(blocks)
	for _, m := range marks {
		for i := m; i > max(m-20, -1); i-- {
			if c[keys[i]] {
				found = max(found, i+1)
			}
		}
	}
	for _, m := range marks {
		c[keys[m]] = true
	}
	return found
}

func TestAPromptBearsMarksUpToTheHistory(t *testing.T) {
	got := bodies(t, anthropic.Config{},
		prompt("Bo", "Ada", "Cy"), prompt("Bo", "Ada", "Cy", "Bo", "Ada", "Cy"))
	for i, name := range []string{"first.json", "second.json"} {
		raw, err := json.MarshalIndent(got[i], "", "  ")
		require.NoError(t, err)
		golden.Require(t, "testdata/"+name, string(raw)+"\n")
	}
}

func TestTheNextPromptBeginsWithWhatThePromptBeforeHadMarked(t *testing.T) {
	bo := []string{"Ada", "Cy", "Bo"}
	var many []string // more turns than the lookback of the service
	for i := range 39 {
		many = append(many, fmt.Sprint("P", i))
	}
	for name, test := range map[string]struct {
		reader  string
		prompts [][]string // the speakers
		marks   []int      // the number of breakpoints of each prompt
	}{
		"no turns yet":        {"Bo", [][]string{nil, {"Bo", "Ada"}}, []int{1, 2}},
		"turns of others":     {"Bo", [][]string{bo[:2], slices.Concat(bo, bo[:2])}, []int{2, 2}},
		"two turns in a row":  {"Bo", [][]string{bo, slices.Concat(bo, bo[2:])}, []int{2, 2}},
		"other speakers":      {"Bo", [][]string{bo[:1], {"Ada", "Ada", "Bo", "Cy"}}, []int{2, 2}},
		"judge without turns": {"Judge", [][]string{bo, slices.Concat(bo, bo)}, []int{2, 2}},
		"reader spoke first":  {"Bo", [][]string{{"Bo"}, {"Bo", "Ada", "Bo"}}, []int{2, 2}},
		"many turns":          {"Judge", [][]string{many[:20], many, slices.Concat(many, many)}, []int{2, 3, 3}},
	} {
		t.Run(name, func(t *testing.T) {
			var prompts [][]providers.Message
			for _, speakers := range test.prompts {
				prompts = append(prompts, prompt(test.reader, speakers...))
			}
			c, kept := serviceCache{}, 0
			for i, body := range bodies(t, anthropic.Config{}, prompts...) {
				blocks := blocksOf(t, body)
				marks := marksOf(blocks)
				require.Len(t, marks, test.marks[i])
				require.NotContains(t, marks, len(blocks)-1, "what asks for the reply is not kept")
				require.Equal(t, kept, c.take(blocks), "prompt %d", i+1)
				kept = marks[len(marks)-1] + 1
			}
		})
	}
}

func TestAPromptIsFoundHoweverManyHaveSpokenSinceUpTo39(t *testing.T) {
	var prompts [][]providers.Message
	speakers := slices.Repeat([]string{"Ada"}, 80)
	for since := range 41 {
		prompts = append(prompts, prompt("Judge", speakers[:30]...), prompt("Judge", speakers[:30+since]...))
	}
	got := bodies(t, anthropic.Config{}, prompts...)
	for since := range 41 {
		c := serviceCache{}
		_ = c.take(blocksOf(t, got[2*since]))
		found := c.take(blocksOf(t, got[2*since+1]))
		require.Equal(t, since < 40, found == 31, "%d since: %d blocks", since, found)
	}
}

// A retry repeats the prompt and finds its cache entries.
func TestAskingAgainReadsWhatWasAsked(t *testing.T) {
	again := append(prompt("Bo", "Ada", "Cy"),
		providers.Message{Role: providers.Assistant, Text: "{"}, providers.Message{Role: providers.User, Text: "That was no JSON."})
	got := bodies(t, anthropic.Config{}, prompt("Bo", "Ada", "Cy"), again)
	c := serviceCache{}
	require.Zero(t, c.take(blocksOf(t, got[0])))
	require.Equal(t, 3, c.take(blocksOf(t, got[1])), "the system prompt and two turns")
}

func TestMarksChangeNoWord(t *testing.T) {
	m := append(prompt("Bo", "Bo", "Ada", "Cy", "Bo", "Bo", "Ada"), providers.Message{Role: providers.User, Text: `<b> "q" & \ é`})
	got := bodies(t, anthropic.Config{}, m)
	plain := bodies(t, anthropic.Config{NoCache: true}, m)
	texts := func(body map[string]any) (list []any) {
		for _, m := range body["messages"].([]any) {
			m := m.(map[string]any)
			text := ""
			for _, b := range m["content"].([]any) {
				text += b.(map[string]any)["text"].(string)
			}
			list = append(list, m["role"], text)
		}
		return list
	}
	require.Equal(t, texts(plain[0]), texts(got[0]))
	text := func(body map[string]any) any { return body["system"].([]any)[0].(map[string]any)["text"] }
	require.Equal(t, text(plain[0]), text(got[0]))
}

func TestWithoutACacheNothingIsMarked(t *testing.T) {
	body := bodies(t, anthropic.Config{NoCache: true}, prompt("Bo", "Ada", "Cy"))[0]
	require.Equal(t, []any{map[string]any{"type": "text", "text": "You are Bo."}}, body["system"])
	require.Equal(t, []any{map[string]any{"role": "user", "content": []any{
		map[string]any{"type": "text", "text": "Ada: Turn 1."},
		map[string]any{"type": "text", "text": "\n\nCy: Turn 2."},
		map[string]any{"type": "text", "text": "\n\nIt is your turn, number 3."},
	}}}, body["messages"])
}

func TestAPromptWithoutASystemPromptIsMarkedInItsHistoryOnly(t *testing.T) {
	body := bodies(t, anthropic.Config{}, prompt("Bo", "Ada", "Cy")[1:])[0]
	require.NotContains(t, body, "system")
	require.Equal(t, []int{1}, marksOf(blocksOf(t, body)))
}

func TestAServiceThatKnowsNoMarksIsAskedWithout(t *testing.T) {
	refusal := fakellm.Reply{Status: 400, Body: `{"error": {"message": "system.0.cache_control: Extra inputs are not permitted"}}`}
	p, s := provider(t, anthropic.Config{}, refusal, fakellm.Reply{Chunks: []string{"So."}})
	for range 2 {
		res := calltest.Generate(t, p, providers.Request{Messages: prompt("Bo", "Ada", "Cy")})
		require.Equal(t, "So.", res.Text)
	}
	requests := s.Requests()
	require.Len(t, requests, 3, "the second call knows")
	for i, r := range requests {
		raw, err := json.Marshal(r.Body)
		require.NoError(t, err)
		require.Equal(t, i == 0, bytes.Contains(raw, []byte("cache_control")))
	}
}

func TestARefusedMarkOfTheCallersStaysRefused(t *testing.T) {
	refusal := fakellm.Reply{Status: 400, Body: `{"error": {"message": "cache_control: Extra inputs are not permitted"}}`}
	p, s := provider(t, anthropic.Config{NoCache: true, Extra: map[string]any{"cache_control": map[string]any{"type": "ephemeral"}}}, refusal)
	_, err := p.Generate(t.Context(), providers.Request{Messages: prompt("Bo", "Ada")})
	require.ErrorContains(t, err, "cache_control: Extra inputs are not permitted")
	require.Len(t, s.Requests(), 1)
}

func TestWhatTheCacheGaveAndTookIsInput(t *testing.T) {
	usage := transcript.Usage{Input: 1000, Cached: 700, Written: 250, Output: 50}
	p, _ := provider(t, anthropic.Config{}, fakellm.Reply{Chunks: []string{"Be", "cause."}, Usage: usage})
	for name, chunk := range map[string]func(string) error{"in one": nil, "streamed": func(string) error { return nil }} {
		t.Run(name, func(t *testing.T) {
			r := ask
			r.OnChunk = chunk
			res := calltest.Generate(t, p, r)
			require.Equal(t, usage, res.Usage)
		})
	}
}

func TestEntriesForAnHour(t *testing.T) {
	for long, want := range map[bool]string{true: `{"type": "ephemeral", "ttl": "1h"}`, false: `{"type": "ephemeral"}`} {
		raw, err := json.Marshal(bodies(t, anthropic.Config{LongCache: long}, prompt("Bo", "Ada", "Bo", "Ada"))[0])
		require.NoError(t, err)
		marks := cacheMarks.FindAllStringSubmatch(string(raw), -1)
		require.Len(t, marks, 2, "one in the system prompt, and one in the history")
		for _, m := range marks {
			require.JSONEq(t, want, m[1])
		}
	}
	_, err := anthropic.New(anthropic.Config{Key: key, Model: "m", NoCache: true, LongCache: true})
	require.EqualError(t, err, "create anthropic provider: Config.NoCache and Config.LongCache are both set: set only one of them")
}

// cacheMarks finds the cache breakpoints in a body.
var cacheMarks = regexp.MustCompile(`"cache_control":(\{[^}]*\})`)
