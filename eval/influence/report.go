package influence

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/internal/naming"
	"github.com/elenchus-go/debate/internal/runs"
	"github.com/elenchus-go/debate/judge/estimate"
	"github.com/elenchus-go/debate/transcript"
)

// formatVersion names the version of the report's JSON that this package writes.
const formatVersion = 1

// Report says what decided a debate. It is plain data: encode it as JSON, or render it with [Report.Markdown] or [Report.HTML].
type Report struct {
	Format int    `json:"format"` // version of the report format, 1
	ID     string `json:"id"`     // of the debate
	Topic  string `json:"topic"`
	// Incomplete says why samples are missing, such as a limit. It is empty if none is.
	Incomplete string `json:"incomplete,omitempty"`
	// Summary says in sentences which items were shown to matter, and what the samples cannot show.
	Summary []string `json:"summary"`
	Seats   bool     `json:"seats,omitempty"` // items are seats, not turns
	// Continued says that the debate goes on from where the item was said, without it and with it.
	Continued bool `json:"continued,omitempty"`
	Plan      Plan `json:"plan"`
	// Winner names the winner of the debate: a participant, an option or an answer. It is empty if nobody won.
	Winner string `json:"winner,omitempty"`
	// Score says what scores are, such as the lead in points, and Of whose they are. Both are empty if there are none.
	Score string `json:"score,omitempty"`
	Of    string `json:"of,omitempty"`
	// Intervals is the number of intervals for which each is corrected. Enough is the least number of samples that can show a turn of
	// the winner; it is 0 if the judges name none.
	Intervals int `json:"intervals"`
	Enough    int `json:"enough,omitempty"`

	Effects []Effect `json:"effects"`        // of each item, in the order of the debate
	Pair    *Effect  `json:"pair,omitempty"` // of the two largest items together

	Failures []string `json:"failures,omitempty"` // causes of samples that failed, which do not count
	Tokens   int      `json:"tokens"`             // of everything that is stored with the label of the analysis
	Cost     float64  `json:"cost"`               // the same, in the currency of the prices; 0 without prices
}

// Item names a turn of a participant, or all turns of a seat.
type Item struct {
	Speaker string           `json:"speaker"`
	Round   int              `json:"round,omitempty"` // 0 for a seat
	Seq     int64            `json:"seq"`             // of the turn, or of the first one
	Keys    []transcript.Key `json:"keys"`            // of the turns
}

// Effect tells what changes if an item is left out, or two together.
type Effect struct {
	Name  string `json:"name"` // such as "turn 7"
	Items []Item `json:"items"`
	// Samples and Whole are the numbers of samples without the item, and of the whole debate, or of debates that go on with the item. Fresh says that the item was chosen by
	// other samples.
	Samples int  `json:"samples"`
	Whole   int  `json:"whole"`
	Fresh   bool `json:"fresh,omitempty"`
	// Score and Share are the changes of the score and of the winner's share, negative for what helped the winner. They are nil if
	// the judges give no scores or name no winner. If the samples cannot show a change, it has no interval.
	Score *estimate.Interval `json:"score,omitempty"`
	Share *estimate.Interval `json:"share,omitempty"`
	// Remains counts the samples in whose prompts words of the item remained.
	Remains int `json:"remains,omitempty"`
}

// Shown reports whether the samples show that the item matters.
func (e Effect) Shown() bool { return excludesZero(e.Score) || excludesZero(e.Share) }

func excludesZero(i *estimate.Interval) bool { return i != nil && (i.Above(0) || i.Below(0)) }

// size returns the change by which effects are compared: that of the scores, or of the share if there are none.
func (e Effect) size() float64 {
	switch {
	case e.Score != nil:
		return e.Score.Value
	case e.Share != nil:
		return e.Share.Value
	}
	return 0
}

// compareSizes compares the sizes of two effects.
func compareSizes(a, b Effect) int { return cmp.Compare(math.Abs(a.size()), math.Abs(b.size())) }

// sentences says what was found.
func (p *Report) sentences() (list []string) {
	shown := slices.DeleteFunc(slices.Clone(p.Effects), func(e Effect) bool { return !e.Shown() })
	slices.SortStableFunc(shown, func(a, b Effect) int { return -compareSizes(a, b) })
	for _, e := range shown {
		list = append(list, p.sentence(e))
	}
	thing := "turn"
	if p.Seats {
		thing = "seat"
	}
	if len(shown) == 0 {
		list = append(list, fmt.Sprintf("These samples do not show that any single %s matters. That does not mean that none does: see the intervals.", thing))
	}
	if p.Pair != nil && p.Pair.Shown() {
		list = append(list, p.sentence(*p.Pair))
	}
	if n, few := p.tooFew(); few {
		list = append(list, fmt.Sprintf("These %s cannot show whether the winner changes: that takes %d or more.", runs.Plural(n, "sample"), p.Enough))
	}
	if p.Pair == nil && p.Plan.canPair {
		list = append(list, fmt.Sprintf("Two %ss with the same argument each have no effect alone: ask for the two largest together.",
			thing))
	}
	return list
}

// tooFew returns the number of samples of each item, and reports whether they cannot show a change of the winner for any. The first
// samples of a plan, which only choose items, do not count.
func (p *Report) tooFew() (n int, few bool) {
	for _, e := range p.Effects {
		if e.Share == nil || e.Share.Known() {
			return 0, false
		}
		if e.Fresh || !p.Plan.first {
			n = max(n, min(e.Samples, e.Whole))
		}
	}
	return n, n > 0
}

// sentence says what one effect shows.
func (p *Report) sentence(e Effect) string {
	var names []string
	for _, i := range e.Items {
		name := i.Speaker
		if !p.Seats {
			name = fmt.Sprintf("turn %d of %s (round %d)", i.Seq, i.Speaker, i.Round)
		}
		names = append(names, name)
	}
	var changes []string
	if excludesZero(e.Share) {
		changes = append(changes, fmt.Sprintf("the share of samples that %s changes by %s", p.wins(), change(*e.Share)))
	}
	if excludesZero(e.Score) {
		changes = append(changes, fmt.Sprintf("%s changes by %s", p.scoreOf(), change(*e.Score)))
	}
	without := "Without"
	if p.Continued {
		without = "If the debate goes on without"
	}
	return fmt.Sprintf("%s %s, %s.", without, naming.Enumerate(names, 4), strings.Join(changes, ", and "))
}

// wins says who wins, for a sentence about samples.
func (p *Report) wins() string {
	if p.Winner == "" {
		return "nobody wins"
	}
	return p.Winner + " wins"
}

// scoreOf says what the scores are.
func (p *Report) scoreOf() string {
	if p.Of == "" {
		return p.Score
	}
	return p.Score + " of " + p.Of
}

// change returns a change with its interval, such as "-0.55 [-0.90, -0.12]".
func change(i estimate.Interval) string {
	switch {
	case i.N == 0:
		return "–"
	case !i.Known():
		return fmt.Sprintf("%+.2f", i.Value+0)
	}
	return fmt.Sprintf("%+.2f [%+.2f, %+.2f]", i.Value+0, i.Low+0, i.High+0)
}
