package debate

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/detect"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/prompts"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// begun says whether a phase is open that has steps to run: then nothing follows without work.
func (r *record) begun() bool {
	steps := r.next()
	return r.snap.State.Active() && len(steps) > 0 && steps[0].Phase == r.Cursor.Phase
}

// due is when the next round may begin.
func (r *record) due() time.Time { return r.entered.Add(r.config.Limits.RoundDelay) }

func (r *record) phase(name string) protocol.Phase {
	phases := r.phases(r.Cursor.Stage)
	i := slices.IndexFunc(phases, func(p protocol.Phase) bool { return p.Name == name })
	return phases[i]
}

// missing are all steps of a phase that are not committed, of which next offers one that runs in sequence one by one.
func (r *record) missing(p protocol.Phase, next []protocol.Step) []protocol.Step {
	if p.Parallel {
		return next
	}
	return p.Steps[next[0].Order:]
}

// inRound says whether a round is going on that the limit of a round's time is for.
func (r *record) inRound() bool {
	return r.Cursor.Stage == transcript.Speech || r.Cursor.Stage == transcript.Assessment
}

// remaining is how long the stage at hand may still run. A fifth of the time budget, but not more than the step timeout,
// is kept for the conclusion.
func (r *record) remaining() time.Duration {
	l := r.config.Limits
	reserve := min(l.Time/5, l.StepTimeout)
	if r.Cursor.Stage == transcript.Conclusion {
		return max(l.Time-r.running, reserve)
	}
	left := l.Time - reserve - r.running
	if l.Round > 0 && r.inRound() {
		left = min(left, l.Round-(r.running-r.roundBegan))
	}
	return left
}

// unknown stands for a protocol that the engine cannot run.
type unknown struct{ name string }

func (u unknown) Name() string { return u.name }

func (u unknown) Check(*protocol.Record) []protocol.Problem { return nil }

func (u unknown) Phases(*protocol.Record) []protocol.Phase { return nil }

func (u unknown) End(*protocol.Record) transcript.Ending { return transcript.Ending{} }

// known says whether a participant, judge or helper has a name, in any case.
func (r *record) known(name string) bool {
	all := slices.Concat(names(r.everyone), names(judges(*r.config)), helpers)
	return slices.ContainsFunc(all, func(known string) bool { return strings.EqualFold(known, name) })
}

// seated says whether somebody is a participant who is still in.
func (r *record) seated(name string) bool {
	for _, s := range r.Seats {
		if s.Name == name {
			return true
		}
	}
	return false
}

// spares says whether the debate can go on without the participant who failed.
func (r *record) spares(f *Failure) bool {
	if f.wrong() || !r.seated(f.Key.Actor) {
		return false
	}
	left := r.Record
	left.Drop(f.Key.Actor)
	if len(left.Judges) == 0 { // that there is none was somebody's decision
		left.Judges = names(judges(*r.config))
	}
	return len(r.config.Protocol.Check(&left)) == 0
}

// throttled says whether a rate limit of a participant's provider hits everyone who debates: they all call it, or had to
// wait for theirs as well.
func (r *record) throttled(p *Participant) bool {
	for _, s := range r.Seats {
		if other, _, ok := r.actor(s.Name); ok && other.Provider != p.Provider && r.status(s.Name).State != "rate_limited" {
			return false
		}
	}
	return true
}

type maskKey struct {
	judge string
	swap  bool
}

// watching is a debate's Watch, with the last round that it was told of.
type watching struct {
	detect.Watch

	spoken, judged int
}

// since are the findings of a round and of later ones.
func (r *record) since(round int) []detect.Finding {
	from := len(r.findings)
	for from > 0 && r.findings[from-1].Round >= round {
		from--
	}
	return r.findings[from:]
}

// timeLimit is the time that a call has for all its attempts, and what the time is up for when it is over.
func (r *record) timeLimit() (limit time.Duration, budget bool) {
	limit = r.config.Limits.StepTimeout
	if left := r.remaining(); left < limit {
		return left, true
	}
	return limit, false
}

// record is the fold of a journal: all that is known of a debate. It changes by apply alone, in place.
type record struct {
	protocol.Record

	format      int
	config      *Config
	snap        fsm.Snapshot
	parallel    bool      // the phase at hand runs its steps all at once
	valid       bool      // the configuration was accepted, and is unchanged since
	failure     *Failure  // what led to the error that the debate is in
	question    *Question // that is open
	answered    *Failure  // somebody decided to go on without whom it is about
	drops       []Dropped
	lost        []*Failure // steps that failed for good, also where somebody tried again
	annotations map[string]json.RawMessage
	findings    []detect.Finding
	looked      struct{ spoken, judged int } // rounds whose findings stand in the journal
	watch       *watching
	answer      func(transcript.Turn) string
	count       func(model, text string) int // tokens
	prompts     *prompts.Set
	named       func(provider string) string // its name where it is left out
	summaries   []summary
	wanted      *window.Summing                          // the summary that is to be made now; nil: none
	scales      map[string]window.Calibration            // of actors' tokens
	atBegin     map[string]map[string]window.Calibration // as phases of the round at hand began with them
	planned     store.Plan                               // as the stored head has it
	usage       transcript.Usage
	running     time.Duration
	roundBegan  time.Duration // running time at the begin of the round at hand

	created, updated, completed time.Time
	entered                     time.Time // when the state at hand was entered, pauses apart

	names    []string               // of those who are still in
	everyone []transcript.Seat      // in the order of the configuration, those who dropped out too
	asked    int64                  // the seq that steps were asked for
	steps    []protocol.Step        // what may run at it
	said     []string               // by seq: a turn as others read it, once somebody has
	history  int                    // tokens of all turns
	shown    []int                  // what visible found last
	tokens   []int                  // likewise
	covered  []window.Summary       // what told found last
	briefs   map[briefKey]*briefing // what is the same in all prompts of a reader
	masks    map[maskKey]*mask
	parse    func(json.RawMessage) (Config, error)
}

type briefKey struct {
	actor, prompt string
	blind, swap   bool
}

// briefing is the part of a reader's prompts that does not change.
type briefing struct {
	system string
	tokens int // of the system prompt
	schema int // of the reply's schema
	data   prompts.Data
	mask   *mask // nil: the reader knows who is who
}

// stages are the states in which a protocol has work.
var stages = map[fsm.State]transcript.Kind{
	fsm.Initializing: transcript.Prelude, fsm.Awaiting: transcript.Speech,
	fsm.Judging: transcript.Assessment, fsm.Completing: transcript.Conclusion,
}

func newRecord(id string, parse func(json.RawMessage) (Config, error)) *record {
	r := &record{parse: parse, format: store.Format, snap: fsm.Snapshot{State: fsm.Configuring}, config: &Config{}}
	r.count = func(_, text string) int { return window.Estimate(text) }
	r.named = func(name string) string { return name }
	r.ID, r.Cursor.Run = id, 1
	return r
}

// past refuses a round that has not begun.
func (r *record) past(round int) error {
	if round < 0 || round > r.Cursor.Round {
		return fmt.Errorf("it is of round %d, the debate is in round %d", round, r.Cursor.Round)
	}
	return nil
}

// begunToSpeak says whether a model has made a turn; a person's remark binds nobody.
func (r *record) begunToSpeak() bool {
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
	if to == fsm.Awaiting && (on == fsm.Advance || r.Cursor.Round == 0) {
		return r.Cursor.Round + 1
	}
	return r.Cursor.Round
}

// drivable says whether this engine has what it takes to drive the debate.
func (r *record) drivable() error {
	if u, ok := r.config.Protocol.(unknown); ok && !r.snap.State.Final() {
		return fmt.Errorf("protocol %q is not among Options.Protocols: %w", u.name, ErrUnsupported)
	}
	return nil
}

func (r *record) status(name string) Status {
	s := Status{Name: name, State: "active"}
	for i := range r.Turns {
		if t := &r.Turns[i]; t.Actor == name {
			s.State = "active"
			s.attempts(t.Attempts)
			if t.Window != nil && t.Window.Cut > 0 {
				s.State = "context_exceeded"
			}
		}
	}
	for _, f := range r.lost {
		if f.Key.Actor == name {
			s.attempts(f.Tried)
		}
	}
	if slices.ContainsFunc(r.drops, func(d Dropped) bool { return d.Name == name }) {
		s.State = "dropped"
	}
	return s
}

// next is what may run now, paused or not. It is the same until another entry is applied.
func (r *record) next() []protocol.Step {
	if r.asked == r.Seq {
		return r.steps
	}
	r.asked, r.steps = r.Seq, nil
	if r.Cursor.Stage != "" && (r.Cursor.Stage != transcript.Conclusion || r.spoken()) { // on nothing there is no conclusion
		r.steps = protocol.Next(r.rules(), &r.Record)
	}
	for i := range r.steps {
		if r.steps[i].Actor == protocol.Embedding {
			r.steps[i].Kind = transcript.Vectors
		}
	}
	if r.wanted != nil {
		r.steps = []protocol.Step{r.summary()}
	}
	return r.steps
}

// open says whether a step may still be committed.
func (r *record) open(k transcript.Key) bool {
	return slices.ContainsFunc(r.next(), func(s protocol.Step) bool { return s.Key == k })
}

func (r *record) spoken() bool {
	return slices.ContainsFunc(r.Turns, func(t transcript.Turn) bool { return t.Kind == transcript.Speech })
}

// phases are those of another stage of the round at hand.
func (r *record) phases(stage transcript.Kind) []protocol.Phase {
	was := r.Cursor.Stage
	r.Cursor.Stage = stage
	defer func() { r.Cursor.Stage = was }()
	return r.rules().Phases(&r.Record)
}

// rules are the debate's protocol, and what is to be measured beside.
func (r *record) rules() protocol.Protocol {
	if r.config.embeds() {
		return embedding{r.config.Protocol}
	}
	return r.config.Protocol
}

// facts are what guards read, but for AssessmentDue, which is costly and asked for by one event only.
func (r *record) facts() fsm.Facts {
	return fsm.Facts{
		ValidConfig: r.valid,
		Ending:      r.Ending.Outcome != "",
		Recoverable: r.failure != nil && r.failure.Recoverable,
		Decided:     r.question == nil,
	}
}

// actor is who performs a step, with the seat that its prompts speak of.
func (r *record) actor(name string) (*Participant, transcript.Seat, bool) {
	who := r.config.who(name)
	if who == nil {
		return nil, transcript.Seat{}, false
	}
	for i := range r.everyone {
		if r.everyone[i].Name == name {
			return who, r.everyone[i], true
		}
	}
	if slices.Contains(helpers, name) {
		return who, transcript.Seat{Name: name, Instructions: who.Instructions}, true
	}
	return who, who.seat(), true
}

// summing is the phase of a step that sums up what other steps have no room for.
const summing = "summary"

// summary is a turn that stands for others.
type summary struct {
	reader string // for whom; empty: for everyone who sees all speeches
	upTo   int64  // the seq of the last turn that it covers
	seq    int64
	round  int
	tokens int
	failed bool
}

// summary is the step that makes the summary which is wanted.
func (r *record) summary() protocol.Step {
	w := r.wanted
	covered := map[int64]bool{w.Base: w.Base > 0}
	for _, seq := range w.Covers {
		covered[seq] = true
	}
	key := transcript.Key{Run: r.Cursor.Run, Round: r.Cursor.Round, Phase: summing, Actor: protocol.Summarizing, Target: w.Target}
	return protocol.Step{
		Key: key, Kind: transcript.Summary, Horizon: r.Seq, Prompt: "summarize",
		Vars: map[string]string{"words": fmt.Sprint(w.Tokens * 7 / 10)}, // a word has about 1.4 tokens
		Show: func(t *transcript.Turn) bool { return covered[t.Seq] },
	}
}
