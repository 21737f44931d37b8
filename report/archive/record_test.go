package archive_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/forgedtest"
	"github.com/elenchus-go/debate/report/archive"
	"github.com/elenchus-go/debate/store"
)

// recordOf returns the record of an exported debate.
func recordOf(t testing.TB, export []byte) *archive.File {
	t.Helper()
	j, s := &archive.Journal{}, store.Memory()
	require.NoError(t, j.UnmarshalJSON(export))
	require.NoError(t, archive.Import(t.Context(), s, j))
	e := debatetest.Engine(t, debate.Options{Store: s})
	f, err := archive.Record(t.Context(), e, j.Status.ID)
	require.NoError(t, err)
	return f
}

func text(t testing.TB, f *archive.File) []byte {
	t.Helper()
	b, err := f.MarshalText()
	require.NoError(t, err)
	return b
}

// again writes a record and reads it.
func again(t testing.TB, f *archive.File) *archive.File {
	t.Helper()
	read, err := archive.ReadFile(bytes.NewReader(text(t, f)))
	require.NoError(t, err)
	return read
}

func TestARecordIsDerivedAgain(t *testing.T) {
	signer, verifier, _ := debatetest.Keys(t, "example.org/debates")
	_, other, _ := debatetest.Keys(t, "example.org/debates")
	for name, export := range forgedtest.Exports(t) {
		t.Run(name, func(t *testing.T) {
			f := again(t, recordOf(t, export))
			r, err := archive.Verify(t.Context(), f, debate.Options{}, verifier)
			require.NoError(t, err)
			require.Equal(t, archive.Unsigned, r.Verdict, r.Reason)
			require.Len(t, r.Checks, r.Entries)
			require.Positive(t, r.Count(debate.EntryDerived))

			require.NoError(t, f.Sign(signer))
			f = again(t, f)
			r, err = archive.Verify(t.Context(), f, debate.Options{}, verifier)
			require.NoError(t, err)
			require.Equal(t, archive.Signed, r.Verdict, r.Reason)
			require.Equal(t, f.Head(), r.Head)
			r, err = archive.Verify(t.Context(), f, debate.Options{}, other)
			require.NoError(t, err)
			require.Equal(t, archive.Unsigned, r.Verdict)
			require.False(t, r.Signatures[0].Known)
		})
	}
}
