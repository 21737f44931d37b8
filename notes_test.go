package debate_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/chain"
	"github.com/elenchus-go/debate/internal/test/debatetest"
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

// The engine stores no note beyond the limits, so one in a journal is damage.
func TestAStoredNoteBeyondTheLimitsIsDamage(t *testing.T) {
	for name, tt := range map[string]struct{ name, value, want string }{
		"a large value":     {"n", strings.Repeat("x", 20_000), `note "n": value: it has 20002 bytes, use at most 16384`},
		"a long name":       {strings.Repeat("n", 5000), "short", "name: it has 5000 bytes, use at most 128"},
		"a large signature": {chain.NoteName, strings.Repeat("x", 20_000), "the signature has 20002 bytes, use at most 16384"},
	} {
		t.Run(name, func(t *testing.T) {
			d, s := idle(t)
			status, _, err := s.Load(t.Context(), "d", 0)
			require.NoError(t, err)
			now, after := time.Now().UTC().Truncate(time.Microsecond), status.Seq
			status.Seq++
			note := debate.Annotated{
				EventMeta: debate.EventMeta{Type: "annotated", Seq: status.Seq}, At: now, Name: tt.name, Value: json.RawMessage(debatetest.Encode(t, tt.value)),
			}
			entries := []store.Entry{{Seq: status.Seq, Type: "annotated", At: now, Data: note}}
			require.NoError(t, s.Commit(t.Context(), store.Change{ID: "d", After: after, Status: status, Entries: entries}))
			_, err = d.Result(t.Context())
			require.ErrorAs(t, err, new(*store.Damaged))
			require.ErrorContains(t, err, tt.want)
		})
	}
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
