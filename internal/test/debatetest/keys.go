package debatetest

import (
	"crypto/rand"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/note"
)

// Keys returns a signer with new keys, its verifier, and the text of the public key.
func Keys(t testing.TB, name string) (note.Signer, note.Verifier, string) {
	t.Helper()
	private, public, err := note.GenerateKey(rand.Reader, name)
	require.NoError(t, err)
	s, err := note.NewSigner(private)
	require.NoError(t, err)
	v, err := note.NewVerifier(public)
	require.NoError(t, err)
	return s, v, public
}
