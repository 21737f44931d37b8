package debate

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/detect"
	"github.com/elenchus-go/debate/internal/embedding"
	"github.com/elenchus-go/debate/internal/reasoning"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// findingsOf returns the findings of a round whose speeches (or assessments, if judged is set) are complete. It returns
// them only once.
func findingsOf(r *record, judged bool) []detect.Finding {
	round := r.Cursor.Round
	if len(r.config.Detect) == 0 || judged && r.findings.reported.judged >= round || !judged && r.findings.reported.spoken >= round {
		return nil
	}
	if r.findings.detector == nil {
		r.findings.detector = &detector{Detector: detect.Detector{
			Rules: r.config.Detect, Topic: r.config.Topic, Seats: r.profiles, Answer: r.env.extractAnswer,
		}}
	}
	for k := min(r.findings.detector.spoken, r.findings.detector.judged) + 1; k < round; k++ { // rounds that an earlier process has checked
		speechFindings(r, k)
		assessmentFindings(r, k)
	}
	found := speechFindings(r, round)
	if judged {
		found = assessmentFindings(r, round)
	}
	for i := range found {
		found[i].Round = round // also in a round without speeches
	}
	return found
}

// speechFindings checks the speeches of a round, once.
func speechFindings(r *record, round int) []detect.Finding {
	if r.findings.detector.spoken >= round {
		return nil
	}
	r.findings.detector.spoken = round
	turns := r.TurnsOf(round)
	return r.findings.detector.CheckSpeeches(turns, embedding.Vectors(&r.Record, round))
}

// juryOf returns how the assessments of a debate are combined. A protocol that combines them in its own way has the
// method AssessmentJury.
func juryOf(p protocol.Protocol) judge.Jury {
	if own, ok := p.(interface{ AssessmentJury() judge.Jury }); ok {
		return own.AssessmentJury()
	}
	return judge.Jury{}
}

// assessmentFindings checks the assessments of a round, once, if there are any.
func assessmentFindings(r *record, round int) []detect.Finding {
	if r.findings.detector.judged >= round {
		return nil
	}
	r.findings.detector.judged = round
	turns := slices.DeleteFunc(slices.Clone(r.TurnsOf(round)), func(t transcript.Turn) bool { return t.Contract != judge.AssessmentContract.Name() })
	jury := juryOf(r.config.Protocol)
	joint, ok := jury.CombineAssessments(judge.Opinions[judge.Assessment](turns...))
	switch {
	case !ok: // there are no assessments
		return nil
	case joint.Failed:
		return r.findings.detector.CheckScores(detect.Scores{Round: round, Quality: math.NaN(), Novelty: math.NaN()}, math.NaN())
	}
	a := &joint.Value
	s := detect.Scores{Round: round, Quality: a.Quality, Novelty: a.MeanScore(judge.Novelty), Repetitive: a.Repetitive}
	return r.findings.detector.CheckScores(s, a.MeanScore(judge.Relevance), jury.ConvergedVotes(joint.Opinions)...)
}

// stoppingFinding returns the ending that a finding of the current round, or one of the given new findings, causes.
// It returns the zero Ending if none does.
func stoppingFinding(r *record, found ...detect.Finding) transcript.Ending {
	for _, f := range append(slices.Clip(r.findings.since(r.Cursor.Round)), found...) {
		if f.Found && f.Effect == detect.Stop {
			return f.Ending()
		}
	}
	return transcript.Ending{}
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
	return reader + coversPrefix + upTo.String()
}

const coversPrefix = "up to "

// historyRoom returns the tokens that a reader's prompts have for the history, in estimated tokens.
func historyRoom(r *record, s *protocol.Step, who *Participant, seat transcript.Profile) int {
	beside := tokensBesideHistory(r, seat)
	if b, err := fixedPromptFor(r, promptSet(r), *s, seat, who.Model); err == nil { // the step reports this error
		beside = max(beside, b.tokens+taskTokens)
	}
	return max(scaleOf(r, who, s.Actor, s.Phase).ToEstimated(who.Window-cmp.Or(who.MaxTokens, window.DefaultReplyTokens))-beside, 0)
}

// tokensBesideHistory returns an estimate of the tokens of a reader's prompts other than the history: the texts of the
// configuration and the personas, and an allowance for the library's templates.
func tokensBesideHistory(r *record, me transcript.Profile) int {
	tokens := window.Estimate(r.config.Topic + r.config.Background + me.Persona + me.Instructions + strings.Join(me.KeyArguments, ""))
	for _, s := range r.profiles {
		tokens += window.Estimate(s.Role + s.Side + s.Position)
	}
	return templateTokens + tokens + attachmentTokens(attachmentsFor(r.config, me.Name))
}

// templateTokens holds the number of tokens that estimates allow for the text of templates.
const templateTokens = 2048

// taskTokens holds the number of tokens that windows allow for the task of a step and the schema of its reply.
const taskTokens = 1536

// scaleOf returns the token calibration for an actor in a phase. A parallel phase uses the calibrations from when it
// began: what its own turns show applies from the next phase on, regardless of their order. An actor without counts of its
// own starts from the largest factor of the actors with the same model.
func scaleOf(r *record, who *Participant, actor, phase string) window.Calibration {
	scales := r.history.scales
	if frozen, ok := r.history.frozen[phase]; ok && r.parallel && phase == r.Cursor.Phase {
		scales = frozen
	}
	own, known := scales[actor]
	if known {
		return own
	}
	for name, other := range scales {
		is := r.config.settings(name)
		if is == nil || is.Provider != who.Provider || is.Model != who.Model {
			continue
		}
		if start := other.Start(); !known || start.Factor() > own.Factor() {
			own, known = start, true
		}
	}
	return own
}

// freeze saves the calibrations with which a phase of the round begins. A phase that continues after an interruption
// keeps the saved ones.
func (h *history) freeze(phase string) {
	if _, again := h.frozen[phase]; again {
		return
	}
	if h.frozen == nil {
		h.frozen = map[string]map[string]window.Calibration{}
	}
	h.frozen[phase] = maps.Clone(h.scales)
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

// dropStale deletes the calibrations of actors whose model has changed in a new configuration.
func (h *history) dropStale(old, now *Config) {
	for name := range h.scales {
		was, is := old.settings(name), now.settings(name)
		if was == nil || is == nil || was.Provider != is.Provider || was.Model != is.Model || is.Window > 0 && was.Window != is.Window {
			delete(h.scales, name)
			h.frozen = nil
		}
	}
}

// calibrate updates an actor's calibration from its attempts at a step.
func calibrate(r *record, key transcript.Key, attempts []transcript.Attempt) {
	who, _, ok := r.actor(key.Actor)
	if !ok {
		return
	}
	start, known := r.history.scales[key.Actor]
	if !known {
		start = scaleOf(r, who, key.Actor, key.Phase)
	}
	scale := start
	for _, a := range attempts {
		switch {
		case a.PromptTokens == 0: // the attempt has no estimate
			continue
		case a.ErrorKind == string(providers.ContextOverflow):
			scale = scale.WithOverflow(a.PromptTokens, who.Window-who.MaxTokens)
		case a.Cut:
			scale = scale.WithCut(a.Usage.Input)
		case (a.ErrorKind == "" || a.Counted) && !a.Usage.Estimated: // journals of earlier versions count valid replies only
			scale = scale.WithReported(a.PromptTokens, a.Usage.Input)
		}
	}
	if scale == start { // the attempts say nothing: the actor continues to follow others with the same model
		return
	}
	if r.history.scales == nil {
		r.history.scales = map[string]window.Calibration{}
	}
	r.history.scales[key.Actor] = scale
}
