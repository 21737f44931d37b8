package inspector

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/examples/offline"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/providers"
)

// The page of a debate that its engine has signed says who signed what.
func TestAPageShowsTheSignature(t *testing.T) {
	signer, _, _ := debatetest.Keys(t, "example.org/debates")
	engine := debatetest.Engine(t, debate.Options{Providers: map[string]providers.Provider{"model": offline.Model(false)}, Signer: signer})
	w := serve(t, engine, Options{})
	s := debatetest.Result(t, w.run(pair("signed"))).Signature
	require.Contains(t, w.get(http.StatusOK, "/debates/signed"), fmt.Sprintf("example.org/debates, entries 1 to %d with the head %s", s.Entries, s.Head))
}
