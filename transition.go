package debate

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/additions"
	"github.com/elenchus-go/debate/internal/agenda"
	"github.com/elenchus-go/debate/internal/chain"
	"github.com/elenchus-go/debate/internal/characters"
	"github.com/elenchus-go/debate/internal/clients"
	"github.com/elenchus-go/debate/internal/panics"
	"github.com/elenchus-go/debate/internal/protocols"
	"github.com/elenchus-go/debate/internal/sources"
	"github.com/elenchus-go/debate/internal/step/prompting"
	"github.com/elenchus-go/debate/internal/step/rounds"
	"github.com/elenchus-go/debate/internal/turns"
	"github.com/elenchus-go/debate/journal"
	"github.com/elenchus-go/debate/judge/detect"
	"github.com/elenchus-go/debate/judge/reply"
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
	hidden := r.agenda.Follow(&r.Record, ev)
	if hidden != nil {
		r.hidden = hidden
		r.setConfig(r.config)
		r.Forget()
	}
	r.writer = rulesOf(meta, r.writer)
	return nil
}

// add adds a checked event.
func (r *record) add(ev Event) (err error) {
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
	case TurnDone:
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
		err = r.agenda.Begin(ev.Origin)
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
	if r.notStarted() { // a fork that continues is not checked again
		r.accepted.valid = false
	}
	r.accepted.limited = nil
	r.accepted.mismatched = nil
	r.accepted.biased = nil
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
	switch ev.On {
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

// checkStored returns an error if no version of the library has stored the configuration for the debate with the given id.
// A journal may be damaged or forged. Protocols of other packages are not asked, because their rules may have changed.
func checkStored(c *Config, id string) (err error) {
	l := &problemList{}
	if c.ID != "" && c.ID != id {
		l.add("id", "%q is not that of the debate", c.ID)
	}
	l.limits(&c.Limits)
	l.problems = append(l.problems, c.CheckNames()...)
	l.problems = append(l.problems, c.CheckValues()...)
	if len(l.problems) == 0 && protocols.Has(c.Protocol) {
		panicked := panics.Call(func() { l.problems = append(l.problems, c.Protocol.Check(protocolRecord(c))...) })
		if panicked != nil {
			return fmt.Errorf("check protocol: %w", panicked)
		}
	}
	if err := problemsError(l.problems); err != nil {
		return errors.New(err.Error()) // it is no mistake of the caller, as Problems are
	}
	return nil
}

// checkEntry rejects events that no version of the library writes in the record's state. Nothing else checks what a journal
// contains, and a journal may be damaged or forged.
func (r *record) checkEntry(ev Event) error {
	if seq := ev.Meta().Seq; seq != r.Seq+1 {
		return fmt.Errorf("entry %d is missing", r.Seq+1)
	}
	if _, config := ev.(ConfigChanged); r.Seq == 0 && !config {
		return errors.New("the journal must begin with a configuration")
	}
	failed := journal.Failures(ev)
	switch ev := ev.(type) {
	case ConfigChanged:
		return turns.CheckTokens("reply", ev.ReplyTokens)
	case StateChanged:
		return r.checkState(ev, failed)
	case PhaseStarted:
		if ev.Round != r.Cursor.Round &&
			(ev.Round != 0 ||
				r.Cursor.Stage != transcript.Setup) { // after an error, a setup may have new steps
			return fmt.Errorf("it is a phase of round %d, but the debate is in round %d", ev.Round, r.Cursor.Round)
		}
	case Dropped:
		if ev.Failure == nil {
			return errors.New("the entry has no failure")
		}
		return r.checkFailures(failed)
	case TurnDone:
		return turns.Check(&ev.Turn, r.Cursor)
	case Asked:
		return turns.CheckKey(ev.Key, r.Cursor)
	case ToolsCalled:
		if err := turns.CheckKey(ev.Key, r.Cursor); err != nil {
			return err
		}
		if _, done := r.Find(ev.Key); done {
			return fmt.Errorf("turn %s has been committed before it", ev.Key)
		}
		return cmp.Or(
			r.tools.Check(&ev),
			sources.Check(ev.Calls),
			turns.CheckUsages(transcript.Usage{}, ev.Attempts),
			turns.CheckRound(ev.Attempts),
		)
	case Annotated:
		return r.checkNote(ev)
	case Decided:
		if r.decisions.question == nil && isAnswer(ev.Action) {
			return cmp.Or(turns.CheckKey(ev.Key, r.Cursor), errors.New("no question is open"))
		}
		return turns.CheckKey(ev.Key, r.Cursor) // of a step that is declined
	}
	return nil
}

func (r *record) checkNote(ev Annotated) error {
	if ev.Name == chain.NoteName {
		return additions.CheckSignature(ev.Value)
	}
	if wrong := r.notes.Check(ev.Name, ev.Value); wrong != nil {
		return fmt.Errorf("note %q: %v", characters.Cut(ev.Name, 40), wrong[0])
	}
	return nil
}

func (r *record) checkState(ev StateChanged, failed []*Failure) error {
	if ev.On == fsm.Fail && ev.Failure == nil {
		return errors.New("the entry has no failure")
	}
	if ev.From != r.lifecycle.State {
		return fmt.Errorf("it is a transition from %q, but the debate is %q", ev.From, r.lifecycle.State)
	}
	if is := r.roundAfter(ev.On, ev.To); ev.Round != is {
		return fmt.Errorf("it leads to round %d, but the debate is in round %d then", ev.Round, is)
	}
	if err := cmp.Or(turns.CheckTokens("reply", ev.ReplyTokens), turns.CheckTokens("window", ev.Windows)); err != nil {
		return err
	}
	return r.checkFailures(failed)
}

func (r *record) checkFailures(list []*Failure) error {
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

// rulesOf returns the rules of the engine that wrote an entry, given those of the entry before it.
func rulesOf(m EventMeta, before Rules) Rules {
	if m.Rules != nil {
		return *m.Rules
	}
	return before
}

// An act holds what leads to a change of a debate, with what somebody has given: a person, a model, a service or a clock.
type act struct {
	kind    journal.Act
	given   Event        // what was given, as the first entry has it; nil if the entries follow from the kind alone
	remark  *TurnDone    // given with a decision; otherwise nil
	check   StateChanged // what an engine's check of the configuration has found
	failure *Failure     // of a step, or of what plans it
	lost    []*Failure   // of other steps of the same plan

	prompts *prompting.Debate // has the first prompts of a debate whose configuration was checked; nil if nobody has built them
}

// decide makes the change that an act leads to: it adds what was given, and every event that follows until a model or a person is
// needed. Whoever changes a debate calls it, and whoever verifies the change later. It reads the record, the act and the time of the
// transaction, and nothing else.
func (c *transaction) decide(a *act) error {
	c.act = a.kind
	question := c.rec.decisions.question
	if a.given != nil {
		if err := c.give(a.given); err != nil {
			return err
		}
	}
	switch a.kind {
	case journal.ActTurn, journal.ActDrive:
		return c.settle()
	case journal.ActTools:
		if callQuestion(c.rec, c.rec.next()) == nil {
			return nil
		}
		return c.settle()
	case journal.ActAnswer, journal.ActDecline:
		return c.goOn()
	case journal.ActDecide:
		return c.answer(a, question)
	case journal.ActEdit:
		return c.fire(fsm.Edit, StateChanged{})
	case journal.ActCheck:
		return c.checked(a)
	case journal.ActFailure:
		return c.applyFailurePolicy(a.failure, a.lost)
	case journal.ActClock:
		return c.stop(StateChanged{OtherFailures: a.lost, Ending: timeEndingInCall})
	case journal.ActBroken:
		return c.fail(a.failure)
	case journal.ActCreate, journal.ActRemark, journal.ActAnnotate, journal.ActWait, journal.ActSign:
		return nil
	default:
		return c.control(a.kind)
	}
}

// give adds what was given, or what the journal has of it.
func (c *transaction) give(ev Event) error {
	if c.take == nil {
		return c.add(ev)
	}
	c.act = ""
	return c.take(ev)
}

// control makes the change that a person asks for with one of the acts that give nothing. It adds nothing if that is done already.
func (c *transaction) control(kind journal.Act) error {
	r := c.rec
	state := r.lifecycle.State
	switch kind {
	case journal.ActStart:
		return c.start()
	case journal.ActPause:
		return c.pause()
	case journal.ActResume:
		return c.release()
	case journal.ActStop:
		return c.end()
	case journal.ActCancel:
		if state == fsm.Canceled {
			return nil
		}
		ending := transcript.Ending{Outcome: transcript.Canceled, Evidence: "a person canceled the debate"}
		return c.fire(fsm.Cancel, StateChanged{Ending: ending})
	case journal.ActRetry:
		if state == fsm.Ready || state.Active() {
			return nil
		}
		return c.fire(fsm.Retry, StateChanged{})
	case journal.ActReset:
		if state == fsm.Configuring {
			return nil
		}
		return c.fire(fsm.Reset, StateChanged{})
	default:
		return fmt.Errorf("the act %q is unknown", kind)
	}
}

// pause pauses the debate, or holds one that has paused because it waits for people.
func (c *transaction) pause() error {
	r := c.rec
	switch {
	case r.lifecycle.State == fsm.Paused && r.decisions.question == nil && !r.people.held:
		return c.addDecided(Decided{Action: actionHold})
	case r.lifecycle.State == fsm.Paused:
		return nil
	}
	return c.fire(fsm.Pause, StateChanged{})
}

// release continues a debate that was paused, or releases one that waits for people.
func (c *transaction) release() error {
	r := c.rec
	if r.lifecycle.State.Active() {
		return nil
	}
	if q := r.decisions.question; q != nil {
		_, err := fsm.Next(r.lifecycle, fsm.Resume, r.facts())
		return fmt.Errorf("a question is open, call Decide with one of %s: %w", strings.Join(actionsOf(q), ", "), err)
	}
	if r.people.held && r.awaitsPeople() {
		return c.addDecided(Decided{Action: actionRelease})
	}
	return c.resume()
}

// end ends the debate with a conclusion. If the conclusion waits for people, they are no longer asked.
func (c *transaction) end() error {
	r := c.rec
	switch {
	case r.Cursor.Stage == transcript.Conclusion:
		return c.stopWaiting()
	case r.lifecycle.State == fsm.Completed:
		return nil
	}
	return c.stop(StateChanged{Ending: transcript.Ending{Outcome: transcript.Stopped, Evidence: stoppedByPerson}})
}

// answer carries out the answer to a question. The remark that a person gives with it comes after it.
func (c *transaction) answer(a *act, q *Question) error {
	if a.remark != nil {
		said := *a.remark
		said.EventMeta = c.stamp("turn")
		said.Turn.Seq = said.Seq
		said.Turn.VisibleSeq = c.rec.Seq
		if err := c.give(said); err != nil {
			return err
		}
	}
	if err := c.applyDecision(a.given.(Decided).Action, q); err != nil {
		return err
	}
	return c.goOn() // people whom the debate waits for may have replied or declined meanwhile
}

// checked starts a debate whose configuration was checked, or takes it back to configuring if that has problems.
func (c *transaction) checked(a *act) error {
	if a.check.Problems != nil {
		return c.fire(fsm.Reject, a.check)
	}
	if err := c.fire(fsm.Accept, a.check); err != nil {
		return err
	}
	if err := c.fire(fsm.Start, StateChanged{}); err != nil {
		return err
	}
	if a.prompts != nil {
		c.rec.Adopt(a.prompts)
	}
	return c.settle()
}

// startEvents lists the events that start a debate whose configuration has been checked, by the state of the debate.
var startEvents = map[fsm.State][]fsm.Event{fsm.Validating: {fsm.Accept, fsm.Start}, fsm.Ready: {fsm.Start}}

// fail ends the debate with a failure that belongs to no call. It may have happened during the start, which was not committed then.
func (c *transaction) fail(f *Failure) error {
	for _, on := range startEvents[c.rec.lifecycle.State] {
		if err := c.fire(on, StateChanged{}); err != nil {
			return err
		}
	}
	if !c.rec.lifecycle.State.Active() {
		return nil
	}
	if f.Key == (transcript.Key{}) {
		own := *f
		own.Key = c.rec.position()
		f = &own
	}
	return c.fire(fsm.Fail, StateChanged{Failure: f})
}

// transaction is a change that is not committed yet. Each event is added to the record at once, so the record shows
// the state after it. If the transaction is not committed, its record is discarded.
//
// Whoever makes a change adds what has happened, such as a turn, and then calls settle, which adds what follows from it until a model
// or a person is needed. The journal commits all of that at once.
type transaction struct {
	rec    *record
	now    time.Time
	after  int64
	events []Event
	room   [4]Event    // backing array of events, which are rarely more
	act    journal.Act // of the next event; empty if it follows from that of an earlier one
	// schedule commits the status even if there are no events, so that a store that schedules debates creates a job
	// for the plan.
	schedule bool
	undo     func() // takes back what the change did outside of the record, if it is not committed; may be nil
	// When a change is made again to verify it, match compares each event with the one that the journal has, and take takes what was
	// given. Otherwise they are nil.
	match, take func(Event) error
}

func newTransaction(r *record) *transaction {
	c := &transaction{}
	c.begin(r)
	return c
}

// begin makes a transaction ready for a record. One that was committed may begin again.
func (c *transaction) begin(r *record) {
	now := time.Now().UTC().Truncate(time.Microsecond) // the precision of databases
	if now.Before(r.times.updated) {                   // the clock went back, or another machine's clock is ahead
		now = r.times.updated
	}
	*c = transaction{
		rec:   r,
		now:   now,
		after: r.Seq,
	}
	c.events = c.room[:0]
}

// stamp returns the fields that all events have for the next event of the given type.
func (c *transaction) stamp(kind string) EventMeta {
	m := EventMeta{
		Type: kind,
		Seq:  c.rec.Seq + 1,
		Act:  c.act,
	}
	if rules := c.rec.env.rules; *rules != c.rec.writer {
		m.Rules = rules
	}
	return m
}

// stampFor returns the same fields for the first event that follows from an act.
func (c *transaction) stampFor(kind journal.Act, eventType string) EventMeta {
	c.act = kind
	return c.stamp(eventType)
}

func (c *transaction) add(ev Event) error {
	if done, ok := ev.(TurnDone); ok && done.Turn.Citations == nil && done.Repeats == 0 &&
		hasSources(c.rec.config) {
		done.Turn.Citations = c.rec.Sources.Cite(&done.Turn, nil).Check(c.rec.env.texts)
		ev = done
	}
	if c.match != nil {
		if err := c.match(ev); err != nil {
			return err
		}
	}
	c.act = ""
	c.events = append(c.events, ev)
	return c.rec.apply(ev, c.now)
}

// fire adds the transition that the lifecycle defines for an event, or returns an error if there is none.
func (c *transaction) fire(on fsm.Event, with StateChanged) error {
	facts := c.rec.facts()
	facts.HasOutcome = facts.HasOutcome || with.Ending.Outcome != ""
	facts.AssessmentDue = on == fsm.Responded && len(c.rec.phases(transcript.Assessment)) > 0
	next, err := fsm.Next(c.rec.lifecycle, on, facts)
	if err != nil {
		return err
	}
	if with.Ending.Outcome != "" {
		with.Ending.Round = c.rec.Cursor.Round
	}
	with.EventMeta = c.stamp("state")
	with.At = c.now
	with.From = c.rec.lifecycle.State
	with.On = on
	with.To = next.State
	with.Round = c.rec.roundAfter(on, next.State)
	if with.Question != nil {
		with.Question.ID = questionID(with.Seq)
	}
	return c.add(with)
}

// settle adds every event that needs no model call, such as transitions out of states whose work is done, and the start of a
// phase.
func (c *transaction) settle() error {
	if err := c.rec.canContinue(); err != nil {
		return err
	}
	for c.rec.lifecycle.State.Active() && c.rec.lifecycle.State != fsm.Validating {
		more, err := c.proceedSafely()
		if p, ok := errors.AsType[*panics.Error](err); ok {
			return c.fire(fsm.Fail, StateChanged{Failure: panicFailure(p, c.rec.position())})
		}
		if err != nil || !more {
			return err
		}
	}
	return nil
}

// proceedSafely calls proceed and returns a panic of the protocol or of a hook as a *panics.Error.
func (c *transaction) proceedSafely() (more bool, err error) {
	defer panics.Catch(&err)
	return c.proceed()
}

// proceed adds the next event that needs no model call, and reports whether there may be another one. It asks the protocol what comes
// next: if no step is missing, the state of the debate ends; otherwise the first missing step belongs to the phase at hand, or begins
// the next one. A step of a model then waits for a driver.
func (c *transaction) proceed() (more bool, err error) {
	r := c.rec
	ev := r.agenda.Given(&r.Record, r.next, c.stamp, c.now)
	if ev != nil {
		return true, c.add(ev)
	}
	if r.lifecycle.State == fsm.RoundComplete {
		if c.now.Before(r.nextRoundAt()) {
			return false, nil
		}
		return true, c.fire(fsm.Advance, StateChanged{Ending: r.agenda.Ending(&r.Record)})
	}
	steps := r.next()
	switch {
	case len(steps) == 0:
		return true, c.endStage()
	case steps[0].Phase == r.Cursor.Phase:
		return c.continuePhase(steps)
	}
	return c.beginPhase(steps)
}

// endStage fires the transition out of a state whose steps are done.
func (c *transaction) endStage() error {
	r := c.rec
	switch r.lifecycle.State {
	case fsm.Judging:
		found := r.agenda.Find(&r.Record, true)
		return c.fire(fsm.Assessed, StateChanged{Findings: found, Ending: r.agenda.Ending(&r.Record, found...)})
	case fsm.AwaitingResponses:
		return c.fire(fsm.Responded, StateChanged{Findings: r.agenda.Find(&r.Record, false)})
	case fsm.Completing:
		return c.fire(fsm.Concluded, StateChanged{})
	default:
		return c.fire(fsm.Initialized, StateChanged{})
	}
}

// continuePhase does what the missing steps of the phase at hand need besides models: empty turns, summaries, and the questions to
// people.
func (c *transaction) continuePhase(steps []protocol.Step) (more bool, err error) {
	r := c.rec
	if at := slices.IndexFunc(steps, agenda.IsEmpty); at >= 0 {
		t := r.Reply(&steps[at], "", nil)
		t.Started = c.now
		t.Ended = c.now
		return true, c.add(TurnDone{
			EventMeta: c.stamp("turn"),
			At:        c.now,
			Turn:      t,
		})
	}
	if !r.Parallel { // a parallel phase has its summaries before it begins
		if w := summaryNeeded(r, steps); w != nil {
			return c.startSummary(w)
		}
	}
	if q := callQuestion(r, steps); q != nil {
		return false, c.fire(fsm.Pause, StateChanged{Question: q})
	}
	return c.askPeople(steps)
}

// beginPhase begins the phase of the given steps, unless it stops at a gate, needs a summary first, or cannot be paid for. There may
// be more to do then if people have steps in the phase, or turns are empty.
func (c *transaction) beginPhase(steps []protocol.Step) (more bool, err error) {
	r := c.rec
	if q := gateQuestion(r); q != nil {
		return false, c.fire(fsm.Pause, StateChanged{Question: q})
	}
	if w := summaryNeeded(r, steps); w != nil {
		return c.startSummary(w)
	}
	phase := r.agenda.Phase(&r.Record, steps[0].Phase)[0]
	if e := budgetEnding(r, phase); e.Outcome != "" {
		return true, c.conclude(StateChanged{Ending: e})
	}
	return r.config.HasPeople() || slices.ContainsFunc(steps, agenda.IsEmpty), c.add(PhaseStarted{
		EventMeta: c.stamp("phase"),
		At:        c.now,
		Stage:     r.Cursor.Stage,
		Round:     steps[0].Round,
		Rounds:    r.MaxRounds,
		Phase:     phase.Name,
		Parallel:  phase.Parallel,
		Steps:     len(phase.Steps),
		Callers:   callersOf(r.config, &phase),
	})
}

func (c *transaction) startSummary(w *window.SummaryPlan) (more bool, err error) {
	phase := c.rec.SummaryPhase()
	if e := budgetEnding(c.rec, phase); e.Outcome != "" {
		return true, c.conclude(StateChanged{Ending: e})
	}
	return false, c.add(PhaseStarted{
		EventMeta: c.stamp("phase"),
		At:        c.now,
		Stage:     c.rec.Cursor.Stage,
		Round:     c.rec.Cursor.Round,
		Rounds:    c.rec.MaxRounds,
		Phase:     phase.Name,
		Steps:     1,
		Summary:   w,
	})
}

// askPeople asks people for the replies of their open steps. If nothing else can happen before they reply, it pauses the
// debate. The step of a person who has declined is not open for long: see applyDeclines.
func (c *transaction) askPeople(steps []protocol.Step) (more bool, err error) {
	r := c.rec
	for i := range steps {
		s := &steps[i]
		if !r.mustAsk(*s) {
			continue
		}
		ev, err := newAsked(r, s)
		switch {
		case errors.Is(err, ErrUnsupported): // another engine asks
			return false, nil
		case err != nil:
			return false, c.fire(fsm.Fail, StateChanged{Failure: &Failure{
				Key:         s.Key,
				Kind:        providers.InvalidRequest,
				At:          c.now,
				Message:     err.Error(),
				Recoverable: true,
				Cause:       err,
			}})
		}
		ev.EventMeta = c.stamp("asked")
		ev.At = c.now
		if err := c.add(ev); err != nil {
			return false, err
		}
	}
	if !r.awaitsPeople() {
		return false, nil
	}
	return false, c.fire(fsm.Pause, StateChanged{ForPeople: true})
}

// stop ends the debate and settles.
func (c *transaction) stop(with StateChanged) error {
	if c.rec.Ending.Outcome != "" { // the ending is decided once, also if its conclusion has failed and the debate was edited since
		with.Ending = transcript.Ending{}
	}
	if err := c.conclude(with); err != nil {
		return err
	}
	return c.settle()
}

// conclude ends the debate, which then concludes. If nobody has spoken, there is nothing to conclude: the debate fails, for the
// reason that it ends, unless a person ends it.
func (c *transaction) conclude(with StateChanged) error {
	if c.rec.CanConclude() || with.Ending.Outcome == "" || with.Ending.Outcome == transcript.Stopped {
		return c.fire(fsm.Stop, with)
	}
	f := with.Failure
	if f == nil {
		f = &Failure{
			Key:         c.rec.position(),
			Kind:        providers.InvalidRequest,
			At:          c.now,
			Message:     with.Ending.Evidence,
			Recoverable: true,
		}
	}
	if c.rec.lifecycle.State == fsm.Paused { // a person has decided to go on
		if err := c.fire(fsm.Resume, StateChanged{}); err != nil {
			return err
		}
	}
	return c.fire(fsm.Fail, StateChanged{Failure: f, OtherFailures: with.OtherFailures})
}

// advanceToSteps advances a record to its next steps, as a driver would that knows these windows.
func advanceToSteps(r *record, windows map[string]int) error {
	c := newTransaction(r)
	path := map[fsm.State][]fsm.Event{
		fsm.Configuring: {fsm.Validate, fsm.Accept, fsm.Start},
		fsm.Validating:  {fsm.Accept, fsm.Start},
		fsm.Ready:       {fsm.Start},
		fsm.Error:       {fsm.Retry, fsm.Start},
	}
	for _, on := range path[r.lifecycle.State] {
		ev := StateChanged{}
		if on == fsm.Accept {
			ev.Windows = windows
		}
		if err := c.fire(on, ev); err != nil {
			return err
		}
	}
	if r.lifecycle.State == fsm.RoundComplete && c.now.Before(r.nextRoundAt()) {
		c.now = r.nextRoundAt()
	}
	return c.settle()
}

// newAsked returns what a person is asked in a step.
func newAsked(r *record, s *protocol.Step) (q Asked, err error) {
	who, seat, _ := r.actor(s.Actor)
	q = Asked{
		Key:      s.Key,
		Kind:     s.Kind,
		Contract: s.Contract,
		Tokens:   who.MaxTokens,
	}
	if !r.Settings.Templates.Has(s.Prompt) {
		return q, &unsupported{[]string{fmt.Sprintf("prompt %q is unknown, add it to Options.Prompts", s.Prompt)}}
	}
	contract, err := contractFor(r, s)
	if err != nil {
		return q, err
	}
	is, err := r.Ask(s, seat, contract)
	q.Task = is.Task
	q.Fields = is.Fields
	q.Schema = is.Schema
	q.Attachments = is.Attachments
	q.Documents = is.Documents
	return q, err
}

// brief sets what the actor of a next step may read and must know, as in a prompt for a model.
func brief(r *record, q *Asked) (err error) {
	q.Said = nil
	q.Briefing = nil // no entry of the journal has them
	s := r.open(q.Key)
	if s == nil {
		return nil
	}
	q.Said = r.Said(s)
	if r.Settings.Templates.Has(s.Prompt) {
		q.Briefing, err = newBriefing(r, s)
	}
	return err
}

// newBriefing returns what a person must know to reply to a step.
func newBriefing(r *record, s *protocol.Step) (*Briefing, error) {
	_, seat, _ := r.actor(s.Actor)
	b, err := r.Brief(s, seat)
	return &b, err
}

// contractFor returns the contract of the reply to a step, with the step's own check, or nil if the reply is free text.
func contractFor(r *record, s *protocol.Step) (*reply.Contract, error) {
	if s.Contract == "" {
		return nil, nil
	}
	c := r.Contract(s.Contract)
	if c == nil {
		return nil, &unsupported{[]string{fmt.Sprintf(
			"reply contract %q is unknown, add it to Options.Contracts",
			s.Contract,
		)}}
	}
	if s.Check != nil {
		c = c.WithCheck(s.Check)
	}
	return c, nil
}

// stoppedByPerson is the evidence of an ending by a person.
const stoppedByPerson = "a person stopped the debate"

// timeEndingInCall holds the ending of a debate whose time is used up during a call.
var timeEndingInCall = transcript.Ending{
	Outcome:  transcript.TimeBudget,
	Evidence: "the time budget for rounds was used up during a call",
}

// canDrop reports whether the debate can continue without the participant that failed.
func canDrop(r *record, f *Failure) (can bool) {
	if mustStop(f) || !r.Participates(f.Key.Actor) {
		return false
	}
	left := r.Record
	left.Drop(f.Key.Actor)
	if len(left.Judges) == 0 { // if all judges were dropped, that was a decision
		left.Judges = namesOf(r.config.Judges)
	}
	_ = r.ask(func(r *record) { can = len(r.agenda.Check(&left)) == 0 }) // if the protocol panics, it cannot
	return can
}

// failurePolicy returns the debate's policy for a step that failed.
func failurePolicy(r *record, f *Failure) FailurePolicy {
	switch {
	case slices.Contains(r.Judges, f.Key.Actor):
		return r.config.OnJudgeFailure
	case f.Key.Actor == protocol.Retriever:
		return r.config.OnRetrievalFailure
	}
	return r.config.OnFailure
}

// applyFailurePolicy applies the debate's policy to a step that failed after all attempts. lost are the failures of other steps of the
// same plan.
func (c *transaction) applyFailurePolicy(f *Failure, lost []*Failure) error {
	r := c.rec
	policy := failurePolicy(r, f)
	running := r.Ending.Outcome == ""
	switch {
	case f.OutOfTime:
		return c.stop(StateChanged{
			Failure:       f,
			OtherFailures: lost,
			Ending:        timeEndingInCall,
		})
	case running && f.Kind == providers.ContextOverflow && r.config.OnOverflow == End:
		return c.stopAfter(transcript.EarlyStop, f, lost)
	case policy == Ask:
		return c.fire(fsm.Pause, StateChanged{Question: questionAbout(r, f), OtherFailures: lost})
	case mustStop(f):
		return c.fire(fsm.Fail, StateChanged{Failure: f, OtherFailures: lost})
	case slices.Contains(r.Judges, f.Key.Actor) && policy == End:
		if err := c.drop(f, nil); err != nil {
			return err
		}
		return c.endAfterDrop(f, lost)
	case policy == DropJudge, canDrop(r, f):
		return c.dropAndSettle(f, lost)
	case running && r.Cursor.Round > 1 && r.Participates(f.Key.Actor):
		return c.stopAfter(transcript.QuorumLost, f, lost)
	}
	return c.fire(fsm.Fail, StateChanged{Failure: f, OtherFailures: lost})
}

// stopAfter stops the debate because of a failure, which is the evidence of its ending.
func (c *transaction) stopAfter(outcome transcript.Outcome, f *Failure, lost []*Failure) error {
	return c.stop(StateChanged{
		Ending:        transcript.Ending{Outcome: outcome, Evidence: f.Error()},
		Failure:       f,
		OtherFailures: lost,
	})
}

// goOn continues the debate after a person has replied, declined or decided, unless it is held, or waits for something
// else.
func (c *transaction) goOn() error {
	switch r := c.rec; {
	case r.lifecycle.State.Active():
		return c.applyDeclines()
	case r.lifecycle.State == fsm.Paused && !r.people.held && r.decisions.question == nil &&
		!r.awaitsPeople():
		return c.resume()
	}
	return nil
}

// resume continues a paused debate.
func (c *transaction) resume() error {
	if err := c.fire(fsm.Resume, StateChanged{}); err != nil {
		return err
	}
	return c.applyDeclines()
}

// start starts a debate that is configuring or ready, or a fork that nobody has started.
func (c *transaction) start() error {
	switch {
	case c.rec.lifecycle.State == fsm.Configuring:
		return c.fire(fsm.Validate, StateChanged{})
	case c.rec.fork.idle:
		return c.resume()
	}
	if err := c.fire(fsm.Start, StateChanged{}); err != nil {
		return err
	}
	return c.settle()
}

// applyDeclines applies the debate's policy to the steps that people have declined, and settles.
func (c *transaction) applyDeclines() error {
	for c.rec.lifecycle.State.Active() && len(c.rec.people.declined) > 0 {
		steps := c.rec.next()
		at := slices.IndexFunc(
			steps,
			func(s protocol.Step) bool { return c.rec.people.declined[s.Key] != nil && !agenda.IsEmpty(s) },
		)
		if at < 0 {
			break
		}
		if err := c.applyDecline(&steps[at]); err != nil {
			return err
		}
	}
	return c.settle()
}

// applyDecline applies the debate's policy to a step that its person has declined.
func (c *transaction) applyDecline(s *protocol.Step) error {
	r := c.rec
	d := c.rec.people.declined[s.Key]
	message := cmp.Or(d.By, s.Actor) + " declined"
	if d.Reason != "" {
		message += ": " + d.Reason
	}
	f := &Failure{
		Key:         s.Key,
		Kind:        providers.Declined,
		At:          d.At,
		Message:     message,
		Recoverable: true,
	}
	contract := r.Contract(s.Contract)
	if slices.Contains(r.Judges, s.Actor) && r.config.OnJudgeFailure == Continue && contract != nil {
		list, _ := r.NamesFor(s)
		if safe, ok := contract.Default(list); ok {
			t := r.Reply(s, safe.Text, safe.Data)
			t.Flags = []transcript.Flag{transcript.Defaulted}
			t.Started = d.At
			t.Ended = d.At
			t.By = d.By
			return c.add(TurnDone{
				EventMeta: c.stamp("turn"),
				At:        c.now,
				Turn:      t,
			})
		}
	}
	return c.applyFailurePolicy(f, nil)
}

func (c *transaction) addDecided(ev Decided) error {
	ev.EventMeta = c.stamp("decided")
	ev.At = c.now
	return c.add(ev)
}

// stopWaiting declines the steps of people for whom the conclusion waits. It changes nothing at a gate, because the
// conclusion has not begun.
func (c *transaction) stopWaiting() error {
	r := c.rec
	if q := r.decisions.question; q != nil && q.Gate != "" {
		return nil
	}
	for again := true; again; again = len(r.waiting()) > 0 { // people speak one after another
		for _, a := range r.waiting() {
			if err := c.addDecided(Decided{
				Action: actionDecline,
				Key:    a.Key,
				Reason: stoppedByPerson,
			}); err != nil {
				return err
			}
		}
		if r.lifecycle.State == fsm.Paused {
			if err := c.stop(StateChanged{}); err != nil {
				return err
			}
		}
		if err := c.applyDeclines(); err != nil {
			return err
		}
	}
	return nil
}

// givenTurn returns the turn of a step with a reply that a person gives, which has so many tokens. If the reply is blank,
// invalid or has more than most tokens, givenTurn returns *Problems about the subject.
func givenTurn(r *record, s *protocol.Step, subject, text string, tokens, most int) (t transcript.Turn, err error) {
	contract, err := contractFor(r, s)
	if err != nil {
		return t, err
	}
	t, wrong, err := r.Given(s, contract, text, tokens, most)
	l := &problemList{}
	for _, reason := range wrong {
		l.add("reply", "%s", reason)
	}
	return t, cmp.Or(problemsOf(subject, l.problems), err)
}

// applyGate carries out a person's decision at a gate.
func (c *transaction) applyGate(action string, q *Question) error {
	switch evidence := "a person ended the debate at a gate: " + q.Cause; {
	case action != actionStop:
		return nil
	case c.rec.lifecycle.PausedFrom == fsm.Completing:
		return c.fire(fsm.Cancel, StateChanged{Ending: transcript.Ending{Outcome: transcript.Canceled, Evidence: evidence}})
	default:
		return c.stop(StateChanged{Ending: transcript.Ending{Outcome: transcript.Stopped, Evidence: evidence}})
	}
}

func (c *transaction) dropAndSettle(f *Failure, lost []*Failure) error {
	own := slices.DeleteFunc(slices.Clone(lost), func(l *Failure) bool { return l.Key.Actor != f.Key.Actor })
	if err := c.drop(f, own); err != nil {
		return err
	}
	return c.settle()
}

func (c *transaction) drop(f *Failure, lost []*Failure) error {
	return c.add(Dropped{
		EventMeta:     c.stamp("dropped"),
		At:            c.now,
		Name:          f.Key.Actor,
		Failure:       f,
		OtherFailures: lost,
	})
}

// endAfterDrop ends the debate after the drop of a judge that failed.
func (c *transaction) endAfterDrop(f *Failure, lost []*Failure) error {
	if c.rec.Ending.Outcome != "" { // the judge failed in the conclusion
		return c.settle()
	}
	return c.stop(StateChanged{
		Ending:        transcript.Ending{Outcome: transcript.QuorumLost, Evidence: f.Error()},
		OtherFailures: lost,
	})
}

func questionAbout(r *record, f *Failure) *Question {
	q := &Question{
		Cause:   f.Error(),
		Failure: f,
		Choices: []Choice{
			{
				Action:      actionRetry,
				Label:       "Try again",
				Description: fmt.Sprintf("call %s again", f.Key.Actor),
			},
		},
	}
	if canDrop(r, f) || slices.Contains(r.Judges, f.Key.Actor) {
		q.Choices = append(q.Choices, Choice{
			Action:      actionDrop,
			Label:       "Continue without",
			Description: fmt.Sprintf("%s takes no further part", f.Key.Actor),
		})
	}
	if r.Ending.Outcome == "" { // otherwise it is already concluding
		q.Choices = append(q.Choices, Choice{
			Action:      actionEnd,
			Label:       "End here",
			Description: "conclude with the turns so far",
		})
	}
	return q
}

// applyDecision carries out a person's decision, except that the debate goes on.
func (c *transaction) applyDecision(action string, q *Question) error {
	switch {
	case q.Gate != "":
		return c.applyGate(action, q)
	case action == actionEnd:
		return c.stop(StateChanged{Ending: transcript.Ending{
			Outcome: transcript.Stopped, Evidence: "a person ended the debate after a question: " + q.Cause,
		}})
	case action == actionDrop && q.Failure == nil:
		return errors.New("the question has no actor to drop")
	}
	if steps := c.rec.next(); action == actionRetry &&
		len(steps) > 0 { // failed attempts may have used up a budget
		if e := budgetEnding(c.rec, protocol.Phase{
			Name:     steps[0].Phase,
			Parallel: len(steps) > 1,
			Steps:    steps,
		}); e.Outcome != "" {
			return c.stop(StateChanged{Ending: e})
		}
	}
	if action == actionDrop {
		return c.drop(q.Failure, nil)
	}
	return nil
}
