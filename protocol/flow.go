package protocol

import (
	"fmt"

	"github.com/elenchus-go/debate/judge/reply"
	"github.com/elenchus-go/debate/transcript"
)

// Flow is a protocol as a table: who takes part, which phases each round and the end have, when the debate ends, and what it has
// found. It is a protocol like any other:
//
//	d, err := debate.New(ctx, debate.Config{Topic: topic, Protocol: protocol.Flow{Title: "poll/1", Stages: stages}, …}, options)
//
// A table is code, so it is not stored with the debate. An engine that is to read the debate again needs it in Options.Protocols.
// A protocol with parameters is a struct with a method that makes the table from them, and methods that call those of the table, as
// in protocol/mad.
type Flow struct {
	Title    string   `json:"-"` // name and version, such as "delphi/1"
	Seats    Seats    `json:"-"`
	Settings Defaults `json:"-"`
	// Stages are the phases of each round and of the end, in order.
	Stages []Stage `json:"-"`
	// Ends reports whether the debate ends after a round. Defaults to an end by the limits alone.
	Ends func(*Record) transcript.Ending `json:"-"`
	// Answers computes the answer. Defaults to the last turn of the conclusion, or else to what was found, in a sentence.
	Answers func(*Record) Answer `json:"-"`
	// Finds says in the common form what was found. Defaults to what follows from the answer.
	Finds func(*Record, Answer) Outcome `json:"-"`
}

// Stage is one phase of a [Flow], in each round or at the end.
type Stage struct {
	Kind transcript.Kind // the stage of the debate to which the phase belongs
	Name string          // of the phase
	// If reports whether there is such a phase now. Defaults to always.
	If func(*Record) bool
	// Who returns the actors and whom their turns are about. Defaults to [Participants] for speeches and to [FirstJudge] for all
	// other stages. Without anybody, there is no phase.
	Who      func(*Record) []transcript.Key
	Prompt   string                      // of each step
	Contract *reply.Contract             // of each reply; nil for free text
	Show     func(*transcript.Turn) bool // whether a prompt shows a turn; nil for every speech and remark
	Parallel bool                        // whether the steps run at once and do not see one another
	Blind    bool                        // whether the actors know participants by pseudonyms
	Decides  bool                        // whether judges say in this phase what the answer is computed from; see [Decider]
	// Each completes a step, for example with Vars or with another prompt. Its Order is the position in the phase.
	Each func(*Record, *Step)
}

// Participants returns all active participants, in order.
func Participants(r *Record) []transcript.Key {
	keys := make([]transcript.Key, len(r.Participants))
	for i := range keys {
		keys[i].Actor = r.Participants[i].Name
	}
	return keys
}

// FirstJudge returns the first active judge, if there is one.
func FirstJudge(r *Record) []transcript.Key { return Actors(r.Judges[:min(1, len(r.Judges))]...) }

// Judges returns all active judges, in order.
func Judges(r *Record) []transcript.Key { return Actors(r.Judges...) }

// Remarks shows a prompt the remarks of people, and no turn of the debate.
func Remarks(t *transcript.Turn) bool { return t.Kind == transcript.Remark }

// Pair returns a function that returns the participants with the two roles, as [Record.PairByRole] does. It returns nobody unless
// there are exactly two participants.
func Pair(first, second string) func(*Record) []transcript.Key {
	return func(r *Record) []transcript.Key {
		a, b := r.PairByRole(first, second)
		if a == "" {
			return nil
		}
		return Actors(a, b)
	}
}

// Actors returns a key for each of the names.
func Actors(names ...string) []transcript.Key {
	keys := make([]transcript.Key, len(names))
	for i := range names {
		keys[i].Actor = names[i]
	}
	return keys
}

// Seats says how many participants and judges a protocol takes.
type Seats struct {
	Participants Range
	Judges       Range
	// Rules returns further problems with the participants. It is called if their number is right.
	Rules func(*Record) []Problem
}

// Range says how many there may be.
type Range struct {
	Least int
	Most  int // defaults to no limit
	// Takes ends a sentence about a wrong number, such as "mad takes 2". Defaults to a text with the numbers.
	Takes string
}

// String returns what ends a sentence about a wrong number.
func (n Range) String() string {
	switch {
	case n.Takes != "":
		return n.Takes
	case n.Most == 0:
		return fmt.Sprintf("the protocol takes %d or more", n.Least)
	case n.Most == n.Least:
		return fmt.Sprintf("the protocol takes %d", n.Least)
	}
	return fmt.Sprintf("the protocol takes %d to %d", n.Least, n.Most)
}

func (n Range) has(count int) bool { return count >= n.Least && (count <= n.Most || n.Most == 0) }

// Check returns the problems with the numbers of participants and judges.
func (s Seats) Check(r *Record) (problems []Problem) {
	if n := len(r.Participants); !s.Participants.has(n) {
		problems = append(problems, Problemf("participants", "%d enabled, %v", n, s.Participants))
	} else if s.Rules != nil {
		problems = append(problems, s.Rules(r)...)
	}
	switch n := len(r.Judges); {
	case s.Judges.has(n):
	case n == 0:
		problems = append(problems, Problemf("judges", "none, %v", s.Judges))
	case s.Judges.Most == 1:
		problems = append(problems, r.FurtherJudges()...)
	default:
		problems = append(problems, Problemf("judges", "%d, %v", n, s.Judges))
	}
	return problems
}

// Name returns the name and the version.
func (f Flow) Name() string { return f.Title }

// Defaults returns the settings.
func (f Flow) Defaults() Defaults { return f.Settings }

// Check returns the problems with the seats.
func (f Flow) Check(r *Record) []Problem { return f.Seats.Check(r) }

// Phases returns the phases of the stage and round that have steps.
func (f Flow) Phases(r *Record) (phases []Phase) {
	for i := range f.Stages {
		s := &f.Stages[i]
		if s.Kind != r.Cursor.Stage || s.If != nil && !s.If(r) {
			continue
		}
		if steps := s.steps(r); len(steps) > 0 {
			phases = append(phases, Phase{Name: s.Name, Parallel: s.Parallel, Steps: steps})
		}
	}
	return phases
}

// steps returns the steps of a phase.
func (s *Stage) steps(r *Record) []Step {
	who := s.Who
	switch {
	case who != nil:
	case s.Kind == transcript.Speech:
		who = Participants
	default:
		who = FirstJudge
	}
	keys := who(r)
	steps := make([]Step, len(keys))
	for i := range steps {
		steps[i] = Step{Key: keys[i], Order: i, Prompt: s.Prompt, Show: s.Show, Blind: s.Blind}
		if s.Contract != nil {
			steps[i].Contract = s.Contract.Name()
		}
		if s.Each != nil {
			s.Each(r, &steps[i])
		}
	}
	return steps
}

// Steps returns the steps of phases that depend on If, so that their prompts are checked before the first call.
func (f Flow) Steps(r *Record) (steps []Step) {
	for i := range f.Stages {
		s := &f.Stages[i]
		if s.If == nil {
			continue
		}
		for _, step := range s.steps(r) {
			step.Kind, step.Phase = s.Kind, s.Name
			steps = append(steps, step)
		}
	}
	return steps
}

// End reports whether the debate ends after a round.
func (f Flow) End(r *Record) transcript.Ending {
	if f.Ends == nil {
		return transcript.Ending{}
	}
	return f.Ends(r)
}

// Answer returns the answer, or the last turn of the conclusion, or what was found.
func (f Flow) Answer(r *Record) (a Answer) {
	if f.Answers != nil {
		return f.Answers(r)
	}
	for i := range r.Turns {
		if t := &r.Turns[i]; t.Kind == transcript.Conclusion {
			a = Answer{Text: t.Text, Data: t.Data, Type: t.Contract}
		}
	}
	if a.Type == "" && a.Text == "" {
		found := f.Outcome(r, a)
		a.Text = found.String()
	}
	return a
}

// Outcome returns what the debate has found, or the zero Outcome if that follows from the answer.
func (f Flow) Outcome(r *Record, a Answer) (o Outcome) {
	if f.Finds != nil {
		o = f.Finds(r, a)
	}
	return o
}

// Deciding returns the names of the phases that decide.
func (f Flow) Deciding() (names []string) {
	for i := range f.Stages {
		if s := &f.Stages[i]; s.Decides {
			names = append(names, s.Name)
		}
	}
	return names
}
