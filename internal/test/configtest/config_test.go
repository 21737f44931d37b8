package configtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	validator "github.com/santhosh-tekuri/jsonschema/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/test/golden"
)

const (
	pageFile   = root + "/docs/reference/configuration.md"
	schemaFile = root + "/docs/reference/configuration.schema.json"
)

func TestThePageAndTheSchemaAreGenerated(t *testing.T) {
	b := newBook(t)
	golden.Require(t, schemaFile, indented(t, b.schema))
	golden.Require(t, pageFile, b.page(t))
}

func TestLinksOfThePageHaveATarget(t *testing.T) {
	page := newBook(t).page(t)
	anchors := []string{}
	for _, heading := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(page, -1) {
		anchors = append(anchors, (&object{title: heading[1]}).anchor())
	}
	for _, link := range regexp.MustCompile(`\]\((#?[^)]*)\)`).FindAllStringSubmatch(page, -1) {
		if strings.HasPrefix(link[1], "#") {
			require.Contains(t, anchors, link[1])
			continue
		}
		_, err := os.Stat(filepath.Join(root, "docs", "reference", link[1]))
		require.NoError(t, err)
	}
	slices.Sort(anchors)
	require.Equal(t, slices.Compact(slices.Clone(anchors)), anchors, "two sections have the same heading")
}

func TestAllProtocolsAreThere(t *testing.T) {
	folders, err := filepath.Glob(root + "/protocol/*/*.go")
	require.NoError(t, err)
	var packages, described []string
	for _, file := range folders {
		packages = append(packages, filepath.Base(filepath.Dir(file)))
	}
	for _, o := range newObjects() {
		if o.protocol != nil {
			described = append(described, filepath.Base(o.typ.PkgPath()))
		}
	}
	require.ElementsMatch(t, slices.Compact(packages), described)
}

func TestSnippetsOfProtocolsAreValid(t *testing.T) {
	b, schema := newBook(t), compile(t)
	e, err := debate.NewEngine(debate.Options{})
	require.NoError(t, err)
	for _, o := range b.objects {
		if o.protocol != nil {
			config := strings.Replace(string(read(t, "testdata/smallest.json")), "{", "{"+b.snippet(t, o)+",", 1)
			c, err := e.ParseConfig([]byte(config))
			require.NoError(t, err)
			require.Equal(t, o.protocol.Name(), c.Protocol.Name())
			require.NoError(t, schema.Validate(decode(t, []byte(config))))
		}
	}
}

// Limits have no tags: package debate encodes them itself.
func TestLimitsHaveTheirNamesInJSON(t *testing.T) {
	for _, o := range newBook(t).objects {
		if o.typ != reflect.TypeFor[debate.Limits]() {
			continue
		}
		for _, f := range o.fields {
			var c debate.Config
			v := reflect.ValueOf(&c.Limits).Elem().FieldByIndex(f.Index)
			v.Set(reflect.ValueOf(90 * time.Second).Convert(v.Type()))
			limits := decode(t, encode(t, c))["limits"].(map[string]any)
			require.Len(t, limits, 1)
			require.Contains(t, limits, f.name)
			require.Equal(t, f.duration(), limits[f.name] == "1m30s", "%s: %v", f.name, limits)
		}
	}
}

func TestTheSchemaAcceptsWhatTheLibraryAccepts(t *testing.T) {
	schema, accepted := compile(t), 0
	for name, config := range configurations(t) {
		t.Run(name, func(t *testing.T) {
			completed, err := create(t, config)
			if err != nil {
				require.NotEqual(t, ".json", filepath.Ext(name), "%v", err)
				return
			}
			accepted++
			require.NoError(t, schema.Validate(decode(t, config)))
			require.NoError(t, schema.Validate(decode(t, completed)), "as the library completes it")
		})
	}
	require.Greater(t, accepted, 60)
}

func TestEveryFieldIsInAConfiguration(t *testing.T) {
	b := newBook(t)
	schema := decode(t, encode(t, b.schema))
	seen := map[string]bool{}
	for _, config := range configurations(t) {
		if _, err := create(t, config); err == nil {
			collect(schema, schema, "configuration", decode(t, config), seen)
		}
	}
	for _, o := range b.objects {
		for _, f := range o.fields {
			assert.True(t, seen[o.name+"."+f.name], "no configuration has the field %s of %s", f.name, o.name)
		}
	}
	example := map[string]bool{}
	collect(schema, schema, "configuration", decode(t, read(t, "testdata/example.json")), example)
	for _, o := range b.objects {
		if o.name == "skeptic" {
			break // what follows are the parameters of other protocols
		}
		for _, f := range o.fields {
			if f.name == "by_scores" || f.name == "selection" || o.name == "decision" && f.name == "contract" { // three options exclude them
				continue
			}
			require.True(t, example[o.name+"."+f.name], "the example has no field %s of %s", f.name, o.name)
		}
	}
}

// collect notes the properties of a value, with the names of the definitions that they belong to.
func collect(root, schema map[string]any, name string, value any, seen map[string]bool) {
	if ref, ok := schema["$ref"].(string); ok {
		name = strings.TrimPrefix(ref, "#/$defs/")
		schema = root["$defs"].(map[string]any)[name].(map[string]any)
	}
	list, _ := schema["oneOf"].([]any)
	for _, one := range list {
		one := one.(map[string]any)
		ref, _ := one["$ref"].(string)
		definition := strings.TrimPrefix(ref, "#/$defs/")
		if v, ok := value.(map[string]any); ok && strings.HasPrefix(fmt.Sprint(v["name"]), definition+"/") {
			collect(root, one, name, value, seen)
		}
	}
	properties, _ := schema["properties"].(map[string]any)
	rest, _ := schema["additionalProperties"].(map[string]any)
	items, _ := schema["items"].(map[string]any)
	switch value := value.(type) {
	case map[string]any:
		for key, v := range value {
			if p, ok := properties[key].(map[string]any); ok {
				seen[name+"."+key] = true
				collect(root, p, name, v, seen)
			} else if rest != nil {
				collect(root, rest, name, v, seen)
			}
		}
	case []any:
		for _, v := range value {
			collect(root, items, name, v, seen)
		}
	}
}

// The library refuses each configuration that the schema refuses. Both refuse unknown fields and wrong types anywhere.
func TestTheSchemaRefusesWhatTheLibraryRefuses(t *testing.T) {
	schema := compile(t)
	tried := map[string]bool{}
	refused := 0
	all := configurations(t)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		completed, err := create(t, all[name])
		if err != nil {
			continue
		}
		protocol := decode(t, completed)["protocol"].(map[string]any)["name"]
		for _, v := range variants(decode(t, all[name])) {
			key := fmt.Sprint(protocol, v.what) // once for each protocol is enough
			if tried[key] {
				continue
			}
			tried[key] = true
			bySchema := schema.Validate(v.value)
			require.False(t, v.wrong && bySchema == nil, "%s: the schema accepts %s", name, v.what)
			if bySchema == nil {
				continue
			}
			refused++
			_, err := create(t, encode(t, v.value))
			require.Error(t, err, "%s: the library accepts %s, and the schema refuses it: %#v", name, v.what, bySchema)
		}
	}
	t.Logf("the schema refuses %d of %d variants", refused, len(tried))
}

// A variant is a value in which one thing differs.
type variant struct {
	value any
	what  string
	wrong bool // in any configuration
}

// variants returns what a value can be turned into. Disabled participants stay as they are, because the library does not
// check them.
func variants(value any) (list []variant) {
	switch value := value.(type) {
	case map[string]any:
		if value["disabled"] == true {
			return nil
		}
		unknown := with(value, "unheard_of", []any{[]any{1}}) // which is no value of a map either
		list = append(list, variant{unknown, "an unknown field", true}, variant{"text", "a text for an object", true})
		for _, key := range slices.Sorted(maps.Keys(value)) {
			without := maps.Clone(value)
			delete(without, key)
			list = append(list, variant{without, key + " left out", false})
			for _, v := range variants(value[key]) {
				list = append(list, variant{with(value, key, v.value), key + ": " + v.what, v.wrong})
			}
		}
	case []any:
		list = append(list, variant{"text", "a text for a list", true}, variant{[]any{}, "an empty list", false})
		for i := range value {
			for _, v := range variants(value[i]) {
				items := slices.Clone(value)
				items[i] = v.value
				list = append(list, variant{items, fmt.Sprintf("%d: %s", i, v.what), v.wrong})
			}
		}
	case string:
		list = append(list, variant{1, "a number for a text", true})
		words := []string{"unheard of"}
		if _, err := time.ParseDuration(value); err == nil {
			words = append(words, "-1s", "+1s", "0", "5", "1m1", ".5h1.ms", "1h30m10s500ms2us1ns")
		}
		for _, word := range words {
			list = append(list, variant{word, word, false})
		}
	case float64:
		list = append(list, variant{"1", "a text for a number", true})
		for _, n := range []float64{
			-1, -0.001, 0, 1, 1.001, 2, 2.001, 8, 9, 10, 10.001, 100, 100.001, 10_000, 10_001, 1_000_000, 1_000_001,
		} {
			list = append(list, variant{n, fmt.Sprint(n), false})
		}
	case bool:
		list = append(list, variant{"true", "a text for a boolean", true}, variant{!value, "the opposite", false})
	}
	return list
}

func with(m map[string]any, key string, value any) map[string]any {
	m = maps.Clone(m)
	m[key] = value
	return m
}

func TestWrongConfigurationsAreRefused(t *testing.T) {
	schema := compile(t)
	for _, tt := range []struct{ name, path, value string }{
		{"unknown field", "topc", `"Ban cars?"`},
		{"unknown field of the limits", "limits", `{"rounds": 3}`},
		{"field of another protocol", "protocol", `{"name": "panel/1", "topology": "ring"}`},
		{"unknown protocol", "protocol", `{"name": "panel/9"}`},
		{"protocol without a name", "protocol", `{"format": "free-form"}`},
		{"protocol as a text", "protocol", `"panel/1"`},
		{"unknown format", "protocol", `{"name": "panel/1", "format": "freeform"}`},
		{"unknown mode", "protocol", `{"name": "panel/1", "mode": "parallel"}`},
		{"unknown personas", "protocol", `{"name": "panel/1", "personas": "random"}`},
		{"unknown aggregation", "protocol", `{"name": "panel/1", "jury": {"aggregation": "max"}}`},
		{"unknown decision", "protocol", `{"name": "vote/1", "decision": "unanimity"}`},
		{"unknown unanimity", "protocol", `{"name": "vote/1", "unanimity": "continue"}`},
		{"unknown topology", "protocol", `{"name": "vote/1", "topology": "tree"}`},
		{"unknown manager", "history", `{"manager": "none"}`},
		{"unknown signal", "detect", `[{"signal": "boring"}]`},
		{"unknown method", "detect", `[{"signal": "repetitive", "method": "feelings"}]`},
		{"unknown effect", "detect", `[{"signal": "repetitive", "effect": "shout"}]`},
		{"unknown kind of failure", "retries", `{"bad_luck": 3}`},
		{"policy of another field", "on_failure", `"drop_judge"`},
		{"unknown policy", "on_overflow", `"explode"`},
		{"another policy of another field", "on_refusal", `"ask"`},
		{"bad duration", "limits", `{"running_time": "ten minutes"}`},
		{"duration without a unit", "limits", `{"step_timeout": "90"}`},
		{"duration as a number", "limits", `{"round_time": 90}`},
		{"negative duration", "limits", `{"round_delay": "-1s"}`},
		{"no topic", "topic", `null`},
		{"participants of a wrong type", "participants", `{}`},
		{"a participant without a name", "participants", `[{"name": "Ada"}, {"role": "economist"}]`},
		{"a judge with a side", "judges", `[{"name": "Cem", "side": "for"}]`},
		{"too hot", "participants", `[{"name": "Ada", "temperature": 3}, {"name": "Bo"}]`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			config := decode(t, read(t, "testdata/smallest.json"))
			config[tt.path] = json.RawMessage(tt.value)
			if tt.value == "null" {
				delete(config, tt.path)
			}
			_, err := create(t, encode(t, config))
			require.Error(t, err)
			require.Error(t, schema.Validate(decode(t, encode(t, config))))
		})
	}
}

// compile returns the schema as another program reads it.
func compile(t *testing.T) *validator.Schema {
	t.Helper()
	c := validator.NewCompiler()
	require.NoError(t, c.AddResource("configuration.schema.json", bytes.NewReader(encode(t, newBook(t).schema))))
	schema, err := c.Compile("configuration.schema.json")
	require.NoError(t, err)
	return schema
}

func indented(t *testing.T, v any) string {
	t.Helper()
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	require.NoError(t, e.Encode(v))
	return out.String()
}
