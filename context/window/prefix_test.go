package window_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/context/window"
)

// panel is a debate with turns of 200 to 600 tokens, as counts.
type panel struct {
	policy        window.Policy
	seats, rounds int
	room          int
	history       window.History
}

// play returns the share of prompt tokens that are a prefix of the participant's previous prompt. Prompts have 700
// tokens besides the history, 600 of them before it.
func (p *panel) play() float64 {
	const system, task = 600, 100
	last := make([][]int, p.seats) // what the participants' prompts showed: messages by index, summaries by negative seq
	repeated, total := 0, 0
	for turn := range p.seats * p.rounds {
		prompt := p.prompt()
		total += system + task + p.tokens(prompt)
		before := last[turn%p.seats]
		alike := 0
		for alike < min(len(before), len(prompt)) && before[alike] == prompt[alike] {
			alike++
		}
		if turn >= p.seats {
			repeated += system + p.tokens(prompt[:alike])
		}
		last[turn%p.seats] = prompt
		p.history.Tokens = append(p.history.Tokens, 200+turn*377%401)
	}
	return float64(repeated) / float64(total)
}

// prompt returns what the next prompt shows, after making the summaries that it requests.
func (p *panel) prompt() (shows []int) {
	cut := p.policy.Fit(p.history, p.room)
	for ; cut.Wanted.Covers > 0; cut = p.policy.Fit(p.history, p.room) {
		seq := int64(len(p.history.Summaries) + 1)
		p.history.Summaries = append(p.history.Summaries, window.Summary{Seq: seq, Covers: cut.Wanted.Covers, Tokens: min(500, cut.Wanted.Tokens)})
	}
	if cut.Summary.Covers > 0 {
		shows = append(shows, -int(cut.Summary.Seq))
	}
	return append(shows, shown(cut, len(p.history.Tokens))...)
}

func (p *panel) tokens(shows []int) (total int) {
	for _, i := range shows {
		if i < 0 {
			total += p.history.Summaries[-i-1].Tokens
		} else {
			total += p.history.Tokens[i]
		}
	}
	return total
}

// Most of a prompt repeats the participant's previous prompt, which is cheap.
func TestPromptsRepeatWhatTheOneBeforeHad(t *testing.T) {
	for name, policy := range policies {
		for _, seats := range []int{2, 3, 4} {
			for _, tt := range []struct {
				rounds   int
				quarters int // of the whole debate that fit into the room
				least    float64
			}{{20, 8, 0.87}, {20, 1, 0.55}, {100, 1, 0.85}} {
				t.Run(fmt.Sprintf("%s, %d participants, %d rounds, %d quarters", name, seats, tt.rounds, tt.quarters), func(t *testing.T) {
					p := panel{policy: policy, seats: seats, rounds: tt.rounds, room: seats * tt.rounds * 400 * tt.quarters / 4}
					p.history.SummarizerRoom = 28_000
					share := p.play()
					t.Logf("%.1f %%, %d summaries", 100*share, len(p.history.Summaries))
					require.GreaterOrEqual(t, share, tt.least)
					require.True(t, slices.IsSortedFunc(p.history.Summaries, func(a, b window.Summary) int { return a.Covers - b.Covers }))
				})
			}
		}
	}
}
