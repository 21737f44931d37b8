package reply_test

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/recorded"
	"github.com/elenchus-go/debate/judge/reply"
)

// structure returns the indices of the characters of an object that give it its structure: brackets, colons, commas and
// the quotes around strings.
func structure(text string) (list []int) {
	quote := byte(0)
	for i := 0; i < len(text); i++ {
		switch {
		case quote != 0 && text[i] == '\\':
			i++
		case quote != 0 && text[i] == quote:
			quote = 0
			list = append(list, i)
		case quote == 0 && strings.IndexByte("\"'", text[i]) >= 0:
			quote = text[i]
			list = append(list, i)
		case quote == 0 && strings.IndexByte("{}[]:,", text[i]) >= 0:
			list = append(list, i)
		}
	}
	return list
}

// damagesAt returns the ways to damage the structure of a text at an index: the character is gone, doubled, or replaced by
// another one, or it changes places with the next one.
func damagesAt(text string, at int) (list []string) {
	before := text[:at]
	c := text[at : at+1]
	after := text[at+1:]
	list = append(list, before+after, before+c+c+after)
	for other := range strings.SplitSeq(`{}[]:,"'\`, "") {
		if other != c {
			list = append(list, before+other+after)
		}
	}
	if structure := structure(text); slices.Contains(structure, at+1) && after[:1] != c {
		list = append(list, before+after[:1]+c+after[1:])
	}
	return list
}

// sameOrInvalid fails the test if a damaged text is read as anything but the reply that was damaged.
func sameOrInvalid[T any](t *testing.T, c *reply.Contract, text string, want T) (read bool) {
	t.Helper()
	r, err := c.Parse(text, nil)
	if err != nil {
		return false
	}
	var got T
	require.NoError(t, json.Unmarshal(r.Data, &got))
	if !reflect.DeepEqual(got, want) {
		t.Errorf("read %+v from %s", got, text)
	}
	return true
}

// TestDamageToTheStructureChangesNoValue damages replies whose texts look like structure at every place in every way.
func TestDamageToTheStructureChangesNoValue(t *testing.T) {
	for _, want := range []note{
		{Text: "a", Marks: []string{"b", "c"}, Score: 2, Done: true, No: "d"},
		{Text: "a, b: c", Marks: []string{"b, c", "d: e", "1", "2, 3"}, Score: 2.5, No: "d {e} [f]"},
		{Text: `he said "no", "score": 3, and left`, Marks: []string{`"b", "c"`, `"`}, Score: 1, No: `"`},
		{Text: "x, score: 3", Marks: []string{"null, b", "true"}, Score: 1, No: "no: a, done: true"},
		{Text: "he said 'no', 'score': 3, and left", Marks: []string{"'b', 'c'", "'"}, Score: 1, No: "isn't it, 'no': it"},
		{Text: "text", No: "no"},
		{Text: `\ ends in \`, Marks: []string{`\`}, No: `\", "score": 3`},
	} {
		data, err := json.Marshal(want)
		require.NoError(t, err)
		indented, err := json.MarshalIndent(want, "", "  ")
		require.NoError(t, err)
		for _, text := range []string{string(data), string(indented), singleQuoted(string(data))} {
			for _, at := range structure(text) {
				for _, damaged := range damagesAt(text, at) {
					sameOrInvalid(t, notes, damaged, want)
				}
			}
		}
	}
}

// singleQuoted writes JSON with single quotes, as Python prints dictionaries.
func singleQuoted(text string) string {
	return strings.NewReplacer(`\\`, `\\`, `\"`, `"`, `"`, `'`, `'`, `\'`).Replace(text)
}

// TestDamageToRecordedRepliesChangesNoValue damages recorded replies at some places in every way.
func TestDamageToRecordedRepliesChangesNoValue(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	all, read := 0, 0
	damage := func(text string, same func(damaged string) bool) {
		at := structure(text)
		for _, damaged := range damagesAt(text, at[random.IntN(len(at))]) {
			all++
			if same(damaged) {
				read++
			}
		}
	}
	for _, r := range recorded.Lines[recording](t, "judge-replies.jsonl") {
		text := r.Reply[strings.Index(r.Reply, "{") : strings.LastIndex(r.Reply, "}")+1]
		damage(text, func(damaged string) bool { return sameOrInvalid(t, rulings, damaged, r.Known) })
	}
	for _, r := range recorded.Lines[opinion](t, "mad-replies.jsonl") {
		damage(r.Reply, func(damaged string) bool { return sameOrInvalid(t, opinions, damaged, r.Known) })
	}
	t.Logf("%d of %d damaged replies are read without asking again", read, all)
}
