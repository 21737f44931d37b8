package faulttest

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/protocol/procon"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/transcript"
)

// The engine cuts chunks between characters, wherever the provider cuts them, and replaces bytes that are no text. A
// viewer that joins the chunks gets the text of the turn.
func TestChunksAreCutBetweenCharacters(t *testing.T) {
	const text = "Wéll — 因为 🦉!"
	for name, tt := range map[string]struct {
		said  string
		size  int    // bytes in each chunk
		fails bool   // the stream breaks off
		want  string // text of the turn
	}{
		"whole":                      {text, len(text), false, text},
		"every byte alone":           {text, 1, false, text},
		"two bytes":                  {text, 2, false, text},
		"three bytes":                {text, 3, false, text},
		"incomplete at the end":      {"So \xf0\x9f", 1, false, "So \ufffd\ufffd"},
		"incomplete in the middle":   {"So \xf0\x9f it is", 1, false, "So \ufffd\ufffd it is"},
		"no text":                    {"\xff\xfe\x80 so", 2, false, "\ufffd\ufffd\ufffd so"},
		"broken off":                 {"So it is 🦉", 1, true, "So it is 🦉"},
		"broken off in a character":  {"So it is \xf0\x9f\xa6", 1, true, "So it is"},
		"broken off with other text": {"So \xff is", 1, true, "So \ufffd is"},
	} {
		t.Run(name, func(t *testing.T) {
			model := debatetest.ProviderFunc(func(_ context.Context, r providers.Request) (providers.Response, error) {
				for rest := tt.said; rest != ""; {
					n := min(tt.size, len(rest))
					if err := r.OnChunk(rest[:n]); err != nil {
						return providers.Response{}, err
					}
					rest = rest[n:]
				}
				if tt.fails {
					return providers.Response{}, &providers.Error{Kind: providers.Network, Err: errors.New("cut"), Partial: providers.Response{Text: tt.said}}
				}
				return providers.Response{Text: tt.said}, nil
			})
			c := debatetest.PairConfig(procon.Protocol{})
			c.Participants[0].Position = "Yes."
			c.Participants[1].Position = "No."
			c.Limits.MaxRounds = 1
			c.OnFailure, c.Retries = debate.Degrade, map[providers.ErrorKind]int{providers.Network: 0}
			d := debatetest.New(t, c, debate.Options{Providers: map[string]providers.Provider{"m": model, "j": scripted.Text("No.", "No.")}})
			live, watched := joinedChunks{}, joinedChunks{}
			done, watching := make(chan struct{}), make(chan struct{})
			go func() {
				defer close(done)
				first := sync.OnceFunc(func() { close(watching) })
				for e, err := range d.Watch(t.Context(), 0) {
					assert.NoError(t, err)
					first()
					watched.add(t, e)
				}
			}()
			<-watching                               // otherwise the watcher may see only the turns, and no chunks
			for e, err := range d.Run(t.Context()) { // the judgment is the default
				require.NoError(t, err)
				live.add(t, e)
			}
			<-done
			r := debatetest.Result(t, d)
			require.Len(t, r.Turns, 3)
			for _, turn := range r.Turns[:2] {
				require.Equal(t, tt.want, turn.Text)
				require.Equal(t, tt.want, strings.TrimSpace(live[turn.Key]))
				if text, ok := watched[turn.Key]; ok { // it began to watch in time
					require.Equal(t, tt.want, strings.TrimSpace(text))
				}
			}
		})
	}
}

// joinedChunks holds the joined chunks of the steps.
type joinedChunks map[transcript.Key]string

func (j joinedChunks) add(t *testing.T, e debate.Event) {
	switch e := e.(type) {
	case debate.TurnStarted:
		j[e.Key] = ""
	case debate.Chunk:
		assert.NotEmpty(t, e.Text)
		assert.True(t, utf8.ValidString(e.Text), "%q", e.Text)
		assert.Len(t, j[e.Key], e.Offset)
		j[e.Key] += e.Text
	default:
	}
}
