// Package agenda says what a debate does next: what its protocol asks for, and what embeddings, people, a fork and a rejudging change
// in that. Each of these changes is a decorator of the protocol.
package agenda

import (
	"slices"
	"time"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/budget"
	"github.com/elenchus-go/debate/internal/deepcopy"
	"github.com/elenchus-go/debate/internal/findings"
	"github.com/elenchus-go/debate/internal/forks"
	"github.com/elenchus-go/debate/journal"
	"github.com/elenchus-go/debate/judge/detect"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// An Agenda holds the protocol of a debate with all that changes its phases, and what these changes need of the journal. Call Begin
// with the first entry, Configure with each configuration, and Follow with each entry.
type Agenda struct {
	protocol.Protocol // with its decorators; nil before the first entry

	Answer func(transcript.Turn) string // returns the answer of a turn
	Silent forks.Silent                 // what is silent in a fork
	Course *forks.Course                // what a rejudged debate keeps of its parent; nil in other debates
	Found  findings.Findings            // what rules have found

	config *journal.Config
	place  forks.Place // where the debate is, or is paused
	paused bool
	cache  cache
	open   []protocol.Phase // the phase of the next steps, until something happens that may change it
}

// cache holds the phases of stages as they are after the entry seq.
type cache struct {
	seq    int64
	at     transcript.Cursor // without a stage
	stages []budget.Stage
}

// Begin notes what only the first entry of a journal says.
func (a *Agenda) Begin(first *journal.Origin) (err error) {
	a.Silent = first.Silent
	if first.Course == nil {
		return nil
	}
	a.Course, err = forks.ReadCourse(first.Course)
	return err
}

// Configure composes the rules of a debate with a configuration.
func (a *Agenda) Configure(c *journal.Config) {
	p := c.Protocol
	if slices.ContainsFunc(c.Detect, func(d detect.Rule) bool { return d.EffectiveMethod() == "vectors" }) {
		p = findings.WithVectors(p)
	}
	if c.HasPeople() {
		p = withPeople{p, c}
	}
	if a.Silent != nil {
		p = forks.WithSilence(p, a.Silent)
	}
	if a.Course != nil {
		p = forks.WithCourse(p, a.Course)
	}
	a.Protocol = p
	a.config = c
	a.Found.ChangeRules()
}

// Follow notes an entry that was added to the record. It returns the documents that the judges do not see from here on, or nil if
// nothing changes for them.
func (a *Agenda) Follow(r *protocol.Record, ev journal.Event) (hidden []string) {
	open := a.open
	a.open = nil
	switch ev := ev.(type) {
	case journal.StateChanged:
		a.move(&ev)
	case journal.PhaseStarted:
		if open != nil && open[0].Name == ev.Phase {
			a.open = open
		}
	case journal.TurnDone: // a phase does not depend on its own turns
		if open != nil && open[0].Name == ev.Turn.Phase && ev.Turn.Kind == r.Cursor.Stage {
			a.open = open
		}
	}
	if a.Course != nil && a.Course.Follow(ev, a.place) {
		return a.Course.Given.Omit.Documents
	}
	return nil
}

// move notes a transition.
func (a *Agenda) move(ev *journal.StateChanged) {
	a.paused = ev.On == fsm.Pause
	if !a.paused {
		a.place = forks.Place{State: ev.To, Round: ev.Round}
	}
	a.Found.List = append(a.Found.List, ev.Findings...)
	switch ev.On {
	case fsm.Responded:
		a.Found.Reported(ev.Round, false)
	case fsm.Assessed:
		a.Found.Reported(ev.Round, true)
	case fsm.Reset:
		a.Found = findings.Findings{}
	default:
	}
}

// Forget makes the agenda ask the protocol again, because the record shows other turns without another entry.
func (a *Agenda) Forget() { a.cache = cache{} }

// Phases returns the phases of the present stage. It asks the protocol once after each entry.
func (a *Agenda) Phases(r *protocol.Record) []protocol.Phase {
	at := r.Cursor
	at.Stage = ""
	if a.cache.seq != r.Seq || a.cache.at != at {
		a.cache = cache{
			seq:    r.Seq,
			at:     at,
			stages: a.cache.stages[:0],
		}
	}
	for _, s := range a.cache.stages {
		if s.Kind == r.Cursor.Stage {
			return s.Phases
		}
	}
	phases := a.Protocol.Phases(r)
	a.cache.stages = append(a.cache.stages, budget.Stage{Kind: r.Cursor.Stage, Phases: phases})
	return phases
}

// Phase returns the phase of the present stage with a name, as a list.
func (a *Agenda) Phase(r *protocol.Record, name string) []protocol.Phase {
	phases := a.Phases(r)
	at := slices.IndexFunc(phases, func(p protocol.Phase) bool { return p.Name == name })
	return phases[at : at+1]
}

// Next returns the missing steps of the first phase of the present stage that has some. The phase in which a step was missing before
// is tried first, so that the protocol need not list all phases again.
func (a *Agenda) Next(r *protocol.Record) []protocol.Step {
	steps := protocol.Next(ahead{a}, r)
	if len(steps) > 0 && a.open != nil {
		return steps
	}
	if a.open != nil {
		a.open = nil
		steps = protocol.Next(ahead{a}, r)
	}
	if len(steps) > 0 && a.Course == nil && a.Silent == nil { // these change phases at an entry
		a.open = a.Phase(r, steps[0].Phase)
	}
	return steps
}

// ahead has the phases of an agenda in which steps can be missing.
type ahead struct{ *Agenda }

func (a ahead) Phases(r *protocol.Record) []protocol.Phase {
	switch {
	case a.open != nil:
		return a.open
	case a.Course == nil || !a.Course.Leads():
		return a.Agenda.Phases(r)
	case !a.Course.GoesOn(a.place) || !a.Course.Asks(takesPart(r)):
		return nil
	}
	others := func(p protocol.Phase) bool { return !a.Course.Given.Decides(p.Name) }
	return slices.DeleteFunc(slices.Clone(a.Agenda.Phases(r)), others)
}

// takesPart returns a function that reports whether a participant was not dropped.
func takesPart(r *protocol.Record) func(name string) bool {
	return func(name string) bool {
		return slices.ContainsFunc(r.Participants, func(p transcript.Profile) bool { return p.Name == name })
	}
}

// Given returns the next entry if the debate repeats it from its parent, with the meta that stamp returns. It is nil if the judges must
// be asked first, and in a debate that was not judged again. next returns the next steps.
func (a *Agenda) Given(
	r *protocol.Record, next func() []protocol.Step, stamp func(kind string) journal.EventMeta, now time.Time,
) journal.Event {
	if a.Course == nil || !a.Course.GoesOn(a.place) || a.paused || a.Course.Asks(takesPart(r)) && len(next()) > 0 {
		return nil
	}
	ev := a.Course.Next(takesPart(r))
	if ev == nil {
		return nil
	}
	if s, ok := ev.(journal.StateChanged); ok {
		s.From = a.place.State
		s.Instead = nil
		if (s.On == fsm.Assessed || s.On == fsm.Advance) && r.Ending.Outcome == "" {
			s.Instead = a.Course.Instead(r.Cursor.Round, s.Ending, a.Ending(r, s.Findings...))
		}
		ev = s
	}
	return a.Course.Repeat(ev, stamp, now, r.Seq)
}

// IsEmpty reports whether the turn of a step is empty: nobody is asked for it.
func IsEmpty(s protocol.Step) bool { return s.Kind == transcript.Silence }

// Find returns the findings of a round whose speeches (or assessments, if judged is set) are complete. It returns them only once.
func (a *Agenda) Find(r *protocol.Record, judged bool) []detect.Finding {
	return a.Found.New(findings.Source{
		Record:   r,
		Protocol: a.config.Protocol,
		Rules:    a.config.Detect,
		Answer:   a.Answer,
		Vectors:  findings.Vectors,
	}, judged)
}

// Ending returns why the debate ends after this round. found are findings that no entry has yet.
func (a *Agenda) Ending(r *protocol.Record, found ...detect.Finding) transcript.Ending {
	return a.Found.Ending(r, a.config.Protocol, found...)
}

// Advice returns what the judges of a round are advised of.
func (a *Agenda) Advice(round int) []string { return a.Found.Advice(round) }

// AddTo adds what was found, and what a rejudged debate keeps, to a result.
func (a *Agenda) AddTo(res *journal.Result) {
	res.Findings = deepcopy.Of(a.Found.List)
	res.Rejudged = a.Course.Result()
	res.Warnings = append(res.Warnings, a.Course.Warnings()...)
}

// withPeople is a protocol in which a human judge judges once, and under the names that the configuration asks for.
type withPeople struct {
	protocol.Protocol

	config *journal.Config
}

func (p withPeople) Phases(r *protocol.Record) []protocol.Phase {
	phases := slices.Clone(p.Protocol.Phases(r))
	for i := range phases {
		phases[i].Steps = slices.DeleteFunc(
			slices.Clone(phases[i].Steps),
			func(s protocol.Step) bool { return s.Swap && p.isHuman(s.Actor) },
		)
		for j := range phases[i].Steps {
			s := &phases[i].Steps[j]
			if slices.Contains(r.Judges, s.Actor) && p.isHuman(s.Actor) {
				s.Blind = p.config.Actor(s.Actor).Blind
			}
		}
	}
	return phases
}

func (p withPeople) isHuman(name string) bool {
	who := p.config.Actor(name)
	return who != nil && who.Human
}
