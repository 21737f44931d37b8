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

func TestSyntaxIsRepaired(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       note
	}{
		{"a superfluous comma", `{"text":"a","marks":["b","c",],}`, note{Text: "a", Marks: []string{"b", "c"}}},
		{"a missing comma", `{"text":"a" "score":2}`, note{Text: "a", Score: 2}},
		{"items without commas", `{"text":"a","marks":["b" "c"]}`, note{Text: "a", Marks: []string{"b", "c"}}},
		{"single quotes", `{'text': 'say "no"', 'score': 2}`, note{Text: `say "no"`, Score: 2}},
		{"typographic quotes", `{“text”: “a”, “score”: -2.5}`, note{Text: "a", Score: -2.5}},
		{"keys without quotes", `{text: "a", done: true}`, note{Text: "a", Done: true}},
		{"a word without quotes", `{"text": yes, "score": 2}`, note{Text: "yes", Score: 2}},
		{"literals of Python", `{"text": "a", "done": True, "no": None}`, note{Text: "a", Done: true}},
		{"quotes inside a text", `{"text":"he said "no" to it","score":2}`, note{Text: `he said "no" to it`, Score: 2}},
		{"lines inside a text", "{\"text\":\"a\nb\tc\"}", note{Text: "a\nb\tc"}},
		{"escapes of all kinds", `{"text":"\"\\\/\b\f\n\r\t caf\u00e9 \ud83d\ude00 \ud83d",}`, note{Text: "\"\\/\b\f\n\r\t café 😀 \ufffd"}},
		{"a backslash that escapes nothing", `{"text":"\d+"}`, note{Text: "d+"}},
		{"a path", `{"text":"in C:\Users\Ada"}`, note{Text: `in C:\Users\Ada`}},
		{"comments", "{\"text\":\"a\", // the gist\n /* of ten */ \"score\":2}", note{Text: "a", Score: 2}},
		{"what looks like a comment inside a text", `{"text":"see http://x.y // or /* z */",}`, note{Text: "see http://x.y // or /* z */"}},
		{"prose around it", "So:\n```json\n{'text':'a'}\n```\nThat {is} it.", note{Text: "a"}},
		{"all of it inside a list", `[{"text":"a",}]`, note{Text: "a"}},
		{"the same field twice", `{"text":"a","text":"a",}`, note{Text: "a"}},
		{"braces inside a text in single quotes", `{'text': '}a {', 'marks': ['[', "}"], 'score': 2}`, note{Text: "}a {", Marks: []string{"[", "}"}, Score: 2}},
		{"a brace inside a text in single quotes, in prose", `So: {'text': "isn't it", 'no': '}'} {done}`, note{Text: "isn't it", No: "}"}},
		{"a brace inside a text in other quotes", "{`text`: `}`, “no”: “}”, ‘marks’: [‘}’]}", note{Text: "}", No: "}", Marks: []string{"}"}}},
		{"an escaped quote inside a text in single quotes", `{'text': 'a\'}', 'score': 2}`, note{Text: "a'}", Score: 2}},
		{"a colon that is missing", `{"text" "a","no":"b"}`, note{Text: "a", No: "b"}},
		{"a colon that is missing before a list", `{"text":"a","marks"["b"]}`, note{Text: "a", Marks: []string{"b"}}},
		{"a quote that is missing before the first key", `Yes: {text":"a b","score":2} Done.`, note{Text: "a b", Score: 2}},
		{"a quote that is missing before a key", `{"text":"a",score":2}`, note{Text: "a", Score: 2}},
		{"a quote that is missing after a key", `{"text":"a","score: 2}`, note{Text: "a", Score: 2}},
		{"a quote that is missing after the first key", `{'text:'a','score':2}`, note{Text: "a", Score: 2}},
		{"a quote that is missing before a text", `{"text": a b!","score": 2}`, note{Text: "a b!", Score: 2}},
		{"a quote that is missing before a word", `{"text":a","score":2}`, note{Text: "a", Score: 2}},
		{"a quote that is missing after a text", `{"text":"a {b} c,"score":2}`, note{Text: "a {b} c", Score: 2}},
		{"a quote that is missing before an item", `{"text":"a","marks":[b","c"]}`, note{Text: "a", Marks: []string{"b", "c"}}},
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

// TestRepairAddsAndDropsNothing parses texts that a repair library turns into JSON with different content.
func TestRepairAddsAndDropsNothing(t *testing.T) {
	for _, tt := range []struct{ name, text string }{
		{"cut inside a text", `{"text":"a`},
		{"cut after a text", `{"text":"a"`},
		{"cut behind a bracket of a text", `{"text":"as in {x}`},
		{"cut behind a bracket of a text in single quotes", `{'text':'as in x}`},
		{"cut behind an inner object", `{"text":"a","marks":[{"b":1}`},
		{"a list that is not closed", `{"text":"a","marks":["b"}`},
		{"a bracket too many", `{"text":"a"]}`},
		{"a value that is missing", `{"text":"a","no":}`},
		{"an abbreviated list", `{"text":"a","marks":["b",...]}`},
		{"texts that are joined", `{"text":"a" + "b"}`},
		{"a string that is split into a known key", `{"text":"He said: "no"","score":2}`},
		{"a string that is split into an unknown key", `{"text":"He said: "yes"","score":2}`},
		{"an unknown key", `{"text":"a","extra":1,}`},
		{"a valid object before it", `{"text":"draft"} no: {"text":"a",}`},
		{"a valid object after it", `{"text":"draft",} no: {"text":"a"}`},
		{"a broken object before it", `{"text":"draft",} no: {"text":"a",}`},
		{"a broken object before one that is cut", `{"text":"draft",} no: {"text":"a`},
		{"the same field twice", `{"text":"draft","text":"a",}`},
		{"two colons that are missing", `{"text" "a","no" "b"}`},
		{"a colon and a comma that are missing", `{"text":"a" "no" "b"}`},
		{"a colon and a quote that are missing", `{"text" "a",no":"b"}`},
		{"a quote that is missing after a text, in a list", `{"text":"a","marks":["b, "c"]}`},
		{"a quote that is missing before a text with commas, in a list", `{"text":"a","marks":[b, c","d"]}`},
		{"a quote that is missing after the last text", `{"text":"a}`},
		{"a quote that is missing after the last text, with a comma", `{"text":"a,}`},
		{"a quote that is missing next to a quoted word", `{"text":"a "b",no":"c"}`},
		{"a quote that is missing where a text may begin with space", `{"text": b","score":2}`},
		{"a quote that is missing where a text may end with space", `{"text":"b ,"score":2}`},
		{"a quote that is missing next to a bracket", `{"text":[b","score":2}`},
		{"an object that is closed before its end", `{"text":"a"},"score":2}`},
		{"an object that is closed before its end, with a comma", `{"text":"a",}score":2}`},
		{"a quote that is missing next to other quotes", `{'text':'a, "no":"b"}`},
		{"words without quotes", `{"text": yes it is}`},
		{"half a number", `{"text":"a","score":5.}`},
		{"no number", `{"text":"a","score":-}`},
		{"a newline that may be a path", `{"text":"C:\new\data"}`},
		{"half a code point", `{"text":"\u00","score":2}`},
		{"a comment that holds a quote", "{\"text\":\"a\" // or \"b\n}"},
		{"a comment without end", `{"text":"a" /* or b}`},
		{"a quote of another kind at the end", `{"text":'a"}`},
		{"no schema's value", `{"text":7,}`},
		{"quotes that lead nowhere", "{\"text\":" + strings.Repeat("`..", 65) + "}"},
		{"escaped quotes that lead nowhere", `{text:'` + strings.Repeat(`\"'`, 65) + `'}`},
		{"too long", `{"text":"` + strings.Repeat("a", 8<<10) + `",}`},
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
		`{'text':'a {b} c','marks':['{e}','f']}`,
		`{text:"he said "no" to {b}",marks:["e"],}`,
		"{\"text\":\"a\nb\", // {c}\n\"score\":2.5,}",
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
