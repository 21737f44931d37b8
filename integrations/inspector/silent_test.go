package inspector

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/examples/offline"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// The pages of a fork say who is silent, and offer no edit of that turn.
func TestPagesShowSilentTurns(t *testing.T) {
	engine := debatetest.Engine(t, debate.Options{Providers: map[string]providers.Provider{"model": offline.Model(false)}})
	w := serve(t, engine, Options{})
	turns := debatetest.Result(t, w.run(pair("parent"))).Turns
	said := turns[slices.IndexFunc(turns, func(x transcript.Turn) bool { return x.Kind == transcript.Speech })]
	d := debatetest.Fork(t, engine, "parent", 0, debate.Edits{ID: "silent", Silent: debate.Omission{Turns: []transcript.Key{said.Key}}})
	debatetest.Finish(t, d)
	require.Contains(t, w.get(http.StatusOK, "/debates/silent"), "<em>silent in this fork</em>")
	turns = debatetest.Result(t, d).Turns
	at := slices.IndexFunc(turns, func(x transcript.Turn) bool { return x.Kind == transcript.Silence })
	page := w.get(http.StatusOK, fmt.Sprintf("/debates/silent/turn?seq=%d", turns[at].Seq))
	require.Contains(t, page, "<em>silent in this fork</em>")
	require.NotContains(t, page, "The prompt cannot be rebuilt")
	require.NotContains(t, page, "What the prompt could show", "there was none")
}
