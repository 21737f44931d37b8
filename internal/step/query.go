package step

import (
	"errors"
	"fmt"
	"slices"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/internal/characters"
	"github.com/elenchus-go/debate/internal/reasoning"
	"github.com/elenchus-go/debate/judge/reply"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// query is what a model is asked, with what the request is built from.
type query struct {
	Prompt

	model      Model // the model in use, with the request
	window     *transcript.Window
	askedAgain bool     // the request asks for a valid reply after an invalid one
	capRaised  bool     // the token limit was raised after a truncated or empty reply
	asks       []string // the prompts that ask for a speech again
	summarized bool     // part of the history was summarized after an overflow
	counter    counter
	dialog     *dialog // the rounds of tool calls; nil if the step has no tools
}

// Message returns a message with a text.
func Message(role providers.Role, text string) providers.Message {
	return providers.Message{Role: role, Text: text}
}

// counter counts tokens for the first model and caches the last count.
type counter struct {
	count  func(model, text string) int
	text   string
	tokens int
}

// set begins with the query of a plan.
func (q *query) set(p *Plan) {
	*q = query{
		Prompt:  p.Prompt,
		model:   p.Model,
		window:  p.Window,
		counter: counter{count: p.Count},
	}
	if p.Tools != nil {
		q.startTools(p)
	}
	if q.Messages != nil {
		q.setMessages(q.Messages)
	}
}

// setMessages sets the messages of the prompt, to which the request adds the attachments and the rounds of tool calls.
func (q *query) setMessages(list []providers.Message) {
	q.Messages = list
	q.model.Request.Messages = q.allMessages(list)
}

// allMessages returns messages with the attachments between the system prompt and the history, and the rounds of tool calls
// at the end.
func (q *query) allMessages(list []providers.Message) []providers.Message {
	if len(q.Attachments) > 0 {
		list = slices.Concat(list[:1], q.Attachments, list[1:])
	}
	if q.hasRounds() {
		list = slices.Concat(list, q.dialog.messages())
	}
	return list
}

// hasRounds reports whether the request has rounds of tool calls.
func (q *query) hasRounds() bool {
	return q.dialog != nil && len(q.dialog.rounds) > 0
}

// count returns the number of tokens that a text has for the model. It caches the last text.
func (q *query) count(text string) int {
	if text != q.counter.text {
		tokens := q.counter.count(q.model.Request.Model, text)
		q.counter.text = text // only now, because the user's counter may panic
		q.counter.tokens = tokens
	}
	return q.counter.tokens
}

// raiseCap doubles the token limit of a reply that reached it, once, as far as the window allows. If reasons is set, the new limit has
// room for more reasoning. raiseCap returns false if the limit cannot be raised.
func (q *query) raiseCap(reasons bool) bool {
	r := &q.model.Request
	limit := 2 * r.MaxTokens
	if reasons {
		limit = max(limit, r.MaxTokens+reasoning.MediumTokens)
	}
	room := min(limit, q.model.Window-q.Tokens)
	if q.capRaised || room <= r.MaxTokens {
		return false
	}
	q.capRaised = true
	r.MaxTokens = room
	return true
}

// mostlyReasons reports whether a reply that reached its token limit has nothing but reasoning, or whether at least half of the limit
// was spent on it.
func (q *query) mostlyReasons(text string, thought int) bool {
	said, _ := reasoning.Split(text)
	return characters.IsBlank(said) || thought > 0 && 2*thought >= q.model.Request.MaxTokens
}

// sendAgain prepares the same request after a failure. After a reply that repeated itself without end, the service is asked to avoid
// that.
func (q *query) sendAgain(kind providers.ErrorKind) {
	if kind == providers.Loop {
		q.model.Request.AvoidRepetition = true
	}
}

// askAgain adds an invalid reply and its violations to the request, and returns what follows with an error for the attempt.
func (q *query) askAgain(r providers.Response, findings error) (transcript.Next, error) {
	violations := []string{findings.Error()}
	if invalid, ok := errors.AsType[*reply.Invalid](findings); ok {
		violations = invalid.Violations
	}
	return q.ask(transcript.NextAskedAgain, r, violations, findings)
}

// askPrompts lists the prompts that ask for another reply.
var askPrompts = map[transcript.Next]string{
	transcript.NextAskedAgain:   "reask",
	transcript.NextReconsidered: "reconsider",
}

// ask adds a reply and a request for another one, with its reasons, to the messages. It returns next with an error for the attempt,
// or only an error if there is no such request.
func (q *query) ask(next transcript.Next, r providers.Response, reasons []string, cause error) (transcript.Next, error) {
	q.askedAgain = true
	q.forbidTools()
	q.Data.Violations = reasons
	words, err := q.Set.User(askPrompts[next], *q.Data)
	if err != nil {
		return "", &providers.Error{
			Kind:    providers.InvalidRequest,
			Partial: r,
			Err:     err,
		}
	}
	request := &q.model.Request
	request.Messages = append(
		slices.Clone(request.Messages),
		Message(providers.Assistant, r.Text),
		Message(providers.User, words),
	)
	return next, &providers.Error{
		Kind:    providers.InvalidResponse,
		Partial: r,
		Err:     fmt.Errorf("%w: %w", errAskedAgain, cause),
	}
}

// askForSpeech adds a request for a speech to the messages, in place of a reply that was none. The model does not see that reply: it
// would go on in the same way. So the request can be made again without it. askForSpeech returns false if the request has the prompt
// already, or if there is no such prompt.
func (q *query) askForSpeech(prompt string) bool {
	if slices.Contains(q.asks, prompt) || q.Data == nil || !q.Set.Has(prompt) {
		return false
	}
	words, err := q.Set.User(prompt, *q.Data)
	if err != nil {
		return false
	}
	q.askedAgain = true
	q.asks = append(q.asks, prompt)
	q.forbidTools()
	request := &q.model.Request
	request.Messages = append(slices.Clone(request.Messages), Message(providers.User, words))
	return true
}

// forgetAsks notes that the request is built anew, without what asked for another reply.
func (q *query) forgetAsks() {
	q.askedAgain = false
	q.asks = nil
}

// emptyReply returns the error of a reply without text. If the token limit ended the reply, reasoning has used it up. Then
// emptyReply prepares a request with room for more, if there may be another one, and says so.
func (q *query) emptyReply(e *providers.Error, who string, again bool) (next transcript.Next, err error) {
	limit := q.model.Request.MaxTokens
	if e.Partial.FinishReason != providers.Length || !again || !q.raiseCap(true) {
		if onlyReasons(e.Partial) {
			return "", &providers.Error{
				Kind:    e.Kind,
				Partial: e.Partial,
				Err:     fmt.Errorf("%w: %s", e.Err, reasoning.Less(who)),
			}
		}
		return "", e
	}
	return transcript.NextCapRaisedMore, &providers.Error{
		Kind:    e.Kind,
		Partial: e.Partial,
		Err: fmt.Errorf(
			"%w with a limit of %d tokens: %w: %w", errAskedAgain, q.model.Request.MaxTokens, usedUp(limit), e.Err),
	}
}

// compareCount records in an attempt what the service's count of the prompt says about the estimate. err is the error of
// the attempt. A service that cuts a prompt may have no room for the reply. compareCount returns a warning if the service
// seems to cut prompts.
func (q *query) compareCount(a *transcript.Attempt, end providers.FinishReason, err error, actor string) (warning string) {
	failed := providers.AsError(err)
	n := a.Usage.Input
	invalid := failed != nil && failed.Kind == providers.InvalidResponse
	answered := failed == nil || invalid || end == providers.WindowFull
	if a.Usage.Estimated || !answered {
		return ""
	}
	cut := q.Scale.SuspectsCut(a.PromptTokens, n) || q.Scale.SuspectsFirstCut(a.PromptTokens-q.Schema, n)
	a.Cut = cut && a.Usage.Cached == 0
	a.Counted = invalid && !cut && n > 0
	if !a.Cut {
		return ""
	}
	return fmt.Sprintf("the server counted %d tokens in a prompt of about %.0f: "+
		"it seems to cut prompts to its context window without an error; lower the window of %s from %d tokens "+
		"to that of the server, or enlarge the server's",
		n, float64(a.PromptTokens)*q.Scale.Factor(), actor, q.model.Window)
}

// usage returns the usage that the provider reported, or an estimate.
func (q *query) usage(r providers.Response, whole, noText bool) transcript.Usage {
	switch {
	case noText:
	case r.Usage == (transcript.Usage{}) && (r.Text != "" || r.Parts != nil):
		thought := 0
		if text := partsReasoning(r.Parts); text != "" {
			thought = q.count(text)
		}
		return transcript.Usage{
			Input:     q.Tokens,
			Output:    q.count(r.Text) + thought,
			Reasoning: thought,
			Estimated: true,
		}
	case !whole &&
		4*r.Usage.Output < q.count(r.Text): // the stream ended before the usage was reported
		r.Usage.Output = q.count(r.Text)
		r.Usage.Estimated = true
	}
	return r.Usage
}

// startTools begins a query whose model may call tools. It keeps the schema of the reply back if the service cannot have both
// in one call.
func (q *query) startTools(p *Plan) {
	q.dialog = &dialog{Tools: p.Tools, names: p.Pseudonyms}
	q.offerTools()
}

// offerTools adds the tools to the request of the model in use, if it supports them.
func (q *query) offerTools() {
	d := q.dialog
	r := &q.model.Request
	if d == nil || q.model.NoTools {
		return
	}
	r.Tools = d.List
	r.ToolChoice = ""
	d.schema = nil
	if q.model.Gathers {
		d.schema = r.Schema
		r.Schema = nil
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
		r.Schema = q.dialog.schema
		q.dialog.schema = nil
	}
}

// forbidsTools reports whether the model has tools but must not call them.
func (q *query) forbidsTools() bool {
	return q.dialog != nil && !q.model.NoTools && q.model.Request.ToolChoice != ""
}

// partTokens returns the tokens of the parts of a message.
func (q *query) partTokens(parts []providers.Part) (n int) {
	count := func(text string) int {
		return q.counter.count(q.model.Request.Model, text)
	}
	for _, p := range parts {
		switch {
		case p.ToolCall != nil:
			n += count(p.ToolCall.Name)
			n += count(string(p.ToolCall.Arguments))
			n += len(p.ToolCall.Opaque)/4 + callTokens
		case p.Reasoning != nil:
			n += count(p.Reasoning.Text)
			n += len(p.Reasoning.Data) / 4
		default:
			n += count(p.Text)
		}
	}
	return n
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
	q.Tokens = q.Tokens - d.tokens
	d.tokens = 0
	for i := range d.rounds {
		d.tokens += q.partTokens(d.rounds[i].Parts)
		for _, p := range d.resultParts(&d.rounds[i]) {
			d.tokens += q.counter.count(q.model.Request.Model, p.ToolResult.Text) + callTokens
		}
	}
	q.Tokens += d.tokens
}

// halveResults halves the longest results of tools. It returns false if they are short already.
func (q *query) halveResults() bool {
	d := q.dialog
	longest := 0
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
	q.forgetAsks()
	return true
}

// dropRounds removes the rounds from the request, because another model starts afresh.
func (q *query) dropRounds() {
	if d := q.dialog; d != nil {
		q.Tokens = q.Tokens - d.tokens
		d.tokens = 0
		d.rounds = nil
		d.most = 0
	}
}
