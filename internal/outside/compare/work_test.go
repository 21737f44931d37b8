// Package compare measures the same debate in other frameworks for Go: two debaters speak in ten rounds, and a judge scores
// each round. It is a module of its own, so that nobody else needs these frameworks.
package compare

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/debatetest"
)

const (
	topic      = "Should the city ban cars?"
	rounds     = 10
	chunks     = 60
	scoreReply = `{"ada": 7.5, "bo": 6, "winner": "ada", "reason": "She answered the point about deliveries, and he did not."}`
)

// speech holds a reply of about 300 tokens, and pieces its chunks.
var (
	speech = strings.Repeat("The kerb is where the freedom of one driver ends and that of others begins. ", 20)
	pieces = split(speech, chunks)
)

func split(text string, n int) (list []string) {
	for i := range n {
		list = append(list, text[i*len(text)/n:(i+1)*len(text)/n])
	}
	return list
}

// score holds what the judge says of a round.
type score struct {
	Ada    float64 `json:"ada"`
	Bo     float64 `json:"bo"`
	Winner string  `json:"winner"`
	Reason string  `json:"reason"`
}

// A work counts what the models of one debate were asked with, and what the program that runs the debate received.
type work struct {
	calls  int // of models
	read   int // bytes of the prompts
	chunks int // of speeches, received by the program
	scores int // decoded
}

// piecesFor returns what a debater or the judge says, in pieces, and counts the call.
func (w *work) piecesFor(who string, bytes int) []string {
	w.calls++
	w.read += bytes
	if who == "judge" {
		return []string{scoreReply}
	}
	return pieces
}

// decode reads a score.
func (w *work) decode(text string) error {
	var s score
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return fmt.Errorf("read the score: %w", err)
	}
	if s.Winner == "" {
		return fmt.Errorf("read the score: it has no winner")
	}
	w.scores++
	return nil
}

func systemOf(who string) string {
	if who == "judge" {
		return "You judge a debate about: " + topic
	}
	return "You are " + who + ". You debate about: " + topic
}

// An implementation prepares a debate in a framework, and returns the function that runs it once. What a program makes once,
// it makes before that: engines, compiled graphs, agents.
type implementation struct {
	name string
	make func(t testing.TB) func(w *work) error
}

var implementations = []implementation{
	{"bare loop", bareLoop},
	{"langgraphgo", langGraph},
	{"eino", einoGraph},
	{"adk", adkLoop},
	{"debate", ourDebate},
}

// Each implementation makes the same calls with at least the whole history, and delivers every chunk.
func TestTheWorkIsTheSame(t *testing.T) {
	shown := 3 * rounds * rounds * len(speech) // in each round the debaters and the judge read 2r, 2r+1 and 2r+2 speeches
	for _, i := range implementations {
		t.Run(i.name, func(t *testing.T) {
			run := i.make(t)
			for range 2 {
				var w work
				require.NoError(t, run(&w))
				require.Equal(t, 3*rounds, w.calls)
				require.Equal(t, 2*rounds*chunks, w.chunks)
				require.Equal(t, rounds, w.scores)
				require.GreaterOrEqual(t, w.read, shown)
				require.Less(t, w.read, shown*5/4, "little is shown besides the history")
			}
		})
	}
}

func BenchmarkDebate(b *testing.B) {
	for _, i := range implementations {
		b.Run(i.name, func(b *testing.B) {
			run := i.make(b)
			b.ReportAllocs()
			began := debatetest.CPUTime(b)
			for b.Loop() {
				if err := run(&work{}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(debatetest.CPUTime(b)-began)/float64(b.N), "cpu-ns/op")
		})
	}
}
