package debate

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/detect"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/embedding"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/prompts"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// findings is what the rules of Config.Detect have found.
type findings struct {
	list     []detect.Finding             // in order
	reported struct{ spoken, judged int } // the rounds whose findings are in the journal
	detector *detector                    // made when first needed
}

// detector is a debate's Watch, with the last round that it was told of.
type detector struct {
	detect.Detector

	spoken, judged int
}

// history is what the record keeps to fit a debate's turns into the windows of its readers.
type history struct {
	tokens    int                                      // of all turns, summaries apart
	summaries []madeSummary                            // in order
	wanted    *window.SummaryPlan                      // the summary to make now; nil if none
	scales    map[string]window.Calibration            // how to count each actor's tokens
	frozen    map[string]map[string]window.Calibration // the scales with which each phase of the current round began
}

// summaryPhase is the phase of a step that sums up what other steps have no room for.
const summaryPhase = "summary"

// madeSummary is a turn that stands for others.
type madeSummary struct {
	reader string // for whom; empty: for everyone who sees all speeches
	upTo   int64  // the seq of the last turn that it covers
	seq    int64
	round  int
	tokens int
	failed bool
}

// summaryStep is the step that makes the summaryStep which is wanted.
func (r *record) summaryStep() protocol.Step {
	w := r.history.wanted
	covered := map[int64]bool{w.Base: w.Base > 0}
	for _, seq := range w.Covers {
		covered[seq] = true
	}
	key := transcript.Key{Run: r.Cursor.Run, Round: r.Cursor.Round, Phase: summaryPhase, Actor: protocol.Summarizer, Target: w.Target}
	return protocol.Step{
		Key: key, Kind: transcript.Summary, VisibleSeq: r.Seq, Prompt: "summarize",
		Vars: map[string]string{"words": fmt.Sprint(w.Tokens * 7 / 10)}, // a word has about 1.4 tokens
		Show: func(t *transcript.Turn) bool { return covered[t.Seq] },
	}
}

// promptCache keeps what prompts are made of and does not change from one to the next. Losing it costs time only.
type promptCache struct {
	briefings  []*briefing // the constant part of each reader's prompts
	pseudonyms map[pseudonymsKey]*judge.Pseudonyms
	texts      map[*judge.Pseudonyms][]string // by reader and seq: a turn as others read it, once somebody has
	// Buffers that are filled again for each prompt.
	shown   []int
	tokens  []int
	covered []window.Summary
}

// phaseOpen says whether a phase is open that has steps to run: then nothing follows without work.
func (r *record) phaseOpen() bool {
	steps := r.next()
	return r.lifecycle.State.Active() && len(steps) > 0 && steps[0].Phase == r.Cursor.Phase
}

// nextRoundAt is when the next round may begin.
func (r *record) nextRoundAt() time.Time { return r.times.entered.Add(r.config.Limits.RoundDelay) }

// unknownProtocol stands for a protocol that the engine cannot run.
type unknownProtocol struct{ name string }

func (u unknownProtocol) Name() string { return u.name }

func (u unknownProtocol) Check(*protocol.Record) []protocol.Problem { return nil }

func (u unknownProtocol) Phases(*protocol.Record) []protocol.Phase { return nil }

func (u unknownProtocol) End(*protocol.Record) transcript.Ending { return transcript.Ending{} }

// isParticipating says whether somebody is a participant who is still in.
func (r *record) isParticipating(name string) bool {
	for _, s := range r.Participants {
		if s.Name == name {
			return true
		}
	}
	return false
}

type pseudonymsKey struct {
	judge string
	swap  bool
}

// record is what the journal of a debate amounts to. Only apply changes it, entry by entry and in place; replay, resume and
// a live run all use the same fold. Its parts own what readers of the record compute from it: history decides what is
// summarized, findings what was measured, and cache keeps what prompts are made of.
type record struct {
	protocol.Record

	format      int
	config      *Config
	lifecycle   fsm.Position
	parallel    bool      // the open phase runs all its steps at once
	valid       bool      // the configuration was accepted and has not changed since
	failure     *Failure  // why the debate is in error
	question    *Question // the open question
	withdrawn   *Failure  // the failure whose actor a person chose to drop
	dropped     []Dropped
	lost        []*Failure // steps that failed for good, also those that were tried again
	annotations map[string]json.RawMessage
	storedPlan  store.Plan // the plan in the stored status
	usage       transcript.Usage
	times       times
	profiles    []transcript.Profile // in the order of the configuration, those who dropped out too
	names       []string             // the names of those who are still in
	planned     plannedSteps
	history     history
	findings    findings
	cache       promptCache
	env         *environment
	given       *Config // the configuration of the first entry, if the debate was made here
}

// environment is what a record needs of its engine.
type environment struct {
	parse         func(json.RawMessage) (Config, error)
	prompts       *prompts.Set
	count         func(model, text string) int                          // counts tokens
	extractAnswer func(transcript.Turn) string                          // see Options.ExtractAnswer
	providerName  func(string) string                                   // returns the name of the provider that a name, or none, refers to
	bind          func(name string) (string, providers.Provider, error) // returns a provider and its name
}

// noEnvironment serves records that are only planned with.
var noEnvironment = &environment{
	count:        func(_, text string) int { return window.Estimate(text) },
	providerName: func(name string) string { return name },
}

// times are when things happened and how long the debate has run.
type times struct {
	created, updated, completed time.Time
	entered                     time.Time // when the current state was entered; a pause does not change it
	running                     time.Duration
	roundBegan                  time.Duration // running time at the start of the current round
}

// plannedSteps caches what may run after the entry seq.
type plannedSteps struct {
	seq   int64
	steps []protocol.Step
	cache phaseCache
}

type briefKey struct {
	actor, prompt string
	blind, swap   bool
}

// briefing is the part of a reader's prompts that does not change.
type briefing struct {
	key        briefKey
	system     string
	tokens     int // of the system prompt
	schema     int // of the reply's schema
	data       prompts.Data
	pseudonyms *judge.Pseudonyms // nil: the reader knows who is who
}

// stages are the states in which a protocol has work.
var stages = map[fsm.State]transcript.Kind{
	fsm.Initializing: transcript.Setup, fsm.AwaitingResponses: transcript.Speech,
	fsm.Judging: transcript.Assessment, fsm.Completing: transcript.Conclusion,
}

func newRecord(id string, env *environment) *record {
	r := &record{env: env, format: store.Format, lifecycle: fsm.Position{State: fsm.Configuring}, config: &Config{}}
	r.ID, r.Cursor.Run = id, 1
	return r
}

// checkRound refuses a round that has not begun.
func (r *record) checkRound(round int) error {
	if round < 0 || round > r.Cursor.Round {
		return fmt.Errorf("it is of round %d, the debate is in round %d", round, r.Cursor.Round)
	}
	return nil
}

// hasTurns says whether a model has made a turn; a person's remark binds nobody.
func (r *record) hasTurns() bool {
	return slices.ContainsFunc(r.Turns, func(t transcript.Turn) bool { return t.Kind != transcript.Remark })
}

// supported says whether this version of the library may add to the journal.
func (r *record) supported() error {
	if r.format <= store.Format {
		return nil
	}
	return fmt.Errorf("its journal has format %d, this version of the library knows formats up to %d: %w", r.format, store.Format, ErrUnsupported)
}

// roundAfter is the round at hand after a transition. A debate that was retried passes through to the round it was in.
func (r *record) roundAfter(on fsm.Event, to fsm.State) int {
	if to == fsm.AwaitingResponses && (on == fsm.Advance || r.Cursor.Round == 0) {
		return r.Cursor.Round + 1
	}
	return r.Cursor.Round
}

// drivable says whether this engine has what it takes to drive the debate.
func (r *record) drivable() error {
	if u, ok := r.config.Protocol.(unknownProtocol); ok && !r.lifecycle.State.Final() {
		return fmt.Errorf("protocol %q is not among Options.Protocols: %w", u.name, ErrUnsupported)
	}
	return nil
}

// next is what may run now, paused or not. It is the same until another entry is applied.
func (r *record) next() []protocol.Step {
	if r.planned.seq == r.Seq {
		return r.planned.steps
	}
	r.planned.seq, r.planned.steps = r.Seq, nil
	if r.Cursor.Stage != "" && (r.Cursor.Stage != transcript.Conclusion || r.hasSpeech()) { // on nothing there is no conclusion
		r.planned.steps = protocol.Next(cachedRules{r}, &r.Record)
	}
	for i := range r.planned.steps {
		if r.planned.steps[i].Actor == protocol.Embedder {
			r.planned.steps[i].Kind = transcript.Embeddings
		}
	}
	if r.history.wanted != nil {
		r.planned.steps = []protocol.Step{r.summaryStep()}
	}
	return r.planned.steps
}

// isOpen says whether a step may still be committed.
func (r *record) isOpen(k transcript.Key) bool {
	return slices.ContainsFunc(r.next(), func(s protocol.Step) bool { return s.Key == k })
}

func (r *record) hasSpeech() bool {
	return slices.ContainsFunc(r.Turns, func(t transcript.Turn) bool { return t.Kind == transcript.Speech })
}

// phases are those of another stage of the round at hand.
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
	stages []stagePhases
}

type stagePhases struct {
	stage  transcript.Kind
	phases []protocol.Phase
}

// cachedRules are the rules of a record's debate. They ask for the phases of a stage once after each entry.
type cachedRules struct{ *record }

func (c cachedRules) Name() string { return c.rules().Name() }

func (c cachedRules) Check(r *protocol.Record) []protocol.Problem { return c.rules().Check(r) }

func (c cachedRules) End(r *protocol.Record) transcript.Ending { return c.rules().End(r) }

func (c cachedRules) Phases(r *protocol.Record) []protocol.Phase {
	cache, at := &c.planned.cache, r.Cursor
	at.Stage = ""
	if cache.seq != r.Seq || cache.at != at {
		*cache = phaseCache{seq: r.Seq, at: at, stages: cache.stages[:0]}
	}
	for _, s := range cache.stages {
		if s.stage == r.Cursor.Stage {
			return s.phases
		}
	}
	phases := c.rules().Phases(r)
	cache.stages = append(cache.stages, stagePhases{r.Cursor.Stage, phases})
	return phases
}

// rules are the debate's protocol, and what is to be measured beside.
func (r *record) rules() protocol.Protocol {
	if r.config.needsEmbeddings() {
		return embedding.After(r.config.Protocol)
	}
	return r.config.Protocol
}

// facts are what guards read, but for AssessmentDue, which is costly and asked for by one event only.
func (r *record) facts() fsm.Facts {
	return fsm.Facts{
		ValidConfig:    r.valid,
		HasOutcome:     r.Ending.Outcome != "",
		Recoverable:    r.failure != nil && r.failure.Recoverable,
		NoOpenQuestion: r.question == nil,
	}
}

// actor is who performs a step, with the seat that its prompts speak of.
func (r *record) actor(name string) (*Participant, transcript.Profile, bool) {
	who := r.config.settings(name)
	if who == nil {
		return nil, transcript.Profile{}, false
	}
	for i := range r.profiles {
		if r.profiles[i].Name == name {
			return who, r.profiles[i], true
		}
	}
	if slices.Contains(systemActors, name) {
		return who, transcript.Profile{Name: name, Instructions: who.Instructions}, true
	}
	return who, who.profile(), true
}

// inOpenParallelPhase reports whether a phase is the open one and runs its steps at once.
func (r *record) inOpenParallelPhase(phase string) bool { return r.parallel && phase == r.Cursor.Phase }
