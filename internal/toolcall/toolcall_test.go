package toolcall

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/providers/tool"
)

type query struct {
	Words string `json:"words"`
	Top   int    `json:"top,omitempty" jsonschema:"maximum=9"`
}

// tools has a tool for each thing that a tool can do.
var tools = map[string]func(ctx context.Context, q query) (tool.Result, error){
	"echo": func(_ context.Context, q query) (tool.Result, error) { return tool.Result{Text: q.Words}, nil },
	"sources": func(context.Context, query) (tool.Result, error) {
		return tool.Result{Sources: []tool.Source{{URI: "file:a", Title: "A", Text: "one\xff"}, {Text: "two"}}}, nil
	},
	"large": func(context.Context, query) (tool.Result, error) {
		return tool.Result{Text: strings.Repeat("ä", 100)}, nil
	},
	"invalid": func(context.Context, query) (tool.Result, error) { return tool.Result{Text: "a\xffb"}, nil },
	"refuses": func(context.Context, query) (tool.Result, error) {
		return tool.Result{}, fmt.Errorf("x: %w", tool.Refusal("Use fewer words."))
	},
	"fails":  func(context.Context, query) (tool.Result, error) { return tool.Result{}, errors.New("secret key") },
	"panics": func(context.Context, query) (tool.Result, error) { panic("secret panic") },
	"exits":  func(context.Context, query) (tool.Result, error) { runtime.Goexit(); return tool.Result{}, nil },
	"hangs":  func(context.Context, query) (tool.Result, error) { select {} },
	"slow": func(ctx context.Context, _ query) (tool.Result, error) {
		<-ctx.Done()
		return tool.Result{}, ctx.Err()
	},
}

func newSet(t *testing.T) Set {
	t.Helper()
	var list []tool.Tool
	for name, f := range tools {
		list = append(list, tool.Func(tool.Spec{Name: name}, f))
	}
	set, err := Compile(list)
	require.NoError(t, err)
	return set
}

// run prepares and runs calls, as the engine does.
func run(ctx context.Context, set Set, calls []tool.Record, l Limits) error {
	var names []string
	for name := range set {
		names = append(names, name)
	}
	set.Prepare(calls, names, l, func(*tool.Record) *tool.Record { return nil })
	return set.Run(ctx, calls, l, nil)
}

func TestWhatAToolDoes(t *testing.T) {
	long := strings.Repeat("x", 70)
	for _, tt := range []struct {
		name, arguments string
		text            string
		kind            tool.ErrorKind
	}{
		{"echo", `{"words":"cars"}`, "cars", ""},
		{"echo", `{"words":"` + long + `"}`, long[:58] + "\n[cut]", ""},
		{"sources", `{"words":""}`, "A\nfile:a\none\uFFFD\n\ntwo", ""},
		{"large", `{"words":""}`, strings.Repeat("ä", 29) + "\n[cut]", ""},
		{"invalid", `{"words":""}`, "a\uFFFDb", ""},
		{"refuses", `{"words":""}`, "Use fewer words.", tool.Refused},
		{"fails", `{"words":""}`, "The tool failed.", tool.Failed},
		{"panics", `{"words":""}`, "The tool failed because of a mistake in its program.", tool.Panicked},
		{"exits", `{"words":""}`, "The tool failed.", tool.Failed},
		{"echo", `{}`, "The arguments are not valid: /: missing properties: 'words'. Correct them if you call the tool again.", tool.Arguments},
		{"echo", `{"words":"a","top":12}`, "The arguments are not valid: /top: must be <= 9 but found 12. Correct them if you call the tool again.", tool.Arguments},
		{"echo", `{"words":"a","other":1}`, "The arguments are not valid: /: additionalProperties 'other' not allowed. Correct them if you call the tool again.", tool.Arguments},
		{"echo", `"{words: cars"`, "The arguments are not valid: they are not a JSON object. Correct them if you call the tool again.", tool.Arguments},
		{"echo", `{`, "The arguments are not valid: they are not JSON. Correct them if you call the tool again.", tool.Arguments},
		{"echo", ``, "The arguments are not valid: they are not JSON. Correct them if you call the tool again.", tool.Arguments},
		{"echo", `null`, "The arguments are not valid: they are not a JSON object. Correct them if you call the tool again.", tool.Arguments},
	} {
		t.Run(tt.name+tt.arguments, func(t *testing.T) {
			calls := []tool.Record{{ID: "1", Name: tt.name, Arguments: json.RawMessage(tt.arguments)}}
			require.NoError(t, run(t.Context(), newSet(t), calls, Limits{Calls: 16, Bytes: 64, Timeout: time.Minute}))
			require.True(t, calls[0].Done)
			require.Equal(t, tt.text, calls[0].Text)
			require.Equal(t, tt.kind, calls[0].Error)
			require.LessOrEqual(t, len(calls[0].Text), 1<<10)
		})
	}
}

func TestUnknownTools(t *testing.T) {
	set := newSet(t)
	calls := []tool.Record{{Name: "nothing"}, {Name: strings.Repeat("n", 5000)}, {Name: "echo", Arguments: json.RawMessage(`{"words":"a"}`)}}
	set.Prepare(calls, []string{"fails", "large"}, Limits{Calls: 16, Bytes: 64, Timeout: time.Minute}, nil)
	require.Equal(t, `There is no tool "nothing". Your tools are: fails, large.`, calls[0].Text)
	require.Less(t, len(calls[1].Text), 200)
	require.Equal(t, tool.Unknown, calls[2].Error, "another actor has it")
}

// A huge result is cut, and the journal learns how large it was. It has 64 MB, and 1 GB with DEBATE_ALL_CASES.
func TestAHugeResult(t *testing.T) {
	size := 64 << 20
	if os.Getenv("DEBATE_ALL_CASES") != "" {
		size = 1 << 30
	}
	set, err := Compile([]tool.Tool{tool.Func(tool.Spec{Name: "huge"}, func(context.Context, struct{}) (string, error) {
		return strings.Repeat("\xff", size), nil
	})})
	require.NoError(t, err)
	calls := []tool.Record{{Name: "huge", Arguments: json.RawMessage(`{}`)}}
	require.NoError(t, run(t.Context(), set, calls, Limits{Calls: 16, Bytes: 8 << 10, Timeout: 10 * time.Minute}))
	require.LessOrEqual(t, len(calls[0].Text), 8<<10)
	require.True(t, utf8.ValidString(calls[0].Text))
	require.Equal(t, size, calls[0].Size)
	require.Len(t, calls[0].SHA256, 64)
}

func TestTheTimeOfACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := []tool.Record{{Name: "slow", Arguments: json.RawMessage(`{"words":"a"}`)}}
		require.NoError(t, run(t.Context(), newSet(t), calls, Limits{Calls: 16, Bytes: 64, Timeout: 30 * time.Second}))
		require.Equal(t, tool.Timeout, calls[0].Error)
		require.Equal(t, 30*time.Second, calls[0].Duration)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, run(ctx, newSet(t), []tool.Record{{Name: "slow", Arguments: json.RawMessage(`{"words":"b"}`)}}, Limits{Calls: 16, Bytes: 64, Timeout: 30 * time.Second}), context.DeadlineExceeded)
	})
}

// A tool that never returns keeps its goroutine, but not the debate.
func TestAToolThatHangs(t *testing.T) {
	calls := []tool.Record{{Name: "hangs", Arguments: json.RawMessage(`{"words":"a"}`)}}
	require.NoError(t, run(t.Context(), newSet(t), calls, Limits{Calls: 16, Bytes: 64, Timeout: time.Millisecond}))
	require.Equal(t, tool.Timeout, calls[0].Error)
}

// Of 800 calls in one reply, 16 run, at most 4 at a time and in any order. The results are in the order of the calls.
func TestManyCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var now, most, ran atomic.Int32
		set, err := Compile([]tool.Tool{tool.Func(tool.Spec{Name: "wait"}, func(_ context.Context, q struct {
			N int `json:"n"`
		},
		) (int, error) {
			ran.Add(1)
			if n := now.Add(1); n > most.Load() {
				most.Store(n)
			}
			time.Sleep(time.Duration(100-q.N) * time.Second / 10)
			now.Add(-1)
			return q.N, nil
		})})
		require.NoError(t, err)
		calls := make([]tool.Record, 800)
		for i := range calls {
			calls[i] = tool.Record{ID: fmt.Sprint(i), Name: "wait", Arguments: json.RawMessage(fmt.Sprintf(`{"n":%d}`, i))}
		}
		require.NoError(t, run(t.Context(), set, calls, Limits{Calls: 16, Bytes: 64, Timeout: time.Minute}))
		require.EqualValues(t, 16, ran.Load())
		require.EqualValues(t, Parallel, most.Load())
		for i, c := range calls {
			if i < 16 {
				require.Equal(t, fmt.Sprint(i), c.Text)
			} else {
				require.Equal(t, tool.LimitReached, c.Error)
			}
		}
	})
}

func TestEqualCallsShareAResult(t *testing.T) {
	for name, tt := range map[string]struct {
		spec tool.Spec
		ran  int32
	}{
		"shared": {tool.Spec{Name: "count"}, 1},
		"fresh":  {tool.Spec{Name: "count", Fresh: true}, 3},
		"once":   {tool.Spec{Name: "count", Once: true}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			var ran atomic.Int32
			set, err := Compile([]tool.Tool{tool.Func(tt.spec, func(context.Context, query) (tool.Result, error) {
				return tool.Result{Text: fmt.Sprint(ran.Add(1)), Sources: []tool.Source{{Text: "s"}}}, nil
			})})
			require.NoError(t, err)
			calls := []tool.Record{
				{ID: "a", Name: "count", Arguments: json.RawMessage(`{"words":"x","top":1}`)},
				{ID: "b", Name: "count", Arguments: json.RawMessage(`{"top": 1, "words": "x"}`)},
				{ID: "c", Name: "count", Arguments: json.RawMessage(`{"words":"x","top":1}`)},
			}
			require.NoError(t, run(t.Context(), set, calls, Limits{Calls: 16, Bytes: 64, Timeout: time.Minute}))
			require.Equal(t, tt.ran, ran.Load())
			if tt.ran > 1 {
				return
			}
			for _, c := range calls[1:] {
				require.Equal(t, "1", c.Text)
				require.Equal(t, "a", c.Shared)
				require.Equal(t, []tool.Source{{Size: 1, SHA256: Digest("s")}}, c.Sources, "the first call has their texts")
			}
			later := []tool.Record{{ID: "d", Name: "count", Arguments: json.RawMessage(`{"words":"x"}`)}}
			set.Prepare(later, []string{"count"}, Limits{Calls: 16, Bytes: 64, Timeout: time.Minute}, func(*tool.Record) *tool.Record { return &calls[1] })
			require.Equal(t, "1", later[0].Text)
			require.Equal(t, "a", later[0].Shared, "the ID of the call that ran")
		})
	}
}

func TestCompile(t *testing.T) {
	with := func(name, schema string) tool.Tool {
		return given{tool.Spec{Name: name, Schema: json.RawMessage(schema)}}
	}
	const object = `{"type":"object"}`
	for name, tt := range map[string]struct {
		list []tool.Tool
		want string
	}{
		"valid":     {[]tool.Tool{with("a-B_9", object), with("b", object)}, ""},
		"nil":       {[]tool.Tool{nil}, "tool 0 is nil"},
		"no name":   {[]tool.Tool{with("", object)}, `the name "" is not valid`},
		"blank":     {[]tool.Tool{with("a b", object)}, `use 1 to 64 letters, digits, '_' and '-'`},
		"long":      {[]tool.Tool{with(strings.Repeat("a", 65), object)}, "is not valid"},
		"twice":     {[]tool.Tool{with("a", object), with("a", object)}, `tool 1: the name "a" is taken by another tool`},
		"no schema": {[]tool.Tool{with("a", "")}, "the schema is not a JSON object"},
		"no object": {[]tool.Tool{with("a", `{"type":"string"}`)}, "the schema describes no object"},
		"broken":    {[]tool.Tool{with("a", `{"type":"object","properties":7}`)}, `tool "a": compile schema`},
		"a file":    {[]tool.Tool{with("a", `{"type":"object","properties":{"a":{"$ref":"file:///etc/passwd"}}}`)}, "it refers to"},
		"a string":  {[]tool.Tool{tool.Func(tool.Spec{Name: "s"}, func(context.Context, string) (string, error) { return "", nil })}, "describes no object"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Compile(tt.list)
			if tt.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, tt.want)
		})
	}
}

// given is a tool with any description.
type given struct{ spec tool.Spec }

func (g given) Spec() tool.Spec { return g.spec }

func (g given) Call(context.Context, tool.Call) (tool.Result, error) { return tool.Result{}, nil }

func TestAnswersOfTheEngine(t *testing.T) {
	var a, b, c tool.Record
	Refuse(&a, " Too expensive. ")
	Refuse(&b, "")
	Interrupt(&c)
	require.Equal(t, []string{"A person refused this call: Too expensive.", "A person refused this call."}, []string{a.Text, b.Text})
	require.Contains(t, c.Text, "unknown")
	require.Equal(t, []tool.ErrorKind{tool.Disapproved, tool.Disapproved, tool.Interrupted}, []tool.ErrorKind{a.Error, b.Error, c.Error})
	d := tool.Record{Text: strings.Repeat("ab", 50)}
	Cut(&d, 20)
	require.Equal(t, "abababababababab"[:14]+"\n[cut]", d.Text)
	require.Equal(t, 100, d.Size)
}
