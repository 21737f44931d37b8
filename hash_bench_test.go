package debate_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/store"
)

// BenchmarkHashes measures what the hashes of requests cost: the debates of BenchmarkUnjudged and BenchmarkJudged, with a secret
// and without one, as debates of earlier versions have none and so no hashes. Each run stores the first entry and opens the debate.
func BenchmarkHashes(b *testing.B) {
	speaker := map[string]providers.Provider{"m": benchSpeaker()}
	b.Run("unjudged", func(b *testing.B) { benchHashes(b, debate.Options{Providers: speaker}, unjudgedPanel{}, nil) })
	judged := debate.Options{Providers: map[string]providers.Provider{"m": benchSpeaker(), "j": benchJudge(b)}}
	b.Run("judged", func(b *testing.B) {
		benchHashes(b, judged, panel.Protocol{Format: panel.RoundLimited}, []debate.Participant{{Name: "Judge", Provider: "j"}})
	})
}

func benchHashes(b *testing.B, o debate.Options, p protocol.Protocol, judges []debate.Participant) {
	kept := store.Memory()
	o.Protocols = []protocol.Protocol{p}
	if _, preset := p.(panel.Protocol); preset {
		o.Protocols = nil
	}
	with := o
	with.Store = kept
	e, err := debate.NewEngine(with)
	require.NoError(b, err)
	_, err = e.Create(b.Context(), debate.Config{
		ID: "d", Topic: "Ban cars?", Protocol: p, Judges: judges, Limits: debate.Limits{MaxRounds: benchRounds},
		Participants: []debate.Participant{{Name: "Ada", Provider: "m"}, {Name: "Bo", Provider: "m"}},
	})
	require.NoError(b, err)
	status, entries, err := kept.Load(b.Context(), "d", 0)
	require.NoError(b, err)
	raw, err := json.Marshal(entries[0].Data)
	require.NoError(b, err)
	var fields map[string]json.RawMessage
	require.NoError(b, json.Unmarshal(raw, &fields))
	hashes := 0
	run := func(secret bool) func() {
		first := map[string]json.RawMessage{}
		for name, value := range fields {
			if name != "secret" || secret {
				first[name] = value
			}
		}
		data, err := json.Marshal(first)
		require.NoError(b, err)
		entry := entries[0]
		entry.Data = json.RawMessage(data)
		return func() {
			o := o
			o.Store = store.Memory()
			require.NoError(b, o.Store.Commit(b.Context(), store.Change{ID: "d", Status: status, Entries: []store.Entry{entry}}))
			e, err := debate.NewEngine(o)
			require.NoError(b, err)
			d, err := e.Open(b.Context(), "d")
			require.NoError(b, err)
			for ev, err := range d.Run(b.Context()) {
				require.NoError(b, err)
				if done, ok := ev.(debate.TurnDone); ok && done.Turn.Attempts[0].Hash != "" {
					hashes++
				}
			}
		}
	}
	without, withHashes := run(false), run(true)
	without()
	require.Zero(b, hashes)
	withHashes()
	require.Positive(b, hashes)
	interleave(b, "times-without-hashes", without, withHashes)
}
