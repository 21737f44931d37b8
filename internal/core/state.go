package core

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/actor"
	"github.com/elenchus-go/debate/internal/agenda"
	"github.com/elenchus-go/debate/internal/clients"
	"github.com/elenchus-go/debate/internal/panics"
	"github.com/elenchus-go/debate/internal/protocols"
	"github.com/elenchus-go/debate/internal/seal"
	"github.com/elenchus-go/debate/internal/sources"
	"github.com/elenchus-go/debate/internal/step/prompting"
	"github.com/elenchus-go/debate/internal/step/rounds"
	"github.com/elenchus-go/debate/internal/userinput"
	"github.com/elenchus-go/debate/journal"
	"github.com/elenchus-go/debate/judge/measured"
	"github.com/elenchus-go/debate/prompts"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// A State is the state of a debate, computed from its journal. Only Apply changes it, entry by entry and in place.
// Replay, resume and a live run all use Apply. Of its parts, History, Agenda and Planned hold what readers compute from it.
type State struct {
	prompting.Debate

	Keys      *seal.Keys    // of hashes; nil before the first entry
	writer    journal.Rules // rules of the engine that wrote the last entry
	Config    *journal.Config
	Lifecycle fsm.Position
	Accepted  acceptance
	Losses    losses
	Decisions decisions
	People    people
	Notes     userinput.Notes
	Fork      forkPoint
	Agenda    agenda.Agenda
	Hidden    []string // documents and attachments that judges do not see
	Stored    storedStatus
	usage     transcript.Usage
	Times     times
	Planned   plannedSteps
	Tools     rounds.Rounds
	used      []journal.ToolUse // of the run
	Engine    *Environment
	Parsed    *journal.Config // the configuration of the first entry; nil once it was applied
}

// PhaseOpen reports whether the debate is active and its open phase has steps to run. If so, nothing can be committed
// before a turn.
func (r *State) PhaseOpen() bool {
	steps := r.Next()
	if _, waits := r.Tools.Awaited(steps); waits != nil {
		return false
	}
	return r.Lifecycle.State.Active() && len(steps) > 0 && steps[0].Phase == r.Cursor.Phase &&
		!slices.ContainsFunc(steps, r.MustAsk) && !slices.ContainsFunc(steps, agenda.IsEmpty)
}

// NextRoundAt returns the time at which the next round may begin.
func (r *State) NextRoundAt() time.Time {
	return r.Times.entered.Add(r.Config.Limits.RoundDelay)
}

// acceptance holds what the last check of the configuration has found.
type acceptance struct {
	Valid      bool               // the configuration was accepted and has not changed since
	limited    []journal.Warning  // about replies whose token limits were lowered
	mismatched []journal.Warning  // about windows that were larger than those of the providers
	biased     []journal.Warning  // about judges that an audit found biased
	Problems   []protocol.Problem // why the last start was refused
}

// losses holds the failures of a debate.
type losses struct {
	Failure *journal.Failure // why the debate is in error
	dropped []journal.Dropped
	steps   []*journal.Failure // steps that failed, including those that were retried later
}

// decisions holds what a person decides: about failures, and at gates.
type decisions struct {
	Question  *journal.Question // the open question
	Made      map[string]string // the answers to questions, by ID
	withdrawn *journal.Failure  // the failure whose actor a person chose to drop
	passed    map[string]bool   // gates that were decided, by name
}

// people holds what the debate waits for people for.
type people struct {
	Asked    map[transcript.Key]*journal.Asked   // the steps that people were asked for
	Declined map[transcript.Key]*journal.Decided // those to which they give no reply
	Replies  map[transcript.Key]string           // hashes of the replies; see seal.Keys.Reply
	held     bool                                // a person holds the debate: replies do not continue it
}

// storedStatus holds what only the stored status of a debate has.
type storedStatus struct {
	Plan    store.Plan
	Awaited []string // the names for whom the debate waits
	Driver  store.Heartbeat
}

// times holds when things happened and how long the debate has run.
type times struct {
	Created, Updated, completed time.Time
	entered                     time.Time // when the current state was entered; a pause does not change it
	running                     time.Duration
	Outage                      time.Duration // time since the last turn in which a provider could not be reached; no running time
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

	Idle bool // nobody has started the fork
}

// Environment holds what a state needs from its engine.
type Environment struct {
	prompting.Environment

	Parse         func(b json.RawMessage) (journal.Config, error) // see Engine.parse
	Sets          map[string]*prompts.Set                         // by Config.Prompts
	ExtractAnswer func(transcript.Turn) string                    // see Options.ExtractAnswer
	Rules         *journal.Rules                                  // of the engine
	Identify      func(string) (string, bool)                     // returns a provider's full name, and whether it is a person
	Texts         *sources.Texts                                  // of sources, prepared for checks of quotes
	Audits        []measured.Record                               // see Options.Audits
}

// RulesNumber numbers the rules of this version. Raise it whenever the same journal leads to other prompts, windows,
// pseudonyms or transitions than before. TestTheRulesHaveANumber fails if it was forgotten.
const RulesNumber = 1

// NoEnvironment serves states that only plan a debate, as validation does.
var NoEnvironment = &Environment{
	Environment: prompting.Environment{
		Count: func(_, text string) int { return window.Estimate(text) },
		Tools: func([]string) (list []providers.Tool, missing []string) {
			return nil, nil
		},
	},
	Identify: func(name string) (string, bool) { return name, false },
	Rules:    &journal.Rules{Number: RulesNumber},
	Texts:    &sources.Texts{},
}

// plannedSteps caches the steps that may run after the entry seq.
type plannedSteps struct {
	Seq   int64
	steps []protocol.Step
}

// stages maps the states in which a protocol has steps to their stages.
var stages = map[fsm.State]transcript.Kind{
	fsm.Initializing:      transcript.Setup,
	fsm.AwaitingResponses: transcript.Speech,
	fsm.Judging:           transcript.Assessment,
	fsm.Completing:        transcript.Conclusion,
}

// noConfig holds the configuration of states before their first entry. It never changes.
var noConfig journal.Config

// NewState returns the state of a debate that has no entries.
func NewState(id string, env *Environment) *State {
	r := &State{
		Engine:    env,
		Lifecycle: fsm.Position{State: fsm.Configuring},
		Config:    &noConfig,
	}
	r.Env = &env.Environment
	r.Findings = &r.Agenda
	r.Agenda.Answer = r.answerOf
	r.ID = id
	r.Cursor.Run = 1
	return r
}

// answerOf returns the answer that a turn gives.
func (r *State) answerOf(t transcript.Turn) string {
	switch {
	case t.Extracted != nil:
		return *t.Extracted
	case r.Engine.ExtractAnswer == nil:
		return ""
	}
	return r.Engine.ExtractAnswer(t) // no rule compared answers when the turn was committed
}

// spent returns the usage of all turns, of steps that have failed, and of the rounds of tool calls of other steps.
func (r *State) spent() transcript.Usage { return r.Tools.AddTo(r.usage) }

// roundAfter returns the current round after a transition. A debate that is retried returns to the round that it was
// in.
func (r *State) roundAfter(on fsm.Event, to fsm.State) int {
	if to == fsm.AwaitingResponses && (on == fsm.Advance || r.Cursor.Round == 0) {
		return r.Cursor.Round + 1
	}
	return r.Cursor.Round
}

// Drivable reports whether the debate runs, or will run once it is started.
func (r *State) Drivable() bool {
	return r.Lifecycle.State.Active() || r.NotStarted()
}

// NotStarted reports whether the debate waits for its start. An edit of its configuration leads to another check.
func (r *State) NotStarted() bool {
	return r.Lifecycle.State == fsm.Configuring || r.Lifecycle.State == fsm.Ready
}

// CanContinue returns an error if this engine lacks the protocol of a debate that has not ended.
func (r *State) CanContinue() error {
	if r.Lifecycle.State.Final() {
		return nil
	}
	return r.LacksProtocol()
}

// LacksProtocol returns an error if this engine lacks the debate's protocol, which says which steps can run.
func (r *State) LacksProtocol() error {
	if u, ok := r.Config.Protocol.(protocols.Unknown); ok {
		return &Unsupported{[]string{fmt.Sprintf("protocol.name: %q is unknown to this engine", u.Name())}}
	}
	return nil
}

// Next returns the steps that may run now, whether or not the debate is paused. The result stays the same until
// another entry is applied.
func (r *State) Next() []protocol.Step {
	if r.Planned.Seq == r.Seq {
		return r.Planned.steps
	}
	var steps []protocol.Step
	if r.Cursor.Stage != "" && (r.Cursor.Stage != transcript.Conclusion || r.CanConclude()) {
		steps = r.Agenda.Next(&r.Record)
	}
	for i := range steps {
		if last := r.Tools.Of(steps[i].Key).Last(); last != nil { // what a step sees does not change after its first round
			steps[i].VisibleSeq = last.VisibleSeq
		}
	}
	if r.History.Wanted != nil {
		steps = []protocol.Step{r.SummaryStep()}
	}
	r.Planned.Seq = r.Seq
	r.Planned.steps = steps // not before: the protocol may panic
	return steps
}

// Open returns the step with a key if it may still be committed, otherwise nil.
func (r *State) Open(k transcript.Key) *protocol.Step {
	steps := r.Next()
	for i := range steps {
		if steps[i].Key == k {
			return &steps[i]
		}
	}
	return nil
}

// Phases returns the phases of a stage in the current round.
func (r *State) Phases(stage transcript.Kind) []protocol.Phase {
	was := r.Cursor.Stage
	r.Cursor.Stage = stage
	defer func() { r.Cursor.Stage = was }()
	return r.Agenda.Phases(&r.Record)
}

// ActorSettings returns the settings of the debate's actors.
func (r *State) ActorSettings() Seats {
	return Seats{Config: r.Config, Hidden: r.Hidden}
}

// MustAsk reports whether a person speaks in a step and was not asked yet.
func (r *State) MustAsk(s protocol.Step) bool {
	return r.IsHuman(s.Actor) && r.People.Asked[s.Key] == nil && !agenda.IsEmpty(s)
}

// IsHuman reports whether a person speaks for an actor.
func (r *State) IsHuman(name string) bool {
	who := r.Config.Actor(name)
	return who != nil && who.Human
}

// Actor returns the configuration of an actor and the profile that its prompts use.
func (r *State) Actor(name string) (*journal.Participant, transcript.Profile, bool) {
	who := r.Config.Actor(name)
	if who == nil {
		return nil, transcript.Profile{}, false
	}
	at := slices.IndexFunc(r.Profiles, func(p transcript.Profile) bool { return p.Name == name })
	if at >= 0 {
		return who, r.Profiles[at], true
	}
	if slices.Contains(actor.System, name) {
		return who, transcript.Profile{
			Name:         name,
			Instructions: who.Instructions,
		}, true
	}
	return who, who.Profile(), true
}

// changed returns when the debate was last changed. The entries that a fork has from its parent are older than the fork.
func (t *times) changed() time.Time {
	if t.Updated.Before(t.Created) {
		return t.Created
	}
	return t.Updated
}

// BeforeStart returns the state of a debate that has not begun.
func BeforeStart(s Seats, env *Environment) *State {
	c := s.Config
	r := NewState(c.ID, env)
	r.Record = *protocolRecord(c)
	r.Hidden = s.Hidden
	r.setConfig(c)
	r.addParticipants()
	r.Sources.SetDocuments(c.Documents, 0)
	r.Documents = r.Sources.Shared()
	return r
}

// protocolRecord returns the record that the protocol checks before the debate starts.
func protocolRecord(c *journal.Config) *protocol.Record {
	r := &protocol.Record{
		ID:           c.ID,
		Seed:         cmp.Or(c.Seed, c.ID),
		Topic:        c.Topic,
		Participants: Profiles(*c),
		MinRounds:    c.Limits.MinRounds,
		MaxRounds:    c.Limits.MaxRounds,
	}
	r.Cursor = transcript.Cursor{Run: 1}
	r.Judges = namesOf(c.Judges)
	return r
}

// Safely calls f, which reads what the protocol of the state says, for those who do not drive the debate. It returns a panic of the
// protocol. Readers do without what it says: the driver meets the panic too, and reports it.
func (r *State) Safely(f func(*State)) error {
	return panics.Call(func() { f(r) })
}

// Waiting returns what the debate asks people for, in the order of the steps.
func (r *State) Waiting() (list []*journal.Asked) {
	if !r.Config.HasPeople() || r.Lifecycle.State.Final() {
		return nil
	}
	_ = r.Safely(func(r *State) {
		for _, s := range r.Next() {
			if r.WaitsFor(s) {
				list = append(list, r.People.Asked[s.Key])
			}
		}
	})
	return list
}

// addPeople notes in the profiles who is a person.
func (r *State) addPeople() {
	for _, list := range []*[]transcript.Profile{&r.Participants, &r.Profiles} {
		*list = slices.Clone(*list) // personas and calls in flight keep the old list
		for i := range *list {
			(*list)[i].Human = r.IsHuman((*list)[i].Name)
		}
	}
}

// WaitsFor reports whether the debate waits for a person's reply to a next step. If its phase has not begun, a gate may be
// open, or the debate may end first.
func (r *State) WaitsFor(s protocol.Step) bool {
	return !agenda.IsEmpty(s) && r.People.Asked[s.Key] != nil && r.People.Declined[s.Key] == nil &&
		s.Phase == r.Cursor.Phase
}

// awaitsPeople reports whether nothing can happen before a person replies.
func (r *State) awaitsPeople() bool {
	return r.Config.HasPeople() &&
		len(r.Next()) > 0 &&
		len(r.Waiting()) == len(r.Next())
}

// Facts returns the facts that guards read, except AssessmentDue. AssessmentDue is expensive and only one event needs
// it.
func (r *State) Facts() fsm.Facts {
	f := fsm.Facts{
		ValidConfig:    r.Accepted.Valid,
		HasOutcome:     r.Ending.Outcome != "",
		Recoverable:    r.Losses.Failure != nil && r.Losses.Failure.Recoverable,
		NoOpenQuestion: r.Decisions.Question == nil,
	}
	_ = r.Safely(func(r *State) { f.AwaitsPeople = r.awaitsPeople() }) // a failure is reported whatever the protocol does
	return f
}

// ConfigWarnings returns what a user should know of the configuration.
func (r *State) ConfigWarnings() []journal.Warning {
	if r.Config.Judges == nil && r.Config.Substitutes == nil { // the other warnings are about them
		return slices.Concat(r.Accepted.mismatched, r.Accepted.limited)
	}
	return slices.Concat(
		WarningsAbout(r.Cursor.Run, clients.WarnOfPreferences(r.Config.Actors(), r.Engine.Identify)),
		r.Accepted.mismatched,
		r.Accepted.limited,
		r.Accepted.biased,
	)
}

// position returns the key of a failure that belongs to no step.
func (r *State) position() transcript.Key {
	return transcript.Key{
		Run:   r.Cursor.Run,
		Round: r.Cursor.Round,
		Phase: r.Cursor.Phase,
	}
}

// setConfig changes the configuration. Calls in flight keep the old one.
func (r *State) setConfig(c *journal.Config) {
	r.Config = c
	r.Agenda.Configure(c)
	r.Settings = prompting.Settings{
		Background: c.Background,
		Reference:  c.Reference,
		Rubric:     c.Rubric,
		Protocol:   c.Protocol,
		Templates:  r.Engine.Sets[c.Prompts],
		History:    c.History,
		Tools: prompting.ToolLimits{
			Rounds: c.Limits.ToolRounds,
			Bytes:  c.Limits.ToolBytes,
		},
		Summarizer: transcript.Profile{
			Name:         protocol.Summarizer,
			Instructions: c.Summarizer.Instructions,
		},
		Actors: r.ActorSettings(),
		Cites:  HasSources(c),
	}
	if r.Settings.Templates == nil { // the engine lacks them, and does not drive the debate
		r.Settings.Templates = r.Engine.Sets[""]
	}
}

// addParticipants adds the participants of the configuration, none of whom has dropped out.
func (r *State) addParticipants() {
	r.SetProfiles(Profiles(*r.Config))
	r.Losses.dropped = nil
}

// IsBlind reports whether the person who speaks for a seat must not know who says what: a step is open, or is still to come, in
// which this person sees the participants under pseudonyms.
func (r *State) IsBlind(seat string) bool {
	who := r.Config.Actor(seat)
	if who == nil || !who.Human || r.Lifecycle.State.Final() {
		return false
	}
	if who.Blind {
		return true
	}
	if slices.ContainsFunc(r.Next(), func(s protocol.Step) bool {
		return s.Actor == seat && s.Blind
	}) {
		return true
	}
	return r.willBeBlind(seat)
}

// willBeBlind reports whether a seat has a blind step in this round or a later one, or in the conclusion. It asks the protocol
// about this round, the next one and the last one: those between them have the phases of one of these.
func (r *State) willBeBlind(seat string) bool {
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
func (r *State) hasBlindStep(seat string, stage transcript.Kind) bool {
	r.Cursor.Stage = stage
	for _, p := range r.Phases(stage) {
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

// Templates returns the set with a version, or nil if the engine does not have it.
func (e *Environment) Templates(version string) *prompts.Set {
	for _, s := range e.Sets {
		if s.Version() == version {
			return s
		}
	}
	return nil
}
