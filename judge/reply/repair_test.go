package reply_test

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/judge/reply"
)

// note is a short reply.
type note struct {
	Text  string   `json:"text"`
	Marks []string `json:"marks,omitempty"`
	Score float64  `json:"score,omitempty"`
	Done  bool     `json:"done,omitempty"`
	No    string   `json:"no,omitempty"`
}

var notes = reply.New[note]("note/1")

func TestNotationIsRepaired(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       note
	}{
		{"a superfluous comma", `{"text":"a","marks":["b","c",],}`, note{Text: "a", Marks: []string{"b", "c"}}},
		{"superfluous commas before space", "{\"text\":\"a\",\"marks\":[\"b\" ,\n\t],\r\n}", note{Text: "a", Marks: []string{"b"}}},
		{"single quotes", `{'text': 'say "no"', 'score': 2}`, note{Text: `say "no"`, Score: 2}},
		{"double quotes around an apostrophe", `{'text': "isn't it", 'no': 'a'}`, note{Text: "isn't it", No: "a"}},
		{"an escaped apostrophe", `{'text': 'isn\'t it', "no": "isn\'t it"}`, note{Text: "isn't it", No: "isn't it"}},
		{"an escaped backslash at the end", `{'text': 'a\\', 'no': 'b'}`, note{Text: `a\`, No: "b"}},
		{"literals of Python", `{"text": "a", "done": True, "no": None}`, note{Text: "a", Done: true}},
		{"a false literal of Python", `{"text": "True", "done": False}`, note{Text: "True"}},
		{"escapes of all kinds", `{"text":"\"\\\/\b\f\n\r\t caf\u00e9 \ud83d\ude00 \ud83d",}`, note{Text: "\"\\/\b\f\n\r\t café 😀 \ufffd"}},
		{"escapes in single quotes", `{'text':'\"\\\b\f\n\r\t caf\u00e9'}`, note{Text: "\"\\\b\f\n\r\t café"}},
		{"commas before brackets inside a text", `{"text":"a,] b,}",}`, note{Text: "a,] b,}"}},
		{"prose around it", "So:\n```json\n{'text':'a'}\n```\nThat {is} it.", note{Text: "a"}},
		{"all of it inside a list", `[{"text":"a",}]`, note{Text: "a"}},
		{"the same field twice", `{"text":"a","text":"a",}`, note{Text: "a"}},
		{"braces inside a text in single quotes", `{'text': '}a {', 'marks': ['[', "}"], 'score': 2}`, note{Text: "}a {", Marks: []string{"[", "}"}, Score: 2}},
		{"a brace inside a text in single quotes, in prose", `So: {'text': "isn't it", 'no': '}'} {done}`, note{Text: "isn't it", No: "}"}},
		{"an escaped quote before a brace", `{'text': 'a\'}', 'score': 2}`, note{Text: "a'}", Score: 2}},
		{"a long text", `{'text':'` + strings.Repeat("a", 60<<10) + `'}`, note{Text: strings.Repeat("a", 60<<10)}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := notes.Parse(tt.text, nil)
			require.NoError(t, err)
			require.True(t, r.Repaired)
			var got note
			require.NoError(t, json.Unmarshal(r.Data, &got))
			require.Equal(t, tt.want, got)
		})
	}
}

// A reply with another fault is asked for again.
func TestNothingElseIsRepaired(t *testing.T) {
	for _, tt := range []struct{ name, text string }{
		{"a missing comma", `{"text":"a" "score":2}`},
		{"items without commas", `{"text":"a","marks":["b" "c"]}`},
		{"a comma too many between values", `{"text":"a",,"score":2}`},
		{"two commas too many at the end", `{"text":"a",,}`},
		{"a comma in an empty list", `{"text":"a","marks":[,]}`},
		{"a comma in an empty object", `{,}`},
		{"typographic quotes", `{“text”: “a”}`},
		{"backticks", "{`text`: `a`}"},
		{"keys without quotes", `{text: "a"}`},
		{"a word without quotes", `{"text": yes}`},
		{"words without quotes", `{"text": yes it is}`},
		{"literals in other spellings", `{"text":"a","done":TRUE}`},
		{"quotes inside a text", `{"text":"he said "no" to it"}`},
		{"an apostrophe inside a text in single quotes", `{'text':'isn't it'}`},
		{"apostrophes that look like the end of a text", `{'text':'he said 'no', 'score': 3, and left'}`},
		{"a line break inside a text", "{\"text\":\"a\nb\"}"},
		{"a line break inside a text in single quotes", "{'text':'a\nb'}"},
		{"a backslash that escapes nothing", `{"text":"\d+"}`},
		{"a path", `{"text":"in C:\Users\Ada"}`},
		{"an escape that only Python has", `{'text':'\x41'}`},
		{"a prefix of Python", `{'text':u'a'}`},
		{"strings that Python joins", `{'text':'a' 'b'}`},
		{"a comment", "{\"text\":\"a\", // the gist\n \"score\":2}"},
		{"a missing colon", `{"text" "a"}`},
		{"a missing quote before the first key", `{text":"a b"}`},
		{"a missing quote before a key", `{"text":"a",score":2}`},
		{"a missing quote after a key", `{"text":"a","score: 2}`},
		{"a missing quote before a text", `{"text": a b!","score": 2}`},
		{"a missing quote after a text", `{"text":"a {b} c,"score":2}`},
		{"a missing quote before an item", `{"text":"a","marks":[b","c"]}`},
		{"a missing quote after the last text", `{"text":"a}`},
		{"a quote of another kind at the end", `{"text":'a"}`},
		{"cut inside a text", `{"text":"a`},
		{"cut after a text", `{"text":"a"`},
		{"cut after a comma", `{"text":"a",`},
		{"cut behind a bracket of a text", `{"text":"as in {x}`},
		{"cut behind a bracket of a text in single quotes", `{'text':'as in x}`},
		{"cut behind an inner object", `{"text":"a","marks":[{"b":1}`},
		{"a list that is not closed", `{"text":"a","marks":["b"}`},
		{"a bracket too many", `{"text":"a"]}`},
		{"a value that is missing", `{"text":"a","no":}`},
		{"an abbreviated list", `{"text":"a","marks":["b",...]}`},
		{"texts that are joined", `{"text":"a" + "b"}`},
		{"a string that is split into a known key", `{"text":"He said: "no"","score":2}`},
		{"an unknown key", `{"text":"a","extra":1,}`},
		{"a text that is split into an unknown key", `{'text':'He said: ', 'yes': 'no, ', 'score': 2}`},
		{"a valid object before it", `{"text":"draft"} no: {"text":"a",}`},
		{"a valid object after it", `{"text":"draft",} no: {"text":"a"}`},
		{"a broken object before it", `{"text":"draft",} no: {"text":"a",}`},
		{"a broken object before one that is cut", `{"text":"draft",} no: {"text":"a`},
		{"the same field twice with different values", `{"text":"draft","text":"a",}`},
		{"an object that is closed before its end", `{"text":"a",},"score":2}`},
		{"an object in single quotes that is closed before its end", `{'text':'a'},'score':2}`},
		{"half a number", `{"text":"a","score":5.}`},
		{"no number", `{"text":"a","score":-}`},
		{"half a code point", `{'text':'\u00','score':2}`},
		{"no schema's value", `{"text":7,}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := notes.Parse(tt.text, nil)
			var e *reply.Invalid
			require.ErrorAs(t, err, &e, string(r.Data))
			require.Empty(t, r)
		})
	}
}

// TestNoCutOfAReplyIsCompleted truncates replies at every byte. A truncated reply must be rejected.
func TestNoCutOfAReplyIsCompleted(t *testing.T) {
	for _, text := range []string{
		`{"text":"a {b} \"c\" [d]","marks":["e}","f"],"score":2}`,
		`{'text':'a {b} c','marks':['{e}','f'],}`,
		`{'text':"isn't {b}",'done':True,'marks':['{e}',],}`,
	} {
		_, err := notes.Parse(text, nil)
		require.NoError(t, err, text)
		for n := range len(text) {
			r, err := notes.Parse(text[:n], nil)
			require.Error(t, err, "%s: %s", text[:n], r.Data)
		}
	}
}

// FuzzRepair damages a reply somewhere. Everything that is parsed must occur literally in the text.
func FuzzRepair(f *testing.F) {
	f.Add("a", "b", 3, 1, "'")
	f.Add(`he said "no"`, "d", 20, 0, `"`)
	f.Add("// x }", "{'", 9, 2, "}")
	f.Fuzz(func(t *testing.T, a, b string, at, gone int, put string) {
		text := `{"text":"` + a + `","marks":["` + b + `"],"score":2.5,}`
		at = min(max(at, 0), len(text))
		text = text[:at] + put + text[min(at+max(gone, 0), len(text)):]
		r, err := notes.Parse(text, nil)
		if err != nil || !r.Repaired || strings.Contains(text, `\`) || !utf8.ValidString(text) {
			return
		}
		var got note
		require.NoError(t, json.Unmarshal(r.Data, &got))
		for _, said := range append(got.Marks, got.Text, got.No) {
			require.Contains(t, text, said)
		}
		require.Contains(t, numbersIn(text), got.Score)
	})
}

var number = regexp.MustCompile(`-?[0-9.]+([eE][+-]?[0-9]+)?`)

// numbersIn returns the numbers in a text, and zero, which is the value of an omitted field.
func numbersIn(text string) []float64 {
	list := []float64{0}
	for _, s := range number.FindAllString(text, -1) {
		if f, err := strconv.ParseFloat(s, 64); err == nil {
			list = append(list, f)
		}
	}
	return list
}
