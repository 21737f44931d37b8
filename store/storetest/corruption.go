package storetest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/store"
)

var corruptionTests = []testCase{
	{"a debate without a status is not listed, and its entries load", testDeletedStatus},
	{"an unreadable status is listed as an error, and the entries load", testCorruptStatus},
	{"a status at the wrong entry is ignored by commits and loads", testWrongStatusSeq},
	{"a commit or a deletion repairs a damaged status", testStatusRepaired},
	{"a missing entry before others is named", testDeletedEntry},
	{"a journal ends at its last existing entry", testDeletedLastEntry},
	{"a corrupt entry is named, or returned for the reader to refuse", testCorruptEntry},
	{"each of 1,000 entries with a flipped bit is named", testFlippedBits},
}

// openForCorruption opens a storage twice. It holds the debates d, with five entries, and e, with one.
func openForCorruption(t *testing.T, p Backend) (a, b store.Store, d, e store.Change) {
	t.Helper()
	if p.Corruption == nil {
		t.Skip("the backend has no Corruption")
	}
	a = p.Open(t)
	b = p.Open(t)
	d = change("d", 0, "a", "", "b", "", "c")
	e = creation("e")
	commit(t, a, d, e)
	return a, b, d, e
}

// requireAllEntries checks that loads return the five entries of the debate d, whatever its status is.
func requireAllEntries(t *testing.T, s store.Store, d store.Change) store.Status {
	t.Helper()
	status, entries := load(t, s, "d", 0)
	require.Equal(t, comparableEntries(t, d.Entries), comparableEntries(t, entries))
	require.Equal(t, "d", status.ID)
	_, entries = load(t, s, "d", 3)
	require.Equal(t, comparableEntries(t, d.Entries[3:]), comparableEntries(t, entries))
	_, entries = load(t, s, "d", 5)
	require.Empty(t, entries)
	return status
}

// requireConflicts checks that conflicts depend on the entries of d, not on its status.
func requireConflicts(t *testing.T, s store.Store) {
	t.Helper()
	for _, after := range []int64{0, 1, 4, 6, 9} {
		require.Equal(t, store.Conflict{ID: "d", After: after, LastSeq: 5}, requireConflict(t, s, change("d", after, "new")))
		if after > 0 {
			require.Equal(t, store.Conflict{ID: "d", After: after, LastSeq: 5}, requireConflict(t, s, change("d", after)))
		}
	}
	require.Equal(t, store.Conflict{ID: "d", After: 5, LastSeq: 5, Key: "c"}, requireConflict(t, s, change("d", 5, "c")))
}

func testDeletedStatus(t *testing.T, p Backend) {
	a, b, d, e := openForCorruption(t, p)
	p.Corruption.DeleteStatus(t, "d")
	for _, s := range []store.Store{a, b, p.Open(t)} {
		require.Equal(t, store.Status{ID: "d"}, requireAllEntries(t, s, d))
		require.Equal(t, []string{"e"}, list(t, s, store.Query{}))
		requireConflicts(t, s)
		require.Equal(t, []string{"e"}, list(t, s, store.Query{}), "refused changes do not repair the status")
		requireStored(t, s, e)
	}
}

func testCorruptStatus(t *testing.T, p Backend) {
	a, b, d, e := openForCorruption(t, p)
	commit(t, a, creation("c")) // a list shows c after d
	p.Corruption.CorruptStatus(t, "d")
	for _, s := range []store.Store{a, b, p.Open(t)} {
		require.Equal(t, store.Status{ID: "d"}, requireAllEntries(t, s, d))
		status, _ := load(t, s, "e", 0)
		require.Equal(t, encode(t, e.Status), encode(t, status))
		requireConflicts(t, s)
		listed := []string{}
		for h, err := range s.List(t.Context(), store.Query{}) {
			if h.ID == "d" {
				require.ErrorContains(t, err, "debate d")
				require.Equal(t, store.Status{ID: "d"}, h)
			} else {
				require.NoError(t, err)
			}
			listed = append(listed, h.ID)
		}
		require.Subset(t, listed, []string{"c", "d", "e"}, "the list goes on")
	}
}

func testWrongStatusSeq(t *testing.T, p Backend) {
	a, b, d, e := openForCorruption(t, p)
	for _, seq := range []int64{1, 4, 6, 99} {
		p.Corruption.SetStatusSeq(t, "d", seq)
		for _, s := range []store.Store{a, b} {
			requireAllEntries(t, s, d)
			requireConflicts(t, s)
			requireStored(t, s, e)
		}
		right := change("d", 5)
		right.Status.Topic = fmt.Sprint("right again after ", seq)
		commit(t, b, right)
		requireStored(t, a, d, right)
	}
}

func testStatusRepaired(t *testing.T, p Backend) {
	a, b, d, e := openForCorruption(t, p)
	for _, harm := range []func(){
		func() { p.Corruption.DeleteStatus(t, "d") },
		func() { p.Corruption.CorruptStatus(t, "d") },
		func() { p.Corruption.SetStatusSeq(t, "d", 3) },
	} {
		harm()
		alone := change("d", 5)
		commit(t, b, alone)
		requireStored(t, a, d, alone)

		harm()
		next := change("d", 5, "new", "")
		commit(t, a, next)
		requireStored(t, b, d, next)

		harm()
		deleteDebate(t, b, "d")
		requireNotFound(t, a, "d")
		require.ErrorIs(t, a.Delete(t.Context(), "d", 0), store.ErrNotFound)
		require.Equal(t, store.Conflict{ID: "d", After: 7}, requireConflict(t, a, change("d", 7, "new")))

		commit(t, a, d) // the ID and the keys are free again
		requireStored(t, b, d)
		requireStored(t, b, e)
	}
}

// requireDamaged checks that an error names the first entry of the debate d that cannot be read.
func requireDamaged(t *testing.T, err error, seq int64) {
	t.Helper()
	var damaged *store.Damaged
	require.ErrorAs(t, err, &damaged)
	require.Equal(t, "d", damaged.ID)
	require.Equal(t, seq, damaged.Seq)
}

func testDeletedEntry(t *testing.T, p Backend) {
	a, b, d, e := openForCorruption(t, p)
	for _, missing := range []int64{3, 1} { // in the end, both are missing
		p.Corruption.DeleteEntry(t, "d", missing)
		for _, s := range []store.Store{a, b, p.Open(t)} {
			for after := range missing {
				for range 2 { // a failed load changes nothing
					_, _, err := s.Load(t.Context(), "d", after)
					requireDamaged(t, err, missing)
					require.ErrorContains(t, err, "the entry is missing")
					require.NotErrorIs(t, err, store.ErrNotFound)
				}
			}
			_, entries := load(t, s, "d", 3)
			require.Equal(t, comparableEntries(t, d.Entries[3:]), comparableEntries(t, entries), "the entries after the gap load")
			require.Equal(t, []string{"e", "d"}, list(t, s, store.Query{}))
			requireStored(t, s, e)
		}
	}
	deleteDebate(t, a, "d")
	requireNotFound(t, b, "d")
	commit(t, b, d)
	requireStored(t, a, d)
}

func testDeletedLastEntry(t *testing.T, p Backend) {
	a, b, d, e := openForCorruption(t, p)
	p.Corruption.DeleteEntry(t, "d", 5)
	for _, s := range []store.Store{a, b} {
		_, entries := load(t, s, "d", 0)
		require.Equal(t, comparableEntries(t, d.Entries[:4]), comparableEntries(t, entries), "the entries are authoritative, not the status")
		require.Equal(t, store.Conflict{ID: "d", After: 5, LastSeq: 4}, requireConflict(t, s, change("d", 5, "new")))
	}
	d.Entries = d.Entries[:4]
	next := change("d", 4, "c")
	commit(t, b, next)
	requireStored(t, a, d, next)
	requireStored(t, a, e)
}

func testCorruptEntry(t *testing.T, p Backend) {
	a, b, d, e := openForCorruption(t, p)
	p.Corruption.CorruptEntry(t, "d", 3)
	want := comparableEntries(t, d.Entries)
	for _, s := range []store.Store{a, b, p.Open(t)} {
		for range 2 { // a failed load changes nothing
			_, entries, err := s.Load(t.Context(), "d", 0)
			if err != nil {
				requireDamaged(t, err, 3)
				continue
			}
			require.Len(t, entries, 5)
			spoilt, err := json.Marshal(entries[2].Data)
			require.False(t, err == nil && string(spoilt) == encode(t, d.Entries[2].Data), "the original data cannot be recovered")
			entries[2].Data = d.Entries[2].Data
			require.Equal(t, want, comparableEntries(t, entries))
		}
		_, entries := load(t, s, "d", 3)
		require.Equal(t, want[3:], comparableEntries(t, entries), "the entries after it load")
		require.Equal(t, []string{"e", "d"}, list(t, s, store.Query{}))
		requireStored(t, s, e)
	}
	require.Equal(t, store.Conflict{ID: "d", After: 3, LastSeq: 5}, requireConflict(t, b, change("d", 3, "new")))
	deleteDebate(t, b, "d")
	requireNotFound(t, a, "d")
}

// testFlippedBits flips bits of everything that is stored of entries. It flips none in the seq of the last entry, because a
// journal ends at the last entry that exists.
func testFlippedBits(t *testing.T, p Backend) {
	if p.Corruption == nil || p.Corruption.Rewrite == nil {
		t.Skip("the backend keeps no checksums")
	}
	s, d := p.Open(t), change("d", 0, "1/1/respond/Ann/", "", "1/1/respond/Bob/", "")
	for i := range d.Entries {
		d.Entries[i].Data = map[string]any{"text": strings.Repeat("Ban cars? ", 20), "tokens": 1234567 + i, "actor": "Ann"}
	}
	commit(t, s, d)
	_, right := load(t, s, "d", 0)
	random := rand.New(rand.NewPCG(1, 2))
	for flipped := 0; flipped < 1000; {
		e := right[random.IntN(len(right))]
		e.Data = stored(t, e)
		wrong, what := flipBit(random, e, e.Seq < int64(len(right)))
		if !p.Corruption.Rewrite(t, "d", e.Seq, wrong) {
			continue
		}
		flipped++
		_, _, err := s.Load(t.Context(), "d", 0)
		require.Error(t, err, "%s of entry %d", what, e.Seq)
		requireDamaged(t, err, e.Seq)
		require.True(t, p.Corruption.Rewrite(t, "d", wrong.Seq, e))
	}
	requireStored(t, s, d)
}

// stored returns the stored text of an entry's data.
func stored(t *testing.T, e store.Entry) json.RawMessage {
	t.Helper()
	text, ok := e.Data.(json.RawMessage)
	require.True(t, ok, "the data of an entry is %T", e.Data)
	return text
}

// flipBit returns an entry with another bit in one of its fields, and the name of that field. Each bit is as likely as any
// other.
func flipBit(random *rand.Rand, e store.Entry, seqToo bool) (store.Entry, string) {
	data := slices.Clone(e.Data.(json.RawMessage))
	fields := []struct {
		name string
		bits int
		flip func(bit int)
	}{
		{"the seq", 63, func(bit int) { e.Seq ^= 1 << bit }},
		{"the type", 8 * len(e.Type), func(bit int) { e.Type = flipped(e.Type, bit) }},
		{"the key", 8 * len(e.Key), func(bit int) { e.Key = flipped(e.Key, bit) }},
		{"the time", 63, func(bit int) { e.At = time.UnixMicro(e.At.UnixMicro() ^ 1<<bit).UTC() }},
		{"the data", 8 * len(data), func(bit int) { e.Data = json.RawMessage(flipped(string(data), bit)) }},
	}
	if !seqToo {
		fields = fields[1:]
	}
	all := 0
	for _, f := range fields {
		all += f.bits
	}
	bit := random.IntN(all)
	for _, f := range fields {
		if bit < f.bits {
			f.flip(bit)
			return e, f.name
		}
		bit -= f.bits
	}
	panic("no such bit")
}

// flipped returns a text with another bit.
func flipped(text string, bit int) string {
	b := []byte(text)
	b[bit/8] ^= 1 << (bit % 8)
	return string(b)
}
