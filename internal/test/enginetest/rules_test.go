package enginetest_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/test/enginetest"
	"github.com/elenchus-go/debate/internal/test/golden"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
)

// rulesFile holds the number of the rules, and a fingerprint of what follows from them in a debate of each preset.
var rulesFile = filepath.Join("testdata", "rules.txt")

// fingerprint returns the number of the rules, and a hash of all requests and transitions of a debate.
func fingerprint(t *testing.T, cfg debate.Config) (number int, sum string) {
	t.Helper()
	var mu sync.Mutex
	var list []string
	add := func(v any) {
		raw, err := json.Marshal(v)
		require.NoError(t, err)
		mu.Lock()
		defer mu.Unlock()
		list = append(list, string(raw))
	}
	m := &scripted.Provider{DiscardCalls: true, Func: func(r providers.Request) scripted.Reply {
		add(r)
		return scripted.Reply{Text: enginetest.PresetReply(cfg, r)}
	}}
	d, err := debate.New(t.Context(), cfg, debate.Options{Providers: map[string]providers.Provider{"m": m}})
	require.NoError(t, err)
	for ev, err := range d.Run(t.Context()) {
		require.NoError(t, err)
		if s, ok := ev.(debate.StateChanged); ok {
			add([]any{s.Seq, s.From, s.On, s.To, s.Round})
		}
	}
	for m, err := range d.Replay(t.Context()) {
		require.NoError(t, err)
		if rules := m.Event.Meta().Rules; rules != nil {
			number = rules.Number
		}
	}
	slices.Sort(list) // the calls of a parallel phase come in any order
	hash := sha256.Sum256([]byte(strings.Join(list, "\n")))
	return number, hex.EncodeToString(hash[:8])
}

// If this test fails, the same configuration leads to other prompts, windows, pseudonyms or transitions than before. If a version
// with the present number was published, raise core.RulesNumber, because records of that version can no longer be derived
// by this one. Then run the test with -update.
func TestTheRulesHaveANumber(t *testing.T) {
	configs, text := enginetest.PresetConfigs(), ""
	for _, name := range slices.Sorted(maps.Keys(configs)) {
		synctest.Test(t, func(t *testing.T) {
			number, sum := fingerprint(t, configs[name])
			text += fmt.Sprintf("rules %d, %s: %s\n", number, name, sum)
		})
	}
	if golden.Update() {
		require.NoError(t, os.WriteFile(rulesFile, []byte(text), 0o600))
	}
	is, err := os.ReadFile(rulesFile)
	require.NoError(t, err)
	require.Equal(t, strings.ReplaceAll(string(is), "\r\n", "\n"), text,
		"prompts, windows, pseudonyms or transitions have changed: if a version with this number was published, "+
			"raise core.RulesNumber; then run this test with -update")
}
