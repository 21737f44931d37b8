package compare

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/judge/reply"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// A provider is a model for debates.
type provider struct{ who string }

func (p provider) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	bytes := 0
	for i := range r.Messages {
		bytes += len(r.Messages[i].Text)
	}
	said, text := workOf(ctx).piecesFor(p.who, bytes), scoreReply
	if p.who != "judge" {
		text = speech
	}
	if r.OnChunk != nil {
		for _, piece := range said {
			if err := r.OnChunk(piece); err != nil {
				return providers.Response{}, err
			}
		}
	}
	return providers.Response{Text: text}, nil
}

var contract = reply.New[score]("round-score/1")

// scored extends the panel: its judge scores each round and gives no verdict.
type scored struct{ panel.Protocol }

func (scored) Name() string                               { return "scored/1" }
func (scored) Check(*protocol.Record) []protocol.Problem  { return nil }
func (scored) End(*protocol.Record) (e transcript.Ending) { return e }

func (p scored) Phases(r *protocol.Record) []protocol.Phase {
	switch r.Cursor.Stage {
	case transcript.Speech:
		return p.Protocol.Phases(r)
	case transcript.Assessment:
		return scoring
	}
	return nil
}

var scoring = []protocol.Phase{{
	Name: "score", Steps: []protocol.Step{{Key: transcript.Key{Actor: "judge"}, Prompt: "assess", Contract: contract.Name()}},
}}

// ourDebate runs a debate whose journal is in memory.
func ourDebate(t testing.TB) func(*work) error {
	e, err := debate.NewEngine(debate.Options{
		Providers: map[string]providers.Provider{"ada": provider{"ada"}, "bo": provider{"bo"}, "judge": provider{"judge"}},
		Protocols: []protocol.Protocol{scored{}}, Contracts: []*reply.Contract{contract},
	})
	require.NoError(t, err)
	return func(w *work) error {
		ctx := context.WithValue(context.Background(), workKey{}, w)
		d, err := e.Create(ctx, debate.Config{
			Topic: topic, Protocol: scored{}, Limits: debate.Limits{MaxRounds: rounds},
			Participants: []debate.Participant{{Name: "ada", Provider: "ada"}, {Name: "bo", Provider: "bo"}},
			Judges:       []debate.Participant{{Name: "judge", Provider: "judge"}},
		})
		if err != nil {
			return err
		}
		for ev, err := range d.Run(ctx) {
			if err != nil {
				return err
			}
			switch ev := ev.(type) {
			case debate.Chunk:
				if ev.Key.Actor != "judge" {
					w.chunks++
				}
			case debate.TurnDone:
				if ev.Turn.Key.Actor == "judge" {
					if err := w.decode(string(ev.Turn.Data)); err != nil {
						return err
					}
				}
			}
		}
		return e.Delete(ctx, d.ID())
	}
}
