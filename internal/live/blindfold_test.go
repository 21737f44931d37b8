package live_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/live"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

func key(name string) transcript.Key {
	return transcript.Key{Run: 1, Round: 1, Phase: "speech", Actor: name}
}

// record returns a record with a phase that began with the entry 3.
func record(phase string) *protocol.Record {
	return &protocol.Record{Cursor: transcript.Cursor{Run: 1, Round: 1, Stage: transcript.Speech, Phase: phase, PhaseSeq: 3}}
}

// steps returns a function that returns the steps of actors.
func steps(names ...string) func() []protocol.Step {
	return func() (list []protocol.Step) {
		for _, name := range names {
			list = append(list, protocol.Step{Key: key(name)})
		}
		return list
	}
}

func TestAParallelPhaseIsHidden(t *testing.T) {
	b := &live.Blindfold[string]{Seat: "Ann"}
	b.At(record("speech"), true, false, steps("Ann", "Bob"))
	b.Add("the phase", 3, transcript.Key{})
	require.Equal(t, []string{"the phase"}, b.Take())
	require.False(t, b.Wants(3, true, false), "what Bob is about to say")
	require.True(t, b.Wants(3, true, true), "what Ann is about to say")

	require.True(t, b.Wants(4, false, false))
	b.Add("Bob's turn", 4, key("Bob"))
	b.Add("a note", 5, transcript.Key{})
	require.Empty(t, b.Take())
	b.At(record(""), true, false, steps("Ann"))
	require.Empty(t, b.Take(), "the debate is in error, and may continue")
	b.At(record("speech"), true, false, steps("Eve"))
	require.Equal(t, []string{"Bob's turn", "a note"}, b.Take(), "Ann has spoken")
	require.True(t, b.Wants(6, true, false))

	b.At(record("speech"), false, false, steps("Ann", "Bob"))
	require.True(t, b.Wants(6, true, false), "the phase is not parallel")
}

func TestAViewerGetsWhatIsNew(t *testing.T) {
	b := &live.Blindfold[string]{Seat: "Ann", After: 7}
	require.False(t, b.Wants(7, false, false))
	require.True(t, b.Wants(7, true, false))
	require.True(t, b.Wants(8, false, false))
	require.False(t, b.Wants(6, true, true))
}

func TestAMaskedJudgeSeesNothing(t *testing.T) {
	b := &live.Blindfold[string]{Seat: "Jo", Masked: true}
	require.False(t, b.Wants(1, true, false))
	b.Add("the configuration", 1, transcript.Key{})
	require.Empty(t, b.Take())
	b.Masked = false
	require.Equal(t, []string{"the configuration"}, b.Take())
	require.Empty(t, b.Take())
}

func TestAConfigurationForASeat(t *testing.T) {
	config := json.RawMessage(`{"attachments":[{"name":"a"},{"name":"b","readers":["Bob"]}],"judges":[{"name":"Jo"}],"reference":"42","topic":"t"}`)
	require.JSONEq(t, `{"attachments":[{"name":"a"}],"judges":[{"name":"Jo"}],"topic":"t"}`, string(live.ConfigFor(config, "Ann")))
	require.JSONEq(t, `{"attachments":[{"name":"a"},{"name":"b","readers":["Bob"]}],"judges":[{"name":"Jo"}],"topic":"t"}`,
		string(live.ConfigFor(config, "Bob")))
	require.JSONEq(t, `{"attachments":[{"name":"a"}],"judges":[{"name":"Jo"}],"reference":"42","topic":"t"}`,
		string(live.ConfigFor(config, "Jo")))
	plain := json.RawMessage(`{"topic":"t"}`)
	require.Equal(t, plain, live.ConfigFor(plain, "Ann"))
	require.Nil(t, live.ConfigFor(json.RawMessage(`[]`), "Ann"))
}

func TestRawRepliesAreLeftOut(t *testing.T) {
	list := []transcript.Attempt{{Reply: "secret", Model: "m"}}
	require.Equal(t, []transcript.Attempt{{Model: "m"}}, live.WithoutReplies(list))
	require.Equal(t, "secret", list[0].Reply)
	require.Nil(t, live.WithoutReplies(nil))
}
