package window_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/elenchus-go/debate/context/window"
)

// slide returns the cut of a sliding window, without Percent.
func slide(tokens []int, limit int) window.Cut {
	c := window.Policy{Manager: window.Sliding}.Fit(window.History{Tokens: tokens}, limit)
	c.Percent = 0
	return c
}

func TestSlidingFits(t *testing.T) {
	for _, tt := range []struct {
		name   string
		tokens []int
		limit  int
		want   window.Cut
	}{
		{"no history", nil, 100, window.Cut{Limit: 100}},
		{"no history, no room", nil, 0, window.Cut{}},
		{"all fits", []int{30, 30, 30}, 100, window.Cut{Limit: 100, Used: 90, Kept: 3}},
		{"all fits to the last token", []int{30, 30, 40}, 100, window.Cut{Limit: 100, Used: 100, Kept: 3}},
		{"one token too many cuts deep", []int{10, 20, 20, 20, 31}, 100, window.Cut{From: 1, To: 4, Limit: 100, Used: 41, Kept: 2}},
		{"half the limit goes", []int{10, 25, 25, 25, 25}, 100, window.Cut{From: 1, To: 3, Limit: 100, Used: 60, Kept: 3}},
		{"more than half is over: the whole limit goes", []int{10, 50, 25, 25, 41}, 100, window.Cut{From: 1, To: 4, Limit: 100, Used: 51, Kept: 2}},
		{"the newest stays although more should go", []int{10, 10, 90}, 100, window.Cut{From: 1, To: 2, Limit: 100, Used: 100, Kept: 2}},
		{"the first has just room beside the newest", []int{60, 1, 40}, 100, window.Cut{From: 1, To: 2, Limit: 100, Used: 100, Kept: 2}},
		{"the first has no room beside the newest", []int{60, 1, 41}, 100, window.Cut{To: 1, Limit: 100, Used: 42, Kept: 2}},
		{"a first one that is too large goes, the rest stays", []int{500, 20, 20, 20}, 100, window.Cut{To: 1, Limit: 100, Used: 60, Kept: 3}},
		{"the newest alone is too large", []int{10, 10, 101}, 100, window.Cut{To: 2, Limit: 100, Used: 101, Kept: 1}},
		{"a single one that is too large", []int{101}, 100, window.Cut{Limit: 100, Used: 101, Kept: 1}},
		{"a single one, no room", []int{1}, 0, window.Cut{Limit: 0, Used: 1, Kept: 1}},
		{"two, and room for one", []int{60, 60}, 100, window.Cut{To: 1, Limit: 100, Used: 60, Kept: 1}},
		{"no room", []int{10, 10, 10}, 0, window.Cut{To: 2, Limit: 0, Used: 10, Kept: 1}},
		{"less than no room", []int{10, 10, 10}, -100, window.Cut{To: 2, Limit: 0, Used: 10, Kept: 1}},
		{"room for one token", []int{1, 1, 1}, 1, window.Cut{To: 2, Limit: 1, Used: 1, Kept: 1}},
		{"empty messages need no room", []int{0, 0, 0}, -1, window.Cut{Limit: 0, Used: 0, Kept: 3}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, slide(tt.tokens, tt.limit))
		})
	}
}

// shown returns the indexes of the messages that a cut shows.
func shown(c window.Cut, n int) []int {
	kept := []int{}
	for i := range n {
		if i < c.From || i >= c.To {
			kept = append(kept, i)
		}
	}
	return kept
}

func sum(tokens []int, places []int) (total int) {
	for _, i := range places {
		total += tokens[i]
	}
	return total
}

func TestSlidingKeepsItsPromises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tokens := rapid.SliceOf(rapid.OneOf(rapid.IntRange(0, 40), rapid.IntRange(0, 300))).Draw(t, "tokens")
		limit := rapid.IntRange(-5, 400).Draw(t, "limit")
		before := slices.Clone(tokens)
		cut := slide(tokens, limit)
		require.Equal(t, before, tokens, "what is asked stays as it is")
		require.Equal(t, cut, slide(tokens, limit), "the same question has the same answer")

		n, kept := len(tokens), shown(cut, len(tokens))
		require.Equal(t, max(limit, 0), cut.Limit)
		require.Equal(t, len(kept), cut.Kept)
		require.Equal(t, sum(tokens, kept), cut.Used)
		require.LessOrEqual(t, 0, cut.From)
		require.LessOrEqual(t, cut.From, cut.To)
		if n == 0 {
			require.Equal(t, window.Cut{Limit: max(limit, 0)}, cut)
			return
		}
		require.Less(t, cut.To, n, "the newest is always kept")
		newest := tokens[n-1]
		if cut.Used > cut.Limit {
			require.Equal(t, []int{n - 1}, kept, "over the limit with more than the newest")
			require.Greater(t, newest, cut.Limit)
		}
		if all := sum(tokens, shown(window.Cut{}, n)); all <= cut.Limit {
			require.Len(t, kept, n, "all fits")
			require.Nil(t, cut.Window())
		} else {
			require.NotNil(t, cut.Window())
		}
		if tokens[0]+newest <= cut.Limit {
			require.Zero(t, kept[0], "the first has room")
		}
	})
}

// A message that was omitted stays omitted when the history grows.
func TestACutNeverGoesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(100, 400).Draw(t, "limit")
		tokens := rapid.SliceOfN(rapid.IntRange(0, limit/2), 2, 60).Draw(t, "tokens")
		if rapid.Bool().Draw(t, "a first one that is too large") {
			tokens[0] = limit + 1
		}
		last := window.Cut{}
		for n := 1; n <= len(tokens); n++ {
			cut := slide(tokens[:n], limit)
			require.GreaterOrEqual(t, cut.To, last.To, "of %d", n)
			require.GreaterOrEqual(t, cut.From, last.From)
			last = cut
		}
	})
}

// A prompt that begins like the one before is cheap, so a history is cut rarely and deeply.
func TestACutStandsForLong(t *testing.T) {
	for _, tt := range []struct {
		name               string
		first, turn, limit int
	}{
		{"short turns", 100, 100, 10_000},
		{"long turns", 1000, 1000, 10_000},
		{"turns that no limit is a multiple of", 777, 333, 9_999},
		{"a long first one", 4000, 250, 10_000},
		{"a first one that is too large", 11_000, 250, 10_000},
	} {
		t.Run(tt.name, func(t *testing.T) {
			const turns = 1000
			tokens := []int{tt.first}
			moved := 0
			last := 0
			for range turns {
				tokens = append(tokens, tt.turn)
				cut := slide(tokens, tt.limit)
				if cut.To != last {
					moved, last = moved+1, cut.To
				}
				require.LessOrEqual(t, cut.Used, tt.limit)
				little := min(tt.limit/2-2*tt.turn, (len(tokens)-1)*tt.turn)
				require.GreaterOrEqual(t, cut.Used, little, "no more is cut than half the limit, rounded to turns")
			}
			perCut := tt.limit / 2 / tt.turn
			require.InDelta(t, turns/perCut, moved, 3, "a cut stays until half the limit is new")
		})
	}
}
