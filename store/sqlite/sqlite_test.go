package sqlite_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/store/sqlite"
	"github.com/elenchus-go/debate/store/storetest"
)

func TestStore(t *testing.T) {
	storetest.Run(t, entryRef)
}

func TestClosedAndOpenedAgainItHasAll(t *testing.T) {
	path := filepath.Join(t.TempDir(), "debates.db")
	first := open(t, path)
	commit(t, first, change("d", 0, "a", ""))
	commit(t, first, change("e", 0, "a"))
	status, entries, err := first.Load(t.Context(), "d", 0)
	require.NoError(t, err)
	require.NoError(t, first.Close())
	require.NoFileExists(t, path+"-wal", "the last store that closes leaves one file")

	second := open(t, path)
	head2, entries2, err := second.Load(t.Context(), "d", 0)
	require.NoError(t, err)
	require.Equal(t, status, head2)
	require.Equal(t, entries, entries2)
	require.Equal(t, []string{"e", "d"}, list(t, second, store.Query{}))
	require.Equal(t, &store.Conflict{ID: "d", After: 2, LastSeq: 2, Key: "a"}, second.Commit(t.Context(), change("d", 2, "a")))
}

func TestOddPaths(t *testing.T) {
	for _, name := range []string{
		"with space", "what?", "what?mode=memory", "no#1", "100%", "%41", "%00", "a&b=c", "+", "'quoted'", `"`, `back\slash`,
		"späß 🗳", "file:", ":memory:", "new\nline", "\xff", strings.Repeat("x", 200),
	} {
		t.Run(name, func(t *testing.T) {
			folder := filepath.Join(t.TempDir(), "in "+name)
			require.NoError(t, os.Mkdir(folder, 0o700))
			path := filepath.Join(folder, name)
			s := open(t, path)
			commit(t, s, change("d", 0, ""))
			commit(t, open(t, path), change("d", 1, ""))
			require.NoError(t, s.Close())
			require.FileExists(t, path)
			files, err := os.ReadDir(folder)
			require.NoError(t, err)
			for _, f := range files {
				require.True(t, strings.HasPrefix(f.Name(), name), "%q", f.Name())
			}
		})
	}
}

func TestAPathIsRelativeToTheWorkingFolder(t *testing.T) {
	t.Chdir(t.TempDir())
	commit(t, open(t, "file:debates.db?mode=memory"), change("d", 0, ""))
	require.FileExists(t, "file:debates.db?mode=memory")
}

func TestOpenIsRefused(t *testing.T) {
	folder := t.TempDir()
	at := func(name string) string { return filepath.Join(folder, name) }
	write := func(name, text string) string {
		require.NoError(t, os.WriteFile(at(name), []byte(text), 0o600))
		return at(name)
	}
	foreign := at("foreign.db")
	alter(t, foreign, `CREATE TABLE people (name TEXT)`)
	numbered := at("numbered.db")
	alter(t, numbered, `PRAGMA user_version = 1`)
	newer := at("newer.db")
	require.NoError(t, open(t, newer).Close())
	alter(t, newer, `PRAGMA user_version = 7`)
	cut := at("cut.db")
	require.NoError(t, open(t, cut).Close())
	require.NoError(t, os.Truncate(cut, 5000))

	for _, tt := range []struct {
		name    string
		path    string
		message string
	}{
		{"an empty path", "", "the path is empty"},
		{"in memory", ":memory:", "a database in memory is lost with its connection; use store.Memory"},
		{"a zero byte", at("a\x00b"), "the path has a zero byte"},
		{"no folder", at("none/debates.db"), "no such file or directory"},
		{"a file in place of a folder", filepath.Join(write("file", ""), "debates.db"), "unable to open database file"},
		{"a folder", folder, "unable to open database file"},
		{"a text file", write("text", strings.Repeat("no database\n", 200)), "file is not a database"},
		{"a short text file", write("short", "no database"), "file is not a database"},
		{"another program's database", foreign, "the file is a database of another program"},
		{"another program's database with a version", numbered, "the file is a database of another program"},
		{"a newer schema", newer, "schema version is 7, but this version of the package supports only versions up to "},
		{"a truncated database", cut, "malformed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := sqlite.Open(tt.path)
			require.Nil(t, s)
			require.ErrorContains(t, err, "open store "+tt.path+": ")
			require.ErrorContains(t, err, tt.message)
		})
	}
	require.Equal(t, "1", ask(t, foreign, `SELECT count(*) FROM sqlite_schema`), "the database is unchanged")
	require.Equal(t, "7", ask(t, newer, `PRAGMA user_version`))
	text, err := os.ReadFile(at("text"))
	require.NoError(t, err)
	require.Equal(t, strings.Repeat("no database\n", 200), string(text))
}

func TestAnEmptyFileBecomesAStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "debates.db")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	commit(t, open(t, path), change("d", 0, ""))
}

func TestAClosedStoreRefuses(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "debates.db"))
	commit(t, s, change("d", 0, ""))
	stop := s.Watch("d", func(int64) { t.Error("nobody commits") })
	require.NoError(t, s.Close())
	require.NoError(t, s.Close())

	require.EqualError(t, s.Commit(t.Context(), change("d", 1, "")), "commit to debate d: sql: database is closed")
	require.EqualError(t, s.Delete(t.Context(), "d", 0), "delete debate d: sql: database is closed")
	_, _, err := s.Load(t.Context(), "d", 0)
	require.EqualError(t, err, "load debate d: sql: database is closed")
	for _, err := range s.List(t.Context(), store.Query{}) {
		require.EqualError(t, err, "list debates: sql: database is closed")
	}
	stop()
	s.Watch("d", func(int64) { t.Error("nobody commits") })()
}

func TestWhatCannotBeEncodedIsRefused(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "debates.db"))
	c := change("d", 0, "", "")
	c.Entries[1].Data = func() {}
	require.ErrorContains(t, s.Commit(t.Context(), c), "commit to debate d: encode entry 2: json: ")
	c = change("d", 0, "")
	c.Status.Updated = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)
	require.ErrorContains(t, s.Commit(t.Context(), c), "commit to debate d: encode status: json: ")
	_, _, err := s.Load(t.Context(), "d", 0)
	require.ErrorIs(t, err, store.ErrNotFound)
}

func TestARowThatCannotBeReadIsNamed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "debates.db")
	s := open(t, path)
	commit(t, s, change("d", 0, "", "", ""))
	alter(t, path, `UPDATE entries SET at = 'noon' WHERE seq = 2`)
	_, _, err := s.Load(t.Context(), "d", 0)
	require.ErrorContains(t, err, "load debate d: read entry 2 of debate d: ")
	_, entries, err := s.Load(t.Context(), "d", 2)
	require.NoError(t, err)
	require.Len(t, entries, 1)
}

func TestAChecksumThatIsNone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "debates.db")
	s := open(t, path)
	commit(t, s, change("d", 0, "a", "b", "c"))
	for _, sum := range []any{"none", 1 << 40, 1.5} {
		alter(t, path, `UPDATE entries SET checksum = ? WHERE seq = 3`, sum)
		_, _, err := s.Load(t.Context(), "d", 0)
		require.ErrorContains(t, err, fmt.Sprintf("read entry 3 of debate d: its checksum is %v", sum))
	}
}

// A file with a few flipped bits cannot be opened, names the damage, or has lost the last entries, but no entry differs.
func TestADamagedFileGivesNoOtherEntries(t *testing.T) {
	path := filepath.Join(t.TempDir(), "debates.db")
	s := open(t, path)
	c := change("d", 0, make([]string, 40)...)
	for i := range c.Entries {
		c.Entries[i].Data = map[string]any{"text": strings.Repeat(fmt.Sprint("Reason ", i, ". "), 20), "tokens": 50 + i}
	}
	commit(t, s, c)
	_, right, err := s.Load(t.Context(), "d", 0)
	require.NoError(t, err)
	require.NoError(t, s.Close())
	file, err := os.ReadFile(path)
	require.NoError(t, err)

	random, outcomes := rand.New(rand.NewPCG(1, 2)), map[string]int{} //nolint:gosec // the same bits in each run
	for i := range 300 {
		damaged := slices.Clone(file)
		for range 1 + i%3 {
			damaged[random.IntN(len(damaged))] ^= 1 << random.IntN(8)
		}
		path := filepath.Join(t.TempDir(), "damaged.db")
		require.NoError(t, os.WriteFile(path, damaged, 0o600))
		outcomes[readDamaged(t, path, right)]++
	}
	t.Log(outcomes)
	require.Greater(t, outcomes["named"], 50)
}

// readDamaged reads the debate d from a damaged file, checks the entries that it returns, and says how that went.
func readDamaged(t *testing.T, path string, right []store.Entry) string {
	t.Helper()
	s, err := sqlite.Open(path)
	if err != nil {
		return "not opened"
	}
	defer s.Close() //nolint:errcheck // the file is damaged
	_, entries, err := s.Load(t.Context(), "d", 0)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return "not found"
	case err != nil:
		if _, named := errors.AsType[*store.Damaged](err); named {
			return "named"
		}
		return "another error"
	}
	require.Equal(t, right[:len(entries)], entries)
	if len(entries) < len(right) {
		return "shorter"
	}
	return "same"
}

func TestAHeadOfAnotherDebateCannotBeRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "debates.db")
	s := open(t, path)
	commit(t, s, change("d", 0, ""))
	alter(t, path, `UPDATE debates SET status = json_set(status, '$.id', 'e')`)
	status, entries, err := s.Load(t.Context(), "d", 0)
	require.NoError(t, err)
	require.Equal(t, store.Status{ID: "d"}, status)
	require.Len(t, entries, 1)
	for _, err := range s.List(t.Context(), store.Query{}) {
		require.EqualError(t, err, `list debates: read the status of debate d: it has the id "e"`)
	}
}

// If a table is missing, each call fails with an error that names the operation.
func TestErrorsOfTheDatabaseSayWhatFailed(t *testing.T) {
	for table, messages := range map[string][]string{
		"entries": {"commit to debate d: ", "delete debate d: ", "load debate d: "},
		"debates": {"commit to debate d: ", "delete debate d: ", "load debate d: ", "list debates: "},
	} {
		path := filepath.Join(t.TempDir(), "debates.db")
		s := open(t, path)
		commit(t, s, change("d", 0, ""))
		alter(t, path, `DROP TABLE `+table)
		errs := []error{s.Commit(t.Context(), change("d", 1, "a")), s.Delete(t.Context(), "d", 0)}
		_, _, err := s.Load(t.Context(), "d", 0)
		errs = append(errs, err)
		for _, err := range s.List(t.Context(), store.Query{}) {
			if err != nil {
				errs = append(errs, err)
			}
		}
		require.Len(t, errs, len(messages))
		for i, message := range messages {
			require.EqualError(t, errs[i], message+"SQL logic error: no such table: "+table+" (1)")
		}
	}
}

func TestLabelsMayHaveAnyCharacters(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "debates.db"))
	odd := []string{
		"", "a.b", "$.labels", `a"b`, `"quoted"`, `it's`, `back\slash`, `\u0041`, "a/b", "[0]", "*", "%", "_", "<&>", "späß 🗳", "a b",
		"new\nline", "tab\t", "\u2028", "1", "null", "true", "\x7f", "key", "value",
	}
	for i, text := range odd {
		c := change(fmt.Sprintf("d%02d", i), 0, "")
		c.Status.Labels = map[string]string{text: "key", "value": text, "both" + text: text}
		commit(t, s, c)
	}
	for i, text := range odd {
		want := []string{fmt.Sprintf("d%02d", i)}
		require.Equal(t, want, list(t, s, store.Query{Labels: map[string]string{"both" + text: text}}), "%q", text)
		if text != "value" {
			require.Equal(t, want, list(t, s, store.Query{Labels: map[string]string{text: "key", "value": text}}), "%q", text)
		}
	}
}

func TestTheLoopOfAListMayUseTheStore(t *testing.T) {
	const debates = 250 // more than one page
	s := open(t, filepath.Join(t.TempDir(), "debates.db"))
	for i := range debates {
		commit(t, s, change(fmt.Sprintf("d%03d", i), 0, ""))
	}
	seen := map[string]bool{}
	for h, err := range s.List(t.Context(), store.Query{}) {
		require.NoError(t, err)
		require.False(t, seen[h.ID])
		seen[h.ID] = true
		commit(t, s, change(h.ID, 1, ""))
		commit(t, s, change("z"+h.ID, 0, "")) // sorts before the statuses already listed
		require.Equal(t, []int64{1, 2}, load(t, s, h.ID))
		if len(seen)%50 == 0 {
			require.Len(t, list(t, s, store.Query{Limit: 220}), 220)
			require.NoError(t, s.Delete(t.Context(), h.ID, 0))
		}
	}
	require.Len(t, seen, debates)
}

func TestAListEndsWithItsContext(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "debates.db"))
	for _, id := range []string{"a", "b", "c"} {
		commit(t, s, change(id, 0, ""))
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	seen := 0
	var last error
	for _, err := range s.List(ctx, store.Query{}) {
		seen++
		last = err
		cancel()
	}
	require.Equal(t, 2, seen)
	require.EqualError(t, last, "list debates: context canceled")
}

// Times in a query may be finer than the microseconds of the store.
func TestBeforeMayLieBetweenTwoMicroseconds(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "debates.db"))
	commit(t, s, change("d", 0, ""))
	for offset, want := range map[time.Duration][]string{
		-1: {}, 0: {"d"}, 1: {"d"}, time.Microsecond: {"d"}, -time.Microsecond: {},
	} {
		q := store.Query{CreatedBefore: noon.Add(offset), BeforeID: "e"}
		require.Equal(t, want, list(t, s, q), "%s", offset)
		require.Equal(t, len(want) > 0, q.Matches(change("d", 0, "").Status), "%s", offset)
	}
}

// entryRef returns a backend with an empty database.
func entryRef(t testing.TB) storetest.Backend {
	path := filepath.Join(t.TempDir(), "debates.db")
	t.Cleanup(func() { require.Equal(t, "ok", ask(t, path, `PRAGMA integrity_check`)) })
	return storetest.Backend{
		Open: func(t testing.TB) store.Store { return open(t, path) },
		Corruption: &storetest.Corruption{
			DeleteStatus: func(t testing.TB, id string) { alter(t, path, `DELETE FROM debates WHERE id = ?`, id) },
			CorruptStatus: func(t testing.TB, id string) {
				alter(t, path, `UPDATE debates SET status = '{"id":' WHERE id = ?`, id)
			},
			SetStatusSeq: func(t testing.TB, id string, seq int64) {
				alter(t, path, `UPDATE debates SET status = json_set(status, '$.seq', ?) WHERE id = ?`, seq, id)
			},
			DeleteEntry: func(t testing.TB, id string, seq int64) {
				alter(t, path, `DELETE FROM entries WHERE debate = ? AND seq = ?`, id, seq)
			},
			CorruptEntry: func(t testing.TB, id string, seq int64) {
				alter(t, path, `UPDATE entries SET data = '{"text":' WHERE debate = ? AND seq = ?`, id, seq)
			},
			SetEntryField: func(t testing.TB, id string, seq int64, field, value string) {
				e := entryOf(t, path, id, seq)
				data := ask(t, path, `SELECT json_set(?, ?, ?)`, string(e.Data.(json.RawMessage)), "$."+field, value)
				sum := int32(e.Checksum(id, []byte(data))) //nolint:gosec // the sign is only another reading of a bit
				alter(t, path, `UPDATE entries SET data = ?, checksum = ? WHERE debate = ? AND seq = ?`, data, sum, id, seq)
			},
			Rewrite: func(t testing.TB, id string, seq int64, e store.Entry) bool {
				return rewrite(t, path, id, seq, e)
			},
		},
	}
}

// entryOf returns an entry of a debate.
func entryOf(t testing.TB, path, id string, seq int64) store.Entry {
	t.Helper()
	_, entries, err := open(t, path).Load(t.Context(), id, seq-1)
	require.NoError(t, err)
	return entries[0]
}

// rewrite replaces the fields of an entry, but not its checksum. SQLite stores any bytes as text.
func rewrite(t testing.TB, path, id string, seq int64, e store.Entry) bool {
	t.Helper()
	db := raw(t, path)
	_, err := db.ExecContext(t.Context(), `PRAGMA synchronous = OFF; UPDATE entries SET seq = ?, type = CAST(? AS TEXT), key = nullif(CAST(? AS TEXT), ''), at = ?,
		data = CAST(? AS TEXT) WHERE debate = ? AND seq = ?`, e.Seq, []byte(e.Type), []byte(e.Key), e.At.UnixMicro(), []byte(e.Data.(json.RawMessage)), id, seq)
	require.NoError(t, db.Close())
	if e.Seq != seq && err != nil { // there is another entry with that number
		return false
	}
	require.NoError(t, err)
	return true
}

// noon is the creation time of the debates in these tests.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// change returns a change that appends an entry for each key to a debate that ends at after. An empty key makes an
// entry without a key.
func change(id string, after int64, keys ...string) store.Change {
	c := store.Change{ID: id, After: after, Status: store.Status{ID: id, Seq: after + int64(len(keys)), Created: noon}}
	for i, k := range keys {
		seq := after + 1 + int64(i)
		c.Entries = append(c.Entries, store.Entry{Seq: seq, Type: "turn", Key: k, At: noon, Data: fmt.Sprint(id, " ", seq)})
	}
	return c
}

func open(t testing.TB, path string) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func commit(t testing.TB, s store.Store, c store.Change) {
	t.Helper()
	require.NoError(t, s.Commit(context.Background(), c))
}

// load returns the seqs of a journal.
func load(t testing.TB, s store.Store, id string) []int64 {
	t.Helper()
	_, entries, err := s.Load(t.Context(), id, 0)
	require.NoError(t, err)
	seqs := []int64{}
	for _, e := range entries {
		seqs = append(seqs, e.Seq)
	}
	return seqs
}

// list returns the IDs that a query finds.
func list(t testing.TB, s store.Store, q store.Query) []string {
	t.Helper()
	ids := []string{}
	for h, err := range s.List(t.Context(), q) {
		require.NoError(t, err)
		ids = append(ids, h.ID)
	}
	return ids
}

// raw opens the file without the store.
func raw(t testing.TB, path string) *sql.DB {
	t.Helper()
	query := url.Values{"_busy_timeout": {"10000"}, "_txlock": {"immediate"}, "_synchronous": {"FULL"}, "_journal_mode": {"WAL"}}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: path, RawQuery: query.Encode()}).String())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

func alter(t testing.TB, path, statement string, args ...any) {
	t.Helper()
	db := raw(t, path)
	_, err := db.ExecContext(context.Background(), statement, args...)
	require.NoError(t, err)
	require.NoError(t, db.Close())
}

func ask(t testing.TB, path, query string, args ...any) (answer string) {
	t.Helper()
	db := raw(t, path)
	require.NoError(t, db.QueryRowContext(context.Background(), query, args...).Scan(&answer))
	require.NoError(t, db.Close())
	return answer
}
