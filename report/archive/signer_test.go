package archive_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/note"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/enginetest"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/report/archive"
	"github.com/elenchus-go/debate/store"
)

// signs is a signer that fails, panics or counts.
type signs struct {
	note.Signer

	err   error
	panic any
	calls atomic.Int32
}

func (s *signs) Sign(msg []byte) ([]byte, error) {
	if s.calls.Add(1); s.panic != nil {
		panic(s.panic)
	}
	if s.err != nil {
		return nil, s.err
	}
	return s.Signer.Sign(msg)
}

// refusing is a store that does not store signatures.
type refusing struct {
	store.Store

	refuses atomic.Bool
}

func (s *refusing) Commit(ctx context.Context, c store.Change) error {
	if s.refuses.Load() && len(c.Entries) > 0 && c.Entries[0].Type == "annotated" {
		return errors.New("the disk is full")
	}
	return s.Store.Commit(ctx, c)
}

// engineOver returns an engine of a store that signs.
func engineOver(t *testing.T, s store.Store, signer note.Signer) *debate.Engine {
	t.Helper()
	model := &scripted.Provider{DiscardCalls: true, Func: func(r providers.Request) scripted.Reply {
		return scripted.Reply{Text: enginetest.Reply(r, []string{"Ada", "Bo"}, "So it is.", 0)}
	}}
	return debatetest.Engine(t, debate.Options{Providers: map[string]providers.Provider{"m": model}, Store: s, Signer: signer})
}

// ended runs a debate to its end in an engine of a store.
func ended(t *testing.T, s store.Store, signer note.Signer) (*debate.Engine, *debate.Debate) {
	t.Helper()
	e := engineOver(t, s, signer)
	d := debatetest.Create(t, e, config(panel.Protocol{}))
	events := debatetest.Finish(t, d)
	require.Equal(t, fsm.Completed, debatetest.Result(t, d).State)
	require.IsType(t, debate.Ended{}, events[len(events)-1])
	return e, d
}

// verdictOf records a debate and verifies the record.
func verdictOf(t *testing.T, e *debate.Engine, id string, keys ...note.Verifier) *archive.Report {
	t.Helper()
	f, err := archive.Record(t.Context(), e, id)
	require.NoError(t, err)
	r, err := archive.Verify(t.Context(), again(t, f), debate.Options{}, keys...)
	require.NoError(t, err)
	return r
}

func TestAnEngineSignsWhatEnds(t *testing.T) {
	signer, verifier, _ := debatetest.Keys(t, "example.org/engine")
	e, d := ended(t, store.Memory(), signer)
	res := debatetest.Result(t, d)
	require.Equal(t, "example.org/engine", res.Signature.Signer)
	require.Empty(t, res.Annotations)
	status := debatetest.Status(t, d)
	require.True(t, status.Signed)
	require.Equal(t, status.Seq-1, res.Signature.Entries)
	r := verdictOf(t, e, "d", verifier)
	require.Equal(t, archive.Signed, r.Verdict, r.Reason)
	require.Equal(t, []archive.Signature{{Name: "example.org/engine", Hash: r.Signatures[0].Hash, Known: true, Entries: status.Seq - 1, Entry: status.Seq}}, r.Signatures)
	_, other, _ := debatetest.Keys(t, "example.org/engine")
	require.Equal(t, archive.Unsigned, verdictOf(t, e, "d", other).Verdict)

	f, err := archive.Record(t.Context(), e, "d")
	require.NoError(t, err)
	require.NoError(t, f.Sign(signer))
	require.NotContains(t, string(text(t, f)), "\nnote ", "the same key has signed it")
	another, verifiesAnother, _ := debatetest.Keys(t, "example.org/another")
	require.NoError(t, f.Sign(another))
	require.NoError(t, f.Sign(another))
	require.Equal(t, 1, strings.Count(string(text(t, f)), "\nnote "))
	r, err = archive.Verify(t.Context(), again(t, f), debate.Options{}, verifiesAnother)
	require.NoError(t, err)
	require.Equal(t, archive.Signed, r.Verdict, r.Reason)

	var wrong *debate.Problems
	require.ErrorAs(t, d.Annotate(t.Context(), "signature", "mine"), &wrong, "nobody else writes signatures")
	require.NoError(t, d.Annotate(t.Context(), "rating", 5))
	require.Equal(t, archive.Unsigned, verdictOf(t, e, "d", verifier).Verdict, "a note after it is not signed")
	require.Equal(t, res.Signature, debatetest.Result(t, d).Signature)

	for _, at := range []int64{5, 0} { // the fork at the end has the signature of its parent in an entry
		id := fmt.Sprint("fork", at)
		fork := debatetest.Fork(t, e, "d", at, debate.Edits{ID: id})
		require.Nil(t, debatetest.Result(t, fork).Signature, "it was the parent that was signed")
		if at > 0 {
			require.NoError(t, fork.Cancel(t.Context()))
		} else {
			require.NoError(t, e.Recover(t.Context()))
		}
		require.NotNil(t, debatetest.Result(t, fork).Signature)
		r := verdictOf(t, e, id, verifier)
		require.Equal(t, archive.Signed, r.Verdict, r.Reason)
	}
	require.NoError(t, e.Close(t.Context()))
}

// A signer that fails and a store that is full are no errors of the debate. Recover signs it later, once.
func TestRecoverSignsWhatHasEnded(t *testing.T) {
	signer, verifier, _ := debatetest.Keys(t, "k")
	for name, broken := range map[string]*signs{
		"the signer fails": {err: errors.New("no key")}, "the signer panics": {panic: "no key"}, "the store is full": {Signer: signer}, "none": nil,
	} {
		t.Run(name, func(t *testing.T) {
			s := &refusing{Store: store.Memory()}
			s.refuses.Store(name == "the store is full")
			var first note.Signer
			if broken != nil {
				broken.Signer, first = signer, broken
			}
			_, d := ended(t, s, first)
			require.Nil(t, debatetest.Result(t, d).Signature)
			e := engineOver(t, s, first)
			if broken != nil {
				require.ErrorContains(t, e.Recover(t.Context()), "sign debate d: ")
			}
			s.refuses.Store(false)
			counter := &signs{Signer: signer}
			e = engineOver(t, s, counter)
			for range 2 {
				require.NoError(t, e.Recover(t.Context()))
			}
			require.EqualValues(t, 1, counter.calls.Load(), "a signed debate is left alone")
			require.Equal(t, archive.Signed, verdictOf(t, e, "d", verifier).Verdict)
			require.NoError(t, e.Close(t.Context()))
		})
	}
}

// A signature in an entry is that of the entries before it.
func TestAFalseSignatureInAnEntryIsFound(t *testing.T) {
	signer, verifier, _ := debatetest.Keys(t, "k")
	s := store.Memory()
	e, _ := ended(t, s, nil)
	f, err := archive.Record(t.Context(), e, "d")
	require.NoError(t, err)
	status, entries, err := s.Load(t.Context(), "d", 0)
	require.NoError(t, err)
	for name, signed := range map[string]string{
		"of another head":  sign(t, signer, "d", status.Seq, strings.Repeat("A", 43)),
		"of later entries": sign(t, signer, "d", status.Seq+1, f.Head()),
	} {
		changed := store.Memory()
		note := debate.Annotated{EventMeta: debate.EventMeta{Type: "annotated", Seq: status.Seq + 1}, At: status.Updated, Name: "signature", Value: json.RawMessage(debatetest.Encode(t, signed))}
		status := status
		status.Seq++
		require.NoError(t, changed.Commit(t.Context(), store.Change{ID: "d", Entries: append(slices.Clip(entries), store.Entry{Seq: status.Seq, Type: "annotated", At: note.At, Data: note}), Status: status}))
		require.Equal(t, archive.Wrong, verdictOf(t, engineOver(t, changed, nil), "d", verifier).Verdict, name)
	}
}

// sign returns a signed note.
func sign(t *testing.T, s note.Signer, id string, entries int64, head string) string {
	t.Helper()
	signed, err := note.Sign(&note.Note{Text: fmt.Sprintf("debate record 1\n%s\n%d\n%s\n", id, entries, head)}, s)
	require.NoError(t, err)
	return string(signed)
}
