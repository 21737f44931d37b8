package debate

import (
	"cmp"
	"maps"
	"slices"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// readerOf is whose view a step has of the history.
func readerOf(s *protocol.Step) string {
	switch {
	case s.Show == nil:
		return ""
	case s.Target != "":
		return s.Actor + " on " + s.Target + " in " + s.Phase
	}
	return s.Actor + " in " + s.Phase
}

// summaryTarget names a summary's reader and what it covers, by the last turn of that. It holds no seq, which a pause or the
// order of arrival would change.
func summaryTarget(reader string, upTo transcript.Key) string {
	if reader != "" {
		reader += ", "
	}
	return reader + coversPrefix + upTo.String()
}

const coversPrefix = "up to "

// summaryNeeded is the summary that has to come before steps that may run now; nil: none. Only who commits asks: the journal
// tells everyone else.
func summaryNeeded(r *record, steps []protocol.Step) *window.SummaryPlan {
	policy := r.config.History
	if !policy.UsesSummaries() {
		return nil
	}
	for i := range steps {
		s := &steps[i]
		who, seat, ok := r.actor(s.Actor)
		if !ok || slices.Contains(systemActors, s.Actor) {
			continue
		}
		room := historyRoom(r, s, who, seat)
		if r.history.tokens*2 < room { // by far, whatever it may see
			continue
		}
		shown, tokens := visibleTurns(r, s, pseudonymsFor(r, s))
		past := countedHistory(r, s, shown, tokens)
		if past.SummarizerRoom = summarizerRoom(r, readerOf(s)); past.SummarizerRoom == 0 {
			continue
		}
		if cut := policy.Fit(past, room); cut.Wanted.Covers > 0 && affordsSummary(r, steps, cut.Wanted.Tokens) {
			return newSumming(r, s, shown, cut)
		}
	}
	return nil
}

// affordsSummary says whether a conclusion has room for a summary beside its steps. Before it, the budgets see to that.
func affordsSummary(r *record, steps []protocol.Step, tokens int) bool {
	if r.Cursor.Stage != transcript.Conclusion {
		return true
	}
	step := protocol.Step{Key: transcript.Key{Actor: protocol.Summarizer}}
	return r.usage.Output+maxOutput(r, steps)+tokens <= r.config.Limits.OutputTokens && spendingEnding(r, []protocol.Step{step}).Outcome == ""
}

// historyRoom is how many tokens of history a reader's prompts have room for, as they are counted here.
func historyRoom(r *record, s *protocol.Step, who *Participant, seat transcript.Profile) int {
	beside := tokensBesideHistory(r, seat)
	if b, err := briefingFor(r, r.env.prompts, *s, seat, who.Model); err == nil { // else the call will say so
		beside = max(beside, b.tokens+taskTokens)
	}
	return max(r.history.scale(s, r.inOpenParallelPhase(s.Phase)).ToEstimated(who.Window-cmp.Or(who.MaxTokens, window.DefaultReplyTokens))-beside, 0)
}

// taskTokens is an allowance for a step's taskTokens, with the schema of its reply.
const taskTokens = 1536

// scale returns how an actor's tokens are counted in a step. In a parallel phase that is as it was when the phase began:
// what its turns show counts from the next phase on, whatever their order.
func (h *history) scale(s *protocol.Step, parallel bool) window.Calibration {
	if frozen, ok := h.frozen[s.Phase]; ok && parallel {
		return frozen[s.Actor]
	}
	return h.scales[s.Actor]
}

// freeze keeps the scales as a phase of the round begins with them, also where it continues after an interruption.
func (h *history) freeze(phase string) {
	if _, again := h.frozen[phase]; again {
		return
	}
	if h.frozen == nil {
		h.frozen = map[string]map[string]window.Calibration{}
	}
	h.frozen[phase] = maps.Clone(h.scales)
}

// summarizerRoom is how much the summarizer can read for a reader; 0 where it has failed in this round already.
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

// countedHistory is a history as counts, with the summaries that stand for its beginning. Each covers more than the one before, so
// the history is gone through once.
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

// newSumming is what a summary for a step is to stand for: an earlier one, and the turns that follow it.
func newSumming(r *record, s *protocol.Step, shown []int, cut window.Cut) *window.SummaryPlan {
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

// note keeps what a summary stands for.
func (h *history) note(t *transcript.Turn, round int) {
	if h.wanted == nil || len(h.wanted.Covers) == 0 {
		return // a protocol's own summary
	}
	h.summaries = append(h.summaries, madeSummary{
		reader: h.wanted.Reader, upTo: h.wanted.Covers[len(h.wanted.Covers)-1], seq: t.Seq, round: round, tokens: t.Tokens,
		failed: slices.Contains(t.Flags, transcript.Defaulted) || slices.Contains(t.Flags, transcript.Filtered),
	})
	h.wanted = nil
}

// forget drops the scales of actors whose model is another in a new configuration.
func (h *history) forget(old, now *Config) {
	for name := range h.scales {
		was, is := old.settings(name), now.settings(name)
		if was == nil || is == nil || was.Provider != is.Provider || was.Model != is.Model || was.Window != is.Window {
			delete(h.scales, name)
			h.frozen = nil
		}
	}
}

// calibrate takes in what attempts at a step have shown of its actor's tokens.
func (h *history) calibrate(who *Participant, name string, attempts []transcript.Attempt) {
	for _, a := range attempts {
		scale := h.scales[name]
		switch {
		case a.PromptTokens == 0: // it does not tell
			continue
		case a.ErrorKind == string(providers.ContextOverflow):
			scale = scale.WithOverflow(a.PromptTokens, who.Window-who.MaxTokens)
		case a.ErrorKind == "" && !a.Usage.Estimated:
			scale = scale.WithReported(a.PromptTokens, a.Usage.Input)
		}
		if h.scales == nil {
			h.scales = map[string]window.Calibration{}
		}
		h.scales[name] = scale
	}
}
