package budget

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/internal/panics"
	"github.com/elenchus-go/debate/internal/step/prompting"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// Stage is the phases of a stage.
type Stage struct {
	Kind   transcript.Kind
	Phases []protocol.Phase
}

// Forecast describes the steps that a protocol says it can ask for, before the first turn.
type Forecast struct {
	Steps      []protocol.Step // one for each actor, prompt and contract, in order
	First      []Stage         // the setup, and the first phase of round 1
	Output     int             // tokens of all replies if each has its maximum length
	Assesses   bool            // a judge assesses each round by the rubric
	Duplicates []string        // what phases have a step twice
}

// ForecastOf asks a protocol for the steps of all stages and rounds. r is the record of a debate that has not begun, phases returns
// the phases of a stage in the round at hand, and output the tokens of the replies to steps if each has its maximum length.
func ForecastOf(
	r *protocol.Record, p protocol.Protocol, phases func(stage transcript.Kind) []protocol.Phase, output func([]protocol.Step) int,
) (f Forecast) {
	add := func(stage transcript.Kind) int { return f.add(stage, r.Cursor.Round, phases(stage), output) }
	at := r.Cursor
	defer func() { r.Cursor = at }()
	f.Output = add(transcript.Setup)
	most := 0
	for r.Cursor.Round = 1; r.Cursor.Round <= r.MaxRounds; r.Cursor.Round++ {
		most = max(most, add(transcript.Speech)+add(transcript.Assessment))
	}
	r.Cursor.Round = r.MaxRounds
	f.Output += r.MaxRounds*most + add(transcript.Conclusion)
	if p, ok := p.(interface {
		Steps(r *protocol.Record) []protocol.Step
	}); ok {
		for _, s := range p.Steps(r) {
			f.addStep(s)
		}
	}
	return f
}

// add adds the steps of a stage in a round. It returns the output tokens of replies of maximum length.
func (f *Forecast) add(stage transcript.Kind, round int, phases []protocol.Phase, output func([]protocol.Step) int) (tokens int) {
	switch {
	case stage == transcript.Setup:
		f.First = []Stage{{stage, phases}}
	case stage == transcript.Speech && len(f.First) == 1:
		f.First = append(f.First, Stage{stage, phases[:min(1, len(phases))]})
	}
	for _, p := range phases {
		tokens += output(p.Steps)
		if problem := DuplicateStep(p.Name, p.Steps); problem != "" && !slices.Contains(f.Duplicates, problem) {
			f.Duplicates = append(f.Duplicates, problem)
		}
		for _, s := range p.Steps {
			f.Assesses = f.Assesses || stage == transcript.Assessment && s.Contract == judge.AssessmentContract.Name()
			s.Kind = stage
			s.Round = round
			s.Phase = p.Name
			f.addStep(s)
		}
	}
	return tokens
}

// addStep adds a step unless there is one with the same prompt.
func (f *Forecast) addStep(s protocol.Step) {
	for i := range f.Steps {
		if sameRequest(&f.Steps[i], &s) {
			return
		}
	}
	f.Steps = append(f.Steps, s)
}

// sameRequest reports whether the prompts of two steps differ at most in values.
func sameRequest(a, b *protocol.Step) bool {
	if a.Actor != b.Actor || a.Kind != b.Kind || a.Blind != b.Blind {
		return false
	}
	if a.Prompt != b.Prompt || a.Contract != b.Contract || len(a.Vars) != len(b.Vars) {
		return false
	}
	for key := range a.Vars {
		if _, both := b.Vars[key]; !both {
			return false
		}
	}
	return true
}

// DuplicateStep returns a sentence if a phase has a step twice, or the empty string. Only one of them could be committed.
func DuplicateStep(phase string, steps []protocol.Step) string {
	for i := range steps {
		for j := range i {
			if steps[i].Actor == steps[j].Actor && steps[i].Target == steps[j].Target {
				return fmt.Sprintf("phase %q has two steps of %q about %q, set another Target in each", phase, steps[i].Actor, steps[i].Target)
			}
		}
	}
	return ""
}

// LongestChain returns the largest number of steps that a single actor performs one after the other, at least 1.
func LongestChain(steps []protocol.Step) int {
	if len(steps) < 2 {
		return 1
	}
	count := map[string]int{"": 1}
	for i := range steps {
		count[steps[i].Actor]++
	}
	return slices.Max(slices.Collect(maps.Values(count)))
}

// Calls tells what calls of models can use at most.
type Calls interface {
	// Actor returns an actor, or false if there is none.
	Actor(name string) (Actor, bool)
	// Phases returns the phases of the current stage that the protocol asks for now.
	Phases() []protocol.Phase
	// Cost returns the most that a prompt and a reply of an actor with the given tokens can cost.
	Cost(actor string, prompt, reply int) float64
	// Embedded returns the tokens of the texts that the step with an order embeds in a round.
	Embedded(round, order int) int
}

// Actor is what an actor's calls can use.
type Actor struct {
	Seat   transcript.Profile
	Free   bool // a person, or what calls no model
	NoText bool // it returns documents or vectors, not generated text
	Reply  int  // the most tokens of a reply, also of one of a substitute
}

// Case adds up the worst case that budgets reserve for steps that have not run yet. Set the exported fields, call Add for each phase,
// and then Conclude. The rule is:
//
//   - A step makes as many calls as Replies returns, and each reply has its maximum length.
//   - A prompt has its real size: the system prompt, the attachments, the task and the schema of the reply, built as for a
//     call. It shows the turns that the step's Show selects: those that exist, and those that may be made before it, at their
//     maximum length. The steps of a parallel phase do not see one another. No prompt exceeds the window.
//   - The steps of the conclusion are those that the protocol asks for once these turns exist. If there are none, they are
//     those that it asks for now.
//   - Personas that are not assigned yet have the maximum length of the assigner's reply. The positions count in each
//     prompt, and the rest for one participant.
//
// What failed attempts use is known afterwards. It counts from the next phase on.
type Case struct {
	*prompting.Debate

	Calls  Calls
	Spends bool // the tokens of prompts and the cost matter, not only the output
	Rules  int  // the number of rules whose findings may advise judges
	Usual  bool // no first reply is doubtful
	// Each, if set, is called for each call with the most that it can use. It is not called for personas, which add to all calls.
	Each func(actor string, u transcript.Usage)

	total     transcript.Usage
	personas  int            // tokens of personas that are not assigned yet, except positions
	profile   int            // tokens of the delimiters of a persona that is not assigned yet
	positions int            // tokens of positions that are not assigned yet
	documents int            // tokens of documents that are not retrieved yet
	speeches  map[string]int // number of steps of each participant
}

// Replies returns the number of replies that budgets reserve for a step: two if the first may be doubtful.
func Replies(s *protocol.Step) int {
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

// Add adds the steps of a phase that have no turn yet, and supposes their turns.
func (w *Case) Add(stage transcript.Kind, p protocol.Phase) {
	w.Cursor.Stage = stage
	since := w.Seq
	var turns []transcript.Turn
	for i, s := range p.Steps {
		if s.Kind == transcript.Silence {
			continue
		}
		s.Key = transcript.Key{
			Run:    w.Cursor.Run,
			Round:  w.Cursor.Round,
			Phase:  p.Name,
			Actor:  s.Actor,
			Target: s.Target,
		}
		if stage == transcript.Setup {
			s.Round = 0
		}
		who, ok := w.Calls.Actor(s.Actor)
		if _, done := w.Find(s.Key); done || !ok {
			continue
		}
		s.Kind = stage
		s.Order = i
		s.VisibleSeq = since
		if !p.Parallel {
			s.VisibleSeq = w.Seq
		}
		w.addStep(&s, &who)
		t := transcript.Turn{
			Key:      s.Key,
			Kind:     stage,
			Order:    i,
			Contract: s.Contract,
			Tokens:   who.Reply,
		}
		t.Text = supposedText()[:min(5*min(t.Tokens, maxSupposed), maxSupposed/5*5)]
		if who.NoText {
			t.Text = ""
			t.Tokens = 0
		}
		if p.Parallel {
			turns = append(turns, t)
		} else {
			w.Suppose(t)
		}
	}
	w.Suppose(turns...)
}

// Conclude adds the phases of the conclusion, and returns the worst case of everything. declared are the phases that the
// protocol asks for before the supposed turns.
func (w *Case) Conclude(declared []protocol.Phase) transcript.Usage {
	w.AddStage(transcript.Conclusion, declared)
	w.addPersonas()
	return w.total
}

// supposed returns the phases of a stage after the supposed turns. It returns nothing if the protocol panics, because
// it may not expect turns without data.
func (w *Case) supposed(stage transcript.Kind) (phases []protocol.Phase) {
	w.Cursor.Stage = stage
	_ = panics.Call(func() { phases = w.Calls.Phases() })
	return phases
}

// AddStage adds the phases of a stage in the current round: those that the protocol asks for after the supposed turns, and then those
// that it has declared before any turn. Those of a conclusion that it has declared count only if there are no others.
func (w *Case) AddStage(stage transcript.Kind, declared []protocol.Phase) {
	var added []string
	add := func(phases []protocol.Phase) bool {
		at := slices.IndexFunc(phases, func(p protocol.Phase) bool { return !slices.Contains(added, p.Name) })
		if at >= 0 {
			added = append(added, phases[at].Name)
			w.Add(stage, phases[at])
		}
		return at >= 0
	}
	for add(w.supposed(stage)) { // a phase may depend on the turns of the one before it
	}
	if stage == transcript.Conclusion && len(added) > 0 {
		return
	}
	for add(declared) {
	}
}

// addStep adds the calls of a step.
func (w *Case) addStep(s *protocol.Step, who *Actor) {
	switch {
	case who.Free && s.Actor != protocol.Retriever:
		return
	case s.Actor == protocol.Retriever:
		w.documents += documentTokens
		if w.Spends && !who.Free && s.Target != protocol.Passages {
			w.addCall(s.Actor, w.promptLimit(s, who), 0)
		}
		return
	case s.Actor == protocol.Embedder:
		w.addCall(s.Actor, w.Calls.Embedded(s.Round, s.Order), 0)
		return
	}
	reply := who.Reply
	n := Replies(s)
	if w.Usual {
		n = 1
	}
	if !w.Spends {
		w.total.Output += n * reply
		return
	}
	prompt := w.promptLimit(s, who)
	for range n {
		w.addCall(s.Actor, prompt, reply)
		prompt += reply + doubtTokens + namesTokens(w.Names) // asked again, the prompt has the reply and what is doubtful about it
	}
	switch {
	case s.Actor == protocol.PersonaAssigner:
		quote := w.Pseudonyms(s).QuoteTokens() + valueTokens/4
		delimiters := 0
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
	case slices.Contains(w.Names, s.Actor):
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
func (w *Case) addCall(actor string, prompt, reply int) {
	u := transcript.Usage{
		Input:  prompt,
		Output: reply,
		Cost:   w.Calls.Cost(actor, prompt, reply),
	}
	w.total = w.total.Add(u)
	if w.Each != nil {
		w.Each(actor, u)
	}
}

// addPersonas adds personas that are not assigned yet to the prompts of the participant for whom that costs most.
func (w *Case) addPersonas() {
	input := 0
	cost := 0.0
	for name, n := range w.speeches {
		input = max(input, n*w.personas)
		cost = max(cost, float64(n)*w.Calls.Cost(name, w.personas, 0))
	}
	w.total.Input += input
	w.total.Cost += cost
}

// promptLimit returns the most tokens that the prompt of a step can have.
func (w *Case) promptLimit(s *protocol.Step, who *Actor) (most int) {
	if panics.Call(func() { most = w.knownLimit(s, who) }) != nil { // Names or Show may not expect turns without data
		return w.scaled(s, w.EstimatedTokens(s, who.Seat)+w.positions+w.profile+w.documents)
	}
	return most
}

func (w *Case) knownLimit(s *protocol.Step, who *Actor) int {
	fixed := w.Tokens(s, who.Seat) + valueTokens + w.positions
	if slices.Contains(w.Names, s.Actor) {
		fixed += w.profile
	}
	if slices.Contains(w.Judges, s.Actor) {
		fixed += adviceTokens * w.Rules
	}
	if s.Kind == transcript.Speech {
		fixed += w.documents
	}
	_, tokens := w.Visible(s)
	all := fixed
	for _, n := range tokens {
		all += n
	}
	all = w.scaled(s, all)
	if m, _ := w.Settings.Actors.ModelOf(s.Actor); m.Window > 0 {
		all = min(all, max(m.Window-m.MaxTokens, w.scaled(s, fixed)))
	}
	return all
}

// scaled returns the most tokens of a prompt that is estimated to have the given ones.
func (w *Case) scaled(s *protocol.Step, tokens int) int {
	return int(float64(tokens)*max(w.Scale(s.Actor, s.Phase).Factor(), 1)) + 1
}
