package archive_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/archive"
	"github.com/elenchus-go/debate/internal/forgedtest"
	"github.com/elenchus-go/debate/store"
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
	signer, verifier := keys(t, "k")
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
				if hidden := encode(t, done.Turn.Text); len(quotes) == 0 {
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

// Without the secret, nobody finds a hidden text by trying all candidates with everything that the record shows.
func TestAHiddenTextIsNotFoundByTrying(t *testing.T) {
	export := forgedtest.Exports(t)["vote"]
	answers := []string{`"yes"`, `"no"`, `"Yes."`, `"42"`}
	secrets, tried := 0, 0
	for n := 0; secrets < 1000; n++ {
		root := forgedtest.Decode(t, export)
		turns := turnsOf(t, export)
		for i, done := range turns {
			answer := answers[(n+i)%len(answers)]
			forgedtest.Set(t, root, fmt.Sprintf(".entries[%d].data.turn.text", done.Seq-1), json.RawMessage(answer))
		}
		f := recorded(t, []byte(encode(t, root)))
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
	e, err := debate.NewEngine(debate.Options{Store: s})
	require.NoError(t, err)
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
