package inspector

import (
	"encoding/json"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/examples/offline"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/integrations/debatehttp"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/transcript"
)

var field = regexp.MustCompile(`<(?:input|textarea|select)[^>]* name="([^"]*)"(?: value="([^"]*)")?`)

// form returns the fields of a form on a page, with their values.
func form(t *testing.T, page, name string) url.Values {
	t.Helper()
	_, rest, found := strings.Cut(page, `data-form="`+name+`"`)
	require.True(t, found, page)
	body, _, _ := strings.Cut(rest, "</form>")
	values := url.Values{}
	for _, m := range field.FindAllStringSubmatch(body, -1) {
		values.Set(html.UnescapeString(m[1]), html.UnescapeString(m[2]))
	}
	return values
}

func TestAPersonSpeaksWithAForm(t *testing.T) {
	w := open(t, Options{Controls: true})
	cfg := pair("cars")
	cfg.Participants[1].Human = true
	d := w.run(cfg)
	require.NotContains(t, w.get(http.StatusOK, "/debates/cars"), `data-form="answers"`, "only Bo's page has Bo's form")
	require.Contains(t, w.get(http.StatusOK, "/debates/cars"), `Waits for <a href="../debates/cars?seat=Bo#asked">Bo</a>.`)
	page := w.get(http.StatusOK, "/debates/cars?seat=Bo")
	reply := form(t, page, "answers")
	require.Contains(t, w.post(http.StatusBadRequest, "/debates/cars/answers?seat=Bo", reply), "reply: it is blank")
	reply.Set("reply", "People **need** them.")
	res, _ := w.do(http.MethodPost, "/debates/cars/answers?seat=Bo", reply)
	require.Equal(t, http.StatusSeeOther, res.StatusCode)
	require.Equal(t, "../cars?seat=Bo", res.Header.Get("Location"))
	require.Contains(t, w.get(http.StatusOK, "/debates/cars?seat=Bo"), "People <strong>need</strong> them.")
	debatetest.Finish(t, d)
	decline := form(t, w.get(http.StatusOK, "/debates/cars?seat=Bo"), "declines")
	decline.Set("reason", "I have to go.")
	w.post(http.StatusSeeOther, "/debates/cars/declines?seat=Bo", decline)
	list := debatetest.Waiting(t, d)
	require.Empty(t, list)
	require.Contains(t, w.post(http.StatusBadRequest, "/debates/cars/answers", url.Values{"key": {"x"}}), "is not the key of a step")
}

// A judge's form has a field for each value of the contract, also within lists that the contract enumerates.
func TestAPersonJudgesWithAForm(t *testing.T) {
	w := open(t, Options{Controls: true})
	cfg := pair("cars")
	cfg.Judges[0].Human, cfg.Reference = true, "It is <right>."
	d := w.run(cfg)
	page := w.get(http.StatusOK, "/debates/cars?seat=Jo")
	require.Contains(t, page, "Reference answer, for judges only")
	require.Contains(t, page, "It is &lt;right&gt;.")
	require.NotContains(t, w.get(http.StatusOK, "/debates/cars?seat=Bo"), "&lt;right&gt;", "participants do not see it")
	reply := form(t, page, "answers")
	wrong := w.post(http.StatusBadRequest, "/debates/cars/answers?seat=Jo", reply)
	require.Contains(t, wrong, "missing properties")
	require.Contains(t, wrong, `role="alert" id="refused"`)
	require.Contains(t, wrong, `data-form="answers"`, "the form is still there")
	for name := range reply {
		switch kind, at, _ := strings.Cut(name, ":"); {
		case kind == "number" && strings.HasPrefix(at, "participants/Ada"):
			reply.Set(name, "8")
		case kind == "number":
			reply.Set(name, "6.5")
		case kind == "lines":
			reply.Set(name, "one\n\n two ")
		case kind == "text":
			reply.Set(name, "Ada had <i>figures</i>.")
		case kind == "boolean":
			reply.Set(name, "true")
		}
	}
	w.post(http.StatusSeeOther, "/debates/cars/answers?seat=Jo", reply)
	r := debatetest.Result(t, d)
	require.Len(t, r.Assessments, 1)
	a, err := transcript.Decode[judge.Assessment](r.Assessments[0])
	require.NoError(t, err)
	require.Equal(t, "Ada", a.Participants[0].Name)
	require.Len(t, a.Participants[0].Criteria, 6)
	require.InDelta(t, 8, float64(a.Participants[0].Criteria[0].Score), 0)
	require.InDelta(t, 6.5, float64(a.Participants[1].Criteria[5].Score), 0)
	require.Equal(t, []string{"one", "two"}, a.Participants[1].Strengths)
	require.True(t, a.ShouldContinue)
}

func TestRepliesOfForms(t *testing.T) {
	for name, tt := range map[string]struct {
		form map[string][]string
		want string
		err  string
	}{
		"free text":              {map[string][]string{"reply": {" No. "}, "text:x": {"y"}}, " No. ", ""},
		"nothing":                {map[string][]string{"key": {"{}"}, "number:a": {""}, "text:b": {" "}, "json:c": {""}}, `{}`, ""},
		"values":                 {map[string][]string{"number:a": {"1.50"}, "integer:b": {"7"}, "text:c": {"x\ny"}, "boolean:d": {"false"}, "choice:e": {"f"}}, `{"a":1.50,"b":7,"c":"x\ny","d":false,"e":"f"}`, ""},
		"lists":                  {map[string][]string{"lines:a": {"x\r\n\r\ny"}, "lines:b": {""}, "json:c": {"[1]"}}, `{"a":["x","y"],"b":[],"c":[1]}`, ""},
		"objects":                {map[string][]string{"text:a/b/c": {"x"}, "text:a/d": {"y"}, "text:#": {"z"}}, `{"#":"z","a":{"b":{"c":"x"},"d":"y"}}`, ""},
		"lists of groups":        {map[string][]string{"fixed:a/#10/n": {"x"}, "number:a/#9/v": {"2"}}, `{"a":[{"v":2},{"n":"x"}]}`, ""},
		"a value within a value": {map[string][]string{"text:a": {"x"}, "text:a/b": {"y"}}, "", ""},
		"no number":              {map[string][]string{"number:a": {"0x1p3"}}, "", `"0x1p3" is not a number`},
		"values too deep":        {map[string][]string{"text:" + strings.Repeat("a/", 2_000_000): {"x"}}, "", "reply: a field is more than 16 levels deep"},
		"no JSON":                {map[string][]string{"json:a": {"{"}}, "", "a: it is not JSON"},
	} {
		got, err := replyOf(tt.form)
		if tt.err != "" {
			require.ErrorContains(t, err, tt.err, name)
			continue
		}
		require.NoError(t, err, name)
		if tt.want != "" {
			require.Equal(t, tt.want, got, name)
		}
		require.True(t, json.Valid([]byte(got)) || tt.form["reply"] != nil, name)
	}
}

func FuzzSchema(f *testing.F) {
	f.Add(`{"type":"object","properties":{"a":{"$ref":"#/$defs/b"}},"$defs":{"b":{"$ref":"#/$defs/b"}}}`, "a")
	f.Add(`{"properties":{"a":{"$ref":"#/$defs/b"}},"$defs":{"b":{"type":"object","properties":{"x":{"$ref":"#/$defs/b"}}}}}`, "a")
	f.Add(`{"properties":{"a":{"type":"array","items":{"properties":{"n":{"enum":["x","y"]},"v":{"type":["number","null"]}}}}}}`, "1")
	f.Fuzz(func(t *testing.T, text, value string) {
		a := askOf(debate.Asked{Contract: "c/1", Schema: json.RawMessage(text)})
		values := map[string][]string{}
		for _, in := range a.Inputs {
			values[in.Name] = []string{value}
		}
		if reply, err := replyOf(values); err == nil && values["reply"] == nil {
			require.True(t, json.Valid([]byte(reply)), reply)
		}
	})
}

func TestAPersonDecidesRemarksAndRates(t *testing.T) {
	w := open(t, Options{Controls: true})
	cfg := pair("cars")
	cfg.AskBeforeRounds = true
	d := w.run(cfg)
	page := w.get(http.StatusOK, "/debates/cars")
	require.Contains(t, page, "round 1 of 2 is next")
	decision := form(t, page, "decisions")
	decision.Set("action", "edit")
	require.Contains(t, w.post(http.StatusBadRequest, "/debates/cars/decisions", decision), "remark: there are 0")
	decision.Set("from", "Zoe")
	decision.Set("text", "Mind <script>the</script> gap.")
	w.post(http.StatusSeeOther, "/debates/cars/decisions", decision)
	w.post(http.StatusSeeOther, "/debates/cars/annotations", url.Values{"name": {"rating"}, "value": {"4"}})
	w.post(http.StatusSeeOther, "/debates/cars/annotations", url.Values{"name": {"a/b"}, "value": {"not JSON"}})
	w.post(http.StatusSeeOther, "/debates/cars/remarks", url.Values{"from": {"Zoe"}, "text": {"Another one."}})
	require.Contains(t, w.post(http.StatusBadRequest, "/debates/cars/remarks", url.Values{"from": {"Ada"}, "text": {"I am Ada."}}), "is the name of an actor")
	page = w.get(http.StatusOK, "/debates/cars")
	require.Contains(t, page, "Mind &lt;script&gt;the&lt;/script&gt; gap.")
	require.Contains(t, page, "Another one.")
	r := debatetest.Result(t, d)
	require.JSONEq(t, `4`, string(r.Annotations["rating"]))
	require.JSONEq(t, `"not JSON"`, string(r.Annotations["a/b"]))
}

// A script gets what the API answers.
func TestAScriptGetsProblemsByField(t *testing.T) {
	w := open(t, Options{Controls: true}, offline.Model(true))
	d := w.create(pair("cars"))
	body := w.post(http.StatusBadRequest, "/debates/cars/remarks", url.Values{"from": {""}, "text": {""}}, "Accept", "application/json")
	var p debatehttp.Problem
	require.NoError(t, json.Unmarshal([]byte(body), &p))
	require.Len(t, p.Problems, 2)
	require.Empty(t, w.post(http.StatusNoContent, "/debates/cars/start", nil, "Accept", "application/json"))
	s := debatetest.Status(t, d)
	require.NotEqual(t, fsm.Configuring, s.State)
	w.post(http.StatusNotFound, "/debates/cars/nothing", nil)
	w.post(http.StatusNotFound, "/debates/nosuch/pause", nil)
	w.post(http.StatusRequestEntityTooLarge, "/debates/cars/remarks", url.Values{"from": {"Zoe"}, "text": {strings.Repeat("x", 2<<20)}}, "Accept", "application/json")
	w.post(http.StatusBadRequest, "/debates/cars/remarks", url.Values{"from": {"Zoe"}, "text": {strings.Repeat("x", maxForm)}})
}

// with returns the fields of a form with another value.
func with(f url.Values, name, value string) url.Values {
	f.Set(name, value)
	return f
}

// The form of a human judge shows the rubric in its order, the background, the positions and the rules. What users wrote is
// escaped, and a large background is cut and linked.
func TestTheFormOfAJudgeHasTheRubric(t *testing.T) {
	w := open(t, Options{Controls: true})
	cfg := pair("cars")
	cfg.Participants[0].Position, cfg.Participants[0].Persona = "POSITION-TEXT <b>", "SECRET"
	cfg.Judges[0].Human = true
	cfg.Background = "BACKGROUND-TEXT <script>alert(1)</script> " + strings.Repeat("long ", 3000)
	cfg.Rubric = judge.Rubric{{Name: "policy_fit", Weight: 70, Description: "DESCRIPTION-TEXT <i>", Zero: "ZERO-TEXT"}, {Name: "cost", Weight: 30, Description: "COST-TEXT"}}
	w.run(cfg)
	page := w.get(http.StatusOK, "/debates/cars?seat=Jo")
	for _, want := range []string{
		"BACKGROUND-TEXT &lt;script&gt;", "DESCRIPTION-TEXT &lt;i&gt;", "ZERO-TEXT", "70 %", "POSITION-TEXT &lt;b&gt;", "Be impartial", "The format is",
		`href="../api/debates/cars/waiting?seat=Jo"`,
	} {
		require.Contains(t, page, want)
	}
	require.NotContains(t, page, "SECRET")
	require.Less(t, len(page), 60<<10)
	_, fields, _ := strings.Cut(page, `data-form="answers"`)
	require.Less(t, strings.Index(fields, "policy fit"), strings.Index(fields, "<label>cost"))
	require.Equal(t, 2, strings.Count(fields, "DESCRIPTION-TEXT"), "once for each participant")
	require.Equal(t, 2, strings.Count(fields, "COST-TEXT"))
	require.Contains(t, w.get(http.StatusOK, "/api/debates/cars/waiting?seat=Jo"), strings.Repeat("long ", 3000))
	require.NotContains(t, w.get(http.StatusOK, "/debates/cars"), "DESCRIPTION-TEXT", "only the judge's page has it")
}

// A form has every field of a schema, in its order, with its description. A field that may be null need not be filled in.
func TestFormsOfAnySchema(t *testing.T) {
	a := askOf(debate.Asked{Contract: "own/1", Schema: []byte(`{"type": "object", "required": ["z", "m", "a"], "properties": {
		"z": {"type": "integer", "enum": [1, 2], "description": "the option"},
		"m": {"anyOf": [{"type": "boolean"}, {"type": "null"}], "description": "whether it depends"},
		"a": {"type": "array", "items": {"type": "string"}, "description": "conditions"}}}`)})
	require.Equal(t, []input{
		{Name: "integer:z", Label: "z", Help: "the option", Type: "integer", Required: true},
		{Name: "boolean:m", Label: "m", Help: "whether it depends", Type: "boolean"},
		{Name: "lines:a", Label: "a", Help: "conditions", Type: "lines", Required: true},
	}, a.Inputs)
	got, err := replyOf(map[string][]string{"boolean:m": {""}, "integer:z": {"2"}})
	require.NoError(t, err)
	require.Equal(t, `{"z":2}`, got)
}
