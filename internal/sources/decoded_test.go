package sources

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/evidence/quote"
	"github.com/elenchus-go/debate/providers/tool"
)

func TestDecoded(t *testing.T) {
	for text, want := range map[string]string{
		"":                                 "",
		"Prose.":                           "",
		`"one\ntwo"`:                       "one\ntwo",
		`{"a": "x", "b": {"c": "y"}}`:      "x\ny",
		`["x", ["y", 1, null, {"a": []}]]`: "x\ny",
		`{"a": [{"b": "x"}, {"b": "y"}], "c": "z", "d": {}, "e": "end"}`: "x\ny\nz\nend",
		` [1] So it is.`:         "",
		`{"a": "cut`:             "",
		`{"a": "\u003cb\u003e"}`: "<b>",
	} {
		require.Equal(t, want, decoded(text, false), text)
	}
	require.Equal(t, "x\ny\ncut & of", decoded(`{"a": "x", "b": ["y", "cut \u0026 of`, true))
	require.Equal(t, "x\ncut", decoded(`{"a": "x", "b": "cut\u00`+"\n[cut]", true))
	require.Equal(t, "x", decoded(`{"a": "x", "na`, true))
	require.Equal(t, "x", decoded(`{"a": "x", "b": 1`, true))
	require.Equal(t, "", decoded(`[1] Prose`, true))
}

// What a tool returns as a struct has escapes and field names between its texts. A quote is of the texts.
func TestQuotesOfJSON(t *testing.T) {
	type passage struct{ Title, Text string }
	raw, err := json.Marshal([]passage{{"Rents", "The mayor said:\n\"Rents & wages rose\"\tin 2024."}, {"Law", "It is <void>, as the court has said twice."}})
	require.NoError(t, err)
	l := &List{}
	l.findIn(key(1, "speak", "A"), 2, 3, tool.Record{Text: string(raw), Sources: []tool.Source{{Title: "search"}}},
		tool.Record{Text: string(raw[:70]), Size: 999, SHA256: evidence.Hash("long"), Sources: []tool.Source{{Title: "cut"}}})
	q := func(source int, words string) string {
		return fmt.Sprintf(`<quote source="%d">%s</quote>`, source, words)
	}
	for words, want := range map[string]string{
		"The mayor said: \"Rents & wages rose\" in 2024.": "1 verified 0",
		"`Rents` and wages sank … in 1999, as he said":    "1 not_found 0",
		"It is <void>, as the court":                      "1 verified 0",
		"the mayor said … as the court has said":          "1 verified 9",
		"It is valid, as the court has said twice":        "1 altered 0",
		"nobody has ever said anything":                   "1 not_found 0",
		"the mayor":                                       "1 not_checked 0",
	} {
		require.Equal(t, want+" "+words, read(l, turn("A", q(1, words)), nil))
	}
	require.Equal(t, "2 verified 0 mayor said: \"Rents & wages", read(l, turn("A", q(2, "mayor said: \"Rents & wages")), nil))
	require.Equal(t, "2 not_checked 0 as the court has said", read(l, turn("A", q(2, "as the court has said")), nil))
}

// Whatever a text is, its strings are strings that it has.
func FuzzDecoded(f *testing.F) {
	for _, text := range []string{`{"a":["b",{"c":"d"}]}`, `["a"`, `{"a":{"b":"c`, `]`, `"x"]`, `{"a"}`, "[1]"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, partial := range []bool{false, true} {
			quote.New(decoded(text, partial)).Check("so it is")
		}
	})
}
