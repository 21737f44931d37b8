package core

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/chain"
	"github.com/elenchus-go/debate/internal/characters"
	"github.com/elenchus-go/debate/internal/clients"
	"github.com/elenchus-go/debate/internal/panics"
	"github.com/elenchus-go/debate/internal/protocols"
	"github.com/elenchus-go/debate/internal/sources"
	"github.com/elenchus-go/debate/internal/step/prompting"
	"github.com/elenchus-go/debate/internal/step/rounds"
	"github.com/elenchus-go/debate/internal/turns"
	"github.com/elenchus-go/debate/internal/userinput"
	"github.com/elenchus-go/debate/journal"
	"github.com/elenchus-go/debate/judge/detect"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/tool"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// Apply adds a durable event, committed at the given time, to the state. It returns a *store.Damaged if no version of the
// library writes such an event.
func (r *State) Apply(ev journal.Event, at time.Time) error {
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
	hidden := r.Agenda.Follow(&r.Record, ev)
	if hidden != nil {
		r.Hidden = hidden
		r.setConfig(r.Config)
		r.Forget()
	}
	r.writer = RulesOf(meta, r.writer)
	return nil
}

// add adds a checked event.
func (r *State) add(ev journal.Event) (err error) {
	failed := journal.Failures(ev)
	switch ev := ev.(type) {
	case journal.ConfigChanged:
		err = r.configure(ev)
	case journal.StateChanged:
		r.addFailures(failed...)
		r.transition(ev)
	case journal.PhaseStarted:
		r.StartPhase(ev.Phase, ev.Seq)
		r.Parallel = ev.Parallel
		r.History.Wanted = ev.Summary
		if r.Parallel {
			r.History.Scales.Freeze(ev.Phase)
		}
		if ev.Callers != nil {
			r.Sources.Begin(r.PhaseKey(ev.Phase), ev.Callers)
		}
	case journal.TurnDone:
		err = r.addTurn(ev.Turn)
		if ev.Reply != "" {
			put(&r.People.Replies, ev.Turn.Key, ev.Reply)
		}
	case journal.Dropped:
		asked := r.Decisions.withdrawn
		if asked == nil || asked.Key != ev.Failure.Key { // otherwise the question has already added it
			r.addFailures(ev.Failure)
		}
		r.addFailures(ev.OtherFailures...)
		r.drop(ev)
		r.Times.Outage = 0 // nobody waits any longer
	case journal.Decided:
		r.decide(ev)
	case journal.Asked:
		put(&r.People.Asked, ev.Key, &ev)
	case journal.ToolsCalled:
		r.countTools(&ev)
		r.Tools.Add(&ev)
		r.Sources.Add(ev.Key, ev.Seq, ev.Calls)
	case journal.Annotated:
		r.annotate(ev)
	default:
		err = fmt.Errorf("type %q is not an entry of a journal", ev.Meta().Type)
	}
	return err
}

func (r *State) decide(ev journal.Decided) {
	switch ev.Action {
	case ActionDecline:
		put(&r.People.Declined, ev.Key, &ev)
		return
	case ActionHold, ActionRelease:
		r.People.held = ev.Action == ActionHold
		return
	}
	q := r.Decisions.Question
	r.Decisions.withdrawn = nil
	r.Decisions.Question = nil
	put(&r.Decisions.Made, q.ID, ev.Action)
	if q.Failure != nil {
		delete(r.People.Declined, q.Failure.Key) // the person is asked again, unless the actor is dropped
	}
	if ev.Action == ActionDrop {
		r.Decisions.withdrawn = q.Failure
	}
	if q.Gate != "" {
		put(&r.Decisions.passed, q.Gate, true)
	}
	if q.Call != nil {
		r.Tools.Decide(q.Call.ID, rounds.Decision{
			Refused: ev.Action == ActionRefuse,
			Reason:  ev.Reason,
		})
	}
}

// parse reads and checks a configuration. One that was just encoded need not be read.
func (r *State) parse(ev journal.ConfigChanged) (journal.Config, error) {
	if r.Parsed != nil {
		c := *r.Parsed
		r.Parsed = nil
		return c, nil
	}
	c, err := r.Engine.Parse(ev.Config)
	if err == nil && c.Protocol == nil {
		err = errors.New("the configuration has no protocol")
	}
	if err == nil {
		err = checkStored(&c, r.ID)
	}
	return c, err
}

func (r *State) configure(ev journal.ConfigChanged) (err error) {
	if ev.Format != store.Format {
		return fmt.Errorf("the format is %d, want %d", ev.Format, store.Format)
	}
	if r.Seq == 0 {
		if ev.Origin == nil || ev.Origin.Keys == nil {
			return errors.New("the first entry has no secret")
		}
		r.Keys = ev.Origin.Keys
		err = r.Agenda.Begin(ev.Origin)
	}
	c, wrong := r.parse(ev)
	err = cmp.Or(err, wrong)
	if err != nil {
		return err
	}
	if ev.Parent.ID != "" {
		r.Fork.Parent = ev.Parent
		r.Times.Created = ev.Forked
	}
	r.History.Scales.Reconfigure(Seats{Config: r.Config}, Seats{Config: &c})
	maps.DeleteFunc(r.People.Asked, func(k transcript.Key, _ *journal.Asked) bool { // of a step that may change: it is asked again
		_, done := r.Find(k)
		return !done
	})
	was := r.Config
	r.setConfig(&c)
	if len(c.Documents) > 0 || was.Documents != nil {
		r.Sources.SetDocuments(c.Documents, ev.Seq)
		r.Documents = r.Sources.Shared()
	}
	r.Seed = c.Seed
	r.Topic = r.Config.Topic
	r.MinRounds = r.Config.Limits.MinRounds
	r.MaxRounds = r.Config.Limits.MaxRounds
	r.Judges = namesOf(r.Config.Judges)
	r.addPeople()
	if !r.HasTurns() { // after the first turn, only a fork changes anything else of participants
		r.addParticipants()
	} else {
		r.editParticipants(was)
	}
	if r.NotStarted() { // a fork that continues is not checked again
		r.Accepted.Valid = false
	}
	r.Accepted.limited = nil
	r.Accepted.mismatched = nil
	r.Accepted.biased = nil
	r.Forget()
	r.limitReplies(ev.ReplyTokens)
	return nil
}

// editParticipants changes the profiles of participants where the configuration differs from the one before.
func (r *State) editParticipants(was *journal.Config) {
	for _, list := range [][]transcript.Profile{r.Participants, r.Profiles} { // addPeople has copied them
		for i := range list {
			p := &list[i]
			old := was.Actor(p.Name)
			is := r.Config.Actor(p.Name)
			if old != nil && is != nil {
				editProfile(p, old, is)
			}
		}
	}
}

// limitReplies lowers the token limits of replies, by the fields of the actors.
func (r *State) limitReplies(limits map[string]int) {
	if len(limits) > 0 {
		r.Accepted.limited = append(r.Accepted.limited, WarningsAbout(
			r.Cursor.Run,
			clients.WarnOfReplyLimits(r.Config.Actors(), limits),
		)...)
		c := *r.Config
		limitReplies(&c, limits)
		r.setConfig(&c)
	}
}

// setWindows sets the windows of actors that have none, by the fields of the actors.
func (r *State) setWindows(known map[string]int) {
	r.Accepted.mismatched = WarningsAbout(r.Cursor.Run, clients.WarnOfWindows(r.Config.Actors(), known))
	c := *r.Config
	SetWindows(&c, known)
	r.setConfig(&c)
}

func (r *State) transition(ev journal.StateChanged) {
	r.Lifecycle = fsm.Position{State: ev.To}
	r.Accepted.Problems = ev.Problems
	switch ev.On {
	case fsm.Pause: // the cursor stays: a pause does not change what a parallel phase sees
		r.Lifecycle.PausedFrom = ev.From
		r.Decisions.Question = ev.Question
		if r.Decisions.Question != nil {
			q := *ev.Question
			q.ID = QuestionID(ev.Seq)
			r.Decisions.Question = &q
		}
		r.People.held = ev.Question == nil && !ev.ForPeople
		r.Fork.Idle = ev.Fork
		return
	case fsm.Resume:
		r.People.held = false
		r.Fork.Idle = false
		return
	case fsm.Accept:
		r.Accepted.Valid = true
		r.setWindows(ev.Windows)
		r.limitReplies(ev.ReplyTokens)
		r.Accepted.biased = nil
		for _, w := range ev.Warnings {
			if strings.HasSuffix(w.Key.Target, clients.AuditedField) {
				r.Accepted.biased = append(r.Accepted.biased, w)
			}
		}
	case fsm.Start:
		r.Started = cmp.Or(r.Started, ev.At)
	case fsm.Fail:
		r.Losses.Failure = ev.Failure
	case fsm.Retry:
		r.Losses.Failure = nil
		r.People.Declined = nil
		r.Times.Outage = 0
	case fsm.Reset:
		r.reset()
	default:
	}
	if round := r.roundAfter(ev.On, ev.To); round != r.Cursor.Round {
		r.Cursor.Round = round
		r.Times.roundBegan = r.Times.running
		r.History.Scales.NextRound()
	}
	if ev.Ending.Outcome != "" {
		r.Ending = ev.Ending
	}
	if ev.To.Final() {
		r.Times.completed = ev.At
	}
	r.Decisions.Question = nil
	r.People.held = false
	r.Fork.Idle = false
	r.History.Wanted = nil
	r.Times.entered = ev.At
	r.Cursor.Stage = stages[ev.To]
	r.Cursor.Phase = ""
	r.Cursor.PhaseSeq = ev.Seq
}

// countTools counts the calls of an entry that are done and were not in the entry before it of the same round.
func (r *State) countTools(ev *journal.ToolsCalled) {
	before := r.Tools.Of(ev.Key).Last()
	for _, c := range ev.Calls {
		counted := before != nil && before.Number == ev.Number &&
			slices.ContainsFunc(before.Calls, func(o tool.Record) bool {
				return o.ID == c.ID && o.Done
			})
		if !c.Done || counted {
			continue
		}
		at := slices.IndexFunc(r.used, func(u journal.ToolUse) bool {
			return u.Actor == ev.Key.Actor && u.Tool == c.Name
		})
		if at < 0 {
			at = len(r.used)
			r.used = append(r.used, journal.ToolUse{
				Actor: ev.Key.Actor,
				Tool:  c.Name,
			})
		}
		r.used[at].Calls++
		if c.Error != "" {
			r.used[at].Failed++
		}
	}
}

// reset begins a new run. Earlier turns stay in the journal but are not shown again.
func (r *State) reset() {
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
	r.Judges = namesOf(r.Config.Judges)
	r.Ending = transcript.Ending{}
	r.Losses.Failure = nil
	r.Accepted.mismatched = nil
	r.Accepted.biased = nil
	r.Accepted.Valid = false
	r.Forget()
	r.People = people{}
	r.Decisions.passed = nil
	r.Tools = rounds.Rounds{}
	r.used = nil
	r.usage = transcript.Usage{}
	r.Times.running = 0
	r.Times.roundBegan = 0
	r.Losses.steps = nil // budgets apply to each run
	r.History = prompting.History{}
	r.Sources.Reset()
	r.addParticipants()
}

func (r *State) addTurn(t transcript.Turn) error {
	t.Seq = r.Seq + 1
	if len(r.Turns) == 0 {
		r.Turns = slices.Grow(r.Turns, min(r.MaxRounds*(len(r.Participants)+len(r.Judges)), 60)+4)
	}
	if !r.Record.Apply(t) {
		return fmt.Errorf("turn %s is a duplicate", t.Key)
	}
	r.usage = r.usage.Add(t.Usage).Add(r.Tools.End(t.Key, t.Attempts))
	r.Calibrate(t.Key, t.Attempts)
	r.History.Add(&t, r.Cursor.Round)
	if t.Kind == transcript.Summary {
		r.Cursor.Phase = "" // each summary has its own phase
	}
	if t.Kind != transcript.Remark {
		r.Times.Outage = 0
	}
	if t.Contract == protocol.PersonasContract.Name() {
		r.Profiles = r.Participants // nobody has dropped out yet
		r.Forget()
	}
	return nil
}

// addFailures adds the usage of failed steps. It ignores nil failures.
func (r *State) addFailures(failures ...*journal.Failure) {
	for _, f := range failures {
		if f != nil {
			r.Losses.steps = append(r.Losses.steps, f)
			r.usage = r.usage.Add(f.Usage())
			r.Tools.Failed(f.Key, f.AttemptDetails)
			r.Calibrate(f.Key, f.AttemptDetails)
			if f.Kind == providers.ContextOverflow { // otherwise the retry would fail too
				r.History.Scales.Refreeze(f.Key.Actor, f.Key.Phase)
			}
		}
	}
}

func (r *State) drop(ev journal.Dropped) {
	r.Record.Drop(ev.Name)
	r.Names = prompting.NamesOf(r.Participants)
	r.Losses.dropped = append(r.Losses.dropped, ev)
}

func (r *State) annotate(ev journal.Annotated) {
	r.Notes.Add(ev.Name, ev.Value)
	if ev.Name == "rating" {
		r.Rating = ev.Value
	}
}

// Extract sets the answer of a turn that is about to be added, if a rule compares answers. If Options.ExtractAnswer panics, the
// turn has none; the debate fails when the rule asks for it.
func (r *State) Extract(t *transcript.Turn) {
	compares := func(rule detect.Rule) bool {
		return rule.EffectiveMethod() == "answers"
	}
	if t.Kind != transcript.Speech || r.Engine.ExtractAnswer == nil ||
		!slices.ContainsFunc(r.Config.Detect, compares) {
		return
	}
	said := *t
	said.Seq = r.Seq + 1
	_ = panics.Call(func() {
		t.Extracted = new(characters.Valid(r.Engine.ExtractAnswer(said)))
	})
}

// editProfile changes a profile where the settings of its actor differ from those before.
func editProfile(p *transcript.Profile, was, now *journal.Participant) {
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

// checkStored returns an error if no version of the library has stored the configuration for the debate with the given id.
// A journal may be damaged or forged. Protocols of other packages are not asked, because their rules may have changed.
func checkStored(c *journal.Config, id string) (err error) {
	l := &ProblemList{}
	if c.ID != "" && c.ID != id {
		l.Add("id", "%q is not that of the debate", c.ID)
	}
	l.Limits(&c.Limits)
	l.Problems = append(l.Problems, c.CheckNames()...)
	l.Problems = append(l.Problems, c.CheckValues()...)
	if len(l.Problems) == 0 && protocols.Has(c.Protocol) {
		panicked := panics.Call(func() {
			l.Problems = append(l.Problems, c.Protocol.Check(protocolRecord(c))...)
		})
		if panicked != nil {
			return fmt.Errorf("check protocol: %w", panicked)
		}
	}
	if err := ProblemsError(l.Problems); err != nil {
		return errors.New(err.Error()) // it is no mistake of the caller, as Problems are
	}
	return nil
}

// checkEntry rejects events that no version of the library writes in the state. Nothing else checks what a journal
// contains, and a journal may be damaged or forged.
func (r *State) checkEntry(ev journal.Event) error {
	if seq := ev.Meta().Seq; seq != r.Seq+1 {
		return fmt.Errorf("entry %d is missing", r.Seq+1)
	}
	if _, config := ev.(journal.ConfigChanged); r.Seq == 0 && !config {
		return errors.New("the journal must begin with a configuration")
	}
	failed := journal.Failures(ev)
	switch ev := ev.(type) {
	case journal.ConfigChanged:
		return turns.CheckTokens("reply", ev.ReplyTokens)
	case journal.StateChanged:
		return r.checkState(ev, failed)
	case journal.PhaseStarted:
		setUpAgain := ev.Round == 0 && r.Cursor.Stage == transcript.Setup // after an error, a setup may have new steps
		if ev.Round != r.Cursor.Round && !setUpAgain {
			return fmt.Errorf("it is a phase of round %d, but the debate is in round %d", ev.Round, r.Cursor.Round)
		}
	case journal.Dropped:
		if ev.Failure == nil {
			return errors.New("the entry has no failure")
		}
		return r.checkFailures(failed)
	case journal.TurnDone:
		return turns.Check(&ev.Turn, r.Cursor)
	case journal.Asked:
		return turns.CheckKey(ev.Key, r.Cursor)
	case journal.ToolsCalled:
		if err := turns.CheckKey(ev.Key, r.Cursor); err != nil {
			return err
		}
		if _, done := r.Find(ev.Key); done {
			return fmt.Errorf("turn %s has been committed before it", ev.Key)
		}
		return cmp.Or(
			r.Tools.Check(&ev),
			sources.Check(ev.Calls),
			turns.CheckUsages(transcript.Usage{}, ev.Attempts),
			turns.CheckRound(ev.Attempts),
		)
	case journal.Annotated:
		return r.checkNote(ev)
	case journal.Decided:
		if r.Decisions.Question == nil && IsAnswer(ev.Action) {
			return cmp.Or(turns.CheckKey(ev.Key, r.Cursor), errors.New("no question is open"))
		}
		return turns.CheckKey(ev.Key, r.Cursor) // of a step that is declined
	}
	return nil
}

func (r *State) checkNote(ev journal.Annotated) error {
	if ev.Name == chain.NoteName {
		return userinput.CheckSignature(ev.Value)
	}
	if wrong := r.Notes.Check(ev.Name, ev.Value); wrong != nil {
		return fmt.Errorf("note %q: %v", characters.Cut(ev.Name, 40), wrong[0])
	}
	return nil
}

func (r *State) checkState(ev journal.StateChanged, failed []*journal.Failure) error {
	if ev.On == fsm.Fail && ev.Failure == nil {
		return errors.New("the entry has no failure")
	}
	if ev.From != r.Lifecycle.State {
		return fmt.Errorf("it is a transition from %q, but the debate is %q", ev.From, r.Lifecycle.State)
	}
	if is := r.roundAfter(ev.On, ev.To); ev.Round != is {
		return fmt.Errorf("it leads to round %d, but the debate is in round %d then", ev.Round, is)
	}
	if err := cmp.Or(turns.CheckTokens("reply", ev.ReplyTokens), turns.CheckTokens("window", ev.Windows)); err != nil {
		return err
	}
	return r.checkFailures(failed)
}

func (r *State) checkFailures(list []*journal.Failure) error {
	for _, f := range list {
		err := cmp.Or(
			turns.CheckKey(f.Key, r.Cursor),
			turns.CheckUsages(transcript.Usage{}, f.AttemptDetails),
			turns.CheckNext(f.AttemptDetails),
		)
		if err != nil {
			return err
		}
	}
	return nil
}

// RulesOf returns the rules of the engine that wrote an entry, given those of the entry before it.
func RulesOf(m journal.EventMeta, before journal.Rules) journal.Rules {
	if m.Rules != nil {
		return *m.Rules
	}
	return before
}

// elapse adds to the running time. It adds the gaps between entries while the debate is active. Each gap counts at
// most the step timeout, or the duration of a step that waited for a rate limit. Time before a call began and time
// that the viewer took do not count, nor do the wait between rounds and the time before a fork.
func elapse(r *State, ev journal.Event, now time.Time) {
	if r.Times.Created.IsZero() {
		r.Times.Created = now
	}
	waits := r.Lifecycle.State == fsm.Validating || r.Lifecycle.State == fsm.RoundComplete
	if r.Lifecycle.State.Active() && !waits {
		gap := max(now.Sub(workBegan(ev, r.Times.Updated)), 0)
		if isOutage(ev) {
			r.Times.Outage += gap
		} else {
			r.Times.running += min(gap, mostCounted(r, ev))
		}
	}
	r.Times.Updated = now
}

// workBegan returns when the work for an event began: with the entry before it, or with the first call of its step if that came
// later. What the viewer took is added, so that it does not count as work.
func workBegan(ev journal.Event, last time.Time) time.Time {
	switch ev := ev.(type) {
	case journal.TurnDone:
		if ev.Turn.Kind == transcript.Remark {
			return last
		}
		return later(last, ev.Turn.Started).Add(ev.Turn.ViewerTime)
	case journal.ToolsCalled:
		if len(ev.Attempts) > 0 {
			return later(last, ev.Attempts[0].Began)
		}
	}
	return last
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// mostCounted returns how much of the gap before an event may count as running time. Nothing counts of the time before a fork.
func mostCounted(r *State, ev journal.Event) time.Duration {
	if r.Fork.ID != "" && ev.Meta().Seq == r.Fork.Seq+1 {
		return 0
	}
	return max(r.Config.Limits.StepTimeout, rateLimitWait(ev))
}

// OutageNote names the note in the journal that reports a provider that cannot be reached.
const OutageNote = "outage"

// isOutage reports whether an event ends a wait for a provider that could not be reached. The wait takes no running
// time, so that the debate can continue after it.
func isOutage(ev journal.Event) bool {
	if note, ok := ev.(journal.Annotated); ok {
		return note.Name == OutageNote
	}
	f := FailureOf(ev)
	return f != nil && f.Unreachable
}

// rateLimitWait returns the duration of a step that waited for a rate limit, or 0 if the event has no such step.
func rateLimitWait(ev journal.Event) (most time.Duration) {
	if done, ok := ev.(journal.TurnDone); ok {
		return turns.RateLimitWait(done.Turn.Attempts, done.Turn.Started, done.Turn.Ended)
	}
	for _, f := range journal.Failures(ev) {
		most = max(most, turns.RateLimitWait(f.AttemptDetails, f.Started, f.At))
	}
	return most
}

// FailureOf returns the failure that an event reports, or nil if there is none.
func FailureOf(ev journal.Event) *journal.Failure {
	switch ev := ev.(type) {
	case journal.StateChanged:
		if ev.Question != nil {
			return ev.Question.Failure
		}
		return ev.Failure
	case journal.Dropped:
		return ev.Failure
	}
	return nil
}
