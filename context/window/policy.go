package window

import (
	"fmt"
	"slices"
)

// Manager is a way to fit a history into the room that a prompt has for it.
//
// Each cuts deep and seldom, so that the beginning of the prompt stays the same for many turns and providers can bill it
// at the price of a cached prefix: what is left out grows by half the room or more at a time, and a summary stands
// until the history has grown by about a third of the room.
type Manager string

// The managers.
const (
	// Truncate keeps the newest messages that fit.
	Truncate Manager = "truncate"
	// Sliding keeps the first message and the newest that fit. A first one that has no room beside the newest goes like the
	// others.
	Sliding Manager = "sliding"
	// Summarize keeps all below 80 % of the room. From there on a summary stands for the older messages, and a new one is
	// wanted where none leaves less than 80 %. Where it cannot be had all is shown if it fits, with the newest summary
	// that there is in the place of what it covers; else it slides, with that summary as the first message.
	Summarize Manager = "summarize"
	// Hybrid keeps all below 80 % of the room. From there on it slides to stay below, and cuts down to a quarter of the
	// room. With Policy.AllowSummaries it sums up instead; where a summary cannot be had it shows all up to 90 %, and slides
	// beyond.
	Hybrid Manager = "hybrid"
)

// Policy says how the histories of a debate are fitted. It is plain data. The zero Policy is a hybrid without summaries.
type Policy struct {
	// Manager defaults to Hybrid.
	Manager Manager `json:"manager,omitempty"`
	// AllowSummaries allows a hybrid to ask for summaries.
	AllowSummaries bool `json:"allow_summaries,omitempty"`
}

// Check says everything that is wrong with the policy, as "field: reason".
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

// UsesSummaries says whether the policy asks for summaries at all.
func (p Policy) UsesSummaries() bool {
	return p.Manager == Summarize || p.hybrid() && p.AllowSummaries
}

func (p Policy) hybrid() bool { return p.Manager == Hybrid || p.Manager == "" }

// History is what a prompt could show, as counts.
type History struct {
	Tokens []int // of each message, oldest first
	// Summaries that the reader may see, by what they cover, the shortest first.
	Summaries []Summary
	// SummarizerRoom is the room in tokens that the summarizer has for what it sums up: no more is wanted of it at a time, but
	// for a single message that is larger. 0: no summary can be had now.
	SummarizerRoom int
}

// Fit chooses what of a history is shown in a room of so many tokens, and says whether a summary should be made first.
// Make it, add it to the history, and ask again: at most a few are wanted one after the other, and none twice. The
// newest message is always shown; it has to be clipped where it alone is more than the room.
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

// slide leaves out what is too much.
func (p Policy) slide(tokens []int, c Cut) Cut {
	if p.hybrid() {
		return c.slide(tokens, percentOf(c.Limit, warnPercent), percentOf(c.Limit, warnPercent-remainderPercent), true)
	}
	return c.slide(tokens, c.Limit, c.Limit/2, p.Manager != Truncate)
}

// summarize has a summary stand for the older messages, the first that leaves enough room. Where none does the cut is the one
// that holds if the wanted one cannot be had.
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

// lastSummary is the summary that covers most.
func (h History) lastSummary() Summary {
	if len(h.Summaries) == 0 {
		return Summary{}
	}
	return h.Summaries[len(h.Summaries)-1]
}

// sufficient is the summary that covers least of those with which the history has at most limit tokens.
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

// wanted is the request for a summary that goes on from the last one. It takes in the older half of what that leaves, and
// more until the rest is a quarter of the room. It is zero where a summary would be no help: there is nothing
// older than the newest message, it is no longer than a summary, or no room is left beside the newest.
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
