package debate_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/judge/reply"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/transcript"
)

// A roundScore is a small structured reply: two numbers and two strings.
type roundScore struct {
	Ada    float64 `json:"ada" jsonschema:"minimum=0,maximum=10"`
	Bo     float64 `json:"bo" jsonschema:"minimum=0,maximum=10"`
	Winner string  `json:"winner" jsonschema:"maxLength=40"`
	Reason string  `json:"reason" jsonschema:"maxLength=400"`
}

func (s *roundScore) Text() string { return s.Winner + ": " + s.Reason }

var roundScoreContract = reply.New[roundScore]("round-score/1")

const scoreReply = `{"ada": 7.5, "bo": 6, "winner": "Ada", "reason": "She answered the point about deliveries, and Bo did not."}`

// scored is a panel whose rounds get one small score each.
type scored struct{ unjudgedPanel }

func (scored) Name() string { return "scored/1" }

func (p scored) Phases(r *protocol.Record) []protocol.Phase {
	if r.Cursor.Stage == transcript.Assessment {
		return []protocol.Phase{{Name: "score", Steps: []protocol.Step{{Key: transcript.Key{Actor: "Judge"}, Prompt: "assess", Contract: roundScoreContract.Name()}}}}
	}
	if r.Cursor.Stage == transcript.Conclusion {
		return nil
	}
	return p.unjudgedPanel.Phases(r)
}

func scorer() *scripted.Provider {
	return &scripted.Provider{DiscardCalls: true, Func: func(providers.Request) scripted.Reply {
		return scripted.Reply{Text: scoreReply, Chunks: benchChunks}
	}}
}

// BenchmarkScored measures a debate with one small score for each round.
func BenchmarkScored(b *testing.B) {
	b.Run("bare loop", func(b *testing.B) {
		p, j := benchSpeaker(), scorer()
		measure(b, func() { bareScored(b, p, j) })
	})
	b.Run("debate", func(b *testing.B) {
		opts := debate.Options{
			Providers: map[string]providers.Provider{"m": benchSpeaker(), "j": scorer()},
			Protocols: []protocol.Protocol{scored{}}, Contracts: []*reply.Contract{roundScoreContract},
		}
		e, err := debate.NewEngine(opts)
		if err != nil {
			b.Fatal(err)
		}
		measure(b, func() {
			runBench(b, e, scored{}, []debate.Participant{{Name: "Judge", Provider: "j"}}, 3*benchRounds*benchChunks)
		})
	})
}

func bareScored(b *testing.B, p, j *scripted.Provider) {
	l := &loop{b: b}
	for round := range benchRounds {
		for _, who := range []string{"Ada", "Bo"} {
			text := l.call(p, who, "", "You debate as "+who, fmt.Sprintf("Round %d of %d", round+1, benchRounds))
			l.history = append(l.history, said{who, text, who + ": " + text})
		}
		var s roundScore
		if err := json.Unmarshal([]byte(l.call(j, "", "round-score/1", "You judge", fmt.Sprintf("Score round %d", round+1))), &s); err != nil {
			b.Fatal(err)
		}
	}
}
