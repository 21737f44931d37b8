package archive_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/forgedtest"
	"github.com/elenchus-go/debate/internal/test/golden"
	"github.com/elenchus-go/debate/report/archive"
	"github.com/elenchus-go/debate/store"
)

var trials = flag.Int("trials", 100, "number of mutated and of forged records")

// lines returns the lines of a record by entry: those of the header under 0, and what follows the last entry under the next
// number.
func lines(record []byte) (list [][]string) {
	list = [][]string{nil}
	for _, line := range strings.SplitAfter(strings.TrimSuffix(string(record), "\n"), "\n") {
		if strings.HasPrefix(line, "entry ") || strings.HasPrefix(line, "head ") {
			list = append(list, nil)
		}
		list[len(list)-1] = append(list[len(list)-1], strings.TrimSuffix(line, "\n"))
	}
	return list
}

func joined(list [][]string) []byte { return []byte(strings.Join(slices.Concat(list...), "\n") + "\n") }

// A change is a change of a record.
type change struct {
	record []byte
	entry  int // number of the first entry that changes; 0 for the header, and one more than there are for what follows the last
	near   int // how far from it the damage may be found: a line feed belongs to two entries
	what   string
}

// mutate returns a record with one change.
func mutate(pick *rand.Rand, record []byte) change {
	list := lines(record)
	n := len(list) - 2 // entries
	i, j := 1+pick.IntN(n), 1+pick.IntN(n)
	switch pick.IntN(7) {
	case 0:
		at := pick.IntN(len(record))
		b := bytes.Clone(record)
		b[at] ^= byte(1 << pick.IntN(8))
		if pick.IntN(2) == 0 {
			b[at] = " \n{}\"0a"[pick.IntN(7)]
		}
		begun := record[:at+1]
		return change{b, bytes.Count(begun, []byte("\nentry ")) + bytes.Count(begun, []byte("\nhead ")), 1, fmt.Sprintf("byte %d", at)}
	case 1:
		return change{joined(slices.Delete(list, i, i+1)), i, 0, fmt.Sprintf("entry %d removed", i)}
	case 2:
		return change{joined(slices.Insert(list, i, list[i])), i + 1, 0, fmt.Sprintf("entry %d repeated", i)}
	case 3:
		list[i], list[j] = list[j], list[i]
		return change{joined(list), min(i, j), 0, fmt.Sprintf("entries %d and %d exchanged", i, j)}
	case 4: // the payload of another entry
		a, b := strings.SplitN(list[i][0], " ", 5), strings.SplitN(list[j][0], " ", 5)
		a[4] = b[4]
		list[i][0] = strings.Join(a, " ")
		return change{joined(list), i, 0, fmt.Sprintf("payload of entry %d in entry %d", j, i)}
	case 5: // a field of the payload, or a text
		at := pick.IntN(len(list[i]))
		parts := strings.SplitN(list[i][at], " ", map[bool]int{true: 5, false: 3}[at == 0])
		last := &parts[len(parts)-1]
		if fields := values.FindAllStringIndex(*last, -1); fields != nil {
			field := fields[pick.IntN(len(fields))]
			*last = (*last)[:field[0]] + []string{`"x"`, "0", "null", "true"}[pick.IntN(4)] + (*last)[field[1]:]
		}
		list[i][at] = strings.Join(parts, " ")
		return change{joined(list), i, 0, fmt.Sprintf("a value in line %d of entry %d", at, i)}
	}
	at := pick.IntN(len(list[i])) // a line is removed
	list[i] = slices.Delete(list[i], at, at+1)
	return change{joined(list), i, 1, fmt.Sprintf("line %d of entry %d removed", at, i)}
}

// values finds values of JSON: strings that are no names of fields, numbers and words.
var values = regexp.MustCompile(`"(?:[^"\\]|\\.)*"(?:[^:]|$)|\b(?:true|false|null|\d+)\b`)

// Whoever reads a damaged file learns which entry is damaged. In a redacted record, a text that is missing may have been hidden:
// only the sum shows it.
func TestEachDamageOfARecordIsFound(t *testing.T) {
	pick := rand.New(rand.NewPCG(30, 1))
	signer, _, _ := debatetest.Keys(t, "k")
	exports := forgedtest.Exports(t)
	var records [][]byte
	for i, name := range slices.Sorted(maps.Keys(exports)) {
		f := recordOf(t, exports[name])
		require.NoError(t, f.Sign(signer))
		if i%3 == 0 {
			turns := turnsOf(t, exports[name])
			_, err := f.Redact(turns[len(turns)/2].Turn.Key.String())
			require.NoError(t, err)
		}
		records = append(records, text(t, f))
	}
	named := 0
	for n := range *trials {
		record := records[n%len(records)]
		c := mutate(pick, record)
		if bytes.Equal(c.record, record) {
			continue
		}
		_, err := archive.ReadFile(bytes.NewReader(c.record))
		damaged, ok := errors.AsType[*store.Damaged](err)
		require.True(t, ok, "%s: %v", c.what, err)
		entries := len(lines(record)) - 2
		redacted := !bytes.Contains(record, []byte(`"secret":"`))
		switch {
		case c.entry == 0 || c.entry > entries: // not in an entry
		case redacted && damaged.Seq == 0:
			require.Contains(t, c.what, "line")
			require.ErrorContains(t, err, "does not match the sum")
		default:
			named++
			require.InDelta(t, c.entry, damaged.Seq, float64(c.near), "%s: %v", c.what, err)
		}
	}
	t.Logf("%d of %d changes are found in their entry", named, *trials)
	require.Greater(t, named, *trials*3/4)
}

// forged returns the record of a debate in which a value of an entry is changed, with the hashes that belong to it, and the path of
// the value, without indices. It reports false if no record can be made, because the debate cannot be read.
func forged(t *testing.T, pick *rand.Rand, export []byte) (f *archive.File, path string, ok bool) {
	t.Helper()
	changed, told := forgedtest.Change(t, export, pick, 1)
	path, _, _ = strings.Cut(told, " = ")
	if !strings.HasPrefix(path, ".entries[") || !strings.Contains(path, ".data.") {
		return nil, "", false
	}
	var j struct {
		Entries []struct {
			Seq  int64
			Type string
			At   time.Time
			Data json.RawMessage
		}
	}
	require.NoError(t, json.Unmarshal(changed, &j))
	s := store.Memory()
	c := store.Change{ID: "d", Status: store.Status{ID: "d", Seq: int64(len(j.Entries)), Format: store.Format}}
	for i, e := range j.Entries {
		entry := store.Entry{Seq: e.Seq, Type: e.Type, At: e.At, Data: e.Data}
		if ev, err := debate.ParseEvent(e.Data); err == nil { // the forger takes care of what is stored beside the payload
			if done, ok := ev.(debate.TurnDone); ok {
				entry.Key = done.Turn.Key.String()
			}
		}
		if strings.HasPrefix(path, fmt.Sprintf(".entries[%d].", i)) {
			if unchanged(t, export, i, e.Data) {
				return nil, "", false
			}
			path = e.Type + path[strings.Index(path, ".data.")+len(".data"):]
		}
		c.Entries = append(c.Entries, entry)
	}
	if s.Commit(t.Context(), c) != nil {
		return nil, "", false
	}
	e := debatetest.Engine(t, debate.Options{Store: s})
	f, err := archive.Record(t.Context(), e, "d")
	return f, indices.ReplaceAllString(path, "[]"), err == nil
}

// unchanged reports whether an entry of an export means the same as other data.
func unchanged(t *testing.T, export []byte, i int, data []byte) bool {
	var j struct {
		Entries []struct{ Data json.RawMessage }
	}
	require.NoError(t, json.Unmarshal(export, &j))
	was, err := debate.ParseEvent(j.Entries[i].Data)
	require.NoError(t, err)
	is, err := debate.ParseEvent(data)
	canonical := func(ev debate.Event) string {
		return debatetest.Encode(t, forgedtest.Decode(t, []byte(debatetest.Encode(t, ev))))
	}
	return err == nil && canonical(was) == canonical(is)
}

var indices = regexp.MustCompile(`\[\d+\]`)

// Whoever changes an entry and computes all hashes again, but lacks the key, has no signed record. What derivation alone does
// not find is in testdata/inputs.txt: what models, people, providers and clocks have given.
func TestAForgedRecordIsNotSigned(t *testing.T) {
	pick := rand.New(rand.NewPCG(30, 2))
	_, verifier, _ := debatetest.Keys(t, "k")
	exports := forgedtest.Exports(t)
	names := slices.Sorted(maps.Keys(exports))
	notFound := map[string]string{}
	tried, found := 0, 0
	for n := range *trials {
		export := exports[names[n%len(names)]]
		f, path, ok := forged(t, pick, export)
		if path == "" {
			continue
		}
		tried++
		if !ok {
			found++
			continue
		}
		r, err := archive.Verify(t.Context(), f, debate.Options{}, verifier)
		require.NoError(t, err)
		require.NotEqual(t, archive.Signed, r.Verdict)
		if r.Verdict == archive.Wrong {
			found++
		} else {
			notFound[path] = fmt.Sprintf("trial %d, %s: %s", n, r.Verdict, r.Reason)
		}
	}
	t.Logf("derivation alone finds %d of %d", found, tried)
	list, err := os.ReadFile(inputs)
	require.NoError(t, err)
	known := strings.Fields(string(list))
	if golden.Update() {
		known = slices.Compact(slices.Sorted(slices.Values(slices.AppendSeq(known, maps.Keys(notFound)))))
		require.NoError(t, os.WriteFile(inputs, []byte(strings.Join(known, "\n")+"\n"), 0o600))
	}
	for path, why := range notFound {
		require.Contains(t, known, path, "derivation does not find that it is forged: %s", why)
	}
}

// inputs lists the fields of entries that derivation takes as they are. The test adds to it with
// -update.
const inputs = "testdata/inputs.txt"
