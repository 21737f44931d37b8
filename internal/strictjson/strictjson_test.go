package strictjson_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/strictjson"
)

type kind string

type person struct {
	Name  string   `json:"name"`
	Heat  *float64 `json:"heat,omitempty"`
	Age   uint8    `json:"age"`
	Tags  []string `json:"tags"`
	Noise int      `json:"-"`
}

type Base struct {
	ID string `json:"id"`
}

type document struct {
	Base

	People []person        `json:"people"`
	Counts map[kind]int    `json:"counts"`
	By     map[int]string  `json:"by"`
	Groups map[string]Base `json:"groups"`
	Wait   wait            `json:"wait"`
	When   time.Time       `json:"when"`
	Raw    json.RawMessage `json:"raw"`
	Any    any             `json:"any"`
	Ok     bool            `json:"ok"`
	Next   *document       `json:"next"`
	Quoted struct {
		N int `json:",string"`
	} `json:"quoted"`
	NoTag int
}

type wait time.Duration

func (w wait) MarshalText() ([]byte, error) { return []byte(time.Duration(w).String()), nil }

func (w *wait) UnmarshalText(b []byte) error {
	d, err := time.ParseDuration(string(b))
	if err != nil {
		return errors.New("no duration")
	}
	*w = wait(d)
	return nil
}

func TestProblemsNameTheFieldAsWritten(t *testing.T) {
	for text, want := range map[string][]strictjson.Problem{
		`{"people": [{"name": "Ada"}, {"name": "Bo", "temprature": 1}]}`: {{"people[1].temprature", "the field is unknown, use one of age, heat, name, tags"}},
		`{"people": [{"Noise": 1, "x": 2}]}`: {
			{"people[0].Noise", "the field is unknown, use one of age, heat, name, tags"}, {"people[0].x", "the field is unknown, use one of age, heat, name, tags"},
		},
		`{"PEOPLE": [{"Heat": "hot"}]}`:    {{"PEOPLE[0].Heat", `"hot" is not valid, use a number`}},
		`{"people": [{"age": 256}]}`:       {{"people[0].age", "256 is not valid, use an integer"}},
		`{"people": [{"age": 1.5}]}`:       {{"people[0].age", "1.5 is not valid, use an integer"}},
		`{"people": {"name": "Ada"}}`:      {{"people", `{"name": "Ada"} is not valid, use a list`}},
		`{"people": ["Ada"]}`:              {{"people[0]", `"Ada" is not valid, use an object`}},
		`{"people": [{"tags": [1, "x"]}]}`: {{"people[0].tags[0]", "1 is not valid, use a string"}},
		`{"counts": {"a": "x"}, "ok": 1}`:  {{"counts.a", `"x" is not valid, use an integer`}, {"ok", "1 is not valid, use true or false"}},
		`{"groups": {"a": {"id": 1}}}`:     {{"groups.a.id", "1 is not valid, use a string"}},
		`{"wait": "soon"}`:                 {{"wait", "no duration"}},
		`{"wait": 5}`:                      {{"wait", "no duration"}},
		`{"wait": 0}`:                      {{"wait", "0 is not valid, use a string"}},
		`{"wait": {"s": 5}}`:               {{"wait", "no duration"}},
		`{"id": 7}`:                        {{"id", "7 is not valid, use a string"}},
		`{"next": {"next": {"nxt": 1}}}`:   {{"next.next.nxt", "the field is unknown, use one of NoTag, any, by, counts, groups, id, next, ok, people, quoted, raw, wait, when"}},
		`7`:                                {{"", "7 is not valid, use an object"}},
		`{}`:                               nil,
		`null`:                             nil,
	} {
		require.Equal(t, want, strictjson.Decode("", []byte(text), &document{}), text)
	}
	require.Equal(t, []strictjson.Problem{{"a.b.id", "7 is not valid, use a string"}}, strictjson.Decode("a.b", []byte(`{"id": 7}`), &Base{}))
}

// What is valid decodes as encoding/json decodes it, also into a value that is not empty.
func TestValidJSONDecodesAsUsual(t *testing.T) {
	for _, text := range []string{
		`{"id": "x", "people": [{"name": "Ada", "heat": 0.5, "age": 7, "tags": []}, {"NAME": "Bo", "heat": null}], "counts": {"a": 1}}`,
		`{"by": {"1": "x"}, "groups": {"a": {"id": "y"}}, "wait": "3s", "when": "2026-01-02T03:04:05Z", "raw": {"a": [1]}, "any": [1, "x"]}`,
		`{"ok": true, "next": {"id": "z", "next": null}, "quoted": {"N": "7"}, "NoTag": 3}`, `null`, `{"people": null, "counts": null}`,
	} {
		is, want := document{NoTag: 9, Counts: map[kind]int{"b": 2}}, document{NoTag: 9, Counts: map[kind]int{"b": 2}}
		require.Empty(t, strictjson.Decode("", []byte(text), &is), text)
		require.NoError(t, json.Unmarshal([]byte(text), &want))
		require.Equal(t, want, is, text)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(`{"id": "x", "people": [{"name": "Ada", "heat": 0.5}], "counts": {"a": 1}, "next": {}}`)
	f.Fuzz(func(t *testing.T, text string) {
		if !json.Valid([]byte(text)) {
			return
		}
		var is, again document
		if strictjson.Decode("", []byte(text), &is) == nil {
			b, err := json.Marshal(is)
			require.NoError(t, err)
			require.Empty(t, strictjson.Decode("", b, &again))
		}
	})
}
