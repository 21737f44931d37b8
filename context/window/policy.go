package window

import (
	"fmt"
	"slices"

	"github.com/elenchus-go/debate/transcript"
)

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
