// Package window keeps prompts inside a model's context window.
//
//	history := window.History{Tokens: []int{900, 1200, 800, 1100}} // oldest message first
//	cut := window.Policy{Manager: window.Sliding}.Fit(history, 2500)
//	shown := slices.Delete(messages, cut.From, cut.To)
//
// The package computes only with token counts. A turn is counted once, when it is committed. From the counts a
// [Policy] chooses which turns a prompt shows, and whether to summarize older turns first. It never reads or counts a
// text again. A [Calibration] corrects the counts for the tokenizer of a model.
package window

import (
	"fmt"

	"github.com/elenchus-go/debate/transcript"
)

// DefaultSize is the size of a model's window in tokens if the size is not configured or known.
const DefaultSize = 32_000

// DefaultReplyTokens is the number of tokens reserved for a reply without a limit of its own.
const DefaultReplyTokens = 4_096

// Shares of the room for the history, in per cent.
const (
	warnPercent      = 80 // from here on a warning is due, and histories are cut or summarized
	hybridMaxPercent = 90 // up to here Hybrid shows all messages if a requested summary cannot be made
	summaryPercent   = 20 // maximum size of a summary
	remainderPercent = 25 // how much of the older messages a cut by Hybrid or a summary leaves
)

// percentOf returns a share of the room in tokens.
func percentOf(room, percent int) int { return room * percent / 100 }

// Cut is the choice of a Policy: it omits the messages from From up to but not including To.
type Cut struct {
	From, To int
	Limit    int // room for the history, in tokens
	Used     int // tokens of what is shown, with the summary; exceeds Limit only if the newest message alone does
	Kept     int // number of messages that are shown
	// Summary is shown in place of the first Summary.Covers messages. It is zero if no summary is shown.
	Summary Summary
	// Wanted is the summary to make before the prompt. It is zero if none is needed. If it cannot be made, use the
	// Cut as it is.
	Wanted SummaryRequest
	// Percent is the share of the room that the history takes before any message is omitted, with a summary in place
	// of the messages that it covers. It may exceed 100.
	Percent int
}

// Warn reports whether the history takes 80 % of the room or more.
func (c Cut) Warn() bool { return c.Percent >= warnPercent }

// Summarized returns the number of omitted messages that the summary covers.
func (c Cut) Summarized() int { return min(c.Summary.Covers, c.To) }

// Window returns the Cut in the form that a turn records. It returns nil if all messages are shown and no warning is
// due. Messages that the summary covers do not count as omitted.
func (c Cut) Window() *transcript.Window {
	if c.To == c.From && c.Used <= c.Limit && !c.Warn() {
		return nil
	}
	w := c.recorded()
	return &w
}

func (c Cut) recorded() transcript.Window {
	return transcript.Window{
		Limit: c.Limit, Used: c.Used, Kept: c.Kept, Omitted: c.To - c.From - c.Summarized(), Summarized: c.Summarized(), Percent: c.Percent,
	}
}

// Summary is a summary of the first messages of a history.
type Summary struct {
	Seq    int64 // seq of the summary's turn
	Covers int   // number of messages that it replaces, from the first
	Tokens int
}

// SummaryRequest asks for a summary of an earlier summary and of the messages that follow it.
type SummaryRequest struct {
	Base   Summary // the earlier summary; zero if there is none
	Covers int     // number of messages that the new summary replaces, including those of Base
	Tokens int     // maximum length of the new summary
}

// newCut returns the Cut that omits only the messages that a summary covers. It shows the newest message even if the
// summary covers it.
func newCut(tokens []int, room int, s Summary) Cut {
	c := Cut{Limit: max(room, 0), Used: s.Tokens, Summary: s, To: max(min(s.Covers, len(tokens)-1), 0)}
	for _, n := range tokens[c.To:] {
		c.Used += n
	}
	c.Kept = len(tokens) - c.To
	c.Percent = c.Used * 100 / max(c.Limit, 1)
	return c
}

// slide omits more messages if more than limit tokens are shown. It omits the oldest first, in steps of step tokens.
// If there is room next to the newest message, it keeps the summary, or the first message if first is true and there
// is no summary.
func (c Cut) slide(tokens []int, limit, step int, first bool) Cut {
	newest := len(tokens) - 1
	if c.Used <= limit || newest < 1 {
		return c
	}
	goal, used := roundUp(c.Used-limit, max(step, 1)), c.Used
	c = c.keepBeginning(tokens, first)
	for goal -= used - c.Used; goal > 0 && c.To < newest; c.To++ {
		goal -= tokens[c.To]
		c.Used -= tokens[c.To]
	}
	c.Kept = len(tokens) - (c.To - c.From)
	return c
}

// keepBeginning chooses what stays before the omitted messages.
func (c Cut) keepBeginning(tokens []int, first bool) Cut {
	newest := len(tokens) - 1
	switch {
	case c.Summary.Covers > 0:
		if c.Summary.Tokens+tokens[newest] > c.Limit {
			c.Used -= c.Summary.Tokens
			c.Summary = Summary{}
		}
	case first && tokens[0]+tokens[newest] <= c.Limit:
		c.From, c.To = 1, 1
	}
	return c
}

// roundUp returns the smallest multiple of step that is at least n.
func roundUp(n, step int) int { return (n + step - 1) / step * step }

// Clip shortens a text to approximately tokens tokens, as [Estimate] counts them, and marks where it was cut.
func Clip(text string, tokens int) string {
	sum := 0
	for i := range text { // i is the first byte of each character
		sum += int(weights[text[i]])
		if sum > tokens*100 {
			return fmt.Sprintf("%s [... %d more bytes omitted to fit]", text[:i], len(text)-i)
		}
	}
	return text
}

// SummaryPlan is a SummaryRequest as the journal records it: what a summary covers and why it was requested.
type SummaryPlan struct {
	Reader string            `json:"reader,omitempty"` // whose view is summarized; empty for all who see every speech
	Target string            `json:"target"`           // target of the summary's key: reader and last covered turn
	Base   int64             `json:"base,omitempty"`   // seq of the earlier summary that it extends; 0 if there is none
	Covers []int64           `json:"covers"`           // seqs of the turns that it covers in addition, in order
	Tokens int               `json:"tokens"`           // maximum length
	Window transcript.Window `json:"window"`           // window of the step that needs the summary
}
