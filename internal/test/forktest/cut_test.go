package forktest_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/derivedtest"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/transcript"
)

// A reply of more than 64 KiB is not kept whole: the journal says so. The turn is not compared with it, and the prompt after it is
// not known if it was invalid.
func TestLongRepliesAreNotCompared(t *testing.T) {
	const kept = 64 << 10
	for name, tt := range map[string]struct {
		text    string
		judge   bool // who replies, once
		cut     bool
		missing string
	}{
		"a speech that just fits":   {text: strings.Repeat("w", kept)},
		"a speech that is too long": {text: strings.Repeat("w", kept+1), cut: true},
		"an invalid reply":          {text: strings.Repeat("w", kept+1), judge: true, cut: true, missing: "the invalid reply of attempt 1 is longer than 64 KiB, and not kept whole"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := lifeConfig()
			for i := range cfg.Participants {
				cfg.Participants[i].Window = 200_000
			}
			for i := range cfg.Judges {
				cfg.Judges[i].Window = 200_000
			}
			e, m := newEngine(t, cfg)
			m.alter = func(k transcript.Key, n int, r *scripted.Reply) {
				if k.Round == 1 && n == 1 && (tt.judge && k.Actor == "J" || !tt.judge && k.Actor == "A") {
					r.Text = tt.text
				}
			}
			d := create(t, e, cfg)
			run(t, d)
			derivedtest.Require(t, d)
			var long []transcript.Turn
			for _, list := range [][]transcript.Turn{debatetest.Result(t, d).Turns, debatetest.Result(t, d).Assessments} {
				for _, turn := range list {
					if len(turn.Attempts[0].Reply) == kept {
						long = append(long, turn)
					}
				}
			}
			require.Len(t, long[:1], 1)
			require.Equal(t, tt.cut, long[0].Attempts[0].ReplyCut)
			for c, err := range d.VerifyEntries(t.Context()) {
				require.NoError(t, err)
				switch {
				case c.Key != long[0].Key.String():
				case tt.missing != "":
					require.Contains(t, c.Missing, tt.missing)
					require.Equal(t, []int{1, 1}, []int{c.Prompts, c.Unknown})
				default:
					require.Equal(t, !tt.cut, c.Read)
				}
			}
		})
	}
}
