package debate

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/actor"
	"github.com/elenchus-go/debate/internal/additions"
	"github.com/elenchus-go/debate/internal/agenda"
	"github.com/elenchus-go/debate/internal/budget"
	"github.com/elenchus-go/debate/internal/chain"
	"github.com/elenchus-go/debate/internal/characters"
	"github.com/elenchus-go/debate/internal/clients"
	"github.com/elenchus-go/debate/internal/deepcopy"
	"github.com/elenchus-go/debate/internal/outcome"
	"github.com/elenchus-go/debate/internal/panics"
	"github.com/elenchus-go/debate/internal/protocols"
	"github.com/elenchus-go/debate/internal/seal"
	"github.com/elenchus-go/debate/internal/sources"
	"github.com/elenchus-go/debate/internal/step/prompting"
	"github.com/elenchus-go/debate/internal/step/rounds"
	"github.com/elenchus-go/debate/internal/turns"
	"github.com/elenchus-go/debate/journal"
	"github.com/elenchus-go/debate/judge/agreement"
	"github.com/elenchus-go/debate/judge/measured"
	"github.com/elenchus-go/debate/prompts"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// record is the state of a debate, computed from its journal. Only apply changes it, entry by entry and in place.
// Replay, resume and a live run all use apply. Of its parts, History, agenda and planned hold what readers compute from it.
type record struct {
	prompting.Debate

	keys      *seal.Keys // of hashes; nil before the first entry
	writer    Rules      // rules of the engine that wrote the last entry
	config    *Config
	lifecycle fsm.Position
	accepted  acceptance
	losses    losses
	decisions decisions
	people    people
	notes     additions.Notes
	fork      forkPoint
	agenda    agenda.Agenda
	hidden    []string // documents and attachments that judges do not see
	stored    storedStatus
	usage     transcript.Usage
	times     times
	planned   plannedSteps
	tools     rounds.Rounds
	used      []ToolUse // of the run
	env       *environment
	given     *Config // the configuration of the first entry; nil once it was applied
}

// phaseOpen reports whether the debate is active and its open phase has steps to run. If so, nothing can be committed
// before a turn.
func (r *record) phaseOpen() bool {
	steps := r.next()
	if _, waits := r.tools.Awaited(steps); waits != nil {
		return false
	}
	return r.lifecycle.State.Active() && len(steps) > 0 && steps[0].Phase == r.Cursor.Phase &&
		!slices.ContainsFunc(steps, r.mustAsk) && !slices.ContainsFunc(steps, agenda.IsEmpty)
}

// nextRoundAt returns the time at which the next round may begin.
func (r *record) nextRoundAt() time.Time { return r.times.entered.Add(r.config.Limits.RoundDelay) }

// acceptance holds what the last check of the configuration has found.
type acceptance struct {
	valid      bool               // the configuration was accepted and has not changed since
	limited    []Warning          // about replies whose token limits were lowered
	mismatched []Warning          // about windows that were larger than those of the providers
	biased     []Warning          // about judges that an audit found biased
	problems   []protocol.Problem // why the last start was refused
}

// losses holds the failures of a debate.
type losses struct {
	failure *Failure // why the debate is in error
	dropped []Dropped
	steps   []*Failure // steps that failed, including those that were retried later
}

// decisions holds what a person decides: about failures, and at gates.
type decisions struct {
	question  *Question         // the open question
	made      map[string]string // the answers to questions, by ID
	withdrawn *Failure          // the failure whose actor a person chose to drop
	passed    map[string]bool   // gates that were decided, by name
}

// people holds what the debate waits for people for.
type people struct {
	asked    map[transcript.Key]*Asked   // the steps that people were asked for
	declined map[transcript.Key]*Decided // those to which they give no reply
	replies  map[transcript.Key]string   // hashes of the replies; see seal.Keys.Reply
	held     bool                        // a person holds the debate: replies do not continue it
}

// storedStatus holds what only the stored status of a debate has.
type storedStatus struct {
	plan    store.Plan
	awaited []string // the names for whom the debate waits
	driver  store.Heartbeat
}

// times holds when things happened and how long the debate has run.
type times struct {
	created, updated, completed time.Time
	entered                     time.Time // when the current state was entered; a pause does not change it
	running                     time.Duration
	outage                      time.Duration // time since the last turn in which a provider could not be reached; no running time
	roundBegan                  time.Duration // running time at the start of the current round
}

// put sets a value of a map, which may be nil.
func put[K comparable, V any](m *map[K]V, key K, value V) {
	if *m == nil {
		*m = map[K]V{}
	}
	(*m)[key] = value
}

// forkPoint says what a debate is a fork of. It is zero for other debates.
type forkPoint struct {
	transcript.Parent

	idle bool // nobody has started the fork
}

// environment holds what a record needs from its engine.
type environment struct {
	prompting.Environment

	parse         func(b json.RawMessage) (Config, error) // see Engine.parse
	sets          map[string]*prompts.Set                 // by Config.Prompts
	extractAnswer func(transcript.Turn) string            // see Options.ExtractAnswer
	rules         *Rules                                  // of the engine
	identify      func(string) (string, bool)             // returns a provider's full name, and whether it is a person
	texts         *sources.Texts                          // of sources, prepared for checks of quotes
	audits        []measured.Record                       // see Options.Audits
}

// noEnvironment serves records that only plan a debate, as validation does.
var noEnvironment = &environment{
	Environment: prompting.Environment{
		Count: func(_, text string) int { return window.Estimate(text) },
		Tools: func([]string) (list []providers.Tool, missing []string) { return nil, nil },
	},
	identify: func(name string) (string, bool) { return name, false },
	rules:    &Rules{Number: rulesNumber},
	texts:    &sources.Texts{},
}

// plannedSteps caches the steps that may run after the entry seq.
type plannedSteps struct {
	seq   int64
	steps []protocol.Step
}

// stages maps the states in which a protocol has steps to their stages.
var stages = map[fsm.State]transcript.Kind{
	fsm.Initializing:      transcript.Setup,
	fsm.AwaitingResponses: transcript.Speech,
	fsm.Judging:           transcript.Assessment,
	fsm.Completing:        transcript.Conclusion,
}

// noConfig holds the configuration of records before their first entry. It never changes.
var noConfig Config

func newRecord(id string, env *environment) *record {
	r := &record{
		env:       env,
		lifecycle: fsm.Position{State: fsm.Configuring},
		config:    &noConfig,
	}
	r.Env = &env.Environment
	r.Findings = &r.agenda
	r.agenda.Answer = r.answerOf
	r.ID = id
	r.Cursor.Run = 1
	return r
}

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

// spent returns the usage of all turns, of steps that have failed, and of the rounds of tool calls of other steps.
func (r *record) spent() transcript.Usage { return r.tools.AddTo(r.usage) }

// roundAfter returns the current round after a transition. A debate that is retried returns to the round that it was
// in.
func (r *record) roundAfter(on fsm.Event, to fsm.State) int {
	if to == fsm.AwaitingResponses && (on == fsm.Advance || r.Cursor.Round == 0) {
		return r.Cursor.Round + 1
	}
	return r.Cursor.Round
}

// drivable reports whether the debate runs, or will run once it is started.
func (r *record) drivable() bool { return r.lifecycle.State.Active() || r.notStarted() }

// notStarted reports whether the debate waits for its start. An edit of its configuration leads to another check.
func (r *record) notStarted() bool {
	return r.lifecycle.State == fsm.Configuring || r.lifecycle.State == fsm.Ready
}

// canContinue returns an error if this engine lacks the protocol of a debate that has not ended.
func (r *record) canContinue() error {
	if r.lifecycle.State.Final() {
		return nil
	}
	return r.lacksProtocol()
}

// lacksProtocol returns an error if this engine lacks the debate's protocol, which says which steps can run.
func (r *record) lacksProtocol() error {
	if u, ok := r.config.Protocol.(protocols.Unknown); ok {
		return &unsupported{[]string{fmt.Sprintf("protocol.name: %q is unknown to this engine", u.Name())}}
	}
	return nil
}

// next returns the steps that may run now, whether or not the debate is paused. The result stays the same until
// another entry is applied.
func (r *record) next() []protocol.Step {
	if r.planned.seq == r.Seq {
		return r.planned.steps
	}
	var steps []protocol.Step
	if r.Cursor.Stage != "" && (r.Cursor.Stage != transcript.Conclusion || r.CanConclude()) {
		steps = r.agenda.Next(&r.Record)
	}
	for i := range steps {
		if last := r.tools.Of(steps[i].Key).Last(); last != nil { // what a step sees does not change after its first round
			steps[i].VisibleSeq = last.VisibleSeq
		}
	}
	if r.History.Wanted != nil {
		steps = []protocol.Step{r.SummaryStep()}
	}
	r.planned.seq = r.Seq
	r.planned.steps = steps // not before: the protocol may panic
	return steps
}

// open returns the step with a key if it may still be committed, otherwise nil.
func (r *record) open(k transcript.Key) *protocol.Step {
	steps := r.next()
	for i := range steps {
		if steps[i].Key == k {
			return &steps[i]
		}
	}
	return nil
}

// phases returns the phases of a stage in the current round.
func (r *record) phases(stage transcript.Kind) []protocol.Phase {
	was := r.Cursor.Stage
	r.Cursor.Stage = stage
	defer func() { r.Cursor.Stage = was }()
	return r.agenda.Phases(&r.Record)
}

// seats returns the settings of the debate's actors.
func (r *record) seats() seatSettings { return seatSettings{config: r.config, hidden: r.hidden} }

// mustAsk reports whether a person speaks in a step and was not asked yet.
func (r *record) mustAsk(s protocol.Step) bool {
	return r.isHuman(s.Actor) && r.people.asked[s.Key] == nil && !agenda.IsEmpty(s)
}

func (r *record) isHuman(name string) bool {
	who := r.config.Actor(name)
	return who != nil && who.Human
}

// actor returns the configuration of an actor and the profile that its prompts use.
func (r *record) actor(name string) (*Participant, transcript.Profile, bool) {
	who := r.config.Actor(name)
	if who == nil {
		return nil, transcript.Profile{}, false
	}
	for i := range r.Profiles {
		if r.Profiles[i].Name == name {
			return who, r.Profiles[i], true
		}
	}
	if slices.Contains(actor.System, name) {
		return who, transcript.Profile{Name: name, Instructions: who.Instructions}, true
	}
	return who, who.Profile(), true
}

// changed returns when the debate was last changed. The entries that a fork has from its parent are older than the fork.
func (t *times) changed() time.Time {
	if t.updated.Before(t.created) {
		return t.created
	}
	return t.updated
}

// plannedRecord returns the record of a debate that has not begun.
func plannedRecord(s seatSettings, env *environment) *record {
	c := s.config
	r := newRecord(c.ID, env)
	r.Record = *protocolRecord(c)
	r.hidden = s.hidden
	r.setConfig(c)
	r.addParticipants()
	r.Sources.SetDocuments(c.Documents, 0)
	r.Documents = r.Sources.Shared()
	return r
}

// protocolRecord returns the record that the protocol checks before the debate starts.
func protocolRecord(c *Config) *protocol.Record {
	r := &protocol.Record{
		ID:           c.ID,
		Seed:         cmp.Or(c.Seed, c.ID),
		Topic:        c.Topic,
		Participants: participantProfiles(*c),
		MinRounds:    c.Limits.MinRounds,
		MaxRounds:    c.Limits.MaxRounds,
	}
	r.Cursor = transcript.Cursor{Run: 1}
	r.Judges = namesOf(c.Judges)
	return r
}

func statusOf(r *record) store.Status {
	status := store.Status{
		ID:          r.ID,
		Seq:         r.Seq,
		State:       r.lifecycle.State,
		Cursor:      r.Cursor,
		MaxRounds:   r.MaxRounds,
		Ending:      r.Ending,
		Topic:       r.config.Topic,
		Protocol:    r.config.Protocol.Name(),
		Labels:      maps.Clone(r.config.Labels),
		Usage:       r.spent(),
		RunningTime: r.times.running,
		Format:      store.Format,
		Created:     r.times.created,
		Updated:     r.times.changed(),
		Plan:        planOf(r),
		Parent:      r.fork.Parent,
		Signed:      r.isSigned(),
	}
	if r.canContinue() != nil { // only an engine that has the protocol can tell
		status.Waiting = slices.Clone(r.stored.awaited)
	}
	for _, a := range r.waiting() {
		status.Waiting = append(status.Waiting, a.Key.Actor)
	}
	for _, p := range r.accepted.problems {
		status.Problems = append(status.Problems, p.String())
	}
	if f := r.losses.failure; f != nil {
		status.FailureKind = string(f.Kind)
		status.FailureCause = characters.Cut(f.Message, maxFailureCause)
	} else if r.accepted.problems != nil {
		status.FailureKind = rejected
		status.FailureCause = characters.Cut(strings.Join(status.Problems, "\n"), maxFailureCause)
	}
	return status
}

// signature returns the last signature of the debate, or nil.
func (r *record) signature() *transcript.Signature {
	if _, s, ok := chain.SignatureIn(chain.NoteName, r.notes.Values[chain.NoteName], r.ID); ok {
		return &transcript.Signature{
			Signer:  s.Signers[0].Name,
			Entries: s.Entries,
			Head:    s.Head.String(),
		}
	}
	return nil
}

// isSigned reports whether the debate has ended, and has a signature since.
func (r *record) isSigned() bool {
	s := r.signature()
	return s != nil && r.lifecycle.State.Final() && s.Entries >= r.Cursor.PhaseSeq
}

// lacksSignature reports whether the debate has ended and can be signed, but is not. The last transition has its seq in the
// cursor.
func (r *record) lacksSignature() bool {
	return r.lifecycle.State.Final() && !r.isSigned()
}

// ask calls f, which reads what the protocol of the record says, for those who do not drive the debate. It returns a panic of the
// protocol. Readers do without what it says: the driver meets the panic too, and reports it.
func (r *record) ask(f func(*record)) error { return panics.Call(func() { f(r) }) }

// waiting returns what the debate asks people for, in the order of the steps.
func (r *record) waiting() (list []*Asked) {
	if !r.config.HasPeople() || r.lifecycle.State.Final() {
		return nil
	}
	_ = r.ask(func(r *record) {
		for _, s := range r.next() {
			if r.waitsFor(s) {
				list = append(list, r.people.asked[s.Key])
			}
		}
	})
	return list
}

// addPeople notes in the profiles who is a person.
func (r *record) addPeople() {
	for _, list := range []*[]transcript.Profile{&r.Participants, &r.Profiles} {
		*list = slices.Clone(*list) // personas and calls in flight keep the old list
		for i := range *list {
			(*list)[i].Human = r.isHuman((*list)[i].Name)
		}
	}
}

// asModels changes profiles to those of models: a person may take over from a model, and a model from a person.
func asModels(list []transcript.Profile) []transcript.Profile {
	for i := range list {
		list[i].Human = false
	}
	return list
}

// waitsFor reports whether the debate waits for a person's reply to a next step. If its phase has not begun, a gate may be
// open, or the debate may end first.
func (r *record) waitsFor(s protocol.Step) bool {
	return !agenda.IsEmpty(s) && r.people.asked[s.Key] != nil && r.people.declined[s.Key] == nil &&
		s.Phase == r.Cursor.Phase
}

// awaitsPeople reports whether nothing can happen before a person replies.
func (r *record) awaitsPeople() bool {
	return r.config.HasPeople() && len(r.next()) > 0 && len(r.waiting()) == len(r.next())
}

// facts returns the facts that guards read, except AssessmentDue. AssessmentDue is expensive and only one event needs
// it.
func (r *record) facts() fsm.Facts {
	f := fsm.Facts{
		ValidConfig:    r.accepted.valid,
		HasOutcome:     r.Ending.Outcome != "",
		Recoverable:    r.losses.failure != nil && r.losses.failure.Recoverable,
		NoOpenQuestion: r.decisions.question == nil,
	}
	_ = r.ask(func(r *record) { f.AwaitsPeople = r.awaitsPeople() }) // a failure is reported whatever the protocol does
	return f
}

func (r *record) configWarnings() []Warning {
	if r.config.Judges == nil && r.config.Substitutes == nil { // the other warnings are about them
		return slices.Concat(r.accepted.mismatched, r.accepted.limited)
	}
	return slices.Concat(
		warningsAbout(r.Cursor.Run, clients.WarnOfPreferences(r.config.Actors(), r.env.identify)),
		r.accepted.mismatched,
		r.accepted.limited,
		r.accepted.biased,
	)
}

// position returns the key of a failure that belongs to no step.
func (r *record) position() transcript.Key {
	return transcript.Key{
		Run:   r.Cursor.Run,
		Round: r.Cursor.Round,
		Phase: r.Cursor.Phase,
	}
}

// gateQuestion returns the question of a gate that the debate has reached, or nil if there is none.
func gateQuestion(r *record) *Question {
	gate, cause := gateAhead(r)
	if cause == "" {
		return nil
	}
	return &Question{
		Gate:  gate,
		Cause: cause,
		Choices: []Choice{
			{
				Action:      actionApprove,
				Label:       "Continue",
				Description: "go on as planned",
			},
			{
				Action:      actionEdit,
				Label:       "Continue with a remark",
				Description: "add a remark that the next steps see, and go on",
			},
			{
				Action:      actionStop,
				Label:       "Stop here",
				Description: "end the debate; before the conclusion, cancel it",
			},
		},
	}
}

// gateAhead returns the gate that the debate has reached and nobody has passed, with the cause of the question there. The cause is
// empty if there is no such gate.
func gateAhead(r *record) (gate, cause string) {
	if r.Cursor.Stage == transcript.Speech && r.config.AskBeforeRounds {
		gate = fmt.Sprintf("round %d", r.Cursor.Round)
		cause = fmt.Sprintf("round %d of %d is next", r.Cursor.Round, r.MaxRounds)
	}
	if r.Cursor.Stage == transcript.Conclusion && r.config.AskBeforeVerdict {
		gate = "verdict"
		cause = "the conclusion is next"
	}
	if gate != "" && !r.decisions.passed[gate] {
		return gate, cause
	}
	most := r.config.AskAboveCost
	if most > 0 && r.spent().Cost > most && !r.decisions.passed["cost"] {
		return "cost", fmt.Sprintf("%.4f are spent, more than %.4f", r.spent().Cost, most)
	}
	return "", ""
}

// callQuestion returns the question about a call that must wait for a person, or nil if there is none.
func callQuestion(r *record, steps []protocol.Step) *Question {
	k, c := r.tools.Awaited(steps)
	if c == nil {
		return nil
	}
	return &Question{
		Cause: fmt.Sprintf("%s wants to call the tool %s", k.Actor, c.Name),
		Step:  k,
		Call:  c,
		Choices: []Choice{
			{
				Action:      actionApprove,
				Label:       "Approve",
				Description: "call the tool with these arguments",
			},
			{
				Action:      actionRefuse,
				Label:       "Refuse",
				Description: "do not call the tool; a remark says why",
			},
		},
	}
}

// rejected holds Status.FailureKind of a debate whose last start was refused.
const rejected = "rejected"

// maxFailureCause limits the length of Status.FailureCause in bytes.
const maxFailureCause = 500

// withoutPastDriver returns a status without a heartbeat that no longer says anything: the debate has ended, or was driven
// by another engine after this one lacked something.
func withoutPastDriver(s store.Status) store.Status {
	if h := s.Driver; s.State.Final() || len(h.Missing) > 0 && s.Updated.After(h.At) {
		s.Driver = store.Heartbeat{}
	}
	return s
}

// planOf returns the steps that may run now, as a plan. The plan's key does not change when the process crashes, the
// debate is paused, a remark is added, or a part of the plan is done.
func planOf(r *record) (p store.Plan) {
	if !r.lifecycle.State.Active() {
		return p
	}
	if r.canContinue() != nil &&
		r.lifecycle.State != fsm.Validating { // only an engine that has the protocol can plan
		return r.stored.plan
	}
	at := transcript.Key{
		Run:   r.Cursor.Run,
		Round: r.Cursor.Round,
		Phase: string(r.lifecycle.State),
	}
	err := r.ask(func(r *record) {
		switch {
		case r.lifecycle.State == fsm.RoundComplete:
			p.NotBefore = r.nextRoundAt()
		case r.phaseOpen() && !r.Parallel:
			at = r.next()[0].Key
		case r.phaseOpen():
			at.Phase = r.Cursor.Phase
		}
		p.Key = at.String()
		p.Timeout = r.config.Limits.StepTimeout * time.Duration(budget.LongestChain(r.next()))
	})
	if err != nil {
		return store.Plan{Key: at.String(), Timeout: r.config.Limits.StepTimeout}
	}
	return p
}

// resultOf returns the result of a record. It shares no memory with the record.
func resultOf(r *record) *Result {
	res := &Result{
		ID:           r.ID,
		Parent:       r.fork.Parent,
		Topic:        r.config.Topic,
		Background:   r.config.Background,
		Protocol:     r.config.Protocol.Name(),
		State:        r.lifecycle.State,
		Ending:       r.Ending,
		Round:        r.Cursor.Round,
		Turns:        turns.Copy(r.Turns),
		Sides:        map[string]Totals{},
		Participants: []ParticipantStatus{},
		Rounds:       make([]Totals, r.Cursor.Round+1),
		Question:     deepcopy.Of(r.decisions.question),
		Failure:      deepcopy.Of(r.losses.failure),
		Problems:     deepcopy.Of(r.accepted.problems),
		RunningTime:  r.times.running,
		Created:      r.times.created,
		Started:      r.Started,
		Updated:      r.times.changed(),
		Completed:    r.times.completed,
	}
	res.Annotations = deepcopy.Of(r.notes.Values)
	res.Signature = r.signature()
	if res.Signature != nil {
		delete(res.Annotations, chain.NoteName)
	}
	for _, w := range r.configWarnings() {
		res.Warnings = append(res.Warnings, w.Text)
	}
	r.agenda.AddTo(res)
	sides := map[string]string{}
	for _, s := range r.Profiles {
		sides[s.Name] = cmp.Or(s.Side, s.Name)
		res.Participants = append(res.Participants, participantStatus(r, s.Name))
	}
	for _, f := range r.losses.steps {
		addFailure(res, f, sides[f.Key.Actor])
	}
	for i := range res.Turns {
		addTurn(res, i, sides)
	}
	res.Tools = slices.Clone(r.used)
	for _, a := range r.waiting() {
		res.Waiting = append(res.Waiting, a.Key)
	}
	res.Sources = r.Sources.Report(res.Turns, sides)
	res.Agreement = agreement.MeasureScores(res.Assessments...)
	var failed error
	res.Answer, failed = answerOf(r, res.Verdict)
	if failed != nil {
		res.Warnings = append(res.Warnings, fmt.Sprintf("the protocol cannot compute the answer: panic: %v", failed))
	}
	res.Warnings = append(res.Warnings, res.Answer.Warnings...)
	res.Outcome, failed = outcomeOf(r, res.Answer)
	if failed != nil {
		res.Warnings = append(res.Warnings, fmt.Sprintf("the protocol cannot compute the outcome: panic: %v", failed))
	}
	return res
}

// addTurn adds the turn with an index to what a result says of all turns. sides holds the sides of the participants by name.
func addTurn(res *Result, i int, sides map[string]string) {
	t := &res.Turns[i]
	side := sides[t.Actor]
	res.Sides[side] = withTurn(res.Sides[side], t)
	res.Rounds[t.Round] = withTurn(res.Rounds[t.Round], t)
	res.Total = withTurn(res.Total, t)
	for _, w := range turns.Warnings(t) {
		res.Warnings = append(res.Warnings, fmt.Sprintf("round %d, %s of %s: %s", t.Round, t.Phase, t.Actor, w))
	}
	switch t.Kind {
	case transcript.Assessment:
		room := min(res.Round-t.Round+1, len(res.Turns)-i)
		res.Assessments = append(slices.Grow(res.Assessments, room), *t)
	case transcript.Conclusion:
		otherPhase := res.Verdict == nil || res.Verdict.Phase != t.Phase
		if otherPhase || !slices.Contains(t.Flags, transcript.Defaulted) {
			res.Verdict = t
		}
	default:
	}
}

// answerOf returns the protocol's answer, or the verdict if the protocol computes no answer.
func answerOf(r *record, verdict *transcript.Turn) (a protocol.Answer, err error) {
	p, ok := r.config.Protocol.(protocol.Answerer)
	if !ok {
		if verdict != nil {
			a.Text = verdict.Text
			a.Data = verdict.Data
			a.Type = verdict.Contract
		}
		return a, nil
	}
	err = r.ask(func(r *record) { a = deepcopy.Of(p.Answer(&r.Record)) })
	if a.Text != "" || len(a.Data) > 0 {
		a.Type = cmp.Or(a.Type, r.config.Protocol.Name())
	}
	return a, err
}

// outcomeOf returns what the debate has found.
func outcomeOf(r *record, a protocol.Answer) (o protocol.Outcome, err error) {
	err = r.ask(func(r *record) { o = outcome.Of(r.config.Protocol, &r.Record, a) })
	return o, err
}

// participantStatus returns the status of a participant after its turns and its failures.
func participantStatus(r *record, name string) ParticipantStatus {
	s := ParticipantStatus{Name: name, State: "active"}
	for i := range r.Turns {
		t := &r.Turns[i]
		if t.Actor != name {
			continue
		}
		s.State = "active"
		addAttempts(&s, t.Attempts)
		if t.Window != nil && t.Window.Omitted > 0 {
			s.State = "context_exceeded"
		}
	}
	for _, f := range r.losses.steps {
		if f.Key.Actor == name {
			addAttempts(&s, f.AttemptDetails)
		}
	}
	if slices.ContainsFunc(r.losses.dropped, func(d Dropped) bool { return d.Name == name }) {
		s.State = "dropped"
	}
	return s
}

// failedStates are the states of participants whose last attempt has failed, by the kind of the failure.
var failedStates = map[string]string{
	string(providers.RateLimit):       "rate_limited",
	string(providers.ContextOverflow): "context_exceeded",
}

// addAttempts adds attempts at a step to the status of a participant.
func addAttempts(s *ParticipantStatus, list []transcript.Attempt) {
	for _, a := range list {
		s.Attempts++
		if a.ErrorKind != "" {
			s.Errors = append(s.Errors, a.ErrorMessage)
		}
		s.State = cmp.Or(failedStates[a.ErrorKind], s.State)
	}
}

// setConfig changes the configuration. Calls in flight keep the old one.
func (r *record) setConfig(c *Config) {
	r.config = c
	r.agenda.Configure(c)
	r.Settings = prompting.Settings{
		Background: c.Background,
		Reference:  c.Reference,
		Rubric:     c.Rubric,
		Protocol:   c.Protocol,
		Templates:  r.env.sets[c.Prompts],
		History:    c.History,
		Tools:      prompting.ToolLimits{Rounds: c.Limits.ToolRounds, Bytes: c.Limits.ToolBytes},
		Summarizer: transcript.Profile{Name: protocol.Summarizer, Instructions: c.Summarizer.Instructions},
		Actors:     r.seats(),
		Cites:      hasSources(c),
	}
	if r.Settings.Templates == nil { // the engine lacks them, and does not drive the debate
		r.Settings.Templates = r.env.sets[""]
	}
}

func (r *record) addParticipants() {
	r.SetProfiles(participantProfiles(*r.config))
	r.losses.dropped = nil
}

// addFailure adds what a failed step has used to the totals of a result.
func addFailure(r *Result, f *Failure, side string) {
	used := f.Usage()
	of := r.Sides[side]
	of.Usage = of.Usage.Add(used)
	r.Sides[side] = of
	r.Rounds[f.Key.Round].Usage = r.Rounds[f.Key.Round].Usage.Add(used)
	r.Total.Usage = r.Total.Usage.Add(used)
}

// withTurn returns totals with those of a turn.
func withTurn(a Totals, t *transcript.Turn) Totals {
	a.Turns++
	a.Usage = a.Usage.Add(t.Usage)
	a.Duration += t.Ended.Sub(t.Started)
	if t.Window != nil && t.Window.Omitted > 0 {
		a.OmittedTurns++
	}
	return a
}

// isBlind reports whether the person who speaks for a seat must not know who says what: a step is open, or is still to come, in
// which this person sees the participants under pseudonyms.
func (r *record) isBlind(seat string) bool {
	who := r.config.Actor(seat)
	if who == nil || !who.Human || r.lifecycle.State.Final() {
		return false
	}
	if who.Blind {
		return true
	}
	if slices.ContainsFunc(r.next(), func(s protocol.Step) bool {
		return s.Actor == seat && s.Blind
	}) {
		return true
	}
	return r.willBeBlind(seat)
}

// willBeBlind reports whether a seat has a blind step in this round or a later one, or in the conclusion. It asks the protocol
// about this round, the next one and the last one: those between them have the phases of one of these.
func (r *record) willBeBlind(seat string) bool {
	at := r.Cursor
	defer func() { r.Cursor = at }()
	stages := []transcript.Kind{transcript.Speech, transcript.Assessment}
	if at.Stage != transcript.Conclusion {
		for _, round := range []int{max(at.Round, 1), at.Round + 1, r.MaxRounds} {
			if round > max(r.MaxRounds, 1) || round < at.Round {
				continue
			}
			r.Cursor.Round = round
			for _, stage := range stages {
				if r.hasBlindStep(seat, stage) {
					return true
				}
			}
		}
	}
	return r.hasBlindStep(seat, transcript.Conclusion)
}

// hasBlindStep reports whether a seat has yet to speak in a blind step of a stage in the round at hand.
func (r *record) hasBlindStep(seat string, stage transcript.Kind) bool {
	r.Cursor.Stage = stage
	for _, p := range r.phases(stage) {
		for _, s := range p.Steps {
			if s.Actor != seat || !s.Blind {
				continue
			}
			s.Run = r.Cursor.Run
			s.Round = r.Cursor.Round
			s.Phase = p.Name
			if _, done := r.Find(s.Key); !done {
				return true
			}
		}
	}
	return false
}

// The rest of this file holds what actors read and call, and what is decided when a debate starts, because only then the prompts
// and the providers are known: the windows of actors, and the token limits of replies that fit into them.

// window returns the size of the actor's window. Before the debate has started, it may be a guess.
func windowOf(p *Participant) int { return cmp.Or(p.Window, window.DefaultSize) }

// limitReplies sets the token limits of actors' replies, by the path of the actor's field.
func limitReplies(c *Config, limits map[string]int) {
	changeActors(c, func(field string, p *Participant) {
		if n, ok := limits[field]; ok {
			p.MaxTokens = n
		}
	})
}

// setWindows sets the windows of actors that have none to those that are known, by the path of the actor's field, or to the
// default.
func setWindows(c *Config, known map[string]int) {
	changeActors(c, func(field string, p *Participant) {
		if !p.Human {
			p.Window = cmp.Or(p.Window, known[field], window.DefaultSize)
		}
	})
}

// changeActors calls set with each actor that generates text, and with the path of its field.
func changeActors(c *Config, set func(field string, p *Participant)) {
	for _, list := range []struct {
		field  string
		actors *[]Participant
	}{{"participants", &c.Participants}, {"judges", &c.Judges}, {"substitutes", &c.Substitutes}} {
		*list.actors = slices.Clone(*list.actors) // calls in flight keep the old list
		for i := range *list.actors {
			set(actor.Field(list.field, i), &(*list.actors)[i])
		}
	}
	set("persona_assigner", &c.PersonaAssigner)
	set("summarizer", &c.Summarizer)
}

// keepWindows gives each actor without a window the one that it has in another configuration, if it has the same model.
func keepWindows(c *Config, of *Config) {
	changeActors(c, func(field string, p *Participant) {
		was := of.Actor(actor.NameIn(field, p.Name))
		if p.Window == 0 && was != nil && was.Provider == p.Provider && was.Model == p.Model {
			p.Window = was.Window
		}
	})
}

func participantProfiles(c Config) (list []transcript.Profile) {
	for i := range c.Participants {
		if !c.Participants[i].Disabled {
			list = append(list, c.Participants[i].Profile())
		}
	}
	return list
}

func namesOf(list []Participant) (names []string) {
	for i := range list {
		names = append(names, list[i].Name)
	}
	return names
}

// shown returns the attachment as models get it. It shares the bytes.
func shown(a *Attachment) *providers.Attachment {
	return &providers.Attachment{
		Name:      a.Name,
		MediaType: a.MediaType,
		Data:      a.Data,
		URL:       a.URL,
		Pages:     a.Pages,
	}
}

// attachmentsFor returns the attachments that an actor sees.
func attachmentsFor(c *Config, name string) []*providers.Attachment {
	if len(c.Attachments) == 0 || slices.Contains(actor.System, name) {
		return nil
	}
	return shownAttachments(c, func(a *Attachment) bool { return a.IsFor(name) })
}

// attachmentsSeen returns the attachments that the actor in a field sees. A substitute sees those of all judges.
func attachmentsSeen(c *Config, field, name string) (list []*providers.Attachment) {
	if !strings.HasPrefix(field, "substitutes") {
		return attachmentsFor(c, actor.NameIn(field, name))
	}
	return shownAttachments(c, func(a *Attachment) bool {
		return slices.ContainsFunc(c.Judges, func(j Participant) bool {
			return !j.Human && a.IsFor(j.Name)
		})
	})
}

// shownAttachments returns the attachments that are wanted, as models get them.
func shownAttachments(c *Config, wanted func(*Attachment) bool) (list []*providers.Attachment) {
	for i := range c.Attachments {
		a := &c.Attachments[i]
		if wanted(a) {
			list = append(list, shown(a))
		}
	}
	return list
}

// seatSettings implements prompting.Actors.
type seatSettings struct {
	config *Config
	hidden []string // documents and attachments that judges do not see
}

// ModelOf returns the model of an actor.
func (s seatSettings) ModelOf(actor string) (prompting.Model, bool) {
	p := s.config.Actor(actor)
	if p == nil {
		return prompting.Model{}, false
	}
	return prompting.Model{
		Provider:  p.Provider,
		Name:      p.Model,
		Window:    p.Window,
		MaxTokens: p.MaxTokens,
	}, true
}

// ToolsOf returns the names of the tools that the model of an actor may call.
func (s seatSettings) ToolsOf(actor string) []string {
	p := s.config.Actor(actor)
	if p == nil || p.Human {
		return nil
	}
	return p.Tools
}

// DocumentsOf returns the documents that an actor reads.
func (s seatSettings) DocumentsOf(actor string) []evidence.Document {
	list := documentsFor(s.config, actor)
	if !s.hidesFrom(actor) {
		return list
	}
	return slices.DeleteFunc(list, func(d evidence.Document) bool { return slices.Contains(s.hidden, d.Name) })
}

// AttachmentsOf returns the attachments that an actor sees.
func (s seatSettings) AttachmentsOf(actor string) []*providers.Attachment {
	list := attachmentsFor(s.config, actor)
	if !s.hidesFrom(actor) {
		return list
	}
	return slices.DeleteFunc(list, func(a *providers.Attachment) bool { return slices.Contains(s.hidden, a.Name) })
}

// hidesFrom reports whether something is hidden from an actor, who is a judge then.
func (s seatSettings) hidesFrom(actor string) bool {
	return len(s.hidden) > 0 && journal.Find(s.config.Judges, actor) != nil
}

// hiddenTexts returns the texts of hidden documents, as far as they are stored.
func (s seatSettings) hiddenTexts() (list []string) {
	for i := range s.config.Documents {
		d := &s.config.Documents[i]
		if slices.Contains(s.hidden, d.Name) && d.Text != "" {
			list = append(list, d.Text)
		}
	}
	return list
}

// documentsFor returns the documents that an actor reads.
func documentsFor(c *Config, name string) (list []evidence.Document) {
	if len(c.Documents) == 0 || slices.Contains(actor.System, name) {
		return nil
	}
	for i := range c.Documents {
		d := &c.Documents[i]
		if d.IsFor(name) {
			list = append(list, *d)
		}
	}
	return list
}

// warningsAbout returns warnings about actors as events of a run.
func warningsAbout(run int, list []clients.Warning) (events []Warning) {
	for _, w := range list {
		events = append(events, Warning{
			EventMeta: liveMeta("warning"),
			Key: transcript.Key{
				Run:    run,
				Phase:  "configuration",
				Actor:  w.Name,
				Target: w.Field,
			},
			Text: w.Text,
		})
	}
	return events
}

// startWarnings returns warnings about an accepted configuration with the windows that are known and with lower limits of replies.
func startWarnings(c *Config, run int, windows, limits map[string]int) []Warning {
	list := warningsAbout(run, clients.WarnOfWindows(c.Actors(), windows))
	return append(list, warningsAbout(run, clients.WarnOfReplyLimits(c.Actors(), limits))...)
}

// privateOnes returns the documents that are private, or nil if there are none.
func privateOnes(list []evidence.Document) (private []evidence.Document) {
	for i := range list {
		if list[i].IsPrivate() {
			private = append(private, list[i])
		}
	}
	return private
}

func usesTools(c *Config) bool {
	has := func(p Participant) bool { return len(p.Tools) > 0 }
	return slices.ContainsFunc(c.Participants, has) || slices.ContainsFunc(c.Judges, has)
}

// hasSources reports whether a debate can have sources, so that its turns can cite them.
func hasSources(c *Config) bool { return len(c.Documents) > 0 || usesTools(c) }

// callersOf returns PhaseStarted.Callers for a phase.
func callersOf(c *Config, p *protocol.Phase) (list []string) {
	if !p.Parallel || !usesTools(c) {
		return nil
	}
	for i := range p.Steps {
		if who := c.Actor(p.Steps[i].Actor); who != nil && len(who.Tools) > 0 {
			list = append(list, sources.Lane(p.Steps[i].Key))
		}
	}
	if len(list) < 2 {
		return nil
	}
	return list
}

func documentNames(c *Config) (names []string) {
	for i := range c.Documents {
		names = append(names, c.Documents[i].Name)
	}
	for i := range c.Attachments {
		names = append(names, c.Attachments[i].Name)
	}
	return names
}

// textsOf returns what prompts hold before the history.
func textsOf(c *Config) *prompting.Texts {
	return &prompting.Texts{
		Topic:      c.Topic,
		Background: c.Background,
		Reference:  c.Reference,
		Documents:  c.Documents,
	}
}
