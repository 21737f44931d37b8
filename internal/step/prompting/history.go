package prompting

import (
	"slices"
	"strings"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/internal/reasoning"
	"github.com/elenchus-go/debate/transcript"
)

// History is what the turns of a debate are fitted into the context windows of its readers with. The zero value has no turns.
type History struct {
	Wanted *window.SummaryPlan // the summary to make now; nil if there is none
	Scales Scales

	tokens    int                         // of all turns except summaries
	summaries []madeSummary               // in order
	opaque    map[int64]*reasoning.Opaque // by the seq of the turn
}

// madeSummary is a turn that replaces earlier turns in prompts.
type madeSummary struct {
	reader string // the reader that it is for; empty if it is for every reader that sees all speeches
	upTo   int64  // the seq of the last turn that it covers
	seq    int64
	round  int
	tokens int
	failed bool // whether the summary is empty or incomplete
}

// Add adds a turn of a round.
func (h *History) Add(t *transcript.Turn, round int) {
	if t.Kind == transcript.Summary {
		h.addSummary(t, round)
	} else {
		h.tokens += t.Tokens + checkedTokens(t, strings.Repeat("0", 20))
	}
	if t.Reasoning == nil {
		return
	}
	if o := reasoning.ParseOpaque(t.Reasoning.Opaque); o != nil {
		if h.opaque == nil {
			h.opaque = map[int64]*reasoning.Opaque{}
		}
		h.opaque[t.Seq] = o
		h.tokens += o.Tokens
	}
}

// addSummary records a new summary.
func (h *History) addSummary(t *transcript.Turn, round int) {
	if h.Wanted == nil || len(h.Wanted.Covers) == 0 {
		return // it is a summary of the protocol's own
	}
	h.summaries = append(h.summaries, madeSummary{
		reader: h.Wanted.Reader,
		upTo:   h.Wanted.Covers[len(h.Wanted.Covers)-1],
		seq:    t.Seq,
		round:  round,
		tokens: t.Tokens,
		failed: slices.Contains(t.Flags, transcript.Defaulted) ||
			slices.Contains(t.Flags, transcript.Filtered),
	})
	h.Wanted = nil
}
