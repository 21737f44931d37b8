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
	"slices"

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

// Manager is a strategy to fit a history into the room that a prompt has for it.
//
// Managers cut rarely and deeply, so that the beginning of the prompt stays the same for many turns and providers can
// bill it at the price of a cached prefix. The omitted part grows by half the room or more at a time. A summary is
// kept until the history has grown by about a third of the room.
type Manager string

// The managers.
const (
	// Truncate keeps the newest messages that fit.
	Truncate Manager = "truncate"
	// Sliding keeps the first message and the newest messages that fit. If the first message does not fit next to the
	// newest, it is omitted too.
	Sliding Manager = "sliding"
	// Summarize shows all messages below 80 % of the room. Above that, a summary replaces the older messages, and a
	// new summary is requested if none brings the history to 80 % or less. If the summary cannot be made, all
	// messages are shown if they fit, with the newest existing summary in place of the messages that it covers.
	// Otherwise the history slides, with that summary as its first message.
	Summarize Manager = "summarize"
	// Hybrid shows all messages below 80 % of the room. Above that, it keeps the first message and cuts the rest down
	// to about a quarter of the room. With Policy.AllowSummaries it requests a summary instead. If the summary cannot
	// be made, it shows all messages up to 90 % of the room and slides above that.
	Hybrid Manager = "hybrid"
)

// Policy defines how the histories of a debate are fitted. It is plain data. The zero Policy is Hybrid without
// summaries.
type Policy struct {
	// Manager defaults to Hybrid.
	Manager Manager `json:"manager,omitempty"`
	// AllowSummaries allows Hybrid to request summaries.
	AllowSummaries bool `json:"allow_summaries,omitempty"`
}

// Check returns every error in the policy, each as "field: reason".
func (p Policy) Check() []string {
	var found []string
	switch p.Manager {
	case "", Truncate, Sliding, Summarize, Hybrid:
	default:
		found = append(found, fmt.Sprintf("manager: %q is unknown, want %q, %q, %q or %q", p.Manager, Truncate, Sliding, Summarize, Hybrid))
	}
	if p.AllowSummaries && (p.Manager == Truncate || p.Manager == Sliding) {
		found = append(found, fmt.Sprintf("allow_summaries: true contradicts manager %q, want %q or %q", p.Manager, Summarize, Hybrid))
	}
	return found
}

// UsesSummaries reports whether the policy requests summaries.
func (p Policy) UsesSummaries() bool {
	return p.Manager == Summarize || p.hybrid() && p.AllowSummaries
}

// hybrid reports whether the manager is Hybrid, by name or by default.
func (p Policy) hybrid() bool { return p.Manager == Hybrid || p.Manager == "" }

// History describes what a prompt could show, in token counts.
type History struct {
	Tokens []int // tokens of each message, oldest first
	// Summaries are the summaries that the reader may see. Those that cover fewer messages come first.
	Summaries []Summary
	// SummarizerRoom is the number of tokens that the summarizer can read. No request covers more, unless a single
	// message is larger. 0 means that no summary can be made now.
	SummarizerRoom int
}

// Fit chooses which messages of a history to show in room tokens, and whether to make a summary first. If Cut.Wanted
// is set, make the summary, add it to the history, and call Fit again. At most a few summaries are requested in a
// row, and none is requested twice. The newest message is always shown. If it alone exceeds the room, clip it.
func (p Policy) Fit(h History, room int) Cut {
	c := newCut(h.Tokens, room, Summary{})
	switch {
	case !p.UsesSummaries():
		return p.slide(h.Tokens, c)
	case c.Used <= percentOf(c.Limit, warnPercent):
		return c
	}
	return p.summarize(h, c)
}

// Recorded returns the Cut that a turn has recorded with Cut.Window, whatever room the history would have now. It returns false
// if the policy does not cut this history so.
func (p Policy) Recorded(h History, w *transcript.Window) (c Cut, ok bool) {
	if w == nil {
		c = newCut(h.Tokens, 0, Summary{})
		c.Limit, c.Percent = c.Used, 0
		return c, true
	}
	for _, s := range append([]Summary{{}}, h.Summaries...) {
		c = p.omit(newCut(h.Tokens, w.Limit, s), h.Tokens, w.Omitted)
		if c.recorded() == *w {
			return c, true
		}
	}
	return Cut{}, false
}

// omit omits so many messages, as slide does.
func (p Policy) omit(c Cut, tokens []int, messages int) Cut {
	newest := len(tokens) - 1
	if messages == 0 || newest < 1 {
		return c
	}
	for c = c.keepBeginning(tokens, p.Manager != Truncate); c.To-c.From-c.Summarized() < messages && c.To < newest; c.To++ {
		c.Used -= tokens[c.To]
	}
	c.Kept = len(tokens) - (c.To - c.From)
	return c
}

// slide leaves out the oldest messages if the history is too long.
func (p Policy) slide(tokens []int, c Cut) Cut {
	if p.hybrid() {
		return c.slide(tokens, percentOf(c.Limit, warnPercent), percentOf(c.Limit, warnPercent-remainderPercent), true)
	}
	return c.slide(tokens, c.Limit, c.Limit/2, p.Manager != Truncate)
}

// summarize returns the Cut with the summary that covers the fewest messages and brings the history to 80 % of the
// room. If there is none, it requests a new summary and returns the Cut to use if that cannot be made.
func (p Policy) summarize(h History, c Cut) Cut {
	room := c.Limit
	if s, ok := h.sufficient(percentOf(room, warnPercent)); ok {
		return newCut(h.Tokens, room, s)
	}
	last := h.lastSummary()
	if shorter := newCut(h.Tokens, room, last); shorter.Used < c.Used {
		c = shorter
	}
	most := room
	if p.hybrid() {
		most = percentOf(room, hybridMaxPercent)
	}
	if c.Used > most {
		c = p.slide(h.Tokens, c)
	}
	c.Wanted = h.wanted(last, room)
	return c
}

// lastSummary returns the summary that covers the most messages, or the zero Summary if there is none.
func (h History) lastSummary() Summary {
	if len(h.Summaries) == 0 {
		return Summary{}
	}
	return h.Summaries[len(h.Summaries)-1]
}

// sufficient returns the summary that covers the fewest messages among those with which the history has at most limit
// tokens. It returns false if there is none.
func (h History) sufficient(limit int) (least Summary, ok bool) {
	left, at := 0, len(h.Tokens)
	for _, s := range slices.Backward(h.Summaries) {
		for ; at > 0 && at > min(s.Covers, len(h.Tokens)-1); at-- {
			left += h.Tokens[at-1]
		}
		if left > limit {
			break
		}
		if s.Tokens+left <= limit {
			least, ok = s, true
		}
	}
	return least, ok
}

// wanted returns the request for a summary that extends the last one. The new summary covers the older half of the
// remaining messages, and more until the rest is at most a quarter of the room. The request is zero if a summary
// would not help: if there is no message older than the newest, if the covered messages are no longer than a summary,
// or if there is no room for a summary next to the newest message.
func (h History) wanted(last Summary, room int) SummaryRequest {
	newest, most := len(h.Tokens)-1, min(percentOf(room, summaryPercent), h.SummarizerRoom/2)
	if most < 1 || h.Tokens[newest]+most > room {
		return SummaryRequest{}
	}
	left := 0
	for _, n := range h.Tokens[min(last.Covers, newest):] {
		left += n
	}
	held, covers := last.Tokens, last.Covers
	for goal := min(left/2, percentOf(room, remainderPercent)); covers < newest && left > goal; covers++ {
		n := h.Tokens[covers]
		if covers > last.Covers && held+n > h.SummarizerRoom {
			break
		}
		held, left = held+n, left-n
	}
	if covers <= last.Covers || held <= most {
		return SummaryRequest{}
	}
	return SummaryRequest{Base: last, Covers: covers, Tokens: most}
}
