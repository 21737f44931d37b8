package reply_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/judge/reply"
)

type (
	grade struct {
		Who   string   `json:"who" jsonschema:"minLength=1"`
		Notes []string `json:"notes,omitempty"`
		Inner struct {
			Pairs [2]string `json:"pairs,omitempty"`
			Next  *motive   `json:"next,omitempty"`
		} `json:"inner,omitzero"`
		Points int `json:"points"`
		Total  int `json:"total" jsonschema:"-"`
	}
	motive struct {
		Why string `json:"why"`
	}
)

func (g *grade) Check(names []string) []string {
	if g.Who != names[0] {
		return []string{"/who: not " + names[0]}
	}
	return nil
}

func (g *grade) Default(names []string) { g.Who = names[0] }

func (g *grade) Text() string { return g.Who + ": " + strings.Join(g.Notes, ", ") }

var grades = reply.New[grade]("grade/1")

// doubled computes the total and rejects odd points.
func doubled(v any) []string {
	g := v.(*grade)
	g.Total = 2 * g.Points
	if g.Points%2 == 1 {
		return []string{"/points: odd"}
	}
	return nil
}

func TestAFurtherCheckFindsAndFillsIn(t *testing.T) {
	c := grades.WithCheck(doubled)
	require.Equal(t, grades.Name(), c.Name())
	require.Equal(t, grades.Outline(), c.Outline())
	require.Same(t, &grades.Schema()[0], &c.Schema()[0], "nothing is compiled again")
	require.NotContains(t, string(c.Schema())+c.Outline(), "total")

	r, err := c.Parse(`{"who":"Ann","points":4,"total":99}`, []string{"Ann"})
	require.NoError(t, err)
	require.JSONEq(t, `{"who":"Ann","points":4,"total":8}`, string(r.Data))

	_, err = c.Parse(`{"who":"Bob","points":3}`, []string{"Ann"})
	require.EqualError(t, err, "parse reply: /points: odd; /who: not Ann", "after the type's own")

	r, err = grades.Parse(`{"who":"Ann","points":3,"total":99}`, []string{"Ann"})
	require.NoError(t, err, "the contract that it was made of stays as it is")
	require.JSONEq(t, `{"who":"Ann","points":3,"total":0}`, string(r.Data))
}

func TestFurtherChecksAddUp(t *testing.T) {
	c := grades.WithCheck(doubled).WithCheck(func(v any) []string {
		if v.(*grade).Total > 10 {
			return []string{"/points: too many"}
		}
		return nil
	})
	_, err := c.Parse(`{"who":"Ann","points":7}`, []string{"Ann"})
	require.EqualError(t, err, "parse reply: /points: odd; /points: too many")
}

func TestAFurtherCheckCompletesAFallback(t *testing.T) {
	r, ok := grades.WithCheck(func(v any) []string {
		g := v.(*grade)
		if g.Points == 0 {
			g.Points = 6
		}
		return doubled(v)
	}).Default([]string{"Ann"})
	require.True(t, ok)
	require.JSONEq(t, `{"who":"Ann","points":6,"total":12}`, string(r.Data))

	_, ok = grades.WithCheck(func(any) []string { return []string{"never"} }).Default([]string{"Ann"})
	require.False(t, ok, "a default is validated too")
}

func TestRenameReachesEachText(t *testing.T) {
	r, err := grades.Parse("```json\n"+`{"who":"ann","notes":["ann","x"],"inner":{"pairs":["ann","b"],"next":{"why":"ann"}},"points":2,}`+"\n```", []string{"ann"})
	require.NoError(t, err)
	require.True(t, r.Repaired)
	renamed, err := grades.MapStrings(r, func(s string) string { return strings.ReplaceAll(s, "ann", "Bob") })
	require.NoError(t, err)
	require.JSONEq(t, `{"who":"Bob","notes":["Bob","x"],"inner":{"pairs":["Bob","b"],"next":{"why":"Bob"}},"points":2,"total":0}`, string(renamed.Data))
	require.Equal(t, "Bob: Bob, x", renamed.Text)
	require.True(t, renamed.Repaired)
	require.Equal(t, "ann: ann, x", r.Text, "the reply itself stays as it is")
}

func TestRenameOfWhatIsNoReply(t *testing.T) {
	_, err := grades.MapStrings(reply.Reply{Data: json.RawMessage(`[]`)}, strings.ToUpper)
	require.ErrorContains(t, err, "map strings of reply grade/1: ")
}

// The form of a person has the names in their order, with what they mean. Its properties are those of the models' schema, so a
// reply to one is a reply to the other, whatever the script of the names.
func TestTheFormOfAPersonKeepsTheOrder(t *testing.T) {
	type score struct {
		Of   string `json:"of" names:"criteria"`
		Give int    `json:"give" jsonschema_description:"from 0 to 10"`
	}
	type scores struct {
		Each []score `json:"each" each:"criteria" jsonschema_description:"the scores"`
	}
	names := []reply.Named{{Name: "Цена", About: "what it costs"}, {Name: "b c", About: "whether it works"}, {Name: "Вкус"}, {Name: "a"}}
	var list []string
	for _, n := range names {
		list = append(list, n.Name)
	}
	models := reply.New[scores]("scores/1").WithNames("criteria", list)
	person := reply.New[scores]("scores/1").ForPerson("criteria", names)
	schema := string(person.Schema())
	require.Less(t, strings.Index(schema, "for Цена: what it costs"), strings.Index(schema, "whether it works"))
	require.Less(t, strings.Index(schema, `"b_c"`), strings.Index(schema, `"a":`))
	require.NotContains(t, string(models.Schema()), "what it costs")

	var form struct {
		Properties struct {
			Each struct {
				Properties map[string]struct{ Description string }
			}
		}
	}
	require.NoError(t, json.Unmarshal(person.Schema(), &form))
	filled := map[string]int{}
	for key, p := range form.Properties.Each.Properties {
		switch {
		case strings.Contains(p.Description, "Цена"):
			filled[key] = 1
		case strings.Contains(p.Description, "Вкус"):
			filled[key] = 2
		default:
			filled[key] = 3
		}
	}
	text, err := json.Marshal(map[string]any{"each": filled})
	require.NoError(t, err)
	got, err := models.Parse(string(text), nil)
	require.NoError(t, err)
	require.Contains(t, string(got.Data), `{"of":"Цена","give":1}`)
	require.Contains(t, string(got.Data), `{"of":"Вкус","give":2}`)
}
