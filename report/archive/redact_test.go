package archive_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/forgedtest"
	"github.com/elenchus-go/debate/report/archive"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// turnsOf returns the keys of the turns of a record with their texts.
func turnsOf(t testing.TB, export []byte) (list []debate.TurnDone) {
	t.Helper()
	for _, e := range parsed(t, string(export)).Entries {
		ev, err := debate.ParseEvent(e.Data.(json.RawMessage))
		require.NoError(t, err)
		if done, ok := ev.(debate.TurnDone); ok {
			list = append(list, done)
		}
	}
	return list
}

// A redacted record keeps its signature, shows neither the text nor a copy of it, and derives what does not need the text.
func TestTextsAreHiddenInARecord(t *testing.T) {
	signer, verifier, _ := debatetest.Keys(t, "k")
	for name, export := range forgedtest.Exports(t) {
		t.Run(name, func(t *testing.T) {
			for i, done := range turnsOf(t, export)[:4] {
				f := recordOf(t, export)
				require.NoError(t, f.Sign(signer))
				head := f.Head()
				key := done.Turn.Key.String()
				quotes, err := f.Redact([]string{key, key + ".text", fmt.Sprint(done.Seq)}[i%3])
				require.NoError(t, err)
				f = again(t, f)
				require.Equal(t, head, f.Head())
				require.NotContains(t, string(text(t, f)), `"secret":"`)
				if hidden := debatetest.Encode(t, done.Turn.Text); len(quotes) == 0 {
					require.NotContains(t, string(text(t, f)), hidden[1:len(hidden)-1])
				}
				r, err := archive.Verify(t.Context(), f, debate.Options{}, verifier)
				require.NoError(t, err)
				require.Positive(t, r.Hidden)
				require.Zero(t, r.Count(debate.EntryWrong), r.Reason)
				require.True(t, r.Signatures[0].Known)
			}
		})
	}
}

// The command lists the entries that quote a hidden text, and copies in other fields are hidden.
func TestQuotesOfHiddenTextsAreListed(t *testing.T) {
	export := forgedtest.Exports(t)["panel"]
	f := recordOf(t, export)
	quotes, err := f.Redact("1.topic")
	require.NoError(t, err)
	for _, q := range quotes {
		require.Regexp(t, `^entry \d+`, q)
	}
	for what, reason := range map[string]string{
		"9/9/x/y/": `"9/9/x/y/" is no turn and no entry`, "": "is no turn and no entry", "1.nothing": `"1.nothing" selects no text`,
		"1.topic": `"1.topic" selects no text that is shown`, "0": "is no turn", "1000": "is no turn",
	} {
		_, err := f.Redact(what)
		require.ErrorContains(t, err, reason)
	}
}

// A redacted record has the keys of the calls that were made before the first hidden text, and no others: their requests are still
// compared with their hashes.
func TestARedactedRecordKeepsKeysOfCalls(t *testing.T) {
	for name, export := range forgedtest.Exports(t) {
		t.Run(name, func(t *testing.T) {
			turns := turnsOf(t, export)
			hidden := turns[len(turns)/2]
			f := recordOf(t, export)
			_, err := f.Redact(fmt.Sprint(hidden.Seq))
			require.NoError(t, err)
			f = again(t, f)
			r, err := archive.Verify(t.Context(), f, debate.Options{})
			require.NoError(t, err)
			first := hidden.Seq
			for seq, c := range r.Checks { // copies of the text may be in earlier entries
				if strings.Contains(c.Reason, "hidden text") {
					first = min(first, int64(seq)+1)
				}
			}
			before := 0
			for _, done := range turns {
				c := r.Checks[done.Seq-1]
				switch {
				case len(done.Turn.Attempts) == 0 || done.Turn.Kind == transcript.Remark:
				case done.Seq < first:
					require.Equal(t, len(done.Turn.Attempts), c.Prompts, c.Key)
					before++
				case done.PromptSeq >= hidden.Seq:
					require.Zero(t, c.Prompts, c.Key)
				}
			}
			require.Positive(t, before)
			require.NotContains(t, string(text(t, f)), `"secret":"`)

			keys := strings.Count(string(text(t, f)), `"call `)
			require.Positive(t, keys)
			_, err = f.Redact("1") // all that the configuration has
			require.NoError(t, err)
			require.Zero(t, strings.Count(string(text(t, f)), `"call `), "a second redaction takes keys away")
		})
	}
}

// prompts returns how many requests of each entry have their hash, for somebody who has some keys and supposes a text in place of
// another one.
func prompts(t *testing.T, export []byte, keys any, was, supposed string) (equal []int) {
	t.Helper()
	root := forgedtest.Decode(t, bytes.ReplaceAll(export, []byte(debatetest.Encode(t, was)), []byte(debatetest.Encode(t, supposed))))
	if keys != nil {
		forgedtest.Set(t, root, ".entries[0].data.secret", nil)
		forgedtest.Set(t, root, ".entries[0].data.copied_keys", keys)
	}
	s := store.Memory()
	id, err := forgedtest.Put(t, s, []byte(debatetest.Encode(t, root)))
	require.NoError(t, err)
	e := debatetest.Engine(t, debate.Options{Store: s})
	d := debatetest.Open(t, e, id)
	for c, err := range d.VerifyEntries(t.Context()) {
		require.NoError(t, err)
		equal = append(equal, c.Prompts)
	}
	return equal
}

// Nobody who has the keys of a redacted record and tries candidates for a hidden text learns whether one is right: no request that
// can be compared depends on it. With the secret, requests tell.
func TestKeysOfCallsTellNothingOfHiddenTexts(t *testing.T) {
	pick := rand.New(rand.NewPCG(30, 5))
	exports := forgedtest.Exports(t)
	names := slices.Sorted(maps.Keys(exports))
	compared, told := 0, 0
	for n := range max(*trials/10, 20) {
		export := exports[names[n%len(names)]]
		turns := turnsOf(t, export)
		hidden, other := turns[pick.IntN(len(turns))].Turn, turns[pick.IntN(len(turns))].Turn
		f := recordOf(t, export)
		if _, err := f.Redact(hidden.Key.String()); err != nil || hidden.Text == "" {
			continue // it has no text
		}
		first, _, _ := bytes.Cut(text(t, f), []byte("\n"))
		var h struct{ Keys map[string]string }
		require.NoError(t, json.Unmarshal(first, &h))
		right := prompts(t, export, h.Keys, "", "")
		for _, candidate := range []string{other.Text, "yes"} {
			if candidate == hidden.Text {
				continue
			}
			require.Equal(t, right, prompts(t, export, h.Keys, hidden.Text, candidate), "%s: %s is not %q", names[n%len(names)], hidden.Key, candidate)
			if n%10 == 0 && !slices.Equal(prompts(t, export, nil, "", ""), prompts(t, export, nil, hidden.Text, candidate)) {
				told++
			}
		}
		for _, n := range right {
			compared += n
		}
	}
	t.Logf("%d requests compared", compared)
	require.Positive(t, compared)
	require.Positive(t, told)
}

// Without the secret, nobody finds a hidden text by trying all candidates with everything that the record shows.
func TestAHiddenTextIsNotFoundByTrying(t *testing.T) {
	export := forgedtest.Exports(t)["vote"]
	answers := []string{`"yes"`, `"no"`, `"Yes."`, `"42"`}
	secrets, tried := 0, 0
	for n := 0; secrets < 2*(*trials); n++ {
		root := forgedtest.Decode(t, export)
		turns := turnsOf(t, export)
		for i, done := range turns {
			answer := answers[(n+i)%len(answers)]
			forgedtest.Set(t, root, fmt.Sprintf(".entries[%d].data.turn.text", done.Seq-1), json.RawMessage(answer))
		}
		f := recorded(t, []byte(debatetest.Encode(t, root)))
		for _, done := range turns {
			_, err := f.Redact(done.Turn.Key.String() + ".text")
			if err != nil {
				require.ErrorContains(t, err, "selects no text", "a copy was hidden before")
			}
			secrets++
		}
		record, shown := string(text(t, f)), map[string]bool{}
		for _, digest := range hashes.FindAllString(record, -1) {
			shown[digest] = true
		}
		for _, salt := range append(salts.FindAllString(record, -1), "") {
			raw, err := base64.RawURLEncoding.DecodeString(strings.TrimSpace(salt))
			require.NoError(t, err)
			for _, answer := range answers {
				tried++
				h := sha256.Sum256(slices.Concat([]byte{3}, raw, []byte(answer)))
				require.False(t, shown[base64.RawURLEncoding.EncodeToString(h[:])])
			}
		}
	}
	t.Logf("%d texts, %d trials", secrets, tried)
}

// What a record shows.
var (
	salts  = regexp.MustCompile(` [A-Za-z0-9_-]{22} `)
	hashes = regexp.MustCompile(`[A-Za-z0-9_-]{43}`)
)

// recorded returns the record of an export that was changed.
func recorded(t testing.TB, export []byte) *archive.File {
	t.Helper()
	s := store.Memory()
	id, err := forgedtest.Put(t, s, export)
	require.NoError(t, err)
	e := debatetest.Engine(t, debate.Options{Store: s})
	f, err := archive.Record(t.Context(), e, id)
	require.NoError(t, err)
	return f
}

func TestADamagedHeaderIsRefused(t *testing.T) {
	record := text(t, recordOf(t, forgedtest.Exports(t)["panel"]))
	_, err := archive.ReadFile(bytes.NewReader(bytes.Replace(record, []byte(`"record":1`), []byte(`"record":2`), 1)))
	require.ErrorIs(t, err, debate.ErrUnsupported)
	for _, change := range [][2]string{{`"record":1`, `"record":0`}, {`"id":"d"`, `"id":"e"`}, {`"protocol"`, `"rules"`}, {`{"record"`, `["record"`}} {
		_, err := archive.ReadFile(bytes.NewReader(bytes.Replace(record, []byte(change[0]), []byte(change[1]), 1)))
		require.Error(t, err, change)
	}
}

func TestAFileThatIsNoRecordIsRefused(t *testing.T) {
	const hint = `; a record of a debate begins with a line such as {"record":1, …}`
	for file, want := range map[string]string{
		"":                  "unexpected end of JSON input",
		"hello\n":           "invalid character 'h' looking for beginning of value",
		`{"topic":"Cars?"}`: `json: unknown field "topic"`,
		"{}\n":              `the first line has no field "record"`,
		`{"record":1`:       "unexpected end of JSON input",
	} {
		_, err := archive.ReadFile(strings.NewReader(file))
		require.EqualError(t, err, "read record: read entry 0: read header: "+want+hint, file)
		damaged, ok := errors.AsType[*store.Damaged](err)
		require.True(t, ok && damaged.Seq == 0, file)
	}
}
