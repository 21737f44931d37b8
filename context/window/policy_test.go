package window_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/transcript"
)

func ExamplePolicy_Fit() {
	policy := window.Policy{AllowSummaries: true}
	history := window.History{Tokens: slices.Repeat([]int{150}, 12), SummarizerRoom: 10_000}

	cut := policy.Fit(history, 2000)
	fmt.Printf("%d %% used; summarize the first %d messages in %d tokens\n", cut.Percent, cut.Wanted.Covers, cut.Wanted.Tokens)

	// The summary replaces these messages.
	history.Summaries = []window.Summary{{Seq: 7, Covers: cut.Wanted.Covers, Tokens: 350}}
	cut = policy.Fit(history, 2000)
	fmt.Printf("%d %% used; a summary and %d messages\n", cut.Percent, cut.Kept)
	// Output:
	// 90 % used; summarize the first 9 messages in 400 tokens
	// 40 % used; a summary and 3 messages
}

func ExamplePolicy_Fit_sliding() {
	policy := window.Policy{Manager: window.Sliding}
	turns := []int{300, 300, 300, 300, 300} // tokens, oldest first
	cut := policy.Fit(window.History{Tokens: turns}, 1000)
	fmt.Printf("without turns %d to %d: %d of %d tokens\n", cut.From, cut.To-1, cut.Used, cut.Limit)

	// The next turn also fits, so the beginning of the prompt stays.
	cut = policy.Fit(window.History{Tokens: append(turns, 300)}, 1000)
	fmt.Printf("without turns %d to %d: %d of %d tokens\n", cut.From, cut.To-1, cut.Used, cut.Limit)
	// Output:
	// without turns 1 to 2: 900 of 1000 tokens
	// without turns 1 to 4: 600 of 1000 tokens
}

// policies has one policy for each way to fit a history.
var policies = map[string]window.Policy{
	"truncate":        {Manager: window.Truncate},
	"sliding":         {Manager: window.Sliding},
	"summarize":       {Manager: window.Summarize},
	"hybrid":          {},
	"hybrid, summed":  {Manager: window.Hybrid, AllowSummaries: true},
	"hybrid, by name": {Manager: window.Hybrid},
}

func TestPoliciesFit(t *testing.T) {
	summed := window.Policy{AllowSummaries: true}
	summarize := window.Policy{Manager: window.Summarize}
	some := window.Summary{Seq: 5, Covers: 3, Tokens: 10}
	more := window.Summary{Seq: 9, Covers: 5, Tokens: 15}
	for _, tt := range []struct {
		name    string
		policy  window.Policy
		history window.History
		want    window.Cut // for a room of 100 tokens
	}{
		{
			"truncate: all that fits",
			window.Policy{Manager: window.Truncate},
			window.History{Tokens: []int{50, 25, 25}},
			window.Cut{Limit: 100, Used: 100, Kept: 3, Percent: 100},
		},
		{
			"truncate: the first goes first",
			window.Policy{Manager: window.Truncate},
			window.History{Tokens: []int{50, 25, 26}},
			window.Cut{To: 1, Limit: 100, Used: 51, Kept: 2, Percent: 101},
		},
		{
			"hybrid: all below 80 %",
			window.Policy{},
			window.History{Tokens: []int{30, 49}},
			window.Cut{Limit: 100, Used: 79, Kept: 2, Percent: 79},
		},
		{
			"hybrid: a warning at 80 %",
			window.Policy{},
			window.History{Tokens: []int{30, 50}},
			window.Cut{Limit: 100, Used: 80, Kept: 2, Percent: 80},
		},
		{
			"hybrid: slides from 80 % on",
			window.Policy{},
			window.History{Tokens: []int{10, 20, 20, 11, 20}},
			window.Cut{From: 1, To: 4, Limit: 100, Used: 30, Kept: 2, Percent: 81},
		},
		{
			"hybrid: the first stays where the room has place for it beside the newest",
			window.Policy{},
			window.History{Tokens: []int{40, 20, 55}},
			window.Cut{From: 1, To: 2, Limit: 100, Used: 95, Kept: 2, Percent: 115},
		},
		{
			"hybrid: the first goes where it has not",
			window.Policy{},
			window.History{Tokens: []int{46, 20, 55}},
			window.Cut{To: 2, Limit: 100, Used: 55, Kept: 1, Percent: 121},
		},
		{
			"hybrid: the newest is larger than the room",
			window.Policy{},
			window.History{Tokens: []int{46, 20, 155}},
			window.Cut{To: 2, Limit: 100, Used: 155, Kept: 1, Percent: 221},
		},
		{
			"hybrid: summaries are not its own",
			window.Policy{},
			window.History{Tokens: []int{20, 20, 20, 10, 10}, Summaries: []window.Summary{some}, SummarizerRoom: 500},
			window.Cut{Limit: 100, Used: 80, Kept: 5, Percent: 80},
		},
		{
			"summarize: all below 80 %, whatever has been summed up",
			summarize,
			window.History{Tokens: []int{20, 20, 20, 20}, Summaries: []window.Summary{some}, SummarizerRoom: 500},
			window.Cut{Limit: 100, Used: 80, Kept: 4, Percent: 80},
		},
		{
			"summarize: the older half is wanted, and more until a quarter of the room is left",
			summarize,
			window.History{Tokens: []int{20, 20, 20, 12, 13}, SummarizerRoom: 500},
			window.Cut{Limit: 100, Used: 85, Kept: 5, Percent: 85, Wanted: window.SummaryRequest{Covers: 3, Tokens: 20}},
		},
		{
			"summarize: beyond the room it slides until there is a summary",
			summarize,
			window.History{Tokens: []int{20, 20, 20, 20, 21}, SummarizerRoom: 500},
			window.Cut{From: 1, To: 4, Limit: 100, Used: 41, Kept: 2, Percent: 101, Wanted: window.SummaryRequest{Covers: 4, Tokens: 20}},
		},
		{
			"summarize: no summary can be had, but all fits",
			summarize,
			window.History{Tokens: []int{20, 20, 20, 20, 20}},
			window.Cut{Limit: 100, Used: 100, Kept: 5, Percent: 100},
		},
		{
			"hybrid: no summary can be had, all up to 90 %",
			summed,
			window.History{Tokens: []int{20, 20, 20, 20, 10}},
			window.Cut{Limit: 100, Used: 90, Kept: 5, Percent: 90},
		},
		{
			"hybrid: no summary can be had, a cut beyond",
			summed,
			window.History{Tokens: []int{20, 20, 20, 20, 11}},
			window.Cut{From: 1, To: 4, Limit: 100, Used: 31, Kept: 2, Percent: 91},
		},
		{
			"a summary is used as soon as it is needed",
			summed,
			window.History{Tokens: []int{20, 20, 20, 12, 13}, Summaries: []window.Summary{some}, SummarizerRoom: 500},
			window.Cut{To: 3, Limit: 100, Used: 35, Kept: 2, Percent: 35, Summary: some},
		},
		{
			"the one that covers least is used as long as it suffices",
			summed,
			window.History{Tokens: []int{20, 20, 20, 12, 13, 45}, Summaries: []window.Summary{some, more}, SummarizerRoom: 500},
			window.Cut{To: 3, Limit: 100, Used: 80, Kept: 3, Percent: 80, Summary: some},
		},
		{
			"then the next",
			summed,
			window.History{Tokens: []int{20, 20, 20, 12, 13, 46}, Summaries: []window.Summary{some, more}, SummarizerRoom: 500},
			window.Cut{To: 5, Limit: 100, Used: 61, Kept: 1, Percent: 61, Summary: more},
		},
		{
			"then a new one is wanted, of the last and what came since",
			summed,
			window.History{Tokens: []int{20, 20, 20, 12, 13, 46, 15, 5}, Summaries: []window.Summary{some, more}, SummarizerRoom: 500},
			window.Cut{
				To: 5, Limit: 100, Used: 81, Kept: 3, Percent: 81, Summary: more,
				Wanted: window.SummaryRequest{Base: more, Covers: 6, Tokens: 20},
			},
		},
		{
			"a summary slides with what follows it",
			summed,
			window.History{Tokens: []int{20, 20, 20, 12, 13, 46, 35, 5}, Summaries: []window.Summary{some, more}},
			window.Cut{To: 7, Limit: 100, Used: 20, Kept: 1, Percent: 101, Summary: more},
		},
		{
			"a summary goes where it has no room beside the newest",
			summed,
			window.History{Tokens: []int{20, 20, 20, 12, 13, 46, 90}, Summaries: []window.Summary{more}, SummarizerRoom: 500},
			window.Cut{To: 6, Limit: 100, Used: 90, Kept: 1, Percent: 151},
		},
		{
			"it has just room",
			summed,
			window.History{Tokens: []int{20, 20, 20, 12, 13, 46, 85}, Summaries: []window.Summary{more}},
			window.Cut{To: 6, Limit: 100, Used: 100, Kept: 1, Percent: 146, Summary: more},
		},
		{
			"a summary that goes makes room for others",
			summed,
			window.History{Tokens: []int{20, 20, 20, 10, 10, 55}, Summaries: []window.Summary{{Seq: 5, Covers: 3, Tokens: 50}}},
			window.Cut{To: 4, Limit: 100, Used: 65, Kept: 2, Percent: 125},
		},
		{
			"after a long summary the older half is wanted",
			summed,
			window.History{Tokens: []int{90, 17, 6, 7, 10}, Summaries: []window.Summary{{Seq: 5, Covers: 1, Tokens: 45}}, SummarizerRoom: 500},
			window.Cut{
				To: 1, Limit: 100, Used: 85, Kept: 4, Percent: 85, Summary: window.Summary{Seq: 5, Covers: 1, Tokens: 45},
				Wanted: window.SummaryRequest{Base: window.Summary{Seq: 5, Covers: 1, Tokens: 45}, Covers: 3, Tokens: 20},
			},
		},
		{
			"the summarizer reads the last summary, too",
			summed,
			window.History{Tokens: []int{90, 20, 20, 20, 20}, Summaries: []window.Summary{{Seq: 5, Covers: 1, Tokens: 10}}, SummarizerRoom: 45},
			window.Cut{
				To: 1, Limit: 100, Used: 90, Kept: 4, Percent: 90, Summary: window.Summary{Seq: 5, Covers: 1, Tokens: 10},
				Wanted: window.SummaryRequest{Base: window.Summary{Seq: 5, Covers: 1, Tokens: 10}, Covers: 2, Tokens: 20},
			},
		},
		{
			"no summary is wanted of what is no longer than a summary",
			summed,
			window.History{Tokens: []int{10, 10, 61}, SummarizerRoom: 500},
			window.Cut{Limit: 100, Used: 81, Kept: 3, Percent: 81},
		},
		{
			"nor where there is no room for one beside the newest",
			summed,
			window.History{Tokens: []int{30, 30, 81}, SummarizerRoom: 500},
			window.Cut{To: 2, Limit: 100, Used: 81, Kept: 1, Percent: 141},
		},
		{
			"nor of the newest",
			summed,
			window.History{Tokens: []int{85}, SummarizerRoom: 500},
			window.Cut{Limit: 100, Used: 85, Kept: 1, Percent: 85},
		},
		{
			"no more is wanted at a time than the summarizer can read",
			summed,
			window.History{Tokens: []int{20, 20, 20, 12, 13}, SummarizerRoom: 45},
			window.Cut{Limit: 100, Used: 85, Kept: 5, Percent: 85, Wanted: window.SummaryRequest{Covers: 2, Tokens: 20}},
		},
		{
			"but one message, and the summary is at most half of what it reads",
			summed,
			window.History{Tokens: []int{60, 12, 13}, SummarizerRoom: 30},
			window.Cut{Limit: 100, Used: 85, Kept: 3, Percent: 85, Wanted: window.SummaryRequest{Covers: 1, Tokens: 15}},
		},
		{
			"the newest is shown although a summary covers it",
			summed,
			window.History{Tokens: []int{60, 20, 20}, Summaries: []window.Summary{more}, SummarizerRoom: 500},
			window.Cut{To: 2, Limit: 100, Used: 35, Kept: 1, Percent: 35, Summary: more},
		},
		{
			"a summary that is longer than what it covers is no help",
			summed,
			window.History{Tokens: []int{5, 5, 38, 39}, Summaries: []window.Summary{{Seq: 3, Covers: 2, Tokens: 15}}},
			window.Cut{Limit: 100, Used: 87, Kept: 4, Percent: 87},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, tt.policy.Fit(tt.history, 100))
		})
	}
}

func TestReportIsForWhatIsNotShownAndForWarnings(t *testing.T) {
	sliding, summarize := window.Policy{Manager: window.Sliding}, window.Policy{Manager: window.Summarize}
	summed := []window.Summary{{Seq: 5, Covers: 3, Tokens: 10}}
	for _, tt := range []struct {
		name    string
		policy  window.Policy
		history window.History
		want    *transcript.Window // for a room of 100 tokens
	}{
		{"no history", sliding, window.History{}, nil},
		{"all is shown", sliding, window.History{Tokens: []int{30, 49}}, nil},
		{"it is nearly too much", sliding, window.History{Tokens: []int{30, 50}}, &transcript.Window{Limit: 100, Used: 80, Kept: 2, Percent: 80}},
		{
			"some is left out",
			sliding,
			window.History{Tokens: []int{10, 50, 50}},
			&transcript.Window{Limit: 100, Used: 60, Kept: 2, Omitted: 1, Percent: 110},
		},
		{
			"nothing is left out, but the only one will be clipped",
			sliding,
			window.History{Tokens: []int{101}},
			&transcript.Window{Limit: 100, Used: 101, Kept: 1, Percent: 101},
		},
		{
			"some is summed up",
			summarize,
			window.History{Tokens: []int{30, 30, 30, 10, 5}, Summaries: summed},
			&transcript.Window{Limit: 100, Used: 25, Kept: 2, Summarized: 3, Percent: 25},
		},
		{
			"some is summed up, and some is left out",
			summarize,
			window.History{Tokens: []int{20, 20, 20, 20, 50, 40, 5}, Summaries: summed},
			&transcript.Window{Limit: 100, Used: 55, Kept: 2, Omitted: 2, Summarized: 3, Percent: 125},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cut := tt.policy.Fit(tt.history, 100)
			require.Equal(t, tt.want, cut.Window())
			require.Equal(t, tt.want != nil && tt.want.Percent >= 80, cut.Warn())
		})
	}
}

func TestWrongPoliciesAreFound(t *testing.T) {
	for _, tt := range []struct {
		name   string
		policy window.Policy
		want   []string
	}{
		{"the zero policy", window.Policy{}, nil},
		{"a hybrid with summaries", window.Policy{AllowSummaries: true}, nil},
		{"summaries", window.Policy{Manager: window.Summarize, AllowSummaries: true}, nil},
		{
			"no manager",
			window.Policy{Manager: "fifo"},
			[]string{`manager: "fifo" is unknown, want "truncate", "sliding", "summarize" or "hybrid"`},
		},
		{
			"nothing to allow",
			window.Policy{Manager: window.Sliding, AllowSummaries: true},
			[]string{`allow_summaries: true contradicts manager "sliding", want "summarize" or "hybrid"`},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, tt.policy.Check())
		})
	}
}

func TestAPolicySurvivesJSON(t *testing.T) {
	for _, p := range policies {
		text, err := json.Marshal(p)
		require.NoError(t, err)
		var got window.Policy
		require.NoError(t, json.Unmarshal(text, &got))
		require.Equal(t, p, got)
	}
}

// histories returns random histories, with summaries that could have been made.
func histories(t *rapid.T) window.History {
	h := window.History{
		Tokens:         rapid.SliceOf(rapid.OneOf(rapid.IntRange(0, 40), rapid.IntRange(0, 300))).Draw(t, "tokens"),
		SummarizerRoom: rapid.OneOf(rapid.Just(0), rapid.IntRange(1, 2000)).Draw(t, "summarizer"),
	}
	covers := rapid.SliceOfDistinct(rapid.IntRange(1, len(h.Tokens)+2), rapid.ID).Draw(t, "covers")
	slices.Sort(covers)
	for i, n := range covers {
		h.Summaries = append(h.Summaries, window.Summary{Seq: int64(i + 1), Covers: n, Tokens: rapid.IntRange(1, 120).Draw(t, "summary")})
	}
	return h
}

func TestEachManagerKeepsItsPromises(t *testing.T) {
	for name, p := range policies {
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) {
			h, room := histories(t), rapid.IntRange(-5, 500).Draw(t, "room")
			before := slices.Clone(h.Tokens)
			cut := p.Fit(h, room)
			require.Equal(t, before, h.Tokens, "what is asked stays as it is")

			n, kept := len(h.Tokens), shown(cut, len(h.Tokens))
			require.Equal(t, max(room, 0), cut.Limit)
			require.Equal(t, len(kept), cut.Kept)
			require.Equal(t, sum(h.Tokens, kept)+cut.Summary.Tokens, cut.Used)
			require.Equal(t, n, cut.Kept+cut.To-cut.From)
			if n == 0 {
				require.Zero(t, cut.Used)
				return
			}
			require.Equal(t, n-1, kept[len(kept)-1], "the newest is always kept")
			newest := h.Tokens[n-1]
			if cut.Used > cut.Limit {
				require.Equal(t, []int{n - 1}, kept, "over the limit with more than the newest")
				require.Zero(t, cut.Summary, "over the limit with a summary")
				require.Greater(t, newest, cut.Limit)
			}
			if p.Manager != window.Truncate && cut.Summary.Covers == 0 && h.Summaries == nil && h.Tokens[0]+newest <= cut.Limit {
				require.Zero(t, kept[0], "the first has room")
			}
			if cut.Summary.Covers > 0 {
				require.Zero(t, cut.From)
				require.GreaterOrEqual(t, cut.To, min(cut.Summary.Covers, n-1), "what a summary covers is not shown again")
			}
			again(t, p, h, cut)
			requested(t, p, h, cut)
		}))
	}
}

// again fits the history that a cut shows.
func again(t *rapid.T, p window.Policy, h window.History, cut window.Cut) {
	var left []int
	if cut.Summary.Covers > 0 {
		left = append(left, cut.Summary.Tokens)
	}
	for _, i := range shown(cut, len(h.Tokens)) {
		left = append(left, h.Tokens[i])
	}
	same := p.Fit(window.History{Tokens: left}, cut.Limit)
	require.Equal(t, len(left), same.Kept, "what was kept is kept")
	require.Equal(t, cut.Used, same.Used)
}

// requested checks the summary that a cut requests, if any.
func requested(t *rapid.T, p window.Policy, h window.History, cut window.Cut) {
	r := cut.Wanted
	if r == (window.SummaryRequest{}) {
		return
	}
	require.True(t, p.UsesSummaries())
	require.Positive(t, h.SummarizerRoom, "requested without a summarizer")
	if len(h.Summaries) > 0 {
		require.Equal(t, h.Summaries[len(h.Summaries)-1], r.Base, "it goes on from the last")
	}
	require.Greater(t, r.Covers, r.Base.Covers, "nothing is summed up twice")
	require.Less(t, r.Covers, len(h.Tokens), "the newest is not summed up")
	require.LessOrEqual(t, r.Tokens, cut.Limit/5)
	held := r.Base.Tokens + sum(h.Tokens[r.Base.Covers:r.Covers], upTo(r.Covers-r.Base.Covers))
	require.Greater(t, held, r.Tokens, "a summary is shorter than what it is made of")
	if r.Covers > r.Base.Covers+1 {
		require.LessOrEqual(t, held, h.SummarizerRoom)
	}
	without := h
	without.SummarizerRoom = 0
	cut.Wanted = window.SummaryRequest{}
	require.Equal(t, cut, p.Fit(without, cut.Limit), "the cut holds if the summary cannot be had")
}

func upTo(n int) (places []int) {
	for i := range n {
		places = append(places, i)
	}
	return places
}

// A step waits for its summaries, so the number of requests must be finite.
func TestNoStepWaitsForManySummaries(t *testing.T) {
	for _, p := range []window.Policy{{Manager: window.Summarize}, {AllowSummaries: true}} {
		rapid.Check(t, func(t *rapid.T) {
			h, room := histories(t), rapid.IntRange(0, 500).Draw(t, "room")
			obedient := rapid.Bool().Draw(t, "the summarizer keeps to the length")
			if obedient {
				h.Summaries, h.SummarizerRoom = nil, 20_000
			}
			made := 0
			for cut := p.Fit(h, room); cut.Wanted.Covers > 0; cut = p.Fit(h, room) {
				tokens := rapid.IntRange(1, 200).Draw(t, "length")
				if obedient {
					tokens = min(tokens, cut.Wanted.Tokens)
				}
				h.Summaries = append(h.Summaries, window.Summary{Seq: int64(100 + made), Covers: cut.Wanted.Covers, Tokens: tokens})
				made++
				require.Less(t, made, len(h.Tokens), "each covers more than the one before")
			}
			if obedient {
				require.LessOrEqual(t, made, 1)
			}
		})
	}
}

// A prompt that begins like the one before is cheap, so histories are cut rarely and deeply.
func TestPromptsBeginAlikeForLong(t *testing.T) {
	const turns, turn, room = 1000, 100, 10_000
	for name, p := range policies {
		t.Run(name, func(t *testing.T) {
			h := window.History{SummarizerRoom: 20_000}
			moved := 0
			last := window.Cut{}
			for range turns {
				h.Tokens = append(h.Tokens, turn)
				cut := p.Fit(h, room)
				if r := cut.Wanted; r.Covers > 0 {
					h.Summaries = append(h.Summaries, window.Summary{Seq: int64(len(h.Tokens)), Covers: r.Covers, Tokens: r.Tokens})
					cut = p.Fit(h, room)
					require.Zero(t, cut.Wanted)
				}
				if cut.To != last.To || cut.Summary != last.Summary {
					require.Greater(t, cut.To, last.To, "a cut never goes back")
					moved++
				}
				last = cut
			}
			fewest, most := turns*turn/room*2-3, turns*turn/room*2
			if p.UsesSummaries() {
				fewest, most = turns*turn/room*2, turns*turn/room*3 // each leaves 45 % of the room, and the next is due from 80 %
			}
			require.GreaterOrEqual(t, moved, fewest)
			require.LessOrEqual(t, moved, most)
		})
	}
}

func BenchmarkFit(b *testing.B) {
	for _, name := range []string{"truncate", "sliding", "hybrid", "summarize"} {
		for _, n := range []int{10, 100, 1000} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				h := window.History{Tokens: slices.Repeat([]int{100}, n), SummarizerRoom: 20_000}
				for i := 10; i < n; i += 30 {
					h.Summaries = append(h.Summaries, window.Summary{Seq: int64(i), Covers: i, Tokens: 500})
				}
				b.ReportAllocs()
				for b.Loop() {
					policies[name].Fit(h, 5000)
				}
			})
		}
	}
}

func TestFittingAllocatesNothing(t *testing.T) {
	h := window.History{Tokens: slices.Repeat([]int{100}, 1000), Summaries: []window.Summary{{Seq: 9, Covers: 500, Tokens: 500}}, SummarizerRoom: 20_000}
	for name, p := range policies {
		require.Zero(t, testing.AllocsPerRun(10, func() { p.Fit(h, 5000) }), name)
	}
}

// What a turn records of a cut is enough to make the cut again, in any room.
func TestARecordedCutIsMadeAgain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := window.Policy{Manager: rapid.SampledFrom([]window.Manager{"", window.Truncate, window.Sliding, window.Summarize, window.Hybrid}).Draw(t, "manager")}
		p.AllowSummaries = p.Manager == window.Hybrid && rapid.Bool().Draw(t, "summaries")
		h := histories(t)
		cut := p.Fit(h, rapid.IntRange(0, 400).Draw(t, "room"))
		w := cut.Window()
		if slices.ContainsFunc(h.Summaries, func(s window.Summary) bool { return s.Seq != cut.Summary.Seq && s.Tokens == cut.Summary.Tokens }) {
			return // the record does not say which of them
		}
		if w == nil && cut.Summary.Covers > 0 { // the newest message alone, which a summary covers too
			return
		}
		got, ok := p.Recorded(h, w)
		require.True(t, ok, "%+v", cut)
		cut.Wanted = (window.SummaryRequest{})
		if w == nil {
			cut.Limit, cut.Percent = got.Limit, got.Percent
		}
		if cut.From == cut.To { // nothing is omitted
			cut.From, cut.To = got.From, got.To
		}
		require.Equal(t, cut, got)
	})
	_, ok := window.Policy{}.Recorded(window.History{Tokens: []int{10, 20}}, &transcript.Window{Limit: 100, Used: 31, Kept: 2})
	require.False(t, ok)
}
