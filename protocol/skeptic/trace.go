package skeptic

import (
	"encoding/json"
	"time"

	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// Trace is what a debate came to, for programs: the Data of its Answer.
type Trace struct {
	ID           string          `json:"id"`        // the debate's
	Time         time.Time       `json:"time"`      // when it was started
	Query        string          `json:"query"`     // its topic, by which templates were looked for
	Templates    []string        `json:"templates"` // titles of the documents that the proposer was shown
	Rounds       []Round         `json:"rounds"`    // those in which somebody spoke
	Answer       string          `json:"answer"`    // the synthesis; empty until it is written
	Models       Models          `json:"models"`
	Quality      Quality         `json:"quality"`
	Timing       Timing          `json:"timing"`
	StoppedEarly bool            `json:"stopped_early"` // the last critique ended it: its outcome is early_stop
	Rating       json.RawMessage `json:"rating"`        // a user's, the annotation "rating"; null until there is one
}

// Round is one round: what the proposer and the skeptic said, and what the latter comes down to.
type Round struct {
	Round    int       `json:"round"`
	Proposal string    `json:"proposal"`
	Attack   string    `json:"attack"`
	Critique *Critique `json:"critique"` // null until the skeptic has spoken
	Parsed   bool      `json:"parsed"`   // false: the critique is a stand-in for one that could not be read
}

// Models are the models that spoke last in each part, by their names; empty where none is known. Where a provider has
// no name for its model it is the one that was asked for.
type Models struct {
	Proposer    string `json:"proposer"`
	Skeptic     string `json:"skeptic"`
	Synthesizer string `json:"synthesizer"`
	Embedding   string `json:"embedding"` // by which documents were found
}

// Quality is what the last critique says of the answer as it was then; nothing was said before there is one.
type Quality struct {
	AutomaticScore *float64 `json:"automatic_score"` // of 10; null where the critique has none
	Ready          bool     `json:"ready"`
	Critical       int      `json:"critical"` // issues that stand
	Major          int      `json:"major"`
	Minor          int      `json:"minor"`
}

// Timing is how long steps took, in nanoseconds, all attempts included. Pauses and a slow viewer do not count.
type Timing struct {
	Retrieval time.Duration   `json:"retrieval"`
	Rounds    []time.Duration `json:"rounds"` // in the order of Trace.Rounds
	Synthesis time.Duration   `json:"synthesis"`
	Total     time.Duration   `json:"total"`
}

// Answer is the synthesis, with a [Trace] as its data. Before the first turn it is zero.
func (p Protocol) Answer(r *protocol.Record) protocol.Answer {
	if len(r.Turns) == 0 {
		return protocol.Answer{}
	}
	t := p.trace(r)
	data, err := json.Marshal(t)
	if err != nil {
		return protocol.Answer{Text: t.Answer} // unreachable: scores are numbers, since they came as JSON
	}
	return protocol.Answer{Text: t.Answer, Data: data}
}

func (p Protocol) trace(r *protocol.Record) Trace {
	t := Trace{
		ID: r.ID, Time: r.Started, Query: r.Topic, Rating: r.Rating,
		Templates: []string{}, Rounds: []Round{}, Timing: Timing{Rounds: []time.Duration{}},
	}
	t.StoppedEarly = r.Ending.Outcome == transcript.EarlyStop
	for _, d := range p.templatesShown(r) {
		t.Templates = append(t.Templates, d.Title)
	}
	for i := range r.Turns {
		t.add(&r.Turns[i])
	}
	return t
}

// add takes a turn into the trace; turns come in order.
func (t *Trace) add(turn *transcript.Turn) {
	took := max(0, turn.Ended.Sub(turn.Started)-turn.ViewerTime)
	switch {
	case turn.Kind == transcript.Setup && turn.Phase == phaseRetrieve:
		t.Models.Embedding = modelOf(turn)
		t.Timing.Retrieval += took
	case turn.Kind == transcript.Speech:
		t.addSpeech(turn)
		t.Timing.Rounds[len(t.Rounds)-1] += took
	case turn.Kind == transcript.Conclusion && turn.Phase == phaseSynthesis:
		t.Answer, t.Models.Synthesizer = turn.Text, modelOf(turn)
		t.Timing.Synthesis += took
	default:
		return
	}
	t.Timing.Total += took
}

func (t *Trace) addSpeech(turn *transcript.Turn) {
	if n := len(t.Rounds); n == 0 || t.Rounds[n-1].Round != turn.Round {
		t.Rounds, t.Timing.Rounds = append(t.Rounds, Round{Round: turn.Round}), append(t.Timing.Rounds, 0)
	}
	round := &t.Rounds[len(t.Rounds)-1]
	if turn.Phase != phaseAttack {
		round.Proposal, t.Models.Proposer = turn.Text, modelOf(turn)
		return
	}
	c, ok := turnCritique(turn)
	round.Attack, round.Critique, round.Parsed, t.Models.Skeptic = turn.Text, &c, ok, modelOf(turn)
	t.Quality = Quality{c.Score, c.Ready, c.count(Critical), c.count(Major), c.count(Minor)}
}

// modelOf is the one that gave a turn.
func modelOf(t *transcript.Turn) string {
	if n := len(t.Attempts); n > 0 {
		return t.Attempts[n-1].Model
	}
	return ""
}
