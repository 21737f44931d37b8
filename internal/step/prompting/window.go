package prompting

import (
	"fmt"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/internal/reasoning"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// Scale returns the token calibration for an actor in a phase.
func (d *Debate) Scale(actor, phase string) window.Calibration {
	return d.History.Scales.Of(actor, d.scaledPhase(phase), d.Settings.Actors)
}

// Calibrate updates an actor's calibration from its attempts at a step.
func (d *Debate) Calibrate(key transcript.Key, attempts []transcript.Attempt) {
	d.History.Scales.Learn(key.Actor, d.scaledPhase(key.Phase), d.Settings.Actors, attempts)
}

// scaledPhase returns the phase if it is open and parallel, otherwise the empty string.
func (d *Debate) scaledPhase(phase string) string {
	if d.Parallel && phase == d.Cursor.Phase {
		return phase
	}
	return ""
}

// MinToolRoom is the least room, in tokens, for rounds of tool calls.
const MinToolRoom = 256

// Room returns the tokens that the rounds of a step may take in its prompt: a quarter of what is left beside the rest of the
// prompt and the reply, and not more than they can need.
func (l ToolLimits) Room(left int) int {
	return max(min(left/4, l.Rounds*(l.Bytes/4+MinToolRoom)), 0)
}

// roundingTokens holds the unit, in tokens, to which the size of a prompt's fixed part is rounded up.
const roundingTokens = 512

// templateTokens holds the number of tokens that estimates allow for the text of templates.
const templateTokens = 2048

// taskTokens holds the number of tokens that windows allow for the task of a step and the schema of its reply.
const taskTokens = 1536

// tokensBesideHistory returns an estimate of the tokens of a reader's prompts other than the history: the texts of the
// configuration and the personas, and an allowance for the library's templates.
func (d *Debate) tokensBesideHistory(me transcript.Profile) int {
	about := d.Topic + d.Settings.Background + d.referenceFor(me.Name)
	own := me.Persona + me.Instructions + strings.Join(me.KeyArguments, "")
	tokens := templateTokens + window.Estimate(about+own)
	for _, s := range d.Profiles {
		tokens += window.Estimate(s.Role + s.Side + s.Position)
	}
	a := d.Settings.Actors
	tokens += AttachmentTokens(a.AttachmentsOf(me.Name))
	tokens += DocumentTokens(a.DocumentsOf(me.Name))
	return tokens
}

// Visible returns the indexes of the turns that a step may show, and their tokens. The next call overwrites both slices.
func (d *Debate) Visible(s *protocol.Step) (shown, tokens []int) {
	m := d.Pseudonyms(s)
	shown = d.cache.shown[:0]
	tokens = d.cache.tokens[:0]
	for i := range d.Turns {
		t := &d.Turns[i]
		show := t.Kind == transcript.Speech || t.Kind == transcript.Remark
		if s.Show != nil {
			show = t.Kind != transcript.Silence && s.Show(t)
		}
		if show && t.Seq <= s.VisibleSeq {
			shown = append(shown, i)
		}
	}
	if s.Kind == transcript.Summary { // the summary to extend comes first
		slices.SortStableFunc(shown, func(i, j int) int {
			return rank(&d.Turns[i]) - rank(&d.Turns[j])
		})
	}
	for _, i := range shown {
		t := &d.Turns[i]
		n := shownTokens(t, m)
		if o := d.opaqueFor(s, t); o != nil {
			n += o.Tokens
		}
		tokens = append(tokens, n)
	}
	d.cache.shown = shown
	d.cache.tokens = tokens
	return shown, tokens
}

// shownTokens returns the tokens of a turn between its delimiters, with the lines below it.
func shownTokens(t *transcript.Turn, m *judge.Pseudonyms) int {
	return t.Tokens + m.QuoteTokens() + checkedTokens(t, m.Nonce())
}

// turnWith returns the index of the turn with a seq, or -1.
func turnWith(list []transcript.Turn, seq int64) int {
	return slices.IndexFunc(list, func(t transcript.Turn) bool {
		return t.Seq == seq
	})
}

// rank sorts summaries before other turns.
func rank(t *transcript.Turn) int {
	if t.Kind == transcript.Summary {
		return 0
	}
	return 1
}

// opaqueFor returns the opaque reasoning of a turn for the prompt of a step, or nil. Only the actor of the turn gets it
// back, and only if its provider and its model are still the same.
func (d *Debate) opaqueFor(s *protocol.Step, t *transcript.Turn) *reasoning.Opaque {
	o := d.History.opaque[t.Seq]
	if o == nil || t.Actor != s.Actor || s.Blind || strings.TrimSpace(t.Text) == "" {
		return nil
	}
	p, ok := d.Settings.Actors.ModelOf(s.Actor)
	if !ok || p.Name != o.Model {
		return nil
	}
	name, _, err := d.Env.Bind(p.Provider)
	if err != nil || name != o.Provider {
		return nil
	}
	return o
}

// counted returns a history as token counts, with the summaries that can replace its beginning. Each summary covers more
// turns than the one before it, so one pass is enough.
func (d *Debate) counted(s *protocol.Step, shown, tokens []int) window.History {
	h := window.History{
		Tokens:    tokens,
		Summaries: d.cache.covered[:0],
	}
	own := readerOf(s)
	from := 0
	for _, sum := range d.History.summaries {
		if sum.failed || sum.reader != own {
			continue
		}
		isLast := func(i int) bool { return d.Turns[i].Seq == sum.upTo }
		at := slices.IndexFunc(shown[from:], isLast)
		if at < 0 {
			continue
		}
		from += at
		h.Summaries = append(h.Summaries, window.Summary{
			Seq:    sum.seq,
			Covers: from + 1,
			Tokens: sum.tokens,
		})
	}
	d.cache.covered = h.Summaries
	return h
}

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
	return reader + "up to " + upTo.String()
}

// room returns the tokens that a reader's prompts have for the history, in estimated tokens.
func (d *Debate) room(s *protocol.Step, seat transcript.Profile) int {
	beside := d.tokensBesideHistory(seat)
	a := d.Settings.Actors
	if b, err := d.fixed(s, seat); err == nil { // the step reports this error
		beside = max(beside, b.tokens+taskTokens)
	}
	m := d.model(s.Actor)
	left := d.Scale(s.Actor, s.Phase).ToEstimated(m.room()) - beside
	if len(a.ToolsOf(s.Actor)) > 0 {
		left -= d.Settings.Tools.Room(left)
	}
	return max(left, 0)
}

// SummaryFor returns the summary that must come before a step of a model, or nil if it needs none.
func (d *Debate) SummaryFor(s *protocol.Step, seat transcript.Profile) *window.SummaryPlan {
	room := d.room(s, seat)
	delimiters := d.Pseudonyms(&protocol.Step{}).QuoteTokens()
	all := d.History.tokens + len(d.Turns)*delimiters // of all turns except summaries
	if all*2 < room {                                 // they fit, even if the step sees every turn
		return nil
	}
	shown, tokens := d.Visible(s)
	past := d.counted(s, shown, tokens)
	past.SummarizerRoom = d.summarizerRoom(readerOf(s))
	if past.SummarizerRoom == 0 {
		return nil
	}
	if cut := d.Settings.History.Fit(past, room); cut.Wanted.Covers > 0 {
		return d.newSummaryPlan(s, shown, cut)
	}
	return nil
}

// summarizerRoom returns the tokens of history that the summarizer can read for a reader, or 0 if it has already
// failed in this round.
func (d *Debate) summarizerRoom(reader string) int {
	for _, s := range d.History.summaries {
		if s.failed && s.round == d.Cursor.Round && s.reader == reader {
			return 0
		}
	}
	s := protocol.Step{
		Key:    transcript.Key{Actor: protocol.Summarizer},
		Prompt: "summarize",
	}
	return max(d.room(&s, d.Settings.Summarizer)-roundingTokens, 0)
}

// newSummaryPlan returns the plan of a summary that a step needs: an earlier summary, if there is one, and the turns that
// follow it.
func (d *Debate) newSummaryPlan(s *protocol.Step, shown []int, cut window.Cut) *window.SummaryPlan {
	w := cut.Wanted
	sum := &window.SummaryPlan{
		Reader: readerOf(s),
		Target: summaryTarget(readerOf(s), d.Turns[shown[w.Covers-1]].Key),
		Base:   w.Base.Seq,
		Tokens: w.Tokens,
		Window: transcript.Window{
			Limit:   cut.Limit,
			Used:    cut.Used,
			Kept:    cut.Kept,
			Percent: cut.Percent,
		},
	}
	for _, i := range shown[w.Base.Covers:w.Covers] {
		sum.Covers = append(sum.Covers, d.Turns[i].Seq)
	}
	return sum
}

// summaryPhase names the phase of a step that summarizes older turns.
const summaryPhase = "summary"

// SummaryPhase returns the phase of a step that summarizes older turns. The step has its actor only; SummaryStep returns the whole
// step.
func (d *Debate) SummaryPhase() protocol.Phase {
	return protocol.Phase{
		Name:  summaryPhase,
		Steps: []protocol.Step{{Key: transcript.Key{Actor: protocol.Summarizer}}},
	}
}

// SummaryStep returns the step that makes the wanted summary.
func (d *Debate) SummaryStep() protocol.Step {
	w := d.History.Wanted
	covered := map[int64]bool{w.Base: w.Base > 0}
	for _, seq := range w.Covers {
		covered[seq] = true
	}
	key := transcript.Key{
		Run:    d.Cursor.Run,
		Round:  d.Cursor.Round,
		Phase:  summaryPhase,
		Actor:  protocol.Summarizer,
		Target: w.Target,
	}
	return protocol.Step{
		Key:        key,
		Kind:       transcript.Summary,
		VisibleSeq: d.Seq,
		Prompt:     "summarize",
		Vars:       map[string]string{"words": fmt.Sprint(w.Tokens * 7 / 10)}, // a word has about 1.4 tokens
		Show: func(t *transcript.Turn) bool {
			return covered[t.Seq]
		},
	}
}
