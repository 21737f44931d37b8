package debate_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// until is a protocol that ends when a function says so, which is no data and is not stored.
type until struct {
	talk
	Mark string                    `json:"mark,omitempty"`
	Done func(t, mark string) bool `json:"-"`
}

func (until) Name() string { return "until/1" }

func (u until) End(r *protocol.Record) transcript.Ending {
	if u.Done != nil && u.Done(r.Turns[len(r.Turns)-1].Text, u.Mark) {
		return transcript.Ending{Outcome: transcript.EarlyStop, Evidence: "it is done"}
	}
	return transcript.Ending{}
}

// What JSON leaves out of a protocol comes from the value that the engine was given, and everything else from the store.
func TestAFunctionOfAProtocolComesFromTheEngine(t *testing.T) {
	s := store.Memory()
	known := until{Mark: "of another debate", Done: strings.Contains}
	engine := func(p protocol.Protocol) *debate.Engine {
		model := &scripted.Provider{Func: func(providers.Request) scripted.Reply { return scripted.Reply{Text: "This is enough."} }}
		o := debate.Options{Providers: map[string]providers.Provider{"m": model}, Store: s}
		if p != nil {
			o.Protocols = []protocol.Protocol{p}
		}
		e, err := debate.NewEngine(o)
		require.NoError(t, err)
		return e
	}
	cfg := debate.Config{
		ID: "d", Topic: "Cats?", Protocol: until{Mark: "enough"}, Limits: debate.Limits{MinRounds: 1},
		Participants: []debate.Participant{{Name: "A"}, {Name: "B"}},
	}
	_, err := engine(nil).Create(t.Context(), cfg)
	require.NoError(t, err)

	e := engine(known)
	d, err := e.Open(t.Context(), "d")
	require.NoError(t, err)
	_, err = d.Do(t.Context()) // checked
	require.NoError(t, err)
	_, err = d.Do(t.Context())
	require.NoError(t, err)
	require.Len(t, result(t, d).Turns, 1)

	_, err = run(t, d)
	require.NoError(t, err)
	res := result(t, d)
	require.Equal(t, transcript.EarlyStop, res.Ending.Outcome)
	require.Equal(t, 1, res.Round)
	require.Equal(t, "This is enough.", res.Answer.Text)
}

// A debate of such a protocol can be edited: what is not stored is no change.
func TestAProtocolWithAFunctionDoesNotForbidAnEdit(t *testing.T) {
	p := until{Mark: "never", Done: strings.Contains}
	failing := true
	model := &scripted.Provider{Func: func(r providers.Request) scripted.Reply {
		if failing && len(r.Messages) > 2 {
			return scripted.Reply{Err: &providers.Error{Kind: providers.Authentication}}
		}
		return scripted.Reply{Text: "So."}
	}}
	cfg := debate.Config{
		ID: "d", Topic: "Cats?", Protocol: p, Limits: debate.Limits{MinRounds: 1},
		Participants: []debate.Participant{{Name: "A"}, {Name: "B"}},
	}
	d, err := debate.New(t.Context(), cfg, debate.Options{Providers: map[string]providers.Provider{"m": model}, Protocols: []protocol.Protocol{p}})
	require.NoError(t, err)
	_, err = run(t, d)
	require.Error(t, err)
	require.NoError(t, d.Retry(t.Context()))
	require.Equal(t, fsm.Ready, result(t, d).State)

	failing = false
	cfg.Limits.MaxRounds = 1
	require.NoError(t, d.Edit(t.Context(), cfg))
	other := cfg
	other.Protocol = until{Mark: "ever", Done: strings.Contains}
	require.ErrorContains(t, d.Edit(t.Context(), other), "protocol: it cannot change after the first turn")
	_, err = run(t, d)
	require.NoError(t, err)
	require.Equal(t, 1, result(t, d).Round)
}
