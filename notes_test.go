package debate_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/debatetest"
	"github.com/elenchus-go/debate/store"
)

// idle returns a debate that has not begun, and its store.
func idle(t *testing.T) (*debate.Debate, store.Store) {
	t.Helper()
	s := store.Memory()
	d := debatetest.New(t, debatetest.PairConfig(nil), debate.Options{Store: s, Providers: providersOf(talkingModel(), scriptedJudge(t, 1))})
	return d, s
}

// requireProblem checks that an error names one field, and says what its value is and what the limit is.
func requireProblem(t *testing.T, err error, field, reason string) {
	t.Helper()
	var wrong *debate.Problems
	require.ErrorAs(t, err, &wrong)
	require.Len(t, wrong.List, 1, "%v", err)
	require.Equal(t, field, wrong.List[0].Field)
	require.Equal(t, reason, wrong.List[0].Reason)
}

func TestNotesHaveLimits(t *testing.T) {
	for name, tt := range map[string]struct {
		name          string
		value         any
		field, reason string
	}{
		"blank name":         {" ", 1, "name", "it is blank"},
		"long name":          {strings.Repeat("n", 129), 1, "name", "it has 129 bytes, use at most 128"},
		"control characters": {"a\x1b[31m", 1, "name", `"a\x1b[31m" is not valid, remove control characters`},
		"NUL":                {"a\x00", 1, "name", `"a\x00" is not valid, remove control characters`},
		"no UTF-8":           {"a\xff", 1, "name", `"a\xff" is not valid, remove control characters`},
		"long value":         {"n", strings.Repeat("v", 16<<10), "value", "it has 16386 bytes, use at most 16384"},
		"longest name":       {strings.Repeat("é", 64), 1, "", ""},
		"longest value":      {"n", strings.Repeat("v", 16<<10-2), "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			d, _ := idle(t)
			err := d.Annotate(t.Context(), tt.name, tt.value)
			if tt.field == "" {
				require.NoError(t, err)
				return
			}
			requireProblem(t, err, tt.field, tt.reason)
		})
	}
}

func TestAllNotesHaveALimit(t *testing.T) {
	d, _ := idle(t)
	for i := range 100 {
		require.NoError(t, d.Annotate(t.Context(), fmt.Sprint("note ", i), i))
	}
	requireProblem(t, d.Annotate(t.Context(), "another", 1), "name", "the debate has 100 notes already, which is the most: replace one of them")
	require.NoError(t, d.Annotate(t.Context(), "note 7", "replaced"))

	d, _ = idle(t)
	large := strings.Repeat("v", 16000)
	for i := range 4 {
		require.NoError(t, d.Annotate(t.Context(), fmt.Sprint(i), large))
	}
	requireProblem(t, d.Annotate(t.Context(), "4", large), "value", "all notes would have 80015 bytes, use at most 65536")
	var err error
	for n := 4; err == nil; n++ { // replaced notes stay in the journal
		require.Less(t, n, 300)
		err = d.Annotate(t.Context(), "0", large)
	}
	require.ErrorContains(t, err, "all notes that were ever stored would have")
}

// Notes that an earlier version accepted are not in the result if they are too large, and a warning says so.
func TestLargeStoredNotesAreLeftOut(t *testing.T) {
	d, s := idle(t)
	require.NoError(t, d.Annotate(t.Context(), "rating", 5))
	commitNote := func(name, value string) {
		status, _, err := s.Load(t.Context(), "d", 0)
		require.NoError(t, err)
		now := time.Now().UTC().Truncate(time.Microsecond)
		note := debate.Annotated{EventMeta: debate.EventMeta{Type: "annotated", Seq: status.Seq + 1}, At: now, Name: name, Value: json.RawMessage(debatetest.Encode(t, value))}
		after := status.Seq
		status.Seq++
		require.NoError(t, s.Commit(context.WithoutCancel(t.Context()), store.Change{ID: "d", After: after, Status: status, Entries: []store.Entry{{Seq: status.Seq, Type: "annotated", At: now, Data: note}}}))
	}
	for i := range 30 {
		commitNote(fmt.Sprintf("big%02d", i), strings.Repeat("x", 1<<20))
	}
	commitNote(strings.Repeat("n", 5000), "short")
	for i := range 200 {
		commitNote(fmt.Sprintf("small%03d", i), "x")
	}
	r := debatetest.Result(t, d)
	require.Less(t, len(debatetest.Encode(t, r)), 100<<10)
	require.Len(t, r.Annotations, 100)
	require.JSONEq(t, "5", string(r.Annotations["rating"]))
	require.Contains(t, strings.Join(r.Warnings, "\n"), `notes are left out, because they are too large: "big00" with 1048578 bytes, "big01" with 1048578 bytes, "big02" with 1048578 bytes and 129 more`)
}

func TestRemarksHaveLimits(t *testing.T) {
	d, _ := idle(t)
	inject := func(id, text string) error {
		return d.Inject(t.Context(), debate.Remark{ID: id, From: "Pat", Text: text})
	}
	const wrongID = "it is not valid, use at most 128 bytes of UTF-8 without control characters"
	requireProblem(t, inject(strings.Repeat("i", 129), "So."), "id", wrongID)
	requireProblem(t, inject("a\nb", "So."), "id", wrongID)
	for i := range 1000 {
		require.NoError(t, inject(fmt.Sprint(i), "So."))
	}
	requireProblem(t, inject("another", "So."), "text", "the debate has 1000 remarks already, which is the most")
	require.NoError(t, inject("999", "So."), "it is there already")

	d, _ = idle(t)
	long := strings.Repeat("so ", 10_000)
	var err error
	for n := 0; err == nil; n++ {
		require.Less(t, n, 40)
		err = inject(fmt.Sprint(n), long)
	}
	requireProblem(t, err, "text", "it has 30000 bytes, and all remarks would have 1050000, use at most 1048576")
}

func TestLabelsHaveLimits(t *testing.T) {
	for name, tt := range map[string]struct {
		labels map[string]string
		reason string
	}{
		"long name":         {map[string]string{strings.Repeat("n", 129): ""}, "a name has 129 bytes, use at most 128"},
		"long value":        {map[string]string{"n": strings.Repeat("v", 4097)}, "n: the value has 4097 bytes, use at most 4096"},
		"control character": {map[string]string{"n": "a\nb"}, `"n" is not valid, remove control characters`},
		"too much in all": {
			map[string]string{"a": strings.Repeat("v", 4096), "b": strings.Repeat("v", 4096), "c": strings.Repeat("v", 4096), "d": strings.Repeat("v", 4096)},
			"all names and values have 16388 bytes, use at most 16384",
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := debatetest.PairConfig(nil)
			c.Labels = tt.labels
			e := debatetest.Engine(t, debate.Options{})
			_, err := e.Create(t.Context(), c)
			requireProblem(t, err, "labels", tt.reason)
			c.Labels = nil
			debatetest.Create(t, e, c)
			_, err = e.Fork(t.Context(), c.ID, 0, debate.Edits{Labels: tt.labels})
			requireProblem(t, err, "labels", tt.reason)
		})
	}
	many := debatetest.PairConfig(nil)
	many.Labels = map[string]string{}
	for i := range 65 {
		many.Labels[fmt.Sprint(i)] = "x"
	}
	e := debatetest.Engine(t, debate.Options{})
	_, err := e.Create(t.Context(), many)
	requireProblem(t, err, "labels", "there are 65, use at most 64")
}
