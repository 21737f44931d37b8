package reply_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/judge/reply"
)

func TestSchemaIsStrict(t *testing.T) {
	require.JSONEq(t, `{
		"type": "object", "additionalProperties": false,
		"required": ["choice", "score", "round", "rival", "mood", "reasons", "extra", "grid", "at"],
		"properties": {
			"choice": {"type": "string", "enum": ["yes", "no"], "description": "the answer"},
			"score": {"type": "number", "description": "how sure you are, 10 being certain"},
			"round": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
			"rival": {"anyOf": [{"type": "string", "maxLength": 600}, {"type": "null"}], "description": "who made you think"},
			"mood": {"anyOf": [{"type": "string", "enum": ["calm", "angry"]}, {"type": "null"}]},
			"reasons": {"description": "why", "anyOf": [{"type": "array", "minItems": 1, "maxItems": 3, "items": {
				"type": "object", "additionalProperties": false, "required": ["text", "weight"],
				"properties": {"text": {"type": "string", "maxLength": 20}, "weight": {"anyOf": [{"type": "number"}, {"type": "null"}]}}
			}}, {"type": "null"}]},
			"extra": {"anyOf": [{
				"type": "object", "additionalProperties": false, "required": ["text", "weight"],
				"properties": {"text": {"type": "string", "maxLength": 20}, "weight": {"anyOf": [{"type": "number"}, {"type": "null"}]}}
			}, {"type": "null"}]},
			"grid": {"anyOf": [{"type": "array", "maxItems": 4, "items": {"type": "array", "maxItems": 4, "items": {"type": "integer"}}}, {"type": "null"}]},
			"at": {"anyOf": [{"type": "string"}, {"type": "null"}]}
		}}`, string(votes.Schema()))
}

// ranking is a reply with names.
type ranking struct {
	Winner string `json:"winner,omitempty" names:"people" jsonschema:"maxLength=9" jsonschema_description:"who won"`
	Places []struct {
		Name string `json:"name" names:"people"`
		Why  string `json:"why" names:"reasons"`
	} `json:"places,omitempty" each:"people" jsonschema:"maxItems=4"`
	Others []string `json:"others" names:"people" each:"reasons"` // not a string
}

func TestSchemaListsNames(t *testing.T) {
	c := reply.New[ranking]("ranking/1")
	require.NotContains(t, string(c.Schema()), "enum")
	require.NotContains(t, string(c.Schema()), `\u0000`)
	require.Contains(t, string(c.Schema()), `"maxItems":4`)
	named := c.WithNames("people", []string{"Cy", `"<Ada>"`, "Bo", "Bo"})
	require.NotContains(t, string(c.Schema()), "enum", "the contract that it was made of stays as it is")
	require.JSONEq(t, `{"type":"object","additionalProperties":false,"required":["winner","places","others"],"properties":{
		"winner":{"description":"who won","anyOf":[{"type":"string","maxLength":9,"enum":["\"<Ada>\"","Bo","Cy"]},{"type":"null"}]},
		"places":{"anyOf":[{"type":"object","additionalProperties":false,"required":["Ada","Bo","Cy"],"properties":{
			"Ada":{"type":"string","maxLength":600,"description":"for \"<Ada>\""},"Bo":{"type":"string","maxLength":600},"Cy":{"type":"string","maxLength":600}}},{"type":"null"}]},
		"others":{"type":"array","items":{"type":"string","maxLength":600}}}}`, string(named.Schema()))
	require.Equal(t, string(named.Schema()), string(c.WithNames("people", []string{"Bo", "Cy", `"<Ada>"`}).Schema()), "the order does not matter")
	both := string(named.WithNames("reasons", []string{"luck"}).Schema())
	require.Contains(t, both, `"Bo":{"type":"string","enum":["luck"],"maxLength":600}`)
	require.Contains(t, both, `"others":{"items":{"type":"string","maxLength":600},"type":"array","maxItems":1,"minItems":1}`)
	require.Equal(t, string(c.Schema()), string(named.WithNames("people", nil).Schema()))
	require.Equal(t, `- winner (text of at most 9 characters, optional): who won
- places (object with the properties "Ada" for "<Ada>", "Bo", "Cy", each text, optional)
- others (list, each text)
`, named.Outline())

	_, err := named.Parse(`{"winner":"Di","others":[]}`, nil)
	require.NoError(t, err, "names are checked by the type's own check")
}

// Local models fill optional fields until a bound stops them. Replies are validated against the bounds of the tags.
func TestOptionalTextsAndListsAreSentWithShortCaps(t *testing.T) {
	type part struct {
		Why  string   `json:"why" jsonschema:"maxLength=1900"`
		More []string `json:"more" jsonschema:"minItems=6,maxItems=9,maxLength=900"`
	}
	type review struct {
		Verdict string   `json:"verdict" jsonschema:"maxLength=1900"`
		Grounds []string `json:"grounds" jsonschema:"maxItems=9,maxLength=900"`
		Note    string   `json:"note,omitempty" jsonschema:"maxLength=1900"`
		Short   string   `json:"short,omitempty" jsonschema:"maxLength=20"`
		Hints   []string `json:"hints,omitempty" jsonschema:"maxItems=9,maxLength=900"`
		Parts   []part   `json:"parts,omitempty"`
		At      string   `json:"at,omitempty" jsonschema:"format=date-time"`
	}
	c := reply.New[review]("review/1")
	require.JSONEq(t, `{"type":"object","additionalProperties":false,"required":["verdict","grounds","note","short","hints","parts","at"],"properties":{
		"verdict":{"type":"string","maxLength":1900},
		"grounds":{"type":"array","maxItems":9,"items":{"type":"string","maxLength":600}},
		"note":{"anyOf":[{"type":"string","maxLength":600},{"type":"null"}]},
		"short":{"anyOf":[{"type":"string","maxLength":20},{"type":"null"}]},
		"hints":{"anyOf":[{"type":"array","maxItems":4,"items":{"type":"string","maxLength":200}},{"type":"null"}]},
		"parts":{"anyOf":[{"type":"array","maxItems":4,"items":{"type":"object","additionalProperties":false,"required":["why","more"],"properties":{
			"why":{"type":"string","maxLength":600},"more":{"type":"array","minItems":6,"maxItems":6,"items":{"type":"string","maxLength":200}}}}},{"type":"null"}]},
		"at":{"anyOf":[{"type":"string"},{"type":"null"}]}}}`, string(c.Schema()))
	long := strings.Repeat("x", 900)
	r, err := c.Parse(`{"verdict":"So.","grounds":["`+long+`"],"note":"`+long+`","hints":["`+long+`","b","c","d","e"]}`, nil)
	require.NoError(t, err)
	require.Contains(t, string(r.Data), long)
}

func TestSchemaKeepsTheOrderOfFields(t *testing.T) {
	require.Regexp(t, `^\{"properties":\{"choice":.*"score":.*"round":.*"rival":.*"mood":.*"reasons":.*"grid":`, string(votes.Schema()))
}

func TestSchemaLeavesOutLengthsThatLocalModelsRefuse(t *testing.T) {
	type essay struct {
		Short string `json:"short" jsonschema:"maxLength=1999"`
		Long  string `json:"long" jsonschema:"maxLength=2000"`
	}
	c := reply.New[essay]("essay/1")
	var s struct {
		Properties map[string]map[string]any
	}
	require.NoError(t, json.Unmarshal(c.Schema(), &s))
	require.Contains(t, s.Properties["short"], "maxLength")
	require.NotContains(t, s.Properties["long"], "maxLength")
}

type (
	name struct {
		First string `json:"first"`
		Last  string `json:"last,omitzero"`
	}
	location struct {
		Town string `json:"town,omitempty"`
	}
)

func TestSchemaFlattensEmbeddedStructs(t *testing.T) {
	type person struct {
		name
		*location
		Born  time.Time `json:"born,omitzero"`
		Names []name    `json:"names"`
	}
	require.Equal(t, `- first (text)
- last (text, optional)
- town (text, optional)
- born (text, optional)
- names (list, each object)
  - first (text)
  - last (text, optional)
`, reply.New[person]("person/1").Outline())
}

func TestSchemaOfNumbersThatAreWrittenAsText(t *testing.T) {
	type count struct {
		Of int  `json:"of,string" jsonschema:"minimum=1"`
		Is bool `json:"is,string"`
	}
	c := reply.New[count]("count/1")
	require.Equal(t, "- of (text)\n- is (text)\n", c.Outline())
	_, err := c.Parse(`{"of":"3","is":"true"}`, nil)
	require.NoError(t, err)
}

func TestOutline(t *testing.T) {
	require.Equal(t, `- choice (one of "yes", "no"): the answer
- score (number from 0 to 10): how sure you are, 10 being certain
- round (whole number of at least 1, optional)
- rival (text, or null): who made you think
- mood (one of "calm", "angry", optional)
- reasons (list from 1 to 3 items, each object, optional): why
  - text (text from 2 to 20 characters)
  - weight (number of at most 1, optional)
- extra (object, optional)
  - text (text from 2 to 20 characters)
  - weight (number of at most 1, optional)
- grid (list, each list, each whole number, optional)
- at (text, optional)
`, votes.Outline())
}

type (
	loop   struct{ Next []*loop }
	tree   []tree
	inner  struct{ Any any }
	outer  struct{ Inner inner }
	hidden struct {
		Skip    any `json:"-"`
		private any
		Text    string `json:"text"`
	}
)

func TestNewPanicsOnTypesThatAreNoReply(t *testing.T) {
	for _, tt := range []struct {
		name string
		make func()
		want string
	}{
		{"not a struct", func() { reply.New[string]("x/1") }, "reply: contract x/1: use type string: a reply type must be a struct"},
		{"a list", func() { reply.New[[]reason]("x/1") }, "reply: contract x/1: use type []reply_test.reason: a reply type must be a struct"},
		{
			"a map", func() { reply.New[struct{ M map[string]int }]("x/1") },
			"reply: contract x/1: field M: use type map[string]int: a reply type has fixed fields of strings, numbers, booleans, structs and lists",
		},
		{
			"bytes", func() { reply.New[struct{ Raw json.RawMessage }]("x/1") },
			"reply: contract x/1: field Raw: use type json.RawMessage: a reply type has fixed fields of strings, numbers, booleans, structs and lists",
		},
		{
			"anything, inside", func() { reply.New[outer]("x/1") },
			"reply: contract x/1: field Inner: field Any: use type interface {}: a reply type has fixed fields of strings, numbers, booleans, structs and lists",
		},
		{"itself", func() { reply.New[loop]("x/1") }, "reply: contract x/1: field Next: use type reply_test.loop: a reply type must not contain itself"},
		{"a list of itself", func() { reply.New[struct{ Tree tree }]("x/1") }, "reply: contract x/1: field Tree: use type reply_test.tree: a reply type must not contain itself"},
	} {
		t.Run(tt.name, func(t *testing.T) { require.PanicsWithValue(t, tt.want, tt.make) })
	}
}

func TestFieldsThatAreNotWrittenMayBeAnything(t *testing.T) {
	c := reply.New[hidden]("hidden/1")
	require.Equal(t, "hidden/1", c.Name())
	require.Equal(t, "- text (text)\n", c.Outline())
	_ = hidden{}.private
}

func TestTagsThatAreNoSchemaPanicAtFirstUse(t *testing.T) {
	type bad struct {
		Text string `json:"text" jsonschema:"pattern=("`
	}
	c := reply.New[bad]("bad/1")
	defer func() { require.Contains(t, recover(), "reply: contract bad/1: compile schema: ") }()
	c.Schema()
}
