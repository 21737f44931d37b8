package reply_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/judge/reply"
)

// other is a valid reply that differs from the usual one.
const other = `{"choice":"no","score":1,"rival":null}`

// A reply inside other objects, lists or texts is read where it is.
func TestWrappedReplies(t *testing.T) {
	quoted := strconv.Quote(valid)
	for name, text := range map[string]string{
		"one more key":                      `{"result": ` + valid + `}`,
		"two more keys":                     `{"data": {"vote": ` + valid + `}}`,
		"a key and what is no reply":        `{"status": "ok", "code": 200, "vote": ` + valid + `, "time": null}`,
		"a call":                            `{"name": "submit_vote", "arguments": ` + valid + `}`,
		"a call with its arguments as text": `{"name": "submit_vote", "arguments": ` + quoted + `}`,
		"a call of OpenAI": `{"tool_calls":[{"id":"call_1","type":"function","function":{"name":"vote","arguments":` +
			quoted + `}}]}`,
		"a list of calls":                    `[{"id":"call_1","type":"function","function":{"name":"vote","arguments":` + quoted + `}}]`,
		"a call of Anthropic":                `{"type":"tool_use","id":"toolu_1","name":"vote","input":` + valid + `}`,
		"a call of Llama":                    `{"type":"function","name":"vote","parameters":` + valid + `}`,
		"a call between marks":               "<tool_call>\n" + `{"name": "vote", "arguments": ` + valid + "}\n</tool_call>",
		"a message":                          `{"role":"assistant","content":` + quoted + `}`,
		"blocks of a message":                `[{"type":"thinking","thinking":"hm"},{"type":"text","text":` + quoted + `}]`,
		"a list":                             `{"votes": [` + valid + `]}`,
		"a list of lists":                    `{"votes": [[], [` + valid + `]]}`,
		"a fence in a text":                  `{"output": "` + "```json\\n" + strings.Trim(quoted, `"`) + "\\n```" + `"}`,
		"a text in a text":                   `{"body": ` + strconv.Quote(`{"message": `+quoted+`}`) + `}`,
		"prose around it":                    `Here is my vote: {"final": ` + valid + `}. That {is} it.`,
		"a fence around it":                  "```json\n" + `{"final": ` + valid + "}\n```",
		"properties, as in a schema":         `{"type":"object","properties":` + valid + `}`,
		"twice the same":                     `{"vote": ` + valid + `, "copy": ` + quoted + `}`,
		"beside an example":                  `{"example": ` + other + `, "vote": ` + valid + `}`,
		"beside the format that was asked":   `{"response_format": {"vote": ` + other + `}, "vote": ` + valid + `}`,
		"beside a draft":                     `{"firstDraft": ` + other + `, "final": ` + valid + `}`,
		"beside a schema":                    `{"schema": {"choice": {"enum": ["yes", "no"]}}, "vote": ` + valid + `}`,
		"beside its thoughts":                `{"thinking": ` + strconv.Quote(other) + `, "vote": ` + valid + `}`,
		"a key like a field":                 `{"choices": ` + valid + `}`,
		"a key of a field":                   `{"choice": ` + valid + `}`,
		"a call whose key is like a field":   `{"name": "vote", "reason": ` + valid + `}`,
		"beside a field with its value":      `{"vote": ` + valid + `, "score": 7}`,
		"a part of it after it":              `{"vote": ` + valid + `} so {"score": 7}`,
		"a wrapped copy after it":            valid + ` or {"vote": ` + valid + `}`,
		"without what is not known":          `{"vote": {"choice":"yes","score":7,"rival":null,"why":"so"}}`,
		"a text that is no JSON beside it":   `{"text": "{well} said", "vote": ` + valid + `}`,
		"a number as a text inside it":       `{"vote": {"choice":"yes","score":"7/10","rival":null}}`,
		"a text with cut JSON beside it":     `{"log": "{\"a\": ", "vote": ` + valid + `}`,
		"deep inside":                        strings.Repeat(`{"a":`, 90) + valid + strings.Repeat("}", 90),
		"beside fields of something else":    `{"meta": {"model": "m", "usage": {"tokens": 3}}, "vote": ` + valid + `}`,
		"beside an empty list and an object": `{"errors": [], "vote": ` + valid + `, "x": {}}`,
	} {
		t.Run(name, func(t *testing.T) {
			r, err := votes.Parse(text, names)
			require.NoError(t, err)
			require.Equal(t, valid, string(r.Data))
			require.False(t, r.Repaired)
		})
	}
}

// What may mean two replies, or none, is asked for again.
func TestDoubtfulWraps(t *testing.T) {
	for name, text := range map[string]string{
		"two that differ":                      `{"a": ` + valid + `, "b": ` + other + `}`,
		"two that differ, one as text":         `{"a": ` + valid + `, "b": ` + strconv.Quote(other) + `}`,
		"a list of two that differ":            `{"votes": [` + valid + `, ` + other + `]}`,
		"two wrapped objects that differ":      `{"a": ` + valid + `} {"a": ` + other + `}`,
		"a wrapped one after another":          other + ` or {"vote": ` + valid + `}`,
		"a wrapped one before another":         `{"vote": ` + valid + `} or ` + other,
		"an example":                           `{"example": ` + valid + `}`,
		"an example inside":                    `{"data": {"examples": [` + valid + `]}}`,
		"a format":                             `{"response_format": ` + valid + `}`,
		"a schema":                             `{"jsonSchema": ` + valid + `}`,
		"a counter-example":                    `{"not_this": 1, "wrong": ` + valid + `}`,
		"a draft":                              `{"draft": ` + valid + `}`,
		"a part that differs beside it":        `{"vote": ` + valid + `, "correction": {"score": 3}}`,
		"a known field beside it":              `{"vote": ` + valid + `, "score": 3}`,
		"a list below the key of a list":       `{"reasons": [` + valid + `]}`,
		"an object below the key of an object": `{"extra": ` + valid + `}`,
		"a misspelled field beside it":         `{"vote": ` + valid + `, "Score": 3}`,
		"a part only":                          `{"vote": {"choice": "yes"}}`,
		"no reply":                             `{"vote": {"x": 1}}`,
		"a complete one that breaks a bound":   `{"vote": ` + valid + `, "again": ` + strings.Replace(valid, "7", "70", 1) + `}`,
		"texts too deep":                       `{"a": ` + deepText(valid, 4) + `}`,
		"cut":                                  `{"vote": ` + valid,
		"cut inside":                           `{"vote": {"choice":"yes","score":7`,
		"a text that is cut":                   `{"vote": ` + strconv.Quote(valid[:20]) + `}`,
		"more than sixteen":                    `{"votes": [` + strings.TrimSuffix(strings.Repeat(valid+",", 17), ",") + `]}`,
		"a field twice with different values":  `{"vote": {"choice":"yes","choice":"no","score":7,"rival":null}}`,
		"the same inside a text": `{"vote": ` + strconv.Quote(`{"choice":"yes","choice":"no","score":7,"rival":null}`) +
			`}`,
		"a wrapper twice with different replies": `{"vote": ` + valid + `, "vote": ` + other + `}`,
	} {
		t.Run(name, func(t *testing.T) {
			r, err := votes.Parse(text, names)
			var e *reply.Invalid
			require.ErrorAs(t, err, &e, string(r.Data))
			require.NotEmpty(t, e.Violations)
		})
	}
}

// deepText encodes a text as JSON several times, each in an object.
func deepText(text string, times int) string {
	for range times {
		text = strconv.Quote(`{"a": ` + text + `}`)
	}
	return text
}

// Violations say where in the reply the fault is. Rules do not tell keys that the contract does not have.
func TestViolationsOfWrappedReplies(t *testing.T) {
	for text, want := range map[string]string{
		`{"vote": {"choice":"maybe","score":11,"rival":null}}`:                             `/vote/choice: value must be one of "yes", "no"; /vote/score: must be <= 10 but found 11`,
		`{"name":"x","arguments":"{\"choice\":\"yes\",\"score\":\"9/5\",\"rival\":null}"}`: `/arguments/score: expected number, but got string`,
		`{"data": [{"choice":"yes","rival":null}]}`:                                        `/data/0: missing properties: 'score'`,
		`{"vote": {"choice":"yes","score":7,"rival":"Zoe"}}`:                               `/vote/rival: "Zoe" is not a participant; /vote/rival: so who is it?`,
		`{"vote": {"choice":"yes","score":7,"rival":null,"moods":"calm"}}`:                 `/vote: property "moods" must be spelled "mood"`,
		`{"choice": {"score": 3}}`:                                                         `/choice: expected string, but got object; the reply: missing properties: 'score', 'rival'`,
		`{"vote": "` + strings.ReplaceAll(`{"choice":yes}`, `"`, `\"`) +
			`"}`: `the JSON object has a syntax error after "{\"choice\":y": invalid character 'y' looking for beginning of value`,
		`{"vote":{"choice":"yes","score":7,"rival":null,"reasons":[{"text":"so"},{"text":"x"}]}}`: `/vote/reasons/1/text: length must be >= 2, but got 1`,
	} {
		_, err := votes.Parse(text, names)
		require.EqualError(t, err, "parse reply: "+want, text)
	}
	_, err := votes.Parse(`{"secret plan": {"choice":"yes","score":11,"rival":null}}`, names)
	var e *reply.Invalid
	require.ErrorAs(t, err, &e)
	require.Equal(t, []string{"/*/score: the value is not valid"}, e.Rules)
}

// The object of a list with an entry for each name is read inside other objects too.
func TestWrappedListsOfNames(t *testing.T) {
	r, err := reviews.Parse(`{"review": {"people":{"Debater_A":{"marks":{"wit":"4/10","clear_prose":"3"}},"Debater_B":{"marks":{"wit":6,"clear_prose":5}}}}}`, nil)
	require.NoError(t, err)
	require.JSONEq(t, `{"people":[{"name":"Debater A","marks":[{"of":"clear prose","score":3},{"of":"wit","score":4}]},`+
		`{"name":"Debater B","marks":[{"of":"clear prose","score":5},{"of":"wit","score":6}]}]}`, string(r.Data))
	_, err = reviews.Parse(`{"review": {"people":{"Debater_A":{"marks":{"wit":"11/10"}}}}}`, nil)
	require.EqualError(t, err, "parse reply: /review/people/Debater_A/marks/wit: must be <= 10 but found 11")
}

// A reply whose texts look like replies is read as it is.
func TestTextsOfAReplyAreNoReplies(t *testing.T) {
	text, err := json.Marshal(note{Text: `{"text":"b"}`, No: `{"note":{"text":"c"}}`})
	require.NoError(t, err)
	for _, said := range []string{string(text), `{"text":"{\"text\":\"b\"}"}`} {
		r, err := notes.Parse(said, nil)
		require.NoError(t, err)
		require.JSONEq(t, said, string(r.Data))
	}
	for _, said := range []string{`{"content":[{"type":"text","text":"{\"text\":\"b\"}"}]}`, `{"content":{"text":"{\"text\":\"b\"}"}}`} {
		_, err = notes.Parse(said, nil)
		require.EqualError(t, err, "parse reply: "+contradictory, "the block has a field of the reply")
	}
}

// Numbers as texts mean the number, with the scale of the field.
func TestNumbersInTexts(t *testing.T) {
	type scores struct {
		Ten     float64   `json:"ten,omitempty" jsonschema:"minimum=0,maximum=10"`
		Hundred float64   `json:"hundred,omitempty" jsonschema:"minimum=0,maximum=100"`
		One     float64   `json:"one,omitempty" jsonschema:"minimum=0,maximum=1"`
		Five    int       `json:"five,omitempty" jsonschema:"minimum=1,maximum=5"`
		Margin  int       `json:"margin,omitempty" jsonschema:"minimum=-3,maximum=3"`
		Free    float64   `json:"free,omitempty"`
		List    []float64 `json:"list,omitempty" jsonschema:"maxItems=3"`
		Maybe   *float64  `json:"maybe,omitempty" jsonschema:"maximum=10"`
		Text    string    `json:"text,omitempty"`
		Inner   []struct {
			Mark float64 `json:"mark" jsonschema:"maximum=10"`
		} `json:"inner,omitempty"`
	}
	contract := reply.New[scores]("scores/1")
	for field, read := range map[string]map[string]string{
		"ten": {
			"8": "8", "0.010000000000000009": "0.010000000000000009", "8.5": "8.5", " 8 ": "8", "8/10": "8", "8 / 10": "8",
			"8.5/10": "8.5", "8 out of 10": "8", "8 of 10": "8", "8 Out Of 10": "8", "8/10.0": "8",
			"+8": "8", ".5": "0.5", "08": "8", "8 points": "8", "8/10 points": "8", "8 points out of 10": "8", "1 point": "1",
			"10/10": "10", "0/10": "0",
		},
		"hundred": {"80": "80", "80/100": "80", "80 out of 100": "80", "80%": "80", "80 %": "80", "80 percent": "80", "0.5": "0.5"},
		"one":     {"0.8": "0.8", "0.8/1": "0.8", ".8 out of 1.0": "0.8"},
		"five":    {"4": "4", "4/5": "4", "4.0": "4", "4 out of 5": "4"},
		"margin":  {"-2": "-2", "+2": "2", "-2/3": "-2"},
		"free":    {"12.5": "12.5", "-3": "-3"},
		"maybe":   {"8/10": "8"},
	} {
		for text, want := range read {
			r, err := contract.Parse(fmt.Sprintf(`{%q: %q}`, field, text), nil)
			require.NoError(t, err, "%s: %q", field, text)
			plain, err := contract.Parse(fmt.Sprintf(`{%q: %s}`, field, want), nil)
			require.NoError(t, err)
			require.Equal(t, plain, r, "%s: %q", field, text)
		}
	}
	r, err := contract.Parse(`{"list": ["1", 2, "3.5"], "inner": [{"mark": "8/10"}, {"mark": 9}], "text": "8/10"}`, nil)
	require.NoError(t, err)
	require.JSONEq(t, `{"list":[1,2,3.5],"inner":[{"mark":8},{"mark":9}],"text":"8/10"}`, string(r.Data))

	for field, refused := range map[string][]string{
		"ten": {
			"8/5", "8/100", "80 %", "80%", "8 out of 5", "8 to 10", "8-10", "8 or 10", "7, 8", "8,5", "8/10/10", "8 10", "ten", "", " ",
			"8!", "8/", "/10", "8 of",
			"8 out of ten", "8 stars", "0x8", "8e0", "1e400", "NaN", "Infinity", "--8", "−8", "12/10", "-1/10", "11", "8\x0010", "８",
			"8 of 10 of 10", "null", "about 8",
		},
		"hundred": {"80/10", "0.8/1", "80 % of 50", "101%", "80 ‰", "1,000"},
		"five":    {"4.5", "4/10", "0/5", "80%"},
		"margin":  {"2/5", "4"},
		"free":    {"8/10", "80%"},
		"maybe":   {"8/5"},
		"list":    {"1"},
	} {
		for _, text := range refused {
			data, err := json.Marshal(map[string]string{field: text})
			require.NoError(t, err)
			_, err = contract.Parse(string(data), nil)
			var e *reply.Invalid
			require.ErrorAs(t, err, &e, "%s: %q", field, text)
			require.True(t, slices.ContainsFunc(e.Violations, func(v string) bool { return strings.HasPrefix(v, "/"+field+": ") }),
				"%s: %q", field, e.Violations)
		}
	}
}

// A place among names is no score: its tag says how many places there may be, not where a scale ends.
func TestPlacesHaveNoScale(t *testing.T) {
	type place struct {
		Place int `json:"place" names:"people" jsonschema:"minimum=1,maximum=16"`
	}
	c := reply.New[place]("place/1")
	r, err := c.Parse(`{"place": "2"}`, nil)
	require.NoError(t, err)
	require.JSONEq(t, `{"place":2}`, string(r.Data))
	_, err = c.Parse(`{"place": "2/16"}`, nil)
	require.EqualError(t, err, "parse reply: /place: expected integer, but got string")
}

// What is repaired is told what is wrong with its values, and not that Python's notation is no JSON.
func TestWrongRepairedReplies(t *testing.T) {
	for text, want := range map[string]string{
		`{'choice': 'maybe', 'score': 7, 'rival': None}`: `/choice: value must be one of "yes", "no"`,
		`{'score': 17}`:                                                                     `/score: must be <= 10 but found 17; the reply: missing properties: 'choice', 'rival'`,
		`{"choice":"yes","score":7,}`:                                                       `the reply: missing properties: 'rival'`,
		`{"choice":"yes","score":"8/5","rival":null,}`:                                      `/score: expected number, but got string`,
		`{'choice': 'yes', 'score': 7, 'rival': None, 'reasons': []}`:                       `/reasons: minimum 1 items required, but found 0 items`,
		`{'choice': 'yes', 'score': True, 'rival': None}`:                                   `/score: expected number, but got boolean`,
		`So: {'choice': 'yes', 'score': -1, 'rival': None} it is.`:                          `/score: must be >= 0 but found -1`,
		`[{"choice":"yes","score":99,"rival":null,}]`:                                       `/score: must be <= 10 but found 99`,
		`{"vote": {"choice":"yes","score":99,"rival":null,}}`:                               `/vote/score: must be <= 10 but found 99`,
		`{'choice': 'yes', 'choice': 'no', 'score': 7, 'rival': None}`:                      `the reply: property "choice" appears twice with different values`,
		`{'choice': 'yes', 'score': 7, 'rival': 'Zoe'}`:                                     `/rival: "Zoe" is not a participant; /rival: so who is it?`,
		`{"choice":"yes","score":7,"rival":null,"reasons":[{"text":"x","weight":1}],}`:      `/reasons/0/text: length must be >= 2, but got 1`,
		`{"choice":"yes","score":7,"rival":null,"grid":[[1,"2"],["8/10"]],}`:                `/grid/1/0: expected integer, but got string`,
		"```json\n{'choice': None, 'score': 7, 'rival': None}\n```":                         `/choice: expected string, but got null`,
		`{'choice': 'yes', 'score': 70, 'rival': None, 'x': 1}`:                             `/score: must be <= 10 but found 70; the JSON object has a syntax error after "{'": invalid character '\'' looking for beginning of object key string`,
		`{'choice': 'yes', 'score': 7, 'rival': None, 'x': 1}`:                              `the JSON object has a syntax error after "{'": invalid character '\'' looking for beginning of object key string`,
		`{'choice': 'it's', 'score': 70, 'rival': None}`:                                    `the JSON object has a syntax error after "{'": invalid character '\'' looking for beginning of object key string`,
		`{'choice': 'no', 'score': 7, 'rival': None} or {'choice': 'yes', 'score': 70,}`:    `the JSON object has a syntax error after "{'": invalid character '\'' looking for beginning of object key string`,
		`{"choice":"yes","score":7,"rival":null,"reasons":[{"text":"so","weight":"2/1"}],}`: `/reasons/0/weight: must be <= 1 but found 2`,
	} {
		_, err := votes.Parse(text, names)
		require.EqualError(t, err, "parse reply: "+want, text)
	}
}

// Objects inside objects with one key are read after repair. What else is beside a reply may be a part of a text.
func TestWrappedRepliesAreRepaired(t *testing.T) {
	for text, read := range map[string]bool{
		`{"vote": {"choice":"yes","score":7,"rival":null,}}`:                     true,
		`{"vote": {'choice':'yes','score':7,'rival':None}}`:                      true,
		`{'vote': {'choice':'yes','score':7,'rival':None}}`:                      true,
		`{"data": {"vote": {"choice":"yes","score":7,"rival":None}}}`:            true,
		`{"vote": {"choice":"yes","score":"7/10","rival":None}}`:                 true,
		`{"vote": {"choice":"yes","score":7,"rival":null,},}`:                    true,
		`{"vote": {"choice":"yes","score":7,"rival":null,}, "x": "isn't"}`:       false,
		`{"example": {"choice":"yes","score":7,"rival":null,}}`:                  false,
		`{"vote": {"choice":"yes","score":7,"rival":null,"x":1,}}`:               false,
		`{"vote": [{"choice":"yes","score":7,"rival":null,}]}`:                   false,
		`{"vote": {"choice":"yes","score":7,"rival":null,}} {"choice":"no"}`:     false,
		`{"a": {"choice":"yes","score":7,"rival":null,}, "b": {"choice":"no",}}`: false,
	} {
		r, err := votes.Parse(text, names)
		require.Equal(t, read, err == nil, "%s: %v", text, err)
		if read {
			require.Equal(t, valid, string(r.Data), text)
			require.True(t, r.Repaired)
		}
	}
}

// An object that is a part of a reply is no reply, even if it has all fields of one.
func TestPartsOfAReplyAreNoReplies(t *testing.T) {
	type step struct {
		Text  string `json:"text"`
		Marks []struct {
			Text string `json:"text"`
		} `json:"marks,omitempty" jsonschema:"maxItems=1"`
		Next *struct {
			Text string `json:"text"`
		} `json:"next,omitempty"`
		Arguments []string `json:"arguments,omitempty"`
	}
	steps := reply.New[step]("step/1")
	for _, text := range []string{
		`{"marks": [{"text": "a"}]}`, `{"marks": [{"text": "a"}, {"text": "b"}]}`, `{"next": {"text": "a"}}`, `{"mark": [{"text": "a"}]}`,
		`{"step": {"next": {"text": "a"}}}`, `{"step": {"marks": [{"text": "a"}]}}`, `{"text": 1, "next": {"text": "a"}}`,
	} {
		r, err := steps.Parse(text, nil)
		require.Error(t, err, "%s: %s", text, r.Data)
	}
	for text, want := range map[string]string{
		`{"name": "next_step", "arguments": {"text": "a", "arguments": ["b"]}}`: `{"text":"a","arguments":["b"]}`,
		`{"text": {"text": "a"}}`:                        `{"text":"a"}`,
		`{"step": {"text": "a", "next": {"text": "b"}}}`: `{"text":"a","next":{"text":"b"}}`,
		`{"arguments": {"step": {"text": "a"}}}`:         `{"text":"a"}`,
		`{"arguments": "{\"step\": {\"text\": \"a\"}}"}`: `{"text":"a"}`,
	} {
		r, err := steps.Parse(text, nil)
		require.NoError(t, err, text)
		require.Equal(t, want, string(r.Data), text)
	}
}

// FuzzWrapped puts a reply into objects, lists and texts that are made of the input. What is read is always that reply.
func FuzzWrapped(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 4}, "vote", "note")
	f.Add([]byte{3, 3, 0}, "choice", `{"x":1}`)
	f.Add([]byte{4, 0, 4}, "example", "{")
	f.Fuzz(func(t *testing.T, wraps []byte, key, beside string) {
		text := valid
		quotedKey, err := json.Marshal(key)
		require.NoError(t, err)
		text2, err := json.Marshal(beside)
		require.NoError(t, err)
		for _, w := range wraps[:min(len(wraps), 8)] {
			switch w % 5 {
			case 0:
				text = fmt.Sprintf(`{%s: %s}`, quotedKey, text)
			case 1:
				text = fmt.Sprintf(`[%s]`, text)
			case 2:
				text = fmt.Sprintf(`{"zz": %s, %s: %s}`, text2, quotedKey, text)
			case 3:
				text = strconv.Quote(text)
			case 4:
				text = fmt.Sprintf(`{"zz": [%s, {"zz": %s}]}`, text, text2)
			}
		}
		r, err := votes.Parse(text, names)
		if err == nil && !strings.Contains(beside, "{") {
			require.Equal(t, valid, string(r.Data), text)
		}
	})
}
