package skeptic

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/elenchus-go/debate/internal/outcome"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// Trace is the result of a debate for programs. It is the data of its answer.
type Trace struct {
	ID           string          `json:"id"`                // ID of the debate
	Time         time.Time       `json:"time"`              // start of the debate
	Query        string          `json:"query"`             // topic of the debate, which is the query of the retriever
	Templates    []string        `json:"templates"`         // titles of the documents that the proposer saw
	Sources      []int           `json:"sources,omitempty"` // numbers of the debate's documents of which the proposer saw passages
	Rounds       []Round         `json:"rounds"`            // rounds with at least one statement
	Answer       string          `json:"answer"`            // the synthesis; empty before the conclusion
	Plan         *ImprovedPlan   `json:"plan,omitempty"`    // if the topic is a plan, and the synthesizer gave a valid reply
	Models       Models          `json:"models"`
	Quality      Quality         `json:"quality"`
	Timing       Timing          `json:"timing"`
	StoppedEarly bool            `json:"stopped_early"` // whether the last critique ended the debate, with outcome early_stop
	Rating       json.RawMessage `json:"rating"`        // the user's annotation "rating"; null if there is none
}

// Round is one round: the proposal or defense, the attack, and the structured critique.
type Round struct {
	Round    int       `json:"round"`
	Proposal string    `json:"proposal"`
	Attack   string    `json:"attack"`
	Critique *Critique `json:"critique"` // null before the attack
	Parsed   bool      `json:"parsed"`   // false if the critique could not be read
}

// Models are the names of the models that gave the latest reply in each role, as reported by the provider or else as
// requested. A name is empty if it is unknown.
type Models struct {
	Proposer    string `json:"proposer"`
	Skeptic     string `json:"skeptic"`
	Synthesizer string `json:"synthesizer"`
	Embedding   string `json:"embedding"` // the retriever's model
}

// Quality is the assessment of the answer by the last critique. It is zero before the first critique.
type Quality struct {
	AutomaticScore *float64 `json:"automatic_score"` // from 0 to 10; null if the critique has none
	Ready          bool     `json:"ready"`
	Critical       int      `json:"critical"` // number of open critical issues
	Major          int      `json:"major"`
	Minor          int      `json:"minor"`
}

// Timing is the duration of steps in nanoseconds, including all attempts. Pauses and time taken by the consumer of events
// do not count.
type Timing struct {
	Retrieval time.Duration   `json:"retrieval"`
	Rounds    []time.Duration `json:"rounds"` // in the order of Trace.Rounds
	Synthesis time.Duration   `json:"synthesis"`
	Total     time.Duration   `json:"total"`
}

// DecodeAnswer returns the data of a debate's answer. It returns an error if there is no answer yet, or if another protocol
// gave it.
func DecodeAnswer(a protocol.Answer) (Trace, error) { return outcome.Decode[Trace](a, Protocol{}) }

// Answer returns the synthesis as the text and a [Trace] as the data. It is zero before the first turn.
func (p Protocol) Answer(r *protocol.Record) protocol.Answer {
	if len(r.Turns) == 0 {
		return protocol.Answer{}
	}
	t := p.trace(r)
	return outcome.Answer(t.Answer, t)
}

// trace returns the trace of the debate so far.
func (p Protocol) trace(r *protocol.Record) Trace {
	t := Trace{
		ID: r.ID, Time: r.Started, Query: r.Topic, Rating: r.Rating,
		Templates: []string{}, Rounds: []Round{}, Timing: Timing{Rounds: []time.Duration{}},
	}
	t.StoppedEarly = r.Ending.Outcome == transcript.EarlyStop
	for _, d := range p.shown(r, phaseRetrieve) {
		t.Templates = append(t.Templates, d.Title)
	}
	for _, d := range p.shown(r, phasePassages) {
		if n := sourceOf(r, d.Title); n > 0 && !slices.Contains(t.Sources, n) {
			t.Sources = append(t.Sources, n)
		}
	}
	for i := range r.Turns {
		t.add(&r.Turns[i])
	}
	return t
}

// add adds a turn to the trace. Turns must be added in order.
func (t *Trace) add(turn *transcript.Turn) {
	took := max(0, turn.Ended.Sub(turn.Started)-turn.ViewerTime)
	switch {
	case turn.Kind == transcript.Setup && turn.Phase == phaseRetrieve:
		t.Models.Embedding = modelOf(turn)
		t.Timing.Retrieval += took
	case turn.Kind == transcript.Setup && turn.Phase == phasePassages:
		t.Timing.Retrieval += took
	case turn.Kind == transcript.Speech:
		t.addSpeech(turn)
		t.Timing.Rounds[len(t.Rounds)-1] += took
	case turn.Kind == transcript.Conclusion && turn.Phase == phaseSynthesis:
		t.Answer, t.Models.Synthesizer = turn.Text, modelOf(turn)
		t.addPlan(turn)
		t.Timing.Synthesis += took
	default:
		return
	}
	t.Timing.Total += took
}

// addPlan adds the plan of the synthesizer. Without a valid one, the proposer's last version is the answer.
func (t *Trace) addPlan(turn *transcript.Turn) {
	if turn.Contract != PlanContract.Name() {
		return
	}
	plan, err := transcript.Decode[ImprovedPlan](*turn)
	if err == nil && !slices.Contains(turn.Flags, transcript.Defaulted) {
		t.Plan = &plan
		return
	}
	if n := len(t.Rounds); n > 0 {
		t.Answer = t.Rounds[n-1].Proposal
	}
}

// addSpeech adds a speech to the rounds of the trace.
func (t *Trace) addSpeech(turn *transcript.Turn) {
	if n := len(t.Rounds); n == 0 || t.Rounds[n-1].Round != turn.Round {
		t.Rounds = append(t.Rounds, Round{Round: turn.Round})
		t.Timing.Rounds = append(t.Timing.Rounds, 0)
	}
	round := &t.Rounds[len(t.Rounds)-1]
	if turn.Phase != phaseAttack {
		round.Proposal, t.Models.Proposer = turn.Text, modelOf(turn)
		return
	}
	c, ok := turnCritique(turn)
	round.Attack = turn.Text
	round.Critique = &c
	round.Parsed = ok
	t.Models.Skeptic = modelOf(turn)
	t.Quality = Quality{c.Score, c.Ready, c.count(Critical), c.count(Major), c.count(Minor)}
}

// modelOf returns the model that produced a turn.
func modelOf(t *transcript.Turn) string {
	if n := len(t.Attempts); n > 0 {
		return t.Attempts[n-1].Model
	}
	return ""
}
