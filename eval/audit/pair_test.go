package audit

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/judge/agreement"
)

func TestReadLines(t *testing.T) {
	pairs, err := Format{}.Read(strings.NewReader("\ufeff" + `{"question": "q", "a": "x", "b": "y", "gold": "A", "group": "g", "author_a": "gpt-4o", "other": 1}

{"topic": "r", "id": 7, "a": "x", "b": "y"}
{"id": "z", "question": "q", "topic": "r", "a": "x", "b": "y", "gold": "b"}
`))
	require.NoError(t, err)
	require.Equal(t, []Pair{
		{ID: "1", Question: "q", A: "x", B: "y", Gold: agreement.A, Group: "g", AuthorA: "gpt-4o"},
		{ID: "7", Question: "r", A: "x", B: "y"},
		{ID: "z", Question: "q", A: "x", B: "y", Gold: agreement.B},
	}, pairs)
}

func TestEachLineThatCannotBeUsedIsNamed(t *testing.T) {
	_, err := Format{}.Read(strings.NewReader(`{"question": "q", "a": "x", "b": "y"}
{"question": " ", "a": "x", "b": "y"}
{"question": "q", "b": "y"}
{"question": "q", "a": "x", "b": "x"}
{"question": "q", "a": "x", "b": "y", "gold": "c"}
{"id": "1", "question": "q", "a": "x", "b": "y"}
{"id": "a+b", "question": "q", "a": "x", "b": "y"}
{"id": [1], "question": 5}
null
[]
`))
	require.Error(t, err)
	for _, line := range []string{
		"line 2: question: it is missing or blank", "line 3: a: it is missing or blank", "line 4: b: it is the same text as a",
		`line 5: gold: "c", want "a" or "b"`, `line 6: id: "1" is the id of line 1 too`, `line 7: id: "a+b", use 1 to 100 bytes`,
		"line 8: decode JSON", "line 9: question: it is missing", "line 10: decode JSON",
	} {
		require.ErrorContains(t, err, line)
	}
	require.NotContains(t, err.Error(), "line 1:")
	_, err = Format{}.Read(strings.NewReader("\n"))
	require.EqualError(t, err, "read pairs: the file has none")
}

func TestReadLLMBar(t *testing.T) {
	pairs, err := Format{Name: "llmbar"}.Read(strings.NewReader(`[{"input": "Name a planet.", "output_1": "Rome", "output_2": "Mars", "label": 2},
{"input": "Name a planet.", "output_1": "Venus", "output_2": "Rome", "label": 1}]`))
	require.NoError(t, err)
	require.Equal(t, "Name a planet.", pairs[0].Question)
	require.Equal(t, []agreement.Decision{agreement.B, agreement.A}, []agreement.Decision{pairs[0].Gold, pairs[1].Gold})
	require.Equal(t, pairs[0].Group, pairs[1].Group, "they depend on one another")
	_, err = Format{Name: "llmbar"}.Read(strings.NewReader(`[{"input": "q", "output_1": "x", "output_2": "x", "label": 2}]`))
	require.ErrorContains(t, err, "pair 1: b: it is the same text as a")
	_, err = Format{Name: "llmbar"}.Read(strings.NewReader(`{`))
	require.Error(t, err)
}

func TestFamily(t *testing.T) {
	for model, want := range map[string]string{"gpt-4o": "gpt", "meta-llama/Llama-3.1-8B": "llama", "llama2": "llama", "claude": "claude", "": "", "4o": ""} {
		require.Equal(t, want, Family(model), model)
	}
}

func TestPlants(t *testing.T) {
	p := Pair{ID: "x", A: "One two three. Four.\nFive six seven.", B: "B"}
	require.Equal(t, "## Answer\n\n- **One two** three.\n- **Four.**\n- **Five six** seven.", formatted(p.A))
	for _, plant := range Plants {
		in := map[agreement.Decision]int{}
		for _, pair := range pairsOf(200) {
			with := plant.into(pair)
			at := plant.plantedIn(pair)
			in[at]++
			if at == agreement.A {
				require.NotEqual(t, pair.A, with.A)
				require.Equal(t, pair.B, with.B)
			} else {
				require.Equal(t, pair.A, with.A)
				require.NotEqual(t, pair.B, with.B)
			}
		}
		require.InDelta(t, 100, in[agreement.A], 30, "%s: in both answers", plant)
	}
}

func TestWhatIsWrongWithAnAudit(t *testing.T) {
	good := func() Audit { return Audit{Name: "a", Pairs: pairsOf(2), Judges: []Judge{judgeOf("j")}} }
	for says, change := range map[string]func(*Audit){
		"pairs: there are none": func(a *Audit) { a.Pairs = nil },
		"pairs[1]: gold: it is missing, want \"a\" or \"b\": an audit needs gold labels": func(a *Audit) { a.Pairs[1].Gold = "" },
		"pairs[1]: id: \"p0\" is the id of another pair":                                 func(a *Audit) { a.Pairs[1].ID = "p0" },
		"pairs[0]: a: it is missing":                                                     func(a *Audit) { a.Pairs[0].A = "" },
		"judges: there are none":                                                         func(a *Audit) { a.Judges = nil },
		"judges[0]: config: it has 0":                                                    func(a *Audit) { a.Judges[0].Config = debate.Config{} },
		"plants[1]: \"verbosity\" is unknown or there twice":                             func(a *Audit) { a.Plants = []Plant{Verbosity, Verbosity} },
		"plants[0]: \"x\" is unknown":                                                    func(a *Audit) { a.Plants = []Plant{"x"} },
		"repeats: 101, use 1 to 100":                                                     func(a *Audit) { a.Repeats = 101 },
		"target: 1, use a number":                                                        func(a *Audit) { a.Target = 1 },
		"name: \"\", use 1 to 128":                                                       func(a *Audit) { a.Name = "" },
		"arms[0]: name: \"\"":                                                            func(a *Audit) { a.Judges[0].Name = "" },
		"\"none\" is unknown to this engine":                                             func(a *Audit) { a.Judges[0].Config.Prompts = "none" },
	} {
		t.Run(says, func(t *testing.T) {
			a := good()
			change(&a)
			o, _ := options(map[string]simulated{"j": {}})
			_, err := a.Run(t.Context(), o)
			require.ErrorContains(t, err, says)
		})
	}
}

// A limit leaves pairs out, and the report says so. Another judge's failures do not count as wrong.
func TestAnAuditThatIsNotComplete(t *testing.T) {
	o, calls := options(map[string]simulated{"j": {accuracy: .8}})
	a := Audit{Name: "a", Pairs: pairsOf(20), Judges: []Judge{judgeOf("j")}, MaxTokens: 1, Concurrency: 1, Target: .9}
	r := debatetest.Call(t, a.Run, o)
	require.Equal(t, "the limit of tokens, 1, is reached", r.Incomplete)
	require.LessOrEqual(t, len(calls["j"].Calls()), 2)
	require.LessOrEqual(t, r.Judges[0].Pairs, 1)
	require.Nil(t, r.Calibration)
	require.Contains(t, r.Refused, "the jury must not decide alone")
	a.MaxTokens = 0
	r = debatetest.Call(t, a.Run, o)
	require.Empty(t, r.Incomplete)
	require.Equal(t, 20, r.Judges[0].Pairs)
	require.Len(t, calls["j"].Calls(), 40, "what was committed is not called again")
}
