package reply_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/judge/reply"
)

// review has an entry for each person, which has one for each criterion.
type review struct {
	People []struct {
		Name   string   `json:"name" names:"people"`
		Good   []string `json:"good,omitempty" jsonschema:"maxItems=8"`
		Remark string   `json:"remark,omitempty"`
		Marks  []struct {
			Of    string  `json:"of" names:"criteria"`
			Score float64 `json:"score" jsonschema:"minimum=0,maximum=10" jsonschema_description:"10 is best"`
		} `json:"marks" each:"criteria" jsonschema_description:"the marks"`
	} `json:"people" each:"people" jsonschema_description:"all of them"`
	Best string `json:"best,omitempty" names:"people"`
}

var reviews = reply.New[review]("review/1").WithNames("people", []string{"Debater B", "Debater A"}).WithNames("criteria", []string{"wit", "clear prose"})

func TestListsOfNamesAreSentAsObjects(t *testing.T) {
	const each = `{"properties":{"good":{"items":{"type":"string","maxLength":200},"type":"array","maxItems":4},` +
		`"remark":{"anyOf":[{"type":"string","maxLength":600},{"type":"null"}]},` +
		`"marks":{"properties":{"clear_prose":{"type":"number"},"wit":{"type":"number"}},"additionalProperties":false,"type":"object","required":["clear_prose","wit"]}},` +
		`"additionalProperties":false,"type":"object","required":["good","remark","marks"]}`
	require.Equal(t, `{"properties":{"people":{"properties":{"Debater_A":`+each+`,"Debater_B":`+each+`},`+
		`"additionalProperties":false,"type":"object","required":["Debater_A","Debater_B"],"description":"all of them"},`+
		`"best":{"anyOf":[{"type":"string","enum":["Debater A","Debater B"]`+`,"maxLength":600},{"type":"null"}]}},`+
		`"additionalProperties":false,"type":"object","required":["people","best"]}`, string(reviews.Schema()), "models write the properties in this order")
	require.Equal(t, `- people (object with the properties "Debater_A", "Debater_B", each object): all of them
  - good (list of at most 8 items, each text, optional)
  - remark (text, optional)
  - marks (object with the properties "clear_prose", "wit", each number from 0 to 10): the marks: 10 is best
- best (text, optional)
`, reviews.Outline())
}

func TestListsAreReadInBothForms(t *testing.T) {
	const want = `{"people":[{"name":"Debater A","good":["x"],"marks":[{"of":"clear prose","score":3},{"of":"wit","score":4}]},` +
		`{"name":"Debater B","marks":[{"of":"clear prose","score":5},{"of":"wit","score":6}]}]}`
	for name, text := range map[string]string{
		"a list": want,
		"objects": `{"people":{"Debater_B":{"good":null,"marks":{"wit":6,"clear_prose":5}},
			"Debater_A":{"good":["x"],"remark":null,"marks":{"wit":4,"clear_prose":3}}},"best":null}`,
		"names as properties": `{"people":{"Debater A":{"good":["x"],"marks":{"clear prose":3,"wit":4}},"Debater B":{"marks":{"clear prose":5,"wit":6}}}}`,
		"a list in an object": `{"people":{"Debater_A":{"good":["x"],"marks":[{"of":"clear prose","score":3},{"of":"wit","score":4}]},
			"Debater_B":{"marks":[{"of":"clear prose","score":5},{"of":"wit","score":6}]}}}`,
		"an object in a list": `{"people":[{"name":"Debater A","good":["x"],"marks":{"clear_prose":3,"wit":4}},{"name":"Debater B","marks":{"clear_prose":5,"wit":6}}]}`,
		"entries with names and fields": `{"people":{"Debater_A":{"name":"Debater A","good":["x"],"marks":{"clear_prose":{"score":3},"wit":{"of":"wit","score":4}}},
			"Debater_B":{"name":"debater_b","marks":{"clear_prose":{"score":5},"wit":{"score":6}}}}}`,
		"in prose": `My review, from {0} to {10}: {"people":{"Debater_A":{"good":["x"],"marks":{"wit":4,"clear_prose":3}},
			"Debater_B":{"marks":{"wit":6,"clear_prose":5}}}}`,
		"repaired": `{"people":{"Debater_A":{"good":["x"],"marks":{"wit":4,"clear_prose":3,}},"Debater_B":{"marks":{"wit":6,"clear_prose":5}}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			r, err := reviews.Parse(text, nil)
			require.NoError(t, err)
			require.JSONEq(t, want, string(r.Data))
			require.Equal(t, name == "repaired", r.Repaired)
		})
	}
}

// Violations say where a fault is in the reply, whatever its form.
func TestViolationsInObjects(t *testing.T) {
	const rest = `"Debater_B":{"marks":{"wit":6,"clear_prose":5}}`
	for text, want := range map[string]string{
		`{"people":{"Debater_A":{"marks":{"wit":11,"clear_prose":5}},` + rest + `}}`:        `/people/Debater_A/marks/wit: must be <= 10 but found 11`,
		`{"people":{"Debater_A":{"marks":{"wit":"good"}},` + rest + `}}`:                    `/people/Debater_A/marks/wit: expected number, but got string`,
		`{"people":{"Debater_A":{},` + rest + `}}`:                                          `/people/Debater_A: missing properties: 'marks'`,
		`{"people":{"Debater_A":{"mark":{}},` + rest + `}}`:                                 `/people/Debater_A: missing properties: 'marks'; /people/Debater_A: property "mark" must be spelled "marks"`,
		`{"people":{"Debater_A":7,` + rest + `}}`:                                           `/people/Debater_A: expected object, but got number`,
		`{"people":{"Debater_A":{"name":"Debater B","marks":{}},` + rest + `}}`:             `/people/Debater_A/name: "Debater B" contradicts the name of the property`,
		`{"people":{"Debater_A":{"marks":{"wit":{"of":"wisdom","score":3}}},` + rest + `}}`: `/people/Debater_A/marks/wit/of: "wisdom" contradicts the name of the property`,
		`{"people":{"Debater_A":{"marks":{"wit":3}},"Debater_A":{"marks":{"wit":4}}}}`:      `/people: property "Debater_A" appears twice with different values`,
		`{"people":{"name":"Debater A","marks":[]}}`:                                        `/people: expected array, but got object`,
		`{"people":[{"name":"Debater A","marks":{"of":"wit","score":3}}]}`:                  `/people/0/marks: expected array, but got object`,
		`{"people":[{"name":"Debater A","marks":{"Score":3}}]}`: `/people/0/marks: expected array, but got object; ` +
			`/people/0/marks: property "Score" must be spelled "score"; /people/0/marks: the object has no known property`,
		`{"people":"none"}`: `/people: expected array, but got string`,
		`{"people":{"Debater_A":{"marks":{"wit":1}}}} or {"people":{"Debater_A":{"marks":{"wit":2}}}}`:     `the reply holds JSON objects that contradict each other: answer with one JSON object and nothing else`,
		`{"people":{"Debater_A":{"marks":{"wit":1}}}} or {"people":[{"name":"Debater B","marks":[]}]}`:     `the reply holds JSON objects that contradict each other: answer with one JSON object and nothing else`,
		`{"people":{"Debater_A":{"marks":{"wit":1}}}} or {"people":{"Debater_A":{"marks":{"wit":"1|2"}}}}`: `the reply holds JSON objects that contradict each other: answer with one JSON object and nothing else`,
	} {
		_, err := reviews.Parse(text, nil)
		require.EqualError(t, err, "parse reply: "+want, text)
	}
}

// Services accept few characters in the names of properties. Each name has a property, and the schema says whose it is.
func TestEveryNameHasAProperty(t *testing.T) {
	type scores struct {
		Scores []struct {
			Who  string `json:"who" names:"people"`
			Mark int    `json:"mark"`
		} `json:"scores" each:"people"`
	}
	for _, tt := range []struct{ names, keys []string }{
		{[]string{"Ann", "Bo"}, []string{"Ann", "Bo"}},
		{[]string{"Dr. Ann O'Neil", "Jean-Luc", "x_1"}, []string{"Dr_Ann_O_Neil", "Jean-Luc", "x_1"}},
		{[]string{"Zoë", "李", "Ann"}, []string{"Ann", "entry_2", "entry_3"}},
		{[]string{"Ann", "ann", "ANN ", "a.n.n"}, []string{"ANN", "entry_2", "a_n_n", "entry_4"}},
		{[]string{"A B", "A-B", "A_B"}, []string{"A_B", "entry_2", "entry_3"}},
		{[]string{"!", "?", "entry_1", "entry_2"}, []string{"entry_1", "entry_2", "entry_3", "entry_4"}},
		{[]string{strings.Repeat("x", 64), strings.Repeat("y", 65)}, []string{strings.Repeat("x", 64), "entry_2"}},
		{[]string{"who", "mark"}, []string{"mark", "who"}},
		{[]string{"{\"}\n", "a\u0000b", "\\"}, []string{"entry_1", "a_b", "entry_3"}},
	} {
		c := reply.New[scores]("scores/1").WithNames("people", tt.names)
		var s struct {
			Properties struct {
				Scores struct {
					Properties map[string]struct{ Description string }
					Required   []string
				}
			}
		}
		require.NoError(t, json.Unmarshal(c.Schema(), &s))
		said := map[string]map[string]int{"scores": {}}
		for i, key := range s.Properties.Scores.Required {
			require.Regexp(t, `^[A-Za-z0-9_-]{1,64}$`, key)
			said["scores"][key] = i
		}
		require.ElementsMatch(t, tt.keys, s.Properties.Scores.Required)
		text, err := json.Marshal(said)
		require.NoError(t, err)
		r, err := c.Parse(string(text), nil)
		require.NoError(t, err)
		var got scores
		require.NoError(t, json.Unmarshal(r.Data, &got))
		var read []string
		for i, x := range got.Scores {
			require.Equal(t, i, x.Mark, "each entry keeps its value")
			read = append(read, x.Who)
		}
		require.ElementsMatch(t, tt.names, read)
	}
}

// FuzzObjects compares both forms of lists: an object is never read as something that the list would not be.
func FuzzObjects(f *testing.F) {
	for _, seed := range []string{
		`{"Debater_A":{"marks":{"wit":1}}}`, `{"name":"x","marks":[]}`, `{"Debater A":{"marks":[]},"Debater_A":{"marks":[]}}`, `{"":{}}`, `{"a":{"name":7}}`, `[]`, `{}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, people string) {
		r, err := reviews.Parse(`{"people":`+people+`}`, nil)
		if err != nil {
			return
		}
		again, err := reviews.Parse(string(r.Data), nil)
		require.NoError(t, err)
		require.Equal(t, string(r.Data), string(again.Data))
		var object map[string]json.RawMessage
		var got review
		require.NoError(t, json.Unmarshal(r.Data, &got))
		if json.Unmarshal([]byte(people), &object) == nil {
			require.Len(t, got.People, len(object))
		}
	})
}
