package debate

import (
	"cmp"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/internal/calibration"
	"github.com/elenchus-go/debate/internal/reasoning"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// readerOf returns a name for the view that a step has of the history. Steps with the same view share summaries.
func readerOf(s *protocol.Step) string {
	switch {
	case s.Show == nil:
		return ""
	case s.Target != "":
		return s.Actor + " on " + s.Target + " in " + s.Phase
	}
	return s.Actor + " in " + s.Phase
}

// summaryTarget returns the target in a summary's key. It names the reader and the last turn that the summary covers.
// It contains no seq, because a pause or the order of arrival would change it.
func summaryTarget(reader string, upTo transcript.Key) string {
	if reader != "" {
		reader += ", "
	}
	return reader + coversPrefix + upTo.String()
}

const coversPrefix = "up to "

// historyRoom returns the tokens that a reader's prompts have for the history, in estimated tokens.
func historyRoom(r *record, s *protocol.Step, who *Participant, seat transcript.Profile) int {
	beside := tokensBesideHistory(r, seat)
	if b, err := fixedPromptFor(r, promptSet(r), *s, seat, who.Model); err == nil { // the step reports this error
		beside = max(beside, b.tokens+taskTokens)
	}
	left := scaleOf(r, s.Actor, s.Phase).ToEstimated(who.Window-cmp.Or(who.MaxTokens, window.DefaultReplyTokens)) - beside
	return max(left-toolRoom(&r.config.Limits, who, left), 0)
}

// tokensBesideHistory returns an estimate of the tokens of a reader's prompts other than the history: the texts of the
// configuration and the personas, and an allowance for the library's templates.
func tokensBesideHistory(r *record, me transcript.Profile) int {
	tokens := window.Estimate(r.config.Topic + r.config.Background + me.Persona + me.Instructions + strings.Join(me.KeyArguments, ""))
	for _, s := range r.profiles {
		tokens += window.Estimate(s.Role + s.Side + s.Position)
	}
	return templateTokens + tokens + attachmentTokens(attachmentsFor(r.config, me.Name)) + documentsTokens(documentsFor(r.config, me.Name))
}

// templateTokens holds the number of tokens that estimates allow for the text of templates.
const templateTokens = 2048

// taskTokens holds the number of tokens that windows allow for the task of a step and the schema of its reply.
const taskTokens = 1536

// scaleOf returns the token calibration for an actor in a phase.
func scaleOf(r *record, actor, phase string) window.Calibration {
	return r.history.scales.Of(actor, scaledPhase(r, phase), (*models)(r.config))
}

// scaledPhase returns the phase if it is open and parallel, otherwise the empty string.
func scaledPhase(r *record, phase string) string {
	if r.parallel && phase == r.Cursor.Phase {
		return phase
	}
	return ""
}

// calibrate updates an actor's calibration from its attempts at a step.
func calibrate(r *record, key transcript.Key, attempts []transcript.Attempt) {
	r.history.scales.Learn(key.Actor, scaledPhase(r, key.Phase), (*models)(r.config), attempts)
}

// models implements calibration.Models.
type models Config

// ModelOf returns the model of an actor.
func (c *models) ModelOf(actor string) (calibration.Model, bool) {
	p := (*Config)(c).settings(actor)
	if p == nil {
		return calibration.Model{}, false
	}
	return calibration.Model{Provider: p.Provider, Name: p.Model, Window: p.Window, MaxTokens: p.MaxTokens}, true
}

// summarizerRoom returns the tokens of history that the summarizer can read for a reader, or 0 if it has already
// failed in this round.
func summarizerRoom(r *record, reader string) int {
	for _, s := range r.history.summaries {
		if s.failed && s.round == r.Cursor.Round && s.reader == reader {
			return 0
		}
	}
	who, seat, _ := r.actor(protocol.Summarizer)
	s := protocol.Step{Key: transcript.Key{Actor: protocol.Summarizer}, Prompt: "summarize"}
	return max(historyRoom(r, &s, who, seat)-roundingTokens, 0)
}

// countedHistory returns a history as token counts, with the summaries that can replace its beginning. Each summary
// covers more turns than the one before it, so one pass is enough.
func countedHistory(r *record, s *protocol.Step, shown, tokens []int) window.History {
	h := window.History{Tokens: tokens, Summaries: r.cache.covered[:0]}
	own, from := readerOf(s), 0
	for _, sum := range r.history.summaries {
		if sum.failed || sum.reader != own {
			continue
		}
		if at := slices.IndexFunc(shown[from:], func(i int) bool { return r.Turns[i].Seq == sum.upTo }); at >= 0 {
			from += at
			h.Summaries = append(h.Summaries, window.Summary{Seq: sum.seq, Covers: from + 1, Tokens: sum.tokens})
		}
	}
	r.cache.covered = h.Summaries
	return h
}

// newSummaryPlan returns the plan of a summary that a step needs: an earlier summary, if there is one, and the turns that
// follow it.
func newSummaryPlan(r *record, s *protocol.Step, shown []int, cut window.Cut) *window.SummaryPlan {
	w := cut.Wanted
	sum := &window.SummaryPlan{
		Reader: readerOf(s), Target: summaryTarget(readerOf(s), r.Turns[shown[w.Covers-1]].Key), Base: w.Base.Seq, Tokens: w.Tokens,
		Window: transcript.Window{Limit: cut.Limit, Used: cut.Used, Kept: cut.Kept, Percent: cut.Percent},
	}
	for _, i := range shown[w.Base.Covers:w.Covers] {
		sum.Covers = append(sum.Covers, r.Turns[i].Seq)
	}
	return sum
}

// addSummary records a new summary.
func (h *history) addSummary(t *transcript.Turn, round int) {
	if h.wanted == nil || len(h.wanted.Covers) == 0 {
		return // it is a summary of the protocol's own
	}
	h.summaries = append(h.summaries, madeSummary{
		reader: h.wanted.Reader, upTo: h.wanted.Covers[len(h.wanted.Covers)-1], seq: t.Seq, round: round, tokens: t.Tokens,
		failed: slices.Contains(t.Flags, transcript.Defaulted) || slices.Contains(t.Flags, transcript.Filtered),
	})
	h.wanted = nil
}

// addOpaque records the opaque reasoning of a turn.
func (h *history) addOpaque(t *transcript.Turn) {
	o := reasoning.ParseOpaque(t.Reasoning.Opaque)
	if o == nil {
		return
	}
	if h.opaque == nil {
		h.opaque = map[int64]*reasoning.Opaque{}
	}
	h.opaque[t.Seq] = o
	h.tokens += o.Tokens
}
