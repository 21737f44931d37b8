package storetest

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

var loadTests = []testCase{
	{"a load returns the entries after a seq", testLoadAfter},
	{"an unknown debate is not found", testUnknown},
	{"a load returns every field of the status", testStatusFields},
	{"a load returns entries as they were committed", testEntryFields},
	{"unusual content is stored unchanged", testAwkward},
	{"long content is stored unchanged", testLong},
}

func testLoadAfter(t *testing.T, p Backend) {
	s := p.Open(t)
	first, second := change("d", 0, "a", "b"), change("d", 2, "c")
	commit(t, s, first, second)
	for _, tt := range []struct {
		name  string
		after int64
		want  []int64
	}{
		{"after 0: all", 0, []int64{1, 2, 3}},
		{"after -1: all", -1, []int64{1, 2, 3}},
		{"after the least integer: all", math.MinInt64, []int64{1, 2, 3}},
		{"after the first", 1, []int64{2, 3}},
		{"after the last but one", 2, []int64{3}},
		{"after the last: none", 3, []int64{}},
		{"beyond the end: none", 4, []int64{}},
		{"after the greatest integer: none", math.MaxInt64, []int64{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			status, entries := load(t, s, "d", tt.after)
			require.Equal(t, tt.want, seqs(entries))
			require.Equal(t, encode(t, second.Status), encode(t, status), "the status describes the whole debate")
		})
	}
}

func testUnknown(t *testing.T, p Backend) {
	s := p.Open(t)
	stands := creation("d")
	commit(t, s, stands)
	for _, id := range []string{"e", "D", "d ", "", "%", "_", "d%", "' OR '1'='1", `d"; --`} {
		requireNotFound(t, s, id)
		_, _, err := s.Load(t.Context(), id, math.MaxInt64)
		require.ErrorIs(t, err, store.ErrNotFound)
		err = s.Delete(t.Context(), id, 0)
		require.ErrorIs(t, err, store.ErrNotFound)
		require.ErrorContains(t, err, id)
	}
	requireStored(t, s, stands)
}

// fullStatus returns a status with a value in every field.
func fullStatus(id string, seq int64) store.Status {
	return store.Status{
		ID: id, Seq: seq, State: fsm.Completed, MaxRounds: 5, Topic: "Ban cars?", Protocol: "panel/1", Format: store.Format,
		Cursor:      transcript.Cursor{Run: 2, Round: 3, Stage: transcript.Assessment, Phase: "assess", PhaseSeq: 8},
		Ending:      transcript.Ending{Outcome: transcript.JudgeDecided, Round: 3, Evidence: "Ann won."},
		FailureKind: "rate_limit", FailureCause: "429 Too Many Requests",
		Labels:      map[string]string{"team": "red", "note": ""},
		Waiting:     []string{"Ada", ""},
		Parent:      transcript.Parent{ID: "e", Seq: 1 << 40},
		Signed:      true,
		Problems:    []string{"participants[0].model: no such model", ""},
		Usage:       transcript.Usage{Input: 1 << 30, Cached: 2, Written: 4, Output: 3, Reasoning: 1, Estimated: true, Cost: 0.1, Unpriced: true},
		RunningTime: 1<<60 + 1,
		Created:     noon.Add(123456 * time.Microsecond),
		Updated:     noon.Add(time.Hour + time.Microsecond),
		Plan:        store.Plan{Key: "3/assess", NotBefore: noon.Add(time.Hour + 654321*time.Microsecond), Timeout: 90*time.Second + 1},
	}
}

func testStatusFields(t *testing.T, p Backend) {
	s := p.Open(t)
	planned := creation("planned")
	begun := creation("begun")
	early := creation("early")
	planned.Status = fullStatus("planned", 1)
	begun.Status.State, begun.Status.Plan = fsm.Ready, store.Plan{Key: "at once"}
	early.Status.Created, early.Status.Labels = time.Date(1903, 2, 1, 0, 0, 0, 1000, time.UTC), map[string]string{}
	commit(t, s, planned, begun, early)
	requireStored(t, s, planned)
	requireStored(t, s, begun)
	requireStored(t, s, early)
}

func testEntryFields(t *testing.T, p Backend) {
	s := p.Open(t)
	c := change("d", 0, "1/1/respond/Ann/", "", "1/1/respond/Bob/", "", "", "", "", "")
	at := time.Date(2026, 12, 31, 23, 59, 59, 999999000, time.UTC)
	c.Entries[0].Type, c.Entries[0].At = "config", noon.Add(time.Microsecond)
	c.Entries[1].Type, c.Entries[1].At = "state/2", noon.Add(time.Microsecond) // both entries have the same time
	for i, data := range []any{
		struct {
			Text string `json:"text"`
		}{"a value that is not a map"},
		json.RawMessage(`{"a":[1,2.5,-0.125,true,false,null,"",[],{}]}`),
		map[string]any{},
		[]int{1, 2},
		"a text",
		12,
	} {
		c.Entries[2+i].Data, c.Entries[2+i].At = data, at
	}
	want := comparableEntries(t, c.Entries)
	commit(t, s, c)
	require.Equal(t, want, comparableEntries(t, c.Entries), "a store does not alter the change")
	requireStored(t, s, c)
}

// unusualTexts are texts that may break an encoding, a query or a pattern.
var unusualTexts = []string{
	" ", "a b", "a/b//c/", `'`, `"`, "`", `\`, `\'`, `''`, "%", "_", "*", "?", "$1", ":a", "@a", "{}", "[0]", "$.a", "a.b",
	"--", "/* */", ";", "'; DROP TABLE entries; --", "null", "true", "1", "0x1", "\t", "\n", "\r\n", "\u007f",
	"größer", "e\u0301", "日本語", "שלום", "😀", "👩‍👩‍👧", "\u2028", "\ufeff", "\ufffd", "\U0010ffff", "<b>&amp;</b>",
}

func testAwkward(t *testing.T, p Backend) {
	s := p.Open(t)
	const id = "A-z_0.9"
	c := change(id, 0, unusualTexts...)
	c.Status = fullStatus(id, c.Status.Seq)
	for i, text := range unusualTexts {
		c.Entries[i].Type = text
		c.Entries[i].Data = map[string]any{text: []string{text, "\x00" + text + "\x00"}}
		c.Status.Labels[text] = text
	}
	c.Status.Topic = "\x00" + strings.Join(unusualTexts, "\x00")
	c.Status.Ending.Evidence = c.Status.Topic
	c.Status.Cursor.Phase = "'\"\\"
	c.Status.Plan.Key = "'; --"
	c.Status.Protocol = "größer/1"
	c.Entries = append(c.Entries, store.Entry{Seq: c.Status.Seq + 1, Type: "numbers", At: noon.Add(time.Hour), Data: map[string]any{
		"beyond doubles": json.Number("9007199254740993"), "least": int64(math.MinInt64), "most": uint64(math.MaxUint64),
		"long": json.Number("123456789012345678901234567890.123456789"), "small": json.Number("0.000000000000000001"),
	}})
	c.Status.Seq++
	commit(t, s, c)
	requireStored(t, s, c)
	for _, text := range unusualTexts {
		require.Equal(t, []string{id}, list(t, s, store.Query{Labels: map[string]string{text: text}}), "the label %q", text)
		require.Empty(t, list(t, s, store.Query{Labels: map[string]string{text: text + "x"}}), "the label %q", text)
		require.Equal(t, text, requireConflict(t, s, change(id, c.Status.Seq, text)).Key)
	}
}

func testLong(t *testing.T, p Backend) {
	s := p.Open(t)
	line := "Longer, \"and\" längër 😀\n"
	text := strings.Repeat(line, 1<<20/len(line)+1)
	c := change(strings.Repeat("d", 128), 0, "", strings.Repeat("k", 300))
	c.Entries[0].Data = map[string]any{"text": text}
	c.Status.Topic, c.Status.Labels = strings.Repeat(line, 2000), map[string]string{strings.Repeat("l", 300): strings.Repeat("v", 300)}
	commit(t, s, c)
	requireStored(t, s, c)
	short, many := creation("many"), change("many", 1, make([]string, 500)...)
	commit(t, s, short, many)
	requireStored(t, s, short, many)
}
