package debate

import (
	"slices"
	"strings"
	"sync"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/internal/embedding"
	"github.com/elenchus-go/debate/internal/forecast"
	"github.com/elenchus-go/debate/internal/reasoning"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// This file computes the worst case that budgets reserve for steps that have not run yet. The rule is:
//
//   - A step makes as many calls as replyCount returns, and each reply has its maximum length.
//   - A prompt has its real size: the system prompt, the attachments, the task and the schema of the reply, built as for a
//     call. It shows the turns that the step's Show selects: those that exist, and those that may be made before it, at their
//     maximum length. The steps of a parallel phase do not see one another. No prompt exceeds the window.
//   - The steps of the conclusion are those that the protocol asks for once these turns exist. If there are none, they are
//     those that it asks for now.
//   - Personas that are not assigned yet have the maximum length of the assigner's reply. The positions count in each
//     prompt, and the rest for one participant.
//
// What failed attempts use is known afterwards. It counts from the next phase on.

// replyCount returns the number of replies that budgets reserve for a step: two if the first may be doubtful.
func replyCount(s *protocol.Step) int {
	if s.Doubt != nil {
		return 2
	}
	return 1
}

const (
	valueTokens    = 32   // for values in a prompt that differ from those of its worst case, such as scores
	doubtTokens    = 192  // for what is doubtful about a reply, without names
	adviceTokens   = 96   // for what a finding advises a judge
	documentTokens = 2304 // for documents that are not retrieved yet
	positionTokens = 1500 // for a position that is not assigned yet: the most that the contract allows
	maxSupposed    = 1 << 20
)

// supposedText has about one token for each five bytes.
var supposedText = sync.OnceValue(func() string { return strings.Repeat("text ", maxSupposed/5) })

// worstCase returns the most that the given phases and the conclusion after them can use. If only the output tokens are
// limited, it leaves out the rest.
func worstCase(r *record, next ...forecast.Stage) transcript.Usage {
	w := reservation{record: r, spends: r.config.Limits.Tokens > 0 || r.config.Limits.Cost > 0}
	declared := r.phases(transcript.Conclusion)
	cursor := r.Cursor
	r.BeginSupposing()
	defer func() {
		r.TakeBack()
		r.EndSupposing()
		r.Cursor = cursor
	}()
	for _, s := range next {
		for _, p := range s.Phases {
			w.add(s.Kind, p)
		}
	}
	w.conclude(declared)
	w.addPersonas()
	return w.total
}

// reservation adds up the worst case of steps.
type reservation struct {
	*record

	spends    bool // the tokens of prompts and the cost matter
	total     transcript.Usage
	personas  int            // tokens of personas that are not assigned yet, except positions
	profile   int            // tokens of the delimiters of a persona that is not assigned yet
	positions int            // tokens of positions that are not assigned yet
	documents int            // tokens of documents that are not retrieved yet
	speeches  map[string]int // number of steps of each participant
}

// add adds the steps of a phase that have no turn yet, and supposes their turns.
func (w *reservation) add(stage transcript.Kind, p protocol.Phase) {
	w.Cursor.Stage = stage
	since := w.Seq
	var turns []transcript.Turn
	for i, s := range p.Steps {
		s.Key = transcript.Key{Run: w.Cursor.Run, Round: w.Cursor.Round, Phase: p.Name, Actor: s.Actor, Target: s.Target}
		if stage == transcript.Setup {
			s.Round = 0
		}
		who, seat, ok := w.actor(s.Actor)
		if _, done := w.Find(s.Key); done || !ok {
			continue
		}
		if s.Kind, s.Order, s.VisibleSeq = stage, i, since; !p.Parallel {
			s.VisibleSeq = w.Seq
		}
		w.addStep(&s, who, seat)
		t := transcript.Turn{Key: s.Key, Kind: stage, Order: i, Contract: s.Contract, Tokens: maxReply(w.record, who, s.Actor)}
		t.Text = supposedText()[:min(5*min(t.Tokens, maxSupposed), maxSupposed/5*5)]
		if makesNoText(s.Actor) {
			t.Text, t.Tokens = "", 0
		}
		if turns = append(turns, t); !p.Parallel {
			w.Suppose(turns...)
			turns = turns[:0]
		}
	}
	w.Suppose(turns...)
}

// conclude adds the phases of the conclusion. declared are those that the protocol asks for before the supposed turns.
func (w *reservation) conclude(declared []protocol.Phase) {
	var added []string
	add := func(phases []protocol.Phase) bool {
		at := slices.IndexFunc(phases, func(p protocol.Phase) bool { return !slices.Contains(added, p.Name) })
		if at >= 0 {
			added = append(added, phases[at].Name)
			w.add(transcript.Conclusion, phases[at])
		}
		return at >= 0
	}
	for add(w.supposedConclusion()) { // a phase may depend on the turns of the one before it
	}
	if len(added) > 0 {
		return
	}
	for add(declared) {
	}
}

// supposedConclusion returns the phases of the conclusion after the supposed turns. It returns nothing if the protocol
// panics, because it may not expect turns without data.
func (w *reservation) supposedConclusion() (phases []protocol.Phase) {
	defer func() {
		if recover() != nil {
			phases = nil
		}
	}()
	w.Cursor.Stage = transcript.Conclusion
	phases = w.rules().Phases(&w.Record)
	if w.config.hasPeople() {
		phases = w.adaptToPeople(phases)
	}
	return phases
}

// addStep adds the calls of a step.
func (w *reservation) addStep(s *protocol.Step, who *Participant, seat transcript.Profile) {
	switch {
	case who.Human: // costs nothing
		return
	case s.Actor == protocol.Retriever:
		if w.documents = documentTokens; w.spends && who.Provider != templatesProvider {
			w.addCall(who, s.Actor, w.promptLimit(s, who, seat), 0)
		}
		return
	case s.Actor == protocol.Embedder:
		texts := 0
		for _, m := range embedding.Messages(&w.Record, who.Window, s) {
			texts += w.env.Count(who.Model, m.Text)
		}
		w.addCall(who, s.Actor, texts, 0)
		return
	}
	reply := maxReply(w.record, who, s.Actor)
	n := replyCount(s)
	if !w.spends {
		w.total.Output += n * reply
		return
	}
	prompt := w.promptLimit(s, who, seat)
	for range n {
		w.addCall(who, s.Actor, prompt, reply)
		prompt += reply + doubtTokens + namesTokens(w.Names) // asked again, the prompt has the reply and what is doubtful about it
	}
	switch {
	case s.Actor == protocol.PersonaAssigner:
		quote, delimiters := w.Pseudonyms(s).QuoteTokens()+valueTokens/4, 0
		for _, p := range w.Participants {
			if p.Position == "" {
				w.positions += positionTokens
				delimiters += quote
			}
		}
		w.positions = min(reply, w.positions)
		w.personas = reply - w.positions
		w.profile = 2*quote + valueTokens // of a persona and its arguments
		w.positions += delimiters
	case w.isParticipating(s.Actor):
		if w.speeches == nil {
			w.speeches = map[string]int{}
		}
		w.speeches[s.Actor] += n
	}
}

// namesTokens returns the tokens of names that a doubt mentions twice.
func namesTokens(names []string) (tokens int) {
	for _, n := range names {
		tokens += 2 * window.Estimate(n)
	}
	return tokens
}

// addCall adds a call with a prompt and a reply of the given tokens.
func (w *reservation) addCall(who *Participant, actor string, prompt, reply int) {
	w.total = w.total.Add(transcript.Usage{Input: prompt, Output: reply, Cost: maxCost(w.record, who, actor, prompt, reply)})
}

// addPersonas adds personas that are not assigned yet to the prompts of the participant for whom that costs most.
func (w *reservation) addPersonas() {
	input, cost := 0, 0.0
	for name, n := range w.speeches {
		who, _, _ := w.actor(name)
		input = max(input, n*w.personas)
		cost = max(cost, float64(n)*maxCost(w.record, who, name, w.personas, 0))
	}
	w.total.Input += input
	w.total.Cost += cost
}

// promptLimit returns the most tokens that the prompt of a step can have.
func (w *reservation) promptLimit(s *protocol.Step, who *Participant, seat transcript.Profile) (most int) {
	defer func() {
		if recover() != nil { // of Names or Show, which may not expect turns without data
			most = w.scaled(s, w.EstimatedTokens(s, seat)+w.positions+w.profile+w.documents)
		}
	}()
	fixed := w.Tokens(s, seat) + valueTokens + w.positions
	if w.isParticipating(s.Actor) {
		fixed += w.profile
	}
	if slices.Contains(w.Judges, s.Actor) {
		fixed += adviceTokens * len(w.config.Detect)
	}
	if s.Kind == transcript.Speech {
		fixed += w.documents
	}
	_, tokens := w.Visible(s)
	all := fixed
	for _, n := range tokens {
		all += n
	}
	if all = w.scaled(s, all); who.Window > 0 {
		all = min(all, max(who.Window-who.MaxTokens, w.scaled(s, fixed)))
	}
	return all
}

// scaled returns the most tokens of a prompt that is estimated to have the given ones.
func (w *reservation) scaled(s *protocol.Step, tokens int) int {
	return int(float64(tokens)*max(w.Scale(s.Actor, s.Phase).Factor(), 1)) + 1
}

// maxCost returns the most that a prompt and a reply with the given tokens can cost. A judge's substitutes may have other
// prices.
func maxCost(r *record, p *Participant, actor string, input, output int) float64 {
	cost := func(model string, output int) float64 {
		known, _ := r.config.Prices.Lookup(model)
		u := transcript.Usage{Input: input, Output: output}
		plain := known.Cost(u)
		u.Written = input // the service may write the whole prompt to its cache
		return max(plain, known.Cost(u))
	}
	most := cost(p.Model, min(output, p.MaxTokens))
	for _, s := range substitutesOf(r, actor) {
		most = max(most, cost(s.Model, min(output, substituteLimit(p, &s))))
	}
	return most
}

// maxReply returns the token limit of an actor's replies. For a judge, it returns the largest limit among those of the
// judge itself and its substitutes.
func maxReply(r *record, p *Participant, actor string) int {
	most := p.MaxTokens
	for _, s := range substitutesOf(r, actor) {
		most = max(most, substituteLimit(p, &s))
	}
	return most
}

// substitutesOf returns the substitutes that may reply in place of an actor.
func substitutesOf(r *record, actor string) []Participant {
	if !slices.Contains(r.Judges, actor) {
		return nil
	}
	return r.config.Substitutes
}

// substituteLimit returns the token limit of a substitute's replies in place of a judge: the lower one of the two limits.
// The substitute has room for its reasoning in addition to the judge's limit.
func substituteLimit(judge, s *Participant) int {
	return min(s.MaxTokens, judge.MaxTokens+reasoning.Tokens(s.Reasoning))
}

// replyLimit returns the token limit of an actor's replies. That of a substitute is the lowest for any judge.
func replyLimit(c *Config, field string, p Participant) int {
	limit := p.MaxTokens
	for i := range c.Judges {
		if strings.HasPrefix(field, "substitutes") {
			limit = min(limit, substituteLimit(&c.Judges[i], &p))
		}
	}
	return limit
}
