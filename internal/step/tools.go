package step

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// Tools is what the model of a step may call before it replies. A round is a response with calls, and their results. It is
// an attempt that has not failed: the next request has it too.
type Tools struct {
	List    []providers.Tool
	Rounds  []Round // that the step has made before, in order; the last one may have no results yet
	Counted int     // of Rounds, those with attempts that an earlier failure of the step has counted
	Most    int     // rounds that a model may make
	Room    int     // tokens that all rounds may take in a prompt
	Warning string  // about Most, or empty
}

// Round is a round of tool calls.
type Round struct {
	Attempts []transcript.Attempt // since the round before; the last one asked for the calls
	Parts    []providers.Part     // of the model's message, as far as the service needs them back
	Results  []Result             // of the calls, in order; nil if the calls have not run
}

// Result is the result of a call, with the names of the participants and without delimiters.
type Result struct {
	Text    string
	Sources string // what the model reads beside it of the numbers of its sources
	Failed  bool
}

// Calls are the calls of a round to run.
type Calls struct {
	*Round

	Number int           // of the round in its step, from 1
	Room   int           // tokens that all results may have, as Enclose shows them
	Time   time.Duration // that all calls may take
}

// Enclose returns the result of a tool as a model sees it: between delimiters, and with the names that the model knows.
func (r *Result) Enclose(m *judge.Pseudonyms, tool string) string {
	return m.Quote("result of "+tool+r.Sources, 0, r.Text)
}

const (
	// maxParts limits, in bytes, the message of a round with its arguments, so that an entry of the journal can hold it
	// together with results.
	maxParts = 56 << 10
	// minRoom is the least room, in tokens, for another round.
	minRoom = 256
	// minResults is the least room, in tokens, for the result of a call.
	minResults = 64
	// callTokens allows for the form of a call and of its result in a request.
	callTokens = 16
)

// dialog is the rounds of tool calls in a request.
type dialog struct {
	*Tools

	names  *judge.Pseudonyms
	rounds []Round // of the model in use
	number int     // rounds of the step, also of models that were replaced
	tokens int     // that rounds take in the prompt
	most   int     // tokens of each result after an overflow; 0 if there is no limit
	schema json.RawMessage
}

// neededParts returns the parts of a response that are sent back with the results of its calls.
func neededParts(list []providers.Part) []providers.Part {
	return slices.DeleteFunc(slices.Clone(list), func(p providers.Part) bool {
		t := p.Reasoning
		return t != nil && t.Data == nil && t.Service == ""
	})
}

func countCalls(parts []providers.Part) (n int) {
	for _, p := range parts {
		if p.ToolCall != nil {
			n++
		}
	}
	return n
}

// sizeOf returns the bytes of parts in a journal, where the arguments appear twice.
func sizeOf(parts []providers.Part) int {
	raw, err := json.Marshal(parts)
	if err != nil { // a provider has returned something that is no JSON
		return maxParts + 1
	}
	n := len(raw)
	for _, p := range parts {
		if p.ToolCall != nil {
			n += len(p.ToolCall.Arguments)
		}
	}
	return n
}

// messages returns the messages of the rounds.
func (d *dialog) messages() (list []providers.Message) {
	for i := range d.rounds {
		list = append(
			list,
			providers.Message{
				Role:  providers.Assistant,
				Parts: d.rounds[i].Parts,
			},
			providers.Message{
				Role:  providers.User,
				Parts: d.resultParts(&d.rounds[i]),
			},
		)
	}
	return list
}

// resultParts returns the results of a round as the model sees them.
func (d *dialog) resultParts(round *Round) (list []providers.Part) {
	for _, p := range round.Parts {
		c := p.ToolCall
		if c == nil || len(list) == len(round.Results) {
			continue
		}
		result := round.Results[len(list)]
		if d.most > 0 {
			result.Text = window.Clip(result.Text, d.most)
		}
		list = append(list, providers.Part{ToolResult: &providers.ToolResult{
			ID:     c.ID,
			Name:   c.Name,
			Text:   result.Enclose(d.names, c.Name),
			Failed: result.Failed,
		}})
	}
	return list
}

// attemptsOf returns the attempts of rounds.
func attemptsOf(rounds []Round) (list []transcript.Attempt) {
	for _, round := range rounds {
		list = append(list, round.Attempts...)
	}
	return list
}

// roundEnds returns the rounds by the index of their last attempt.
func (t *Tools) roundEnds() map[int]*Round {
	if t == nil {
		return nil
	}
	ends := map[int]*Round{}
	n := 0
	for i := range t.Rounds {
		n += len(t.Rounds[i].Attempts)
		ends[n-1] = &t.Rounds[i]
	}
	return ends
}
