package debate_test

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/golden"
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

// If this test fails because a field was added, and a version with the current revision was published, raise the constant
// revision, so that this version still reads the new entries. Then run the test with -update. If a field was renamed or
// means something else, raise store.Format instead.
func TestTheFieldsOfEntriesBelongToTheRevision(t *testing.T) {
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

// An unknown field is damage, such as a flipped bit in a name. If a later revision wrote the entry, the field is ignored.
func TestAnUnknownFieldOfAnEntry(t *testing.T) {
	config := validConfigRow(t)
	with := func(row, old, now string) string {
		require.Contains(t, row, old)
		return strings.Replace(row, old, now, 1)
	}
	note := `{"type": "annotated", "seq": 2, "name": "n", "value": 1}`
	later := fmt.Sprintf(`"revision": %d, "new": 1, `, debate.Revision+1)
	for name, tt := range map[string]struct {
		rows []any
		want string
	}{
		"none":                                 {[]any{config, note}, ""},
		"in an entry":                          {[]any{config, with(note, `"name"`, `"nameW": 1, "name"`)}, `read entry 2 of debate d: parse event of type "annotated": json: unknown field "nameW"`},
		"in a configuration":                   {[]any{with(config, `"topic"`, `"topicW": 1, "topic"`)}, `read entry 1 of debate d: json: unknown field "topicW"`},
		"in the parameters of a protocol":      {[]any{with(config, `"name":"panel/1"`, `"name":"panel/1","modeW":1`)}, `read entry 1 of debate d: protocol panel/1: json: unknown field "modeW"`},
		"in an entry of a later revision":      {[]any{config, with(note, `"name"`, later+`"name"`)}, ""},
		"in a configuration of a later one":    {[]any{with(with(config, `"topic"`, `"new": 1, "topic"`), `"revision":`+fmt.Sprint(debate.Revision), `"revision":`+fmt.Sprint(debate.Revision+1))}, ""},
		"after an entry of a later revision":   {[]any{config, with(note, `"name"`, later+`"name"`), strings.Replace(note, `"seq": 2`, `"seq": 3, "new": 1`, 1)}, `read entry 3`},
		"in a later revision, with wrong type": {[]any{config, with(note, `"name": "n"`, `"revision": 9, "name": 7`)}, "cannot unmarshal number"},
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
