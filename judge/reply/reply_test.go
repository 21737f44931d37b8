package reply_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/judge/reply"
)

// vote is a reply with every type of field that a contract may have.
type vote struct {
	Choice  string    `json:"choice" jsonschema:"enum=yes,enum=no" jsonschema_description:"the answer"`
	Score   float64   `json:"score" jsonschema:"minimum=0,maximum=10" jsonschema_description:"how sure you are, 10 being certain"`
	Round   int       `json:"round,omitempty" jsonschema:"minimum=1"`
	Rival   *string   `json:"rival" jsonschema:"nullable" jsonschema_description:"who made you think"`
	Mood    string    `json:"mood,omitempty" jsonschema:"enum=calm,enum=angry"`
	Reasons []reason  `json:"reasons,omitempty" jsonschema:"minItems=1,maxItems=3" jsonschema_description:"why"`
	Extra   *reason   `json:"extra,omitempty"`
	Grid    [][]int8  `json:"grid,omitempty"`
	At      time.Time `json:"at,omitzero"`
	Secret  string    `json:"-"`
}

type reason struct {
	Text   string  `json:"text" jsonschema:"minLength=2,maxLength=20,pattern=^[^#]*$"`
	Weight float64 `json:"weight,omitempty" jsonschema:"maximum=1"`
}

func (v *vote) Check(names []string) []string {
	if v.Rival == nil || slices.Contains(names, *v.Rival) {
		return nil
	}
	return []string{fmt.Sprintf("/rival: %q is not a participant", *v.Rival), "/rival: so who is it?"}
}

func (v *vote) Text() string { return "Votes " + v.Choice + "." }

func (v *vote) Default(names []string) { *v = vote{Choice: "no", Score: float64(len(names))} }

var (
	votes = reply.New[vote]("vote/1")
	names = []string{"Ada", "Ben"}
)

const (
	valid         = `{"choice":"yes","score":7,"rival":null}`
	contradictory = "the reply holds JSON objects that contradict each other: answer with one JSON object and nothing else"
)

func TestParseAccepts(t *testing.T) {
	for _, tt := range []struct{ name, text, data string }{
		{"an object", valid, valid},
		{"space around it", "\n\t " + valid + "\r\n", valid},
		{"a byte order mark", "\ufeff" + valid, valid},
		{"other order and spacing", `{ "score" : 7.0, "rival":null, "choice": "yes" }`, valid},
		{
			"whole numbers in any notation", `{"choice":"yes","score":7e0,"rival":null,"round":2.0}`,
			`{"choice":"yes","score":7,"round":2,"rival":null}`,
		},
		{"null for what is optional", `{"choice":"yes","score":7,"round":null,"rival":null,"mood":null,"reasons":null,"extra":null,"grid":null,"at":null}`, valid},
		{
			"all fields", `{"choice":"no","score":0,"round":1,"rival":"Ada","mood":"calm","reasons":[{"text":"so"}],"extra":{"text":"it","weight":0.5},"grid":[[1],[2,3]],"at":"2026-01-02T03:04:05Z"}`,
			`{"choice":"no","score":0,"round":1,"rival":"Ada","mood":"calm","reasons":[{"text":"so"}],"extra":{"text":"it","weight":0.5},"grid":[[1],[2,3]],"at":"2026-01-02T03:04:05Z"}`,
		},
		{"a code fence", "```json\n" + valid + "\n```", valid},
		{"a code fence without end", "```\n" + valid, valid},
		{"prose on both sides", "I vote yes.\n\n" + valid + "\n\nThat {sums} it up.", valid},
		{"braces and formulas before it", `By \frac{a}{b}, {this} and { "that" } {} it follows: ` + valid, valid},
		{"quotes in prose before it", `He said "no {" but ` + valid, valid},
		{
			"brackets and escapes inside its strings", `{"choice":"yes","score":7,"rival":null,"reasons":[{"text":"a \"}]{\" \\"}]}`,
			`{"choice":"yes","score":7,"rival":null,"reasons":[{"text":"a \"}]{\" \\"}]}`,
		},
		{"a list of one", "[" + valid + "]", valid},
		{"a list of one in a code fence", "```json\n[" + valid + "]\n```", valid},
		{"a text that was encoded twice", strconv.Quote(valid), valid},
		{"a text that was encoded twice, in a code fence", "```\n" + strconv.Quote(valid) + "\n```", valid},
		{"a list of a text that holds a list", "[" + strconv.Quote("[ "+valid+" ]") + "]", valid},
		{"reasoning", "<think>or " + `{"choice":"no","score":1,"rival":null}` + "?</think>" + valid, valid},
		{"reasoning with no beginning", `{"choice":"no","score":1,"rival":null}</think> ` + valid, valid},
		{"reasoning twice, by another name", "<thinking>a</thinking>b<thinking>c</thinking>" + valid, valid},
		{"reasoning after it, without end", valid + `<think>or rather {"choice":"no","score":1,"rival":null}`, valid},
		{
			"the word for reasoning inside a string", `{"choice":"yes","score":7,"rival":null,"reasons":[{"text":"</think>"}]}`,
			`{"choice":"yes","score":7,"rival":null,"reasons":[{"text":"\u003c/think\u003e"}]}`,
		},
		{"the same twice", valid + ` in short: { "score" : 7.0, "rival":null, "choice": "yes", "mood": null, "why": "so" }`, valid},
		{"the last that follows the schema", valid + ` as {"choice":"yes|no"} asks`, valid},
		{"a part of it before it", `My {"score": 7} stands, so ` + valid, valid},
		{"another object after it", valid + ` by {"x": {"choice": "no"}} and {"answers": "no"}`, valid},
		{
			"fields that are not known, without them", `{"choice":"yes","score":7,"rival":null,"why":{"a":1},"Secret":"x","reasons":[{"text":"so","a":2}]}`,
			`{"choice":"yes","score":7,"rival":null,"reasons":[{"text":"so"}]}`,
		},
		{"a duplicate field with the same value", `{"choice":"yes","choice":"yes","score":7,"score":7.0,"rival":null,"why":{"choice":"no"}}`, valid},
		{"a character that replaced others", strings.Replace(valid, "null", `"Ada",  "why":"\ufffd"`, 1), strings.Replace(valid, "null", `"Ada"`, 1)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := votes.Parse(tt.text, names)
			require.NoError(t, err)
			require.Equal(t, tt.data, string(r.Data))
			require.True(t, strings.HasPrefix(r.Text, "Votes "))
			require.False(t, r.Repaired)
		})
	}
}

func TestParseRejects(t *testing.T) {
	deep := `{"choice":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + "}"
	for _, tt := range []struct {
		name, text string
		findings   []string
	}{
		{"nothing", "", []string{"the reply holds no JSON object: answer with one JSON object and nothing else"}},
		{"prose", "I vote {yes}, of course.", []string{"the reply holds no JSON object: answer with one JSON object and nothing else"}},
		{"another value", `["yes", 7]`, []string{"the reply holds no JSON object: answer with one JSON object and nothing else"}},
		{"reasoning alone", "<think>" + valid, []string{"the reply holds no JSON object: answer with one JSON object and nothing else"}},
		{"a cut object", `{"choice":"yes","score":`, []string{"the JSON object is not closed: close every string, list and object, and be brief"}},
		{
			"a cut object with a whole one inside", `{"votes":[` + valid + `,{"choi`,
			[]string{"the JSON object is not closed: close every string, list and object, and be brief"},
		},
		{
			"a whole object, then a cut one", valid + " or rather " + `{"choice": "no`,
			[]string{"the JSON object is not closed: close every string, list and object, and be brief"},
		},
		{"an open string", `{"choice":"yes}`, []string{"the JSON object is not closed: close every string, list and object, and be brief"}},
		{
			"bad syntax", `{"choice":"yes","score":5 of 10}`,
			[]string{`the JSON object has a syntax error after "{\"choice\":\"yes\",\"score\":5 o": invalid character 'o' after object key:value pair`},
		},
		{
			"an object that nothing repairs, after a valid one", valid + ` or rather {"choice":no way}`,
			[]string{`the JSON object has a syntax error after "{\"choice\":no": invalid character 'o' in literal null (expecting 'u')`},
		},
		{"the last of two", `{"choice":"no","score":1,"rival":null} no: ` + valid, []string{contradictory}},
		{"two that differ in an optional field", valid + ` or ` + valid[:len(valid)-1] + `,"mood":"calm"}`, []string{contradictory}},
		{"a counter-example after it", valid + ` A skeptic would write {"choice":"no","score":7,"rival":null}.`, []string{contradictory}},
		{"a part that differs", valid + ` A skeptic would write {"choice":"no"}.`, []string{contradictory}},
		{"a part that differs, misspelled", valid + ` A skeptic would write {"Choice":"no"}.`, []string{contradictory}},
		{"a complete object that does not follow the schema, after it", valid + ` or ` + strings.Replace(valid, "7", "70", 1), []string{contradictory}},
		{
			"a counter-example in another notation", valid + ` A skeptic would write {'choice':'no',"score":7,"rival":null}.`,
			[]string{`the JSON object has a syntax error after "{'": invalid character '\'' looking for beginning of object key string`},
		},
		{
			"a counter-example without quotes", valid + ` A skeptic would write {choice:"no"}.`,
			[]string{`the JSON object has a syntax error after "{c": invalid character 'c' looking for beginning of object key string`},
		},
		{
			"a whole object, then one that is cut in its first key", valid + ` or rather { "cho`,
			[]string{"the JSON object is not closed: close every string, list and object, and be brief"},
		},
		{
			"contradictory duplicate fields", `{"choice":"no","choice":"yes","score":99,"score":7,"rival":null,"reasons":[{"text":"so"},{"text":"so","text":"or"}]}`,
			[]string{
				`/reasons/1: property "text" appears twice with different values`,
				`the reply: property "choice" appears twice with different values`,
				`the reply: property "score" appears twice with different values`,
			},
		},
		{
			"a contradictory duplicate of a field that holds an object", `{"choice":"yes","score":7,"rival":null,"extra":{"text":"#","weight":9},"extra":{"text":"ok"}}`,
			[]string{`the reply: property "extra" appears twice with different values`},
		},
		{"no valid UTF-8", strings.Replace(valid, "null", "\"Ad\xe4\"", 1), []string{"the reply is not valid UTF-8: write it again, with valid characters only"}},
		{"no valid UTF-8 around it", valid + "\xff", []string{"the reply is not valid UTF-8: write it again, with valid characters only"}},
		{"a list of two", "[" + valid + "," + valid + "]", []string{"the reply is a list of 2: answer with one JSON object and nothing else"}},
		{
			"too many wraps", "[[[[[" + strconv.Quote(valid) + "]]]]]",
			[]string{"the reply holds no JSON object: answer with one JSON object and nothing else"},
		},
		{"too deep", deep, []string{"the JSON object is nested deeper than 100 levels"}},
		{"too long", strings.Repeat("a", 70_000), []string{"the reply has 70000 bytes, 65536 are allowed: be brief"}},
		{"an empty object", `{}`, []string{"the reply: missing properties: 'choice', 'score', 'rival'"}},
		{
			"another object", `{"vote":"yes"}`,
			[]string{"the reply: missing properties: 'choice', 'score', 'rival'", "the reply: the object has no known property"},
		},
		{
			"other spellings of fields", `{"Choice":"no","choice":"yes","score":7,"rival":null,"reasons":[{"text":"so","We-ight":9}]}`,
			[]string{`/reasons/0: property "We-ight" must be spelled "weight"`, `the reply: property "Choice" must be spelled "choice"`},
		},
		{
			"other spellings of optional fields", `{"choice":"yes","score":7,"rival":null,"moods":"calm"}`,
			[]string{`the reply: property "moods" must be spelled "mood"`},
		},
		{
			"other spellings of required fields", `{"Choice":"yes","scores":5,"rival":null,"reasons":[{"txet":"so","weight":1}]}`,
			[]string{
				"/reasons/0: missing properties: 'text'", `/reasons/0: property "txet" must be spelled "text"`,
				"the reply: missing properties: 'choice', 'score'",
				`the reply: property "Choice" must be spelled "choice"`, `the reply: property "scores" must be spelled "score"`,
			},
		},
		{"null for what is required", `{"choice":"yes","score":null,"rival":null}`, []string{"/score: expected number, but got null"}},
		{
			"wrong types, everywhere", `{"choice":"maybe","score":"high","rival":1,"round":0.5,"mood":"sad","reasons":[{"text":"x","weight":2},null],"zeta":1}`,
			[]string{
				`/choice: value must be one of "yes", "no"`,
				`/mood: value must be one of "calm", "angry", null`,
				"/reasons/0/text: length must be >= 2, but got 1",
				"/reasons/0/weight: must be <= 1 but found 2",
				"/reasons/1: expected object, but got null",
				"/rival: expected string or null, but got number",
				"/round: expected integer or null, but got number",
				"/score: expected number, but got string",
			},
		},
		{
			"out of bounds", `{"choice":"yes","score":10.5,"rival":null,"reasons":[]}`,
			[]string{"/reasons: minimum 1 items required, but found 0 items", "/score: must be <= 10 but found 10.5"},
		},
		{
			"a number that no float holds", `{"choice":"yes","score":1E400,"rival":null}`,
			[]string{"the reply: number 1E400 is out of range or of the wrong type"},
		},
		{
			"a number that its field does not hold", `{"choice":"yes","score":1,"rival":null,"grid":[[300]]}`,
			[]string{"/grid: number 300 is out of range or of the wrong type"},
		},
		{
			"a time that is none", `{"choice":"yes","score":1,"rival":null,"at":"noon"}`,
			[]string{"/at: 'noon' is not valid 'date-time'"},
		},
		{
			"a time that Go does not know", `{"choice":"yes","score":1,"rival":null,"at":"2016-12-31T23:59:60Z"}`,
			[]string{`the reply: parsing time "2016-12-31T23:59:60Z": second out of range`},
		},
		{"no sense", `{"choice":"yes","score":1,"rival":"Zoe"}`, []string{`/rival: "Zoe" is not a participant`, "/rival: so who is it?"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := votes.Parse(tt.text, names)
			require.Empty(t, r)
			var e *reply.Invalid
			require.ErrorAs(t, err, &e)
			require.Equal(t, tt.findings, e.Violations)
			require.EqualError(t, err, "parse reply: "+strings.Join(tt.findings, "; "))
		})
	}
}

func TestFindingsAreFewShortAndTheSame(t *testing.T) {
	reasons := strings.Repeat(`{"Te-xt":1,"TEXT":1,"t e x t":1,"text":"ok"},`, 2) + `{"text":"ok"}`
	text := `{"SCORE":1,"Score":1,"sCore":1,"scOre":1,"scoRe":1,"scorE":1,` + valid[1:len(valid)-1] + `,"reasons":[` + reasons + `]}`
	var first *reply.Invalid
	_, err := votes.Parse(text, names)
	require.ErrorAs(t, err, &first)
	require.Len(t, first.Violations, 11)
	require.Equal(t, "and 2 more", first.Violations[10])
	for range 50 {
		_, again := votes.Parse(text, names)
		require.Equal(t, err, again)
	}

	_, err = votes.Parse(strings.Replace(valid, "null", `"`+strings.Repeat("é", 500)+`"`, 1), names)
	require.ErrorAs(t, err, &first)
	require.Less(t, len(first.Violations[0]), 250)
	require.True(t, strings.HasSuffix(first.Violations[0], "é..."), first.Violations[0])
}

func TestAnObjectOfWhichNothingIsKnownIsNoReply(t *testing.T) {
	type lax struct {
		Note string `json:"note,omitempty"`
	}
	notes := reply.New[lax]("note/1")
	r, err := notes.Parse(`{"note":"so"} in the manner of {"x":1} or {}`, nil)
	require.NoError(t, err)
	require.Equal(t, `{"note":"so"}`, string(r.Data))
	_, err = notes.Parse(`{"x":1}`, nil)
	require.EqualError(t, err, "parse reply: the reply: the object has no known property")
	_, err = notes.Parse(`{}`, nil)
	require.NoError(t, err)
}

func TestAReplyHasFewObjects(t *testing.T) {
	r, err := votes.Parse(valid+strings.Repeat(`{"zero":1}`, 15), names)
	require.NoError(t, err)
	require.Equal(t, valid, string(r.Data))
	_, err = votes.Parse(valid+strings.Repeat(`{"zero":1}`, 16), names)
	require.EqualError(t, err, "parse reply: the reply holds more than 16 JSON objects: answer with one JSON object and nothing else")
}

func TestReasoningDoesNotCountAsLength(t *testing.T) {
	_, err := votes.Parse("<think>"+strings.Repeat("hm ", 50_000)+"</think>"+valid, names)
	require.NoError(t, err)
}

func TestFallback(t *testing.T) {
	r, ok := votes.Default(names)
	require.True(t, ok)
	require.JSONEq(t, `{"choice":"no","score":2,"rival":null}`, string(r.Data))
	require.Equal(t, "Votes no.", r.Text)

	_, ok = votes.Default(make([]string, 11))
	require.False(t, ok, "an invalid default is not returned")
	_, ok = reply.New[reason]("reason/1").Default(names)
	require.False(t, ok, "the type has none")
	_, ok = reply.New[broken]("broken/1").Default(names)
	require.False(t, ok, "it cannot be written")
}

// broken is a type that can be decoded but not encoded.
type broken struct {
	Text stubborn `json:"text"`
}

type stubborn string

func (stubborn) MarshalText() ([]byte, error) { return nil, errors.New("refused") }
func (b *broken) Default([]string)            { b.Text = "x" }

func TestWithoutPowersTheTextIsTheReply(t *testing.T) {
	r, err := reply.New[reason]("reason/1").Parse(`{"text": "so be it"}`, nil)
	require.NoError(t, err)
	require.Equal(t, `{"text":"so be it"}`, r.Text)

	_, err = reply.New[broken]("broken/1").Parse(`{"text": "x"}`, nil)
	require.ErrorContains(t, err, "refused")
}

func TestContractServesManyAtOnce(t *testing.T) {
	c := reply.New[vote]("vote/1")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if _, err := c.Parse(valid, names); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{
		valid, "", "{", "```json\n" + valid + "\n```", "<think>" + valid + "</think>" + valid, `{"score":1E400}`,
		`{"choice":"yes","score":7,"rival":"Ada","reasons":[{"text":"so"}],"at":"2026-01-02T03:04:05Z"}`,
		`{"extra":{"weight":9},"extra":{"text":"ok"}}`, `{"a\`, `{'choice':'no',"score":7,'rival':None,}`, `{"choice":"yes","score":-0,"rival":null,"round":1e300}`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := votes.Parse(text, names)
		if err != nil {
			var e *reply.Invalid
			require.ErrorAs(t, err, &e)
			require.NotEmpty(t, e.Violations)
			require.Empty(t, r)
			return
		}
		var v vote
		require.NoError(t, json.Unmarshal(r.Data, &v))
		require.Contains(t, []string{"yes", "no"}, v.Choice)
		require.True(t, v.Score >= 0 && v.Score <= 10)
		require.LessOrEqual(t, len(v.Reasons), 3)
		again, err := votes.Parse(string(r.Data), names)
		require.NoError(t, err)
		require.Equal(t, reply.Reply{Data: r.Data, Text: r.Text}, again)
	})
}
