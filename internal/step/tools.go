package step

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/internal/characters"
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
	Text   string
	Failed bool
}

// Calls are the calls of a round to run.
type Calls struct {
	*Round

	Number int           // of the round in its step, from 1
	Room   int           // tokens that all results may have, as Enclose shows them
	Time   time.Duration // that all calls may take
}

// Enclose returns the result of a tool as a model sees it: between delimiters, and with the names that the model knows.
func Enclose(m *judge.Pseudonyms, tool, text string) string {
	return m.Quote("result of "+tool, 0, text)
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

// startTools begins a query whose model may call tools. It keeps the schema of the reply back if the service cannot have both
// in one call.
func (q *query) startTools(p *Plan) {
	q.dialog = &dialog{Tools: p.Tools, names: p.Pseudonyms}
	q.offerTools()
}

// offerTools adds the tools to the request of the model in use, if it supports them.
func (q *query) offerTools() {
	d, r := q.dialog, &q.model.Request
	if d == nil || q.model.NoTools {
		return
	}
	r.Tools, r.ToolChoice = d.List, ""
	if d.schema = nil; q.model.Gathers {
		d.schema, r.Schema = r.Schema, nil
	}
	if d.Most == 0 {
		q.forbidTools()
	}
}

// forbidTools makes the model reply without a call. The tools stay in the request, so that services find its beginning in
// their caches.
func (q *query) forbidTools() {
	r := &q.model.Request
	if r.Tools == nil || r.ToolChoice != "" {
		return
	}
	r.ToolChoice = "none"
	if q.dialog.schema != nil {
		r.Schema, q.dialog.schema = q.dialog.schema, nil
	}
}

// limitTools forbids further calls if the rounds, their room in the window, or two thirds of the time are used up.
func (r *Run) limitTools() {
	d := r.query.dialog
	if d != nil && (len(d.rounds) >= d.Most || d.Room-d.tokens < minRoom || r.timeLeft() < r.Plan.Limits.Time/3) {
		r.query.forbidTools()
	}
}

// forbidsTools reports whether the model has tools but must not call them.
func (q *query) forbidsTools() bool {
	return q.dialog != nil && !q.model.NoTools && q.model.Request.ToolChoice != ""
}

// cutCalling is in the error of a response that was cut while the model called a tool.
const cutCalling = "the response was cut while the model called a tool"

// readCalls looks for calls of tools in a response. It returns a round if the calls are to run. again reports that the model
// is asked for its reply next, because this response is none. The error is that of the attempt.
func (r *Run) readCalls(resp *providers.Response) (round *Round, again bool, err error) {
	q, d := &r.query, r.query.dialog
	if d == nil {
		return nil, false, nil
	}
	invalid := func(kind providers.ErrorKind, cause error) error {
		return &providers.Error{Kind: kind, Partial: *resp, Err: cause}
	}
	parts := neededParts(resp.Parts)
	calls := countCalls(parts)
	switch {
	case calls == 0 && d.schema != nil: // the model has gathered what it needs
		if _, err := r.parse(resp); err == nil {
			return nil, false, nil
		}
		q.forbidTools()
		return nil, true, nil
	case calls == 0:
		return nil, false, nil
	case !q.model.Request.MayCallTools():
		if !characters.IsBlank(resp.Text) {
			return nil, false, nil
		}
		return nil, false, invalid(providers.InvalidResponse, errors.New("the model called a tool although none is allowed"))
	case resp.FinishReason == providers.ContentFilter:
		return nil, false, invalid(providers.ContentFiltered, errors.New("the service filtered a call of a tool"))
	case resp.FinishReason == providers.WindowFull:
		return nil, false, invalid(providers.ContextOverflow, errors.New("the context window was full before the calls of tools were complete"))
	case resp.FinishReason == providers.Length:
		if r.maxRetries(providers.InvalidResponse) > 0 && q.raiseCap("", 0) {
			return nil, false, invalid(providers.InvalidResponse, fmt.Errorf("%w with a higher token limit: %s", errAskedAgain, cutCalling))
		}
		q.forbidTools()
		return nil, false, invalid(providers.InvalidResponse, errors.New(cutCalling))
	case sizeOf(parts) > maxParts || d.Room-d.tokens-q.partTokens(parts) < calls*minResults:
		q.forbidTools()
		resp.FinishReason = providers.Length // of what can be sent back
		resp.Warnings = append(slices.Clip(resp.Warnings), "there was no room for another round of tool calls: the model was asked to reply without them")
		return nil, true, nil
	}
	resp.FinishReason = providers.ToolCalls
	return &Round{Parts: parts}, true, nil
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

// partTokens returns the tokens of the parts of a message.
func (q *query) partTokens(parts []providers.Part) (n int) {
	count := func(text string) int { return q.counter.count(q.model.Request.Model, text) }
	for _, p := range parts {
		switch {
		case p.ToolCall != nil:
			n += count(p.ToolCall.Name) + count(string(p.ToolCall.Arguments)) + len(p.ToolCall.Opaque)/4 + callTokens
		case p.Reasoning != nil:
			n += count(p.Reasoning.Text) + len(p.Reasoning.Data)/4
		default:
			n += count(p.Text)
		}
	}
	return n
}

// callTools has the host run the calls of a round and store it, and adds it to the request. An error ends the step.
func (r *Run) callTools(round *Round) error {
	d := r.query.dialog
	if round.Attempts == nil { // otherwise the round was stored before, without results
		round.Attempts = slices.Clone(r.draft.Attempts[r.attempts.stored:])
		d.number++
	}
	calls := Calls{Round: round, Number: d.number, Room: d.Room - d.tokens - r.query.partTokens(round.Parts), Time: r.timeLeft() / 2}
	if err := r.host.Tools(r.ctx, calls); err != nil {
		return err
	}
	r.attempts.stored = len(r.draft.Attempts)
	r.query.addRound(*round)
	return nil
}

// addRound adds a round with its results to the request.
func (q *query) addRound(round Round) {
	d := q.dialog
	d.rounds = append(d.rounds, round)
	q.countRounds()
	q.setMessages(q.Messages)
}

// countRounds counts the tokens of the rounds.
func (q *query) countRounds() {
	d := q.dialog
	q.Tokens, d.tokens = q.Tokens-d.tokens, 0
	for i := range d.rounds {
		d.tokens += q.partTokens(d.rounds[i].Parts)
		for _, p := range d.resultParts(&d.rounds[i]) {
			d.tokens += q.counter.count(q.model.Request.Model, p.ToolResult.Text) + callTokens
		}
	}
	q.Tokens += d.tokens
}

// messages returns the messages of the rounds.
func (d *dialog) messages() (list []providers.Message) {
	for i := range d.rounds {
		list = append(list, providers.Message{Role: providers.Assistant, Parts: d.rounds[i].Parts},
			providers.Message{Role: providers.User, Parts: d.resultParts(&d.rounds[i])})
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
		result := &round.Results[len(list)]
		text := result.Text
		if d.most > 0 {
			text = window.Clip(text, d.most)
		}
		list = append(list, providers.Part{ToolResult: &providers.ToolResult{
			ID: c.ID, Name: c.Name, Text: Enclose(d.names, c.Name, text), Failed: result.Failed,
		}})
	}
	return list
}

// halveResults halves the longest results of tools. It returns false if they are short already.
func (q *query) halveResults() bool {
	d, longest := q.dialog, 0
	if d == nil {
		return false
	}
	for _, round := range d.rounds {
		for _, result := range round.Results {
			longest = max(longest, window.Estimate(result.Text))
		}
	}
	if d.most > 0 {
		longest = min(longest, d.most)
	}
	if longest < 2*minResults {
		return false
	}
	d.most = longest / 2
	q.countRounds()
	q.setMessages(q.Messages)
	q.askedAgain = false
	return true
}

// dropRounds removes the rounds from the request, because another model starts afresh.
func (q *query) dropRounds() {
	if d := q.dialog; d != nil {
		q.Tokens, d.tokens, d.rounds, d.most = q.Tokens-d.tokens, 0, nil, 0
	}
}

// resume continues a step after the rounds that it has made: it changes the request as its attempts did, and runs the calls
// of the last round if they have no results yet.
func (r *Run) resume() error {
	t := r.Plan.Tools
	if t == nil || len(t.Rounds) == 0 {
		return nil
	}
	for _, a := range attemptsOf(t.Rounds[t.Counted:]) {
		r.draft.addAttempt(a)
	}
	r.attempts.stored, r.attempts.waitedAfter = len(r.draft.Attempts), len(r.draft.Attempts)
	tried := attemptsOf(t.Rounds)
	r.replay(tried, len(tried))
	if last := &t.Rounds[len(t.Rounds)-1]; last.Results == nil {
		round := *last
		r.query.dialog.number = len(t.Rounds)
		return r.callTools(&round)
	}
	return nil
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
	ends, n := map[int]*Round{}, 0
	for i := range t.Rounds {
		n += len(t.Rounds[i].Attempts)
		ends[n-1] = &t.Rounds[i]
	}
	return ends
}
