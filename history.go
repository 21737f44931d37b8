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

// reader is whose view a step has of the history.
func reader(s *protocol.Step) string {
	switch {
	case s.Show == nil:
		return ""
	case s.Target != "":
		return s.Actor + " on " + s.Target + " in " + s.Phase
	}
	return s.Actor + " in " + s.Phase
}

// target names a summary's reader and what it covers, by the last turn of that. It holds no seq, which a pause or the
// order of arrival would change.
func target(reader string, upTo transcript.Key) string {
	if reader != "" {
		reader += ", "
	}
	return reader + covers + upTo.String()
}

const covers = "up to "

// summingUp is the summary that has to come before steps that may run now; nil: none. Only who commits asks: the journal
// tells everyone else.
func (r *record) summingUp(steps []protocol.Step) *window.Summing {
	policy := r.config.History
	if !policy.Summarizes() {
		return nil
	}
	for i := range steps {
		s := &steps[i]
		who, seat, ok := r.actor(s.Actor)
		if !ok || slices.Contains(helpers, s.Actor) {
			continue
		}
		room := r.room(s, who, seat)
		if r.history.tokens*2 < room { // by far, whatever it may see
			continue
		}
		shown, tokens := r.visible(s, r.mask(s))
		past := r.told(s, shown, tokens)
		if past.Summarizer = r.minutesRoom(reader(s)); past.Summarizer == 0 {
			continue
		}
		if cut := policy.Fit(past, room); cut.Wanted.Covers > 0 && r.affords(steps, cut.Wanted.Tokens) {
			return r.summing(s, shown, cut)
		}
	}
	return nil
}

// affords says whether a conclusion has room for a summary beside its steps. Before it, the budgets see to that.
func (r *record) affords(steps []protocol.Step, tokens int) bool {
	if r.Cursor.Stage != transcript.Conclusion {
		return true
	}
	step := protocol.Step{Key: transcript.Key{Actor: protocol.Summarizing}}
	return r.usage.Output+r.worst(steps)+tokens <= r.config.Limits.OutputTokens && r.overspent([]protocol.Step{step}).Outcome == ""
}

// room is how many tokens of history a reader's prompts have room for, as they are counted here.
func (r *record) room(s *protocol.Step, who *Participant, seat transcript.Seat) int {
	beside := r.beside(seat)
	if b, err := r.brief(r.env.prompts, *s, seat, who.Model); err == nil { // else the call will say so
		beside = max(beside, b.tokens+task)
	}
	return max(r.scale(s).Room(who.Window-cmp.Or(who.MaxTokens, window.Reply))-beside, 0)
}

// task is an allowance for a step's task, with the schema of its reply.
const task = 1536

// scale is how an actor's tokens are to be counted in a step. In a parallel phase that is as it was when the phase began:
// what its turns show counts from the next phase on, whatever their order.
func (r *record) scale(s *protocol.Step) window.Calibration {
	if begun, ok := r.history.frozen[s.Phase]; ok && r.parallel && s.Phase == r.Cursor.Phase {
		return begun[s.Actor]
	}
	return r.history.scales[s.Actor]
}

// freeze keeps the scales as a phase of the round begins with them, also where it goes on after an interruption.
func (r *record) freeze(phase string) {
	if _, again := r.history.frozen[phase]; again {
		return
	}
	if r.history.frozen == nil {
		r.history.frozen = map[string]map[string]window.Calibration{}
	}
	r.history.frozen[phase] = maps.Clone(r.history.scales)
}

// minutesRoom is how much the summarizer can read for a reader; 0 where it has failed in this round already.
func (r *record) minutesRoom(reader string) int {
	for _, s := range r.history.summaries {
		if s.failed && s.round == r.Cursor.Round && s.reader == reader {
			return 0
		}
	}
	who, seat, _ := r.actor(protocol.Summarizing)
	s := protocol.Step{Key: transcript.Key{Actor: protocol.Summarizing}, Prompt: "summarize"}
	return max(r.room(&s, who, seat)-instruction, 0)
}

// told is a history as counts, with the summaries that stand for its beginning. Each covers more than the one before, so
// the history is gone through once.
func (r *record) told(s *protocol.Step, shown, tokens []int) window.History {
	h := window.History{Tokens: tokens, Summaries: r.cache.covered[:0]}
	own, from := reader(s), 0
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

// summing is what a summary for a step is to stand for: an earlier one, and the turns that follow it.
func (r *record) summing(s *protocol.Step, shown []int, cut window.Cut) *window.Summing {
	w := cut.Wanted
	sum := &window.Summing{
		Reader: reader(s), Target: target(reader(s), r.Turns[shown[w.Covers-1]].Key), Base: w.Base.Seq, Tokens: w.Tokens,
		Window: transcript.Window{Limit: cut.Limit, Used: cut.Used, Kept: cut.Kept, Percent: cut.Percent},
	}
	for _, i := range shown[w.Base.Covers:w.Covers] {
		sum.Covers = append(sum.Covers, r.Turns[i].Seq)
	}
	return sum
}

// noteSummary keeps what a summary stands for.
func (r *record) noteSummary(t *transcript.Turn) {
	if r.history.wanted == nil || len(r.history.wanted.Covers) == 0 {
		return // nothing of this library's
	}
	r.history.summaries = append(r.history.summaries, summary{
		reader: r.history.wanted.Reader, upTo: r.history.wanted.Covers[len(r.history.wanted.Covers)-1], seq: t.Seq, round: r.Cursor.Round, tokens: t.Tokens,
		failed: slices.Contains(t.Flags, transcript.Fallback) || slices.Contains(t.Flags, transcript.Withheld),
	})
	r.history.wanted = nil
}

// recount forgets how the tokens of actors were counted whose model is another in a new configuration.
func (r *record) recount(c *Config) {
	for name := range r.history.scales {
		was, is := r.config.who(name), c.who(name)
		if was == nil || is == nil || was.Provider != is.Provider || was.Model != is.Model || was.Window != is.Window {
			delete(r.history.scales, name)
			r.history.frozen = nil
		}
	}
}

// calibrate takes in what attempts at a step have shown of its actor's tokens.
func (r *record) calibrate(actor string, attempts []transcript.Attempt) {
	who, _, ok := r.actor(actor)
	if !ok {
		return
	}
	for _, a := range attempts {
		scale := r.history.scales[actor]
		switch {
		case a.Prompt == 0: // it does not tell
			continue
		case a.Error == string(providers.ContextOverflow):
			scale = scale.Overflowed(a.Prompt, who.Window-who.MaxTokens)
		case a.Error == "" && !a.Usage.Estimated:
			scale = scale.Reported(a.Prompt, a.Usage.Input)
		}
		if r.history.scales == nil {
			r.history.scales = map[string]window.Calibration{}
		}
		r.history.scales[actor] = scale
	}
}
