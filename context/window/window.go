// Package window keeps prompts inside a model's context window.
//
// It is pure arithmetic on token counts: a turn is counted once, when it is committed, and a [Policy] chooses from the
// counts alone which turns a prompt shows, and whether a summary of the older ones is to be made before. It never reads
// or counts a text again. A [Calibration] says how a reader's own tokens differ from these counts.
package window

import (
	"fmt"

	"github.com/elenchus-go/debate/transcript"
)

// DefaultSize is the size in tokens that a model's window is taken to have where nothing says otherwise.
const DefaultSize = 32_000

// DefaultReplyTokens is the room in tokens that is kept for a reply without a cap of its own.
const DefaultReplyTokens = 4_096

// The shares of the room for the history, in per cent.
const (
	warnPercent      = 80 // from here on a warning is due, and histories are cut or summed up
	hybridMaxPercent = 90 // up to here a hybrid shows all where a summary would be due and cannot be had
	summaryPercent   = 20 // a summary at most
	remainderPercent = 25 // what a cut of a hybrid, or a summary, leaves of what is older
)

func percentOf(room, percent int) int { return room * percent / 100 }

// Cut is a choice: the history without its messages From up to but not including To.
type Cut struct {
	From, To int
	Limit    int // room for the history, in tokens
	Used     int // tokens of what is shown, summary included; more than Limit where the newest message alone is
	Kept     int // messages that are shown
	// Summary is shown in the place of the cut, and stands for its first Summary.Covers messages; zero: none is.
	Summary Summary
	// Wanted is the summary that should be made before; zero: none. Where it cannot be had, the cut holds without it.
	Wanted SummaryRequest
	// Percent of the room is what the history would take, with the summary that stands for its beginning, if nothing were
	// left out. It may be more than 100.
	Percent int
}

// Warn says whether the history has come near the limit or beyond it: from 80 % of the room on.
func (c Cut) Warn() bool { return c.Percent >= warnPercent }

// Summarized are the messages that the summary stands for.
func (c Cut) Summarized() int { return min(c.Summary.Covers, c.To) }

// Window is the cut as it stands in a turn; nil where all is shown and no warning is due. Messages that a summary
// stands for are not among those that were cut.
func (c Cut) Window() *transcript.Window {
	if c.To == c.From && c.Used <= c.Limit && !c.Warn() {
		return nil
	}
	return &transcript.Window{
		Limit: c.Limit, Used: c.Used, Kept: c.Kept, Omitted: c.To - c.From - c.Summarized(), Summarized: c.Summarized(), Percent: c.Percent,
	}
}

// A Summary stands for the beginning of a history.
type Summary struct {
	Seq    int64 // of its turn
	Covers int   // messages, the first ones
	Tokens int
}

// A SummaryRequest is for a summary that should be made, of an earlier one and of the messages that follow it.
type SummaryRequest struct {
	Base   Summary // stands for the first Base.Covers messages; zero: none
	Covers int     // the new one covers what Base does, and the messages from there up to but not including this one
	Tokens int     // it may have at most
}

// newCut is the cut that leaves nothing out but what a summary stands for. The newest message is shown even where a
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

// slide leaves out more where more than limit tokens are shown: from the oldest on, and step tokens at a time. The
// summary stays, else the first message where it should, if there is room beside the newest.
func (c Cut) slide(tokens []int, limit, step int, first bool) Cut {
	newest := len(tokens) - 1
	if c.Used <= limit || newest < 1 {
		return c
	}
	goal := roundUp(c.Used-limit, max(step, 1))
	switch {
	case c.Summary.Covers > 0:
		if c.Summary.Tokens+tokens[newest] > c.Limit {
			goal -= c.Summary.Tokens
			c.Used -= c.Summary.Tokens
			c.Summary = Summary{}
		}
	case first && tokens[0]+tokens[newest] <= c.Limit:
		c.From, c.To = 1, 1
	}
	for ; goal > 0 && c.To < newest; c.To++ {
		goal -= tokens[c.To]
		c.Used -= tokens[c.To]
	}
	c.Kept = len(tokens) - (c.To - c.From)
	return c
}

func roundUp(n, step int) int { return (n + step - 1) / step * step }

// Clip cuts a text to about so many tokens, as [Estimate] counts them, and marks the place.
func Clip(text string, tokens int) string {
	sum := 0
	for i := range text { // its characters
		if sum += int(weights[text[i]]); sum > tokens*100 {
			return fmt.Sprintf("%s [... %d more bytes were cut to fit]", text[:i], len(text)-i)
		}
	}
	return text
}

// SummaryPlan is a Request as it stands in a journal: what a summary is to stand for, and what led to it.
type SummaryPlan struct {
	Reader string            `json:"reader,omitempty"` // in whose view; empty: of everyone who sees all speeches
	Target string            `json:"target"`           // of the summary's key: its reader and the last turn that it covers
	Base   int64             `json:"base,omitempty"`   // seq of the earlier summary that it goes on from; 0: none
	Covers []int64           `json:"covers"`           // seqs of the turns that it covers beyond, in order
	Tokens int               `json:"tokens"`           // that it may have
	Window transcript.Window `json:"window"`           // of the step that needs it
}
