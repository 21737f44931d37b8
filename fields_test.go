package debate_test

import (
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/test/golden"
)

// fieldsOf returns the paths of the fields that a type has in JSON.
func fieldsOf(t reflect.Type, path string, within []reflect.Type) (list []string) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || slices.Contains(within, t) || t.Name() == "Time" {
		return nil
	}
	within = append(slices.Clip(within), t)
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-" || !f.IsExported() && !f.Anonymous:
			continue
		case f.Anonymous && name == "":
			list = append(list, fieldsOf(f.Type, path, within)...)
			continue
		case name == "":
			name = f.Name
		}
		list = append(list, path+"."+name)
		list = append(list, fieldsOf(f.Type, path+"."+name, within)...)
	}
	return list
}

// If this test fails and a version with the present format was published, raise store.Format. Then run the test with -update.
func TestTheFieldsOfEntriesBelongToTheFormat(t *testing.T) {
	text := ""
	for _, v := range []reflect.Type{
		debate.FirstEntry(), reflect.TypeFor[debate.StateChanged](), reflect.TypeFor[debate.PhaseStarted](), reflect.TypeFor[debate.TurnDone](),
		reflect.TypeFor[debate.Dropped](), reflect.TypeFor[debate.Decided](), reflect.TypeFor[debate.Asked](), reflect.TypeFor[debate.ToolsCalled](),
		reflect.TypeFor[debate.Annotated](),
	} {
		name := strings.Replace(v.Name(), "storedConfig", "ConfigChanged", 1)
		for _, field := range slices.Sorted(slices.Values(fieldsOf(v, name, nil))) {
			text += field + "\n"
		}
	}
	for _, field := range slices.Sorted(slices.Values(fieldsOf(reflect.TypeFor[debate.Config](), "Config", nil))) {
		text += field + "\n"
	}
	golden.Require(t, filepath.Join("testdata", "entry_fields.txt"), text)
}

// An unknown field is damage, such as a flipped bit in a name.
func TestAnUnknownFieldOfAnEntry(t *testing.T) {
	config := validConfigRow(t)
	with := func(row, old, now string) string {
		require.Contains(t, row, old)
		return strings.Replace(row, old, now, 1)
	}
	note := `{"type": "annotated", "seq": 2, "name": "n", "value": 1}`
	for name, tt := range map[string]struct {
		rows []any
		want string
	}{
		"none":                            {[]any{config, note}, ""},
		"in an entry":                     {[]any{config, with(note, `"name"`, `"nameW": 1, "name"`)}, `read entry 2 of debate d: parse event of type "annotated": json: unknown field "nameW"`},
		"in a configuration":              {[]any{with(config, `"topic"`, `"topicW": 1, "topic"`)}, `read entry 1 of debate d: json: unknown field "topicW"`},
		"in the parameters of a protocol": {[]any{with(config, `"name":"panel/1"`, `"name":"panel/1","modeW":1`)}, `read entry 1 of debate d: protocol panel/1: json: unknown field "modeW"`},
	} {
		t.Run(name, func(t *testing.T) {
			e, err := debate.NewEngine(debate.Options{Store: storeOfRows(t, tt.rows...)})
			require.NoError(t, err)
			_, err = e.Open(t.Context(), "d")
			if tt.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, tt.want)
		})
	}
}
