package debate

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/actor"
	"github.com/elenchus-go/debate/internal/additions"
	"github.com/elenchus-go/debate/internal/budget"
	"github.com/elenchus-go/debate/internal/findings"
	"github.com/elenchus-go/debate/internal/forks"
	"github.com/elenchus-go/debate/internal/protocols"
	"github.com/elenchus-go/debate/internal/seal"
	"github.com/elenchus-go/debate/internal/sources"
	"github.com/elenchus-go/debate/internal/step/prompting"
	"github.com/elenchus-go/debate/internal/step/rounds"
	"github.com/elenchus-go/debate/judge/detect"
	"github.com/elenchus-go/debate/judge/measured"
	"github.com/elenchus-go/debate/prompts"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// phaseOpen reports whether the debate is active and its open phase has steps to run. If so, nothing can be committed
// before a turn.
func (r *record) phaseOpen() bool {
	steps := r.next()
	if _, waits := r.tools.Awaited(steps); waits != nil {
		return false
	}
	return r.lifecycle.State.Active() && len(steps) > 0 && steps[0].Phase == r.Cursor.Phase &&
		!slices.ContainsFunc(steps, r.mustAsk) && !slices.ContainsFunc(steps, forks.IsSilent)
}

// nextRoundAt returns the time at which the next round may begin.
func (r *record) nextRoundAt() time.Time { return r.times.entered.Add(r.config.Limits.RoundDelay) }

// record is the state of a debate, computed from its journal. Only apply changes it, entry by entry and in place.
// Replay, resume and a live run all use apply. Of its parts, History, findings and planned hold what readers compute from it.
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
	course    *forks.Course // what a rejudged debate keeps of its parent; nil in other debates
	hidden    []string      // documents and attachments that the judges of a rejudged debate do not see
	stored    storedStatus
	usage     transcript.Usage
	times     times
	planned   plannedSteps
	tools     rounds.Rounds
	used      []ToolUse // of the run
	findings  findings.Findings
	env       *environment
	given     *Config // the configuration of the first entry; nil once it was applied
}

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

	idle   bool // nobody has started the fork
	silent forks.Silent
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
	cache phaseCache
	open  []protocol.Phase // the phase of the steps, until something happens that may change it
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
	r.Findings = &r.findings
	r.ID = id
	r.Cursor.Run = 1
	return r
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

// canContinue returns an error if this engine lacks the protocol of a debate that has not ended.
func (r *record) canContinue() error {
	if r.lifecycle.State.Final() {
		return nil
	}
	return r.protocolKnown()
}

// protocolKnown returns an error if this engine lacks the debate's protocol, which says which steps can run.
func (r *record) protocolKnown() error {
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
		rules := protocol.Protocol(cachedRules{r})
		if r.course.Leads() {
			rules = courseRules{cachedRules{r}}
		}
		if r.planned.open != nil {
			steps = protocol.Next(openRules{cachedRules{r}}, &r.Record)
		}
		if len(steps) == 0 {
			steps = protocol.Next(rules, &r.Record)
			r.planned.open = nil
			if len(steps) > 0 && r.course == nil { // the course of a rejudged debate changes phases
				r.planned.open = r.phaseNamed(steps[0].Phase)
			}
		}
	}
	for i := range steps {
		if steps[i].Actor == protocol.Embedder {
			steps[i].Kind = transcript.Embeddings
		}
		if r.fork.silent.Has(r.Seq, &steps[i]) {
			steps[i].Kind = transcript.Silence
		}
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
	return cachedRules{r}.Phases(&r.Record)
}

// phaseCache keeps the phases of stages as they are after the entry seq.
type phaseCache struct {
	seq    int64
	at     transcript.Cursor // without a stage
	stages []budget.Stage
}

// cachedRules are the rules of a record's debate. They ask for the phases of a stage once after each entry.
type cachedRules struct{ *record }

func (c cachedRules) Name() string { return c.rules().Name() }

func (c cachedRules) Check(r *protocol.Record) []protocol.Problem { return c.rules().Check(r) }

func (c cachedRules) End(r *protocol.Record) transcript.Ending { return c.rules().End(r) }

func (c cachedRules) Phases(r *protocol.Record) []protocol.Phase {
	cache := &c.planned.cache
	at := r.Cursor
	at.Stage = ""
	if cache.seq != r.Seq || cache.at != at {
		*cache = phaseCache{
			seq:    r.Seq,
			at:     at,
			stages: cache.stages[:0],
		}
	}
	for _, s := range cache.stages {
		if s.Kind == r.Cursor.Stage {
			return s.Phases
		}
	}
	phases := c.course.Adapt(&c.Record, c.adaptToPeople(c.rules().Phases(r)))
	cache.stages = append(cache.stages, budget.Stage{Kind: r.Cursor.Stage, Phases: phases})
	return phases
}

// openRules holds the rules of a record's debate while its open phase has steps to run. Its own turns do not change a phase.
type openRules struct{ cachedRules }

func (o openRules) Phases(*protocol.Record) []protocol.Phase { return o.planned.open }

// phaseNamed returns the phase of the present stage with a name, which the stage must have.
func (r *record) phaseNamed(name string) []protocol.Phase {
	phases := r.phases(r.Cursor.Stage)
	at := slices.IndexFunc(phases, func(p protocol.Phase) bool { return p.Name == name })
	return phases[at : at+1]
}

// courseRules are the rules of a rejudged debate: only the judges are asked, and only where the course comes to them.
type courseRules struct{ cachedRules }

func (c courseRules) Phases(r *protocol.Record) []protocol.Phase {
	if !c.onCourse() || !c.course.Asks(c.Participates) {
		return nil
	}
	return slices.DeleteFunc(
		slices.Clone(c.cachedRules.Phases(r)),
		func(p protocol.Phase) bool { return !c.course.Plan.Decides(p.Name) },
	)
}

// onCourse reports whether a rejudged debate is where its course goes on.
func (r *record) onCourse() bool {
	state := r.lifecycle.State
	if state == fsm.Paused {
		state = r.lifecycle.PausedFrom
	}
	return r.course.GoesOn(forks.Place{State: state, Round: r.Cursor.Round})
}

// remains reports whether the prompt of a step holds words of what judges do not see.
func (r *record) remains(s *protocol.Step, prompt []providers.Message) bool {
	return r.course.Begun() &&
		r.course.RemainsIn(&r.Record, s, prompt, r.seats().hiddenTexts(), r.Pseudonyms(s).Hide)
}

// seats returns the settings of the debate's actors.
func (r *record) seats() seatSettings { return seatSettings{config: r.config, hidden: r.hidden} }

// adaptToPeople returns phases in which a human judge judges once, and under the names that the configuration asks for.
func (r *record) adaptToPeople(phases []protocol.Phase) []protocol.Phase {
	if !r.config.HasPeople() {
		return phases
	}
	phases = slices.Clone(phases)
	for i := range phases {
		steps := slices.DeleteFunc(
			slices.Clone(phases[i].Steps),
			func(s protocol.Step) bool { return s.Swap && r.isHuman(s.Actor) },
		)
		for j := range steps {
			if slices.Contains(r.Judges, steps[j].Actor) && r.isHuman(steps[j].Actor) {
				steps[j].Blind = r.config.Actor(steps[j].Actor).Blind
			}
		}
		phases[i].Steps = steps
	}
	return phases
}

// mustAsk reports whether a person speaks in a step and was not asked yet.
func (r *record) mustAsk(s protocol.Step) bool {
	return r.isHuman(s.Actor) && r.people.asked[s.Key] == nil && !forks.IsSilent(s)
}

func (r *record) isHuman(name string) bool {
	who := r.config.Actor(name)
	return who != nil && who.Human
}

// rules returns the debate's protocol, with an additional phase if the debate needs embeddings.
func (r *record) rules() protocol.Protocol {
	if slices.ContainsFunc(r.config.Detect, func(d detect.Rule) bool { return d.EffectiveMethod() == "vectors" }) {
		return findings.WithVectors(r.config.Protocol)
	}
	return r.config.Protocol
}

// ending returns why the debate ends after this round. found are findings that are not in the record yet.
func (r *record) ending(found ...detect.Finding) transcript.Ending {
	return r.findings.Ending(&r.Record, r.config.Protocol, found...)
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
