package debate_test

import (
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol/council"
	"github.com/elenchus-go/debate/protocol/mad"
	"github.com/elenchus-go/debate/protocol/procon"
	"github.com/elenchus-go/debate/store"
)

// Who reads a value in Go and in JSON finds each field under one name: UpdatedBefore is updated_before.
func TestFieldsHaveTheSameNamesInGoAndJSON(t *testing.T) {
	seen := map[reflect.Type]bool{}
	var walk func(typ reflect.Type)
	walk = func(typ reflect.Type) {
		for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice || typ.Kind() == reflect.Map || typ.Kind() == reflect.Array {
			typ = typ.Elem()
		}
		if typ.Kind() != reflect.Struct || seen[typ] || typ == reflect.TypeFor[time.Time]() ||
			!strings.HasPrefix(typ.PkgPath(), "github.com/elenchus-go/") {
			return
		}
		seen[typ] = true
		for f := range typ.Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if f.IsExported() && !f.Anonymous && name != "" && name != "-" {
				assert.Equal(t, snake(f.Name), name, "%s.%s", typ, f.Name)
			}
			if f.IsExported() {
				walk(f.Type)
			}
		}
	}
	data := []any{
		debate.Config{},
		debate.Result{},
		store.Status{},
		store.Totals{},
		debate.Asked{},
		debate.ConfigChanged{},
		debate.StateChanged{},
		debate.PhaseStarted{},
		debate.TurnDone{},
		debate.ToolsCalled{},
		debate.Dropped{},
		debate.Decided{},
		debate.Annotated{},
		debate.TurnStarted{},
		debate.Chunk{},
		debate.TurnFailed{},
		debate.Warning{},
		debate.Ended{},
		debate.Preview{},
		debate.EntryCheck{},
		judge.Assessment{},
		judge.Verdict{},
		council.Result{},
		mad.Protocol{},
		procon.Judgment{},
	}
	for _, v := range data {
		walk(reflect.TypeOf(v))
	}
	require.Greater(t, len(seen), 40)
}

// snake returns the name that a field has in JSON: words in lower case, with underscores between them.
func snake(name string) string {
	var b strings.Builder
	letters := []rune(name)
	for i, r := range letters {
		startsWord := unicode.IsUpper(r) && i > 0 && (unicode.IsLower(letters[i-1]) || i+1 < len(letters) && unicode.IsLower(letters[i+1]))
		if startsWord {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
