package step

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/internal/characters"
	"github.com/elenchus-go/debate/internal/leftover"
	"github.com/elenchus-go/debate/internal/reasoning"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/judge/reply"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// attempt calls the model once and accepts its reply as the turn, or returns an error. again reports that the response is
// not the reply, and that the model is called again: it has called tools, or must reply without them.
func (r *Run) attempt(n int) (again bool, err error) {
	q := &r.query
	r.limitTools()
	request := &q.model.Request
	forbidden := q.forbidsTools()
	ctx, call, err := r.begin(Attempt{
		Number:   n,
		Provider: q.model.Provider,
		Request:  request,
	})
	r.attempts.current = call
	if err != nil {
		return false, err
	}
	s := &stream{call: call, began: r.attempts.began}
	r.attempts.whole = false
	r.attempts.stream = s
	r.attempts.response = providers.Response{}
	prompt := q.Tokens - q.Slack
	reasked := q.askedAgain
	request.OnChunk = s.add
	resp, err := q.model.Client.Generate(ctx, *request)
	r.attempts.response = resp
	r.noteAnswer(r.attempts.began, err)
	err = r.checkTimeout(resp, err)
	whole := err == nil
	round, next, err := r.readResponse(&resp, err)
	again = err == nil && next != ""
	a := r.newAttempt(q.usage(resp, whole, r.Plan.NoText))
	a.ToolsForbidden = forbidden
	if again {
		a.Next = next
	}
	r.attempts.wants = next
	if t := r.Plan.Tools; t != nil && len(r.draft.Attempts) == 0 {
		resp.Warnings = warned(resp.Warnings, t.Warning)
	}
	// Otherwise the estimate is for another prompt or another model, or the service may ignore a part of the prompt, or the
	// prompt has attachments, whose estimate is far above most counts, or private documents, whose texts the estimate lacks.
	changed := reasked || r.attempts.substituted || q.hasRounds()
	if !changed && !r.Plan.Private && q.Opaque == 0 && len(q.Attachments) == 0 {
		a.PromptTokens = prompt
		w := q.compareCount(&a, resp.FinishReason, err, r.Plan.Step.Actor)
		resp.Warnings = warned(resp.Warnings, w)
	}
	r.attempts.response = resp
	r.attempts.stream = nil
	r.addAttempt(a, &r.attempts.response, err)
	if round != nil {
		r.attempts.ended = r.callTools(round)
	}
	return again, err
}

// warned returns warnings with another one, unless that is empty.
func warned(list []string, warning string) []string {
	if warning == "" {
		return list
	}
	return append(slices.Clip(list), warning)
}

// readResponse reads what a call has returned: calls of tools, or the reply. It returns the round of tool calls that is to run, and
// what the response calls for. It replaces the response of a call that has failed with the part that was received.
func (r *Run) readResponse(resp *providers.Response, err error) (*Round, transcript.Next, error) {
	if failed := providers.AsError(err); failed != nil {
		*resp = failed.Partial
		next, err := r.readPartial(failed, err)
		return nil, next, err
	}
	r.attempts.stream.end()
	round, next, err := r.readCalls(resp)
	if err != nil || next != "" {
		return round, next, err
	}
	next, err = r.readReply(resp)
	return nil, next, err
}

// readReply sets a reply as the turn's reply. If that is not possible, or if the model is asked for another one, it returns an error,
// and what the reply calls for.
func (r *Run) readReply(resp *providers.Response) (next transcript.Next, err error) {
	next, err = r.askForSpeech(resp)
	if err != nil {
		return next, err
	}
	next, err = r.accept(resp)
	if err != nil {
		return next, err
	}
	resp.Warnings = r.keepReasoning(resp)
	return r.reconsider(resp)
}

// readPartial keeps the text of a call that failed, for KeepPartial, and returns the error of the attempt. Text beside calls
// of tools is not the reply, and nobody knows whether calls would have followed: so the text of a call that may have any is
// not kept.
func (r *Run) readPartial(failed *providers.Error, err error) (transcript.Next, error) {
	resp := &failed.Partial
	mayCall := r.query.model.Request.MayCallTools()
	text := textOf(resp.Text[:characters.Complete(resp.Text)])
	switch {
	case !mayCall && r.keepText(text):
		part, _ := r.partOf(text)
		r.attempts.whole = r.Plan.KeepPartial && part != text
	case failed.Kind == providers.InvalidResponse && characters.IsBlank(text):
		return r.emptyReply(failed)
	}
	return "", err
}

// textOf returns a text that a model has written, without reasoning.
func textOf(reply string) string {
	said, _ := reasoning.Split(characters.Valid(reply))
	return strings.TrimSpace(said)
}

// keepText keeps the text of a call that failed, or returns false if it is blank or there is a longer one.
func (r *Run) keepText(text string) bool {
	if characters.IsBlank(text) || len(text) <= len(r.attempts.partial) {
		return false
	}
	r.attempts.partial = text
	return true
}

// checkTimeout returns the error of a call. If the step's time is over, that is a timeout, regardless of what the
// provider returned.
func (r *Run) checkTimeout(resp providers.Response, err error) error {
	timeout, late := errors.AsType[*providers.Error](context.Cause(r.ctx))
	if !late {
		return err
	}
	if err != nil {
		resp = providers.AsError(err).Partial
	}
	return &providers.Error{
		Kind:    timeout.Kind,
		Err:     timeout.Err,
		Partial: resp,
	}
}

// accept sets a reply as the turn's reply. If it is not valid, it returns an error, and what the reply calls for.
func (r *Run) accept(resp *providers.Response) (transcript.Next, error) {
	text := resp.Text
	if r.Plan.Contract == nil { // a contract removes reasoning itself
		text, _ = reasoning.Split(characters.Valid(text))
	}
	if characters.IsBlank(text) && (!r.query.askedAgain || r.Plan.Contract == nil) {
		return r.emptyReply(&providers.Error{
			Kind:    providers.InvalidResponse,
			Partial: *resp,
			Err:     errors.New("the reply is empty"),
		})
	}
	r.draft.clearFlags()
	if r.attempts.substituted {
		r.draft.flag(transcript.Substituted)
	}
	if r.query.askedAgain ||
		r.query.capRaised ||
		r.query.model.Request.AvoidRepetition {
		r.draft.flag(transcript.Reasked)
	}
	if f := endFlags[resp.FinishReason]; f != "" {
		r.draft.flag(f)
	}
	if r.Plan.Contract != nil {
		return r.structured(resp)
	}
	text, err := r.acceptSpeech(resp, text)
	if err != nil {
		return "", err
	}
	text = r.Plan.Pseudonyms.Reveal(text)
	r.setReply(text, nil)
	return "", nil
}

// endFlags are the flags of a turn whose reply ended early.
var endFlags = map[providers.FinishReason]transcript.Flag{
	providers.Length:        transcript.Truncated,
	providers.WindowFull:    transcript.Truncated,
	providers.ContentFilter: transcript.Filtered,
}

// setReply sets the reply of the turn, with a flag if its text looks as if a template had left something in it.
func (r *Run) setReply(text string, data json.RawMessage) {
	r.draft.setReply(text, data, r.query.count(text))
	if !r.Plan.NoText && leftover.IsSuspect(text) {
		r.draft.flag(transcript.SpecialToken)
	}
}

// emptyReply returns the error of a reply without text; see query.emptyReply.
func (r *Run) emptyReply(e *providers.Error) (transcript.Next, error) {
	return r.query.emptyReply(e, r.Plan.Step.Actor, r.maxRetries(e.Kind) > 0)
}

// keepReasoning records the reasoning of an accepted reply. Opaque reasoning goes back only to participants, whose prompts
// use the same names in each round. It returns the warnings of the reply.
func (r *Run) keepReasoning(resp *providers.Response) []string {
	if r.Plan.Private {
		return nil
	}
	text := ""
	o := (*reasoning.Opaque)(nil)
	if r.Plan.KeepReasoning {
		text = r.Plan.Pseudonyms.Reveal(readableReasoning(*resp))
	}
	if resp.Parts != nil && r.Plan.Participating && !r.Plan.Step.Blind {
		o = opaqueParts(*resp)
		if o != nil {
			o.Provider = r.query.model.Provider
			o.Model = r.query.model.Request.Model
		}
	}
	return warned(resp.Warnings, r.draft.setReasoning(text, o))
}

// structured validates a reply against its contract. If the reply is invalid, it prepares a request for a valid one if possible, and
// says which.
func (r *Run) structured(resp *providers.Response) (transcript.Next, error) {
	p := &r.Plan
	parsed, err := r.parseSaid(resp)
	switch {
	case err == nil:
		if parsed.Repaired {
			r.draft.flag(transcript.Repaired)
		}
		r.setReply(parsed.Text, parsed.Data)
		return "", nil
	case resp.FinishReason == providers.WindowFull:
		return "", &providers.Error{
			Kind:    providers.ContextOverflow,
			Partial: *resp,
			Err:     fmt.Errorf("the context window was full before the reply was complete: %w", err),
		}
	case r.maxRetries(providers.InvalidResponse) == 0:
	case resp.FinishReason == providers.Length:
		if next := r.raiseCap(resp); next != "" {
			return next, &providers.Error{
				Kind:    providers.InvalidResponse,
				Partial: *resp,
				Err:     fmt.Errorf("%w with a higher token limit: %w", errAskedAgain, err),
			}
		}
	case !r.query.askedAgain && r.query.Data != nil: // an embedder has no prompt to repeat
		return r.query.askAgain(*resp, err)
	}
	if _, ok := r.defaultReply(); ok &&
		!p.Judging &&
		p.Step.Actor != protocol.Retriever {
		err = fmt.Errorf("%w: %w", errDefault, err)
	}
	return "", &providers.Error{
		Kind:    providers.InvalidResponse,
		Partial: *resp,
		Err:     err,
	}
}

// raiseCap raises the token limit after a structured reply that reached it, and returns how. It is empty if that is not possible.
func (r *Run) raiseCap(resp *providers.Response) transcript.Next {
	thought := r.query.usage(*resp, true, r.Plan.NoText).Reasoning
	reasons := r.query.mostlyReasons(resp.Text, thought)
	switch {
	case !r.query.raiseCap(reasons):
		return ""
	case reasons:
		return transcript.NextCapRaisedMore
	}
	return transcript.NextCapRaised
}

// reconsider prepares a request to reconsider the reply that was accepted if the step doubts it, and returns an error for
// the attempt. It does so once, and not if no further attempt is allowed. resp is the reply as it came.
func (r *Run) reconsider(resp *providers.Response) (transcript.Next, error) {
	if r.Plan.Step.Doubt == nil || r.attempts.doubtful != nil || r.isLast() ||
		r.maxRetries(providers.InvalidResponse) == 0 {
		return "", nil
	}
	return r.doubt(resp)
}

// doubt keeps the reply that was accepted, prepares a request to reconsider it, and returns what follows with an error for the
// attempt. It returns no error if nothing is doubtful.
func (r *Run) doubt(resp *providers.Response) (transcript.Next, error) {
	p := &r.Plan
	var v any = r.draft.Text
	if p.Contract != nil {
		var err error
		v, err = p.Contract.Decode(reply.Reply{Data: r.draft.Data})
		if err != nil {
			return "", err
		}
	}
	doubts := p.Step.Doubt(v)
	if len(doubts) == 0 {
		return "", nil
	}
	kept := r.draft
	r.attempts.doubtful = &kept
	return r.query.ask(transcript.NextReconsidered, *resp, p.Pseudonyms.HideAll(slices.Clone(doubts)), &Doubtful{doubts})
}

// parseSaid validates a reply against its contract, and again without the reasoning in its strings.
func (r *Run) parseSaid(resp *providers.Response) (reply.Reply, error) {
	parsed, err := r.parse(resp)
	_, inline := reasoning.Split(parsed.Text)
	if err == nil && inline != "" {
		return r.Plan.withoutReasoning(parsed)
	}
	return parsed, err
}

// parse validates a reply against its contract. It rejects a truncated reply, because a complete object in it may be
// a draft.
func (r *Run) parse(resp *providers.Response) (reply.Reply, error) {
	if resp.FinishReason == providers.Length {
		return reply.Reply{}, fmt.Errorf("the reply was truncated at %d tokens", r.query.model.Request.MaxTokens)
	}
	return r.Plan.parse(resp.Text)
}

// parse validates a reply against the contract of the step.
func (p *Plan) parse(text string) (reply.Reply, error) {
	named := Named{
		Names:      p.Names,
		Left:       p.Left,
		Pseudonyms: p.Pseudonyms,
		Blind:      p.Step.Blind,
	}
	return named.Parse(p.Contract, text)
}

// Named says whom the reply to a step may name, and under which names its reader sees them.
type Named struct {
	Names      []string // participants that the reply may name
	Left       []string // participants who have spoken and left: the reply may name them as speakers
	Pseudonyms *judge.Pseudonyms
	Blind      bool // the reader sees pseudonyms
}

// Parse validates a reply against its contract, and replaces pseudonyms with the names of the participants.
func (n Named) Parse(c *reply.Contract, text string) (reply.Reply, error) {
	m := n.Pseudonyms
	if !m.Mentions(text) { // the step is not blind, or the reply uses the real names
		if parsed, err := c.Parse(text, n.Names, n.Left...); err == nil || !n.Blind {
			return parsed, err
		}
	}
	parsed, err := c.Parse(text, m.SortedPseudonyms(n.Names), m.SortedPseudonyms(n.Left)...)
	if err != nil {
		return parsed, err
	}
	return c.MapStrings(parsed, m.Reveal)
}

// withoutReasoning removes reasoning from the strings of a valid reply, and validates the rest.
func (p *Plan) withoutReasoning(r reply.Reply) (reply.Reply, error) {
	said, err := p.Contract.MapStrings(r, func(s string) string {
		s, _ = reasoning.Split(s)
		return s
	})
	if err != nil {
		return said, err
	}
	valid, err := p.Contract.Parse(string(said.Data), p.Names, p.Left...)
	valid.Repaired = r.Repaired
	return valid, err
}

// defaultReply returns the default of the reply contract, or an empty text for a summary. It returns false if there is no
// default.
func (r *Run) defaultReply() (reply.Reply, bool) {
	if r.Plan.Contract != nil {
		return r.Plan.Contract.Default(r.Plan.Names)
	}
	return reply.Reply{}, r.Plan.Step.Actor == protocol.Summarizer
}

// useDefault sets the default reply as the turn's reply. It returns false if there is no default.
func (r *Run) useDefault() bool {
	safe, ok := r.defaultReply()
	if ok {
		r.draft.setDefault(safe.Text, safe.Data, r.query.count(safe.Text))
	}
	return ok
}

// limitTools forbids further calls if the rounds, their room in the window, or two thirds of the time are used up.
func (r *Run) limitTools() {
	d := r.query.dialog
	if d != nil &&
		(len(d.rounds) >= d.Most || d.Room-d.tokens < minRoom || r.timeLeft() < r.Plan.Limits.Time/3) {
		r.query.forbidTools()
	}
}

// readCalls looks for calls of tools in a response. It returns a round if the calls are to run. next says what follows the response
// if it is not the reply. The error is that of the attempt.
func (r *Run) readCalls(resp *providers.Response) (round *Round, next transcript.Next, err error) {
	q := &r.query
	d := r.query.dialog
	if d == nil {
		return nil, "", nil
	}
	parts := neededParts(resp.Parts)
	calls := countCalls(parts)
	switch {
	case calls == 0 && d.schema != nil: // the model has gathered what it needs
		if _, err := r.parse(resp); err == nil {
			return nil, "", nil
		}
		q.forbidTools()
		return nil, transcript.NextWithoutTools, nil
	case calls == 0, !q.model.Request.MayCallTools() && !characters.IsBlank(resp.Text):
		return nil, "", nil
	}
	next, err = r.cutCalls(resp)
	if err != nil {
		return nil, next, err
	}
	if sizeOf(parts) > maxParts || d.Room-d.tokens-q.partTokens(parts) < calls*minResults {
		q.forbidTools()
		resp.FinishReason = providers.Length // of what can be sent back
		resp.Warnings = warned(
			resp.Warnings,
			"there was no room for another round of tool calls: the model was asked to reply without them",
		)
		return nil, transcript.NextWithoutTools, nil
	}
	resp.FinishReason = providers.ToolCalls
	return &Round{Parts: parts}, transcript.NextTools, nil
}

// cutCalls returns the error of a response whose calls of tools must not run, because none is allowed or because they are cut, and
// what the response calls for.
func (r *Run) cutCalls(resp *providers.Response) (next transcript.Next, err error) {
	q := &r.query
	e := &providers.Error{
		Kind:    providers.InvalidResponse,
		Partial: *resp,
	}
	cut := errors.New("the response was cut while the model called a tool")
	switch {
	case !q.model.Request.MayCallTools():
		e.Err = errors.New("the model called a tool although none is allowed")
	case resp.FinishReason == providers.ContentFilter:
		e.Kind = providers.ContentFiltered
		e.Err = errors.New("the service filtered a call of a tool")
	case resp.FinishReason == providers.WindowFull:
		e.Kind = providers.ContextOverflow
		e.Err = errors.New("the context window was full before the calls of tools were complete")
	case resp.FinishReason != providers.Length:
		return "", nil
	case r.maxRetries(e.Kind) > 0 && q.raiseCap(true):
		e.Err = fmt.Errorf("%w with a higher token limit: %w", errAskedAgain, cut)
		return transcript.NextCapRaisedMore, e
	default:
		q.forbidTools()
		e.Err = cut
	}
	return "", e
}

// callTools has the host run the calls of a round and store it, and adds it to the request. An error ends the step.
func (r *Run) callTools(round *Round) error {
	d := r.query.dialog
	if round.Attempts == nil { // otherwise the round was stored before, without results
		round.Attempts = slices.Clone(r.draft.Attempts[r.attempts.stored:])
		d.number++
	}
	calls := Calls{
		Round:  round,
		Number: d.number,
		Room:   d.Room - d.tokens - r.query.partTokens(round.Parts),
		Time:   r.timeLeft() / 2,
	}
	if err := r.host.Tools(r.ctx, calls); err != nil {
		return err
	}
	r.attempts.stored = len(r.draft.Attempts)
	r.query.addRound(*round)
	return nil
}
