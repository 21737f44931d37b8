package debate

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/characters"
	"github.com/elenchus-go/debate/internal/clients"
	"github.com/elenchus-go/debate/internal/findings"
	"github.com/elenchus-go/debate/internal/forks"
	"github.com/elenchus-go/debate/internal/panics"
	"github.com/elenchus-go/debate/internal/step/prompting"
	"github.com/elenchus-go/debate/internal/step/rounds"
	"github.com/elenchus-go/debate/journal"
	"github.com/elenchus-go/debate/judge/detect"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/tool"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// apply adds a durable event, committed at the given time, to the record. It returns a *store.Damaged if no version of the
// library writes such an event.
func (r *record) apply(ev Event, at time.Time) error {
	err := r.checkEntry(ev)
	if err == nil {
		elapse(r, ev, at)
		err = r.add(ev)
	}
	if err != nil {
		return &store.Damaged{
			ID:  r.ID,
			Seq: ev.Meta().Seq,
			Err: err,
		}
	}
	meta := ev.Meta()
	r.Seq = meta.Seq
	if r.course != nil {
		if r.course.Follow(ev, forks.Place{
			State: r.lifecycle.State,
			Round: r.Cursor.Round,
		}) { // the judges see other documents from here on
			r.setConfig(r.config)
			r.Forget()
		}
	}
	r.writer = rulesOf(meta, r.writer)
	return nil
}

// add adds a checked event.
func (r *record) add(ev Event) (err error) {
	open := r.planned.open
	r.planned.open = nil
	failed := journal.Failures(ev)
	switch ev := ev.(type) {
	case ConfigChanged:
		err = r.configure(ev)
	case StateChanged:
		r.addFailures(failed...)
		r.transition(ev)
	case PhaseStarted:
		r.StartPhase(ev.Phase, ev.Seq)
		r.Parallel = ev.Parallel
		r.History.Wanted = ev.Summary
		if r.Parallel {
			r.History.Scales.Freeze(ev.Phase)
		}
		if ev.Callers != nil {
			r.Sources.Begin(r.PhaseKey(ev.Phase), ev.Callers)
		}
		if open != nil && open[0].Name == ev.Phase {
			r.planned.open = open
		}
	case TurnDone:
		if open != nil && open[0].Name == ev.Turn.Phase && ev.Turn.Kind == r.Cursor.Stage {
			r.planned.open = open
		}
		err = r.addTurn(ev.Turn)
		if ev.Reply != "" {
			put(&r.people.replies, ev.Turn.Key, ev.Reply)
		}
	case Dropped:
		if r.decisions.withdrawn == nil ||
			r.decisions.withdrawn.Key != ev.Failure.Key { // otherwise the question has already added it
			r.addFailures(ev.Failure)
		}
		r.addFailures(ev.OtherFailures...)
		r.drop(ev)
		r.times.outage = 0 // nobody waits any longer
	case Decided:
		r.decide(ev)
	case Asked:
		put(&r.people.asked, ev.Key, &ev)
	case ToolsCalled:
		r.countTools(&ev)
		r.tools.Add(&ev)
		r.Sources.Add(ev.Key, ev.Seq, ev.Calls)
	case Annotated:
		r.annotate(ev)
	default:
		err = fmt.Errorf("type %q is not an entry of a journal", ev.Meta().Type)
	}
	return err
}

func (r *record) decide(ev Decided) {
	switch ev.Action {
	case actionDecline:
		put(&r.people.declined, ev.Key, &ev)
		return
	case actionHold, actionRelease:
		r.people.held = ev.Action == actionHold
		return
	}
	q := r.decisions.question
	r.decisions.withdrawn = nil
	r.decisions.question = nil
	put(&r.decisions.made, q.ID, ev.Action)
	if q.Failure != nil {
		delete(r.people.declined, q.Failure.Key) // the person is asked again, unless the actor is dropped
	}
	if ev.Action == actionDrop {
		r.decisions.withdrawn = q.Failure
	}
	if q.Gate != "" {
		put(&r.decisions.passed, q.Gate, true)
	}
	if q.Call != nil {
		r.tools.Decide(q.Call.ID, rounds.Decision{Refused: ev.Action == actionRefuse, Reason: ev.Reason})
	}
}

// parse reads and checks a configuration. One that was just encoded need not be read.
func (r *record) parse(ev ConfigChanged) (Config, error) {
	if r.given != nil {
		c := *r.given
		r.given = nil
		return c, nil
	}
	c, err := r.env.parse(ev.Config)
	if err == nil && c.Protocol == nil {
		err = errors.New("the configuration has no protocol")
	}
	if err == nil {
		err = checkStored(&c, r.ID)
	}
	return c, err
}

func (r *record) configure(ev ConfigChanged) (err error) {
	if ev.Format != store.Format {
		return fmt.Errorf("the format is %d, want %d", ev.Format, store.Format)
	}
	if r.Seq == 0 {
		if ev.Origin == nil || ev.Origin.Keys == nil {
			return errors.New("the first entry has no secret")
		}
		r.keys = ev.Origin.Keys
		r.fork.silent = ev.Origin.Silent
		r.course, err = forks.ReadCourse(ev.Origin.Course)
	}
	c, wrong := r.parse(ev)
	err = cmp.Or(err, wrong)
	if err != nil {
		return err
	}
	if ev.Parent.ID != "" {
		r.fork.Parent = ev.Parent
		r.times.created = ev.Forked
	}
	r.History.Scales.Reconfigure(seatSettings{config: r.config}, seatSettings{config: &c})
	maps.DeleteFunc(r.people.asked, func(k transcript.Key, _ *Asked) bool { // of a step that may change: it is asked again
		_, done := r.Find(k)
		return !done
	})
	was := r.config
	r.setConfig(&c)
	if len(c.Documents) > 0 || was.Documents != nil {
		r.Sources.SetDocuments(c.Documents, ev.Seq)
		r.Documents = r.Sources.Shared()
	}
	r.Seed = c.Seed
	r.Topic = r.config.Topic
	r.MinRounds = r.config.Limits.MinRounds
	r.MaxRounds = r.config.Limits.MaxRounds
	r.Judges = namesOf(r.config.Judges)
	r.addPeople()
	if !r.HasTurns() { // after the first turn, only a fork changes anything else of participants
		r.addParticipants()
	} else {
		r.editParticipants(was)
	}
	if s := r.lifecycle.State; s == fsm.Configuring ||
		s == fsm.Ready { // a fork that continues is not checked again
		r.accepted.valid = false
	}
	r.accepted.limited = nil
	r.accepted.mismatched = nil
	r.accepted.biased = nil
	r.findings.ChangeRules()
	r.Forget()
	r.limitReplies(ev.ReplyTokens)
	return nil
}

// editParticipants changes the profiles of participants where the configuration differs from the one before.
func (r *record) editParticipants(was *Config) {
	for _, list := range [][]transcript.Profile{r.Participants, r.Profiles} { // addPeople has copied them
		for i := range list {
			p := &list[i]
			old := was.Actor(p.Name)
			is := r.config.Actor(p.Name)
			if old != nil && is != nil {
				editProfile(p, old, is)
			}
		}
	}
}

// limitReplies lowers the token limits of replies, by the fields of the actors.
func (r *record) limitReplies(limits map[string]int) {
	if len(limits) > 0 {
		r.accepted.limited = append(r.accepted.limited, warningsAbout(
			r.Cursor.Run,
			clients.WarnOfReplyLimits(r.config.Actors(), limits),
		)...)
		c := *r.config
		limitReplies(&c, limits)
		r.setConfig(&c)
	}
}

// setWindows sets the windows of actors that have none, by the fields of the actors.
func (r *record) setWindows(known map[string]int) {
	r.accepted.mismatched = warningsAbout(r.Cursor.Run, clients.WarnOfWindows(r.config.Actors(), known))
	none := func(p Participant) bool { return p.Window == 0 && !p.Human }
	c := *r.config
	if slices.ContainsFunc(c.Participants, none) || slices.ContainsFunc(c.Judges, none) ||
		slices.ContainsFunc(c.Substitutes, none) || none(c.Summarizer) || none(c.PersonaAssigner) {
		setWindows(&c, known)
		r.setConfig(&c)
	}
}

func (r *record) transition(ev StateChanged) {
	r.lifecycle = fsm.Position{State: ev.To}
	r.accepted.problems = ev.Problems
	r.findings.List = append(r.findings.List, ev.Findings...)
	switch ev.On {
	case fsm.Responded:
		r.findings.Reported(r.Cursor.Round, false)
	case fsm.Assessed:
		r.findings.Reported(r.Cursor.Round, true)
	case fsm.Pause: // the cursor stays: a pause does not change what a parallel phase sees
		r.lifecycle.PausedFrom = ev.From
		r.decisions.question = ev.Question
		if r.decisions.question != nil {
			q := *ev.Question
			q.ID = questionID(ev.Seq)
			r.decisions.question = &q
		}
		r.people.held = ev.Question == nil && !ev.ForPeople
		r.fork.idle = ev.Fork
		return
	case fsm.Resume:
		r.people.held = false
		r.fork.idle = false
		return
	case fsm.Accept:
		r.accepted.valid = true
		r.setWindows(ev.Windows)
		r.limitReplies(ev.ReplyTokens)
		r.accepted.biased = nil
		for _, w := range ev.Warnings {
			if strings.HasSuffix(w.Key.Target, clients.AuditedField) {
				r.accepted.biased = append(r.accepted.biased, w)
			}
		}
	case fsm.Start:
		r.Started = cmp.Or(r.Started, ev.At)
	case fsm.Fail:
		r.losses.failure = ev.Failure
	case fsm.Retry:
		r.losses.failure = nil
		r.people.declined = nil
		r.times.outage = 0
	case fsm.Reset:
		r.reset()
	default:
	}
	if round := r.roundAfter(ev.On, ev.To); round != r.Cursor.Round {
		r.Cursor.Round = round
		r.times.roundBegan = r.times.running
		r.History.Scales.NextRound()
	}
	if ev.Ending.Outcome != "" {
		r.Ending = ev.Ending
	}
	if ev.To.Final() {
		r.times.completed = ev.At
	}
	r.decisions.question = nil
	r.people.held = false
	r.fork.idle = false
	r.History.Wanted = nil
	r.times.entered = ev.At
	r.Cursor.Stage = stages[ev.To]
	r.Cursor.Phase = ""
	r.Cursor.PhaseSeq = ev.Seq
}

// countTools counts the calls of an entry that are done and were not in the entry before it of the same round.
func (r *record) countTools(ev *ToolsCalled) {
	before := r.tools.Of(ev.Key).Last()
	for _, c := range ev.Calls {
		counted := before != nil && before.Number == ev.Number &&
			slices.ContainsFunc(before.Calls, func(o tool.Record) bool { return o.ID == c.ID && o.Done })
		if !c.Done || counted {
			continue
		}
		at := slices.IndexFunc(r.used, func(u ToolUse) bool {
			return u.Actor == ev.Key.Actor && u.Tool == c.Name
		})
		if at < 0 {
			at = len(r.used)
			r.used = append(r.used, ToolUse{Actor: ev.Key.Actor, Tool: c.Name})
		}
		r.used[at].Calls++
		if c.Error != "" {
			r.used[at].Failed++
		}
	}
}

// reset begins a new run. Earlier turns stay in the journal but are not shown again.
func (r *record) reset() {
	run := r.Cursor.Run + 1
	r.Record = protocol.Record{
		ID:        r.ID,
		Seed:      r.Seed,
		Topic:     r.Topic,
		Started:   r.Started,
		Rating:    r.Rating,
		MinRounds: r.MinRounds,
		MaxRounds: r.MaxRounds,
	}
	r.Cursor.Run = run
	r.Judges = namesOf(r.config.Judges)
	r.Ending = transcript.Ending{}
	r.losses.failure = nil
	r.accepted.mismatched = nil
	r.accepted.biased = nil
	r.accepted.valid = false
	r.Forget()
	r.people = people{}
	r.decisions.passed = nil
	r.tools = rounds.Rounds{}
	r.used = nil
	r.usage = transcript.Usage{}
	r.times.running = 0
	r.times.roundBegan = 0
	r.losses.steps = nil // budgets apply to each run
	r.History = prompting.History{}
	r.findings = findings.Findings{}
	r.Sources.Reset()
	r.addParticipants()
}

func (r *record) addTurn(t transcript.Turn) error {
	t.Seq = r.Seq + 1
	if len(r.Turns) == 0 {
		r.Turns = slices.Grow(r.Turns, min(r.MaxRounds*(len(r.Participants)+len(r.Judges)), 60)+4)
	}
	if !r.Record.Apply(t) {
		return fmt.Errorf("turn %s is a duplicate", t.Key)
	}
	r.usage = r.usage.Add(t.Usage).Add(r.tools.End(t.Key, t.Attempts))
	r.Calibrate(t.Key, t.Attempts)
	r.History.Add(&t, r.Cursor.Round)
	if t.Kind == transcript.Summary {
		r.Cursor.Phase = "" // each summary has its own phase
	}
	if t.Kind != transcript.Remark {
		r.times.outage = 0
	}
	if t.Contract == protocol.PersonasContract.Name() {
		r.Profiles = r.Participants // nobody has dropped out yet
		r.Forget()
	}
	return nil
}

// addFailures adds the usage of failed steps. It ignores nil failures.
func (r *record) addFailures(failures ...*Failure) {
	for _, f := range failures {
		if f != nil {
			r.losses.steps = append(r.losses.steps, f)
			r.usage = r.usage.Add(f.Usage())
			r.tools.Failed(f.Key, f.AttemptDetails)
			r.Calibrate(f.Key, f.AttemptDetails)
			if f.Kind == providers.ContextOverflow { // otherwise the retry would fail too
				r.History.Scales.Refreeze(f.Key.Actor, f.Key.Phase)
			}
		}
	}
}

func (r *record) drop(ev Dropped) {
	r.Record.Drop(ev.Name)
	r.Names = prompting.NamesOf(r.Participants)
	r.losses.dropped = append(r.losses.dropped, ev)
}

func (r *record) annotate(ev Annotated) {
	r.notes.Add(ev.Name, ev.Value)
	if ev.Name == "rating" {
		r.Rating = ev.Value
	}
}

func questionID(seq int64) string { return fmt.Sprintf("q%d", seq) }

// answerOf returns the answer that a turn gives.
func (r *record) answerOf(t transcript.Turn) string {
	switch {
	case t.Extracted != nil:
		return *t.Extracted
	case r.env.extractAnswer == nil:
		return ""
	}
	return r.env.extractAnswer(t) // no rule compared answers when the turn was committed
}

// extract sets the answer of a turn that is about to be added, if a rule compares answers. If Options.ExtractAnswer panics, the
// turn has none; the debate fails when the rule asks for it.
func (r *record) extract(t *transcript.Turn) {
	compares := func(rule detect.Rule) bool { return rule.EffectiveMethod() == "answers" }
	if t.Kind != transcript.Speech || r.env.extractAnswer == nil ||
		!slices.ContainsFunc(r.config.Detect, compares) {
		return
	}
	said := *t
	said.Seq = r.Seq + 1
	_ = panics.Call(func() { t.Extracted = new(characters.Valid(r.env.extractAnswer(said))) })
}

// editProfile changes a profile where the settings of its actor differ from those before.
func editProfile(p *transcript.Profile, was, now *Participant) {
	fields := []struct {
		field    *string
		was, now string
	}{
		{&p.Role, was.Role, now.Role},
		{&p.Position, was.Position, now.Position},
		{&p.Instructions, was.Instructions, now.Instructions},
	}
	for _, x := range fields {
		if x.was != x.now {
			*x.field = x.now
		}
	}
	if was.Persona != now.Persona { // the arguments belong to the persona that was assigned
		p.Persona = now.Persona
		p.KeyArguments = nil
	}
}
