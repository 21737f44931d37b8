package step

import (
	"fmt"
	"reflect"

	"github.com/elenchus-go/debate/internal/reasoning"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// otherWindow says that the window of a turn is not the one into which its history fits.
const otherWindow = "what was left out of the history is not known: tokens are counted in another way than then"

// Repeat returns the request of the last attempt of a step that was executed earlier, with the estimated tokens of its
// prompt. It calls no model, but changes the first request as the failed attempts did. missing says in words what cannot be
// repeated, because the attempts do not have it, or because tokens are counted in another way than then. fitted is how the
// history was fitted then.
//
// tried has no attempts of Tools.Rounds up to Tools.Counted. If it is nil, Repeat returns the next request of a step that has
// not ended.
func (r *Run) Repeat(tried []transcript.Attempt, fitted *transcript.Window) (request providers.Request, tokens int, missing []string) {
	r.query.set(&r.Plan)
	t := r.Plan.Tools
	most := len(tried) - 1
	ended := len(tried) > 0
	if t != nil {
		earlier := t.Rounds[:t.Counted]
		if tried == nil {
			earlier = t.Rounds
			most++
		}
		before := attemptsOf(earlier)
		tried = append(before, tried...)
		most = most + len(before)
	}
	recounted := ended && tried[0].PromptTokens > 0 &&
		tried[0].PromptTokens != r.query.Tokens-r.query.Slack
	missing = r.replay(tried, most)
	if missing == nil && ended && !reflect.DeepEqual(r.query.window, fitted) {
		missing = append(missing, otherWindow)
	}
	if recounted && r.query.capRaised {
		missing = append(
			missing,
			"how far the token limit of the reply was raised is not known: tokens are counted in another way than then",
		)
	}
	if t != nil && most >= 0 && most < len(tried) && tried[most].ToolsForbidden {
		r.query.forbidTools()
	}
	return r.query.model.Request, r.query.Tokens, missing
}

// replay changes the request as the first n attempts did, without a call.
func (r *Run) replay(tried []transcript.Attempt, n int) (missing []string) {
	ends := r.Plan.Tools.roundEnds()
	for i := range n {
		r.lookAt(tried, i, missing)
		a := &tried[i]
		if !isSummary(tried, i) {
			r.repeatPartial(a)
		}
		switch a.Next {
		case "", transcript.NextWaited, transcript.NextGivenUp: // the request is the same, or there is none
		case transcript.NextTools:
			missing = append(missing, r.repeatRound(i, ends[i])...)
		case transcript.NextWithoutTools:
			r.query.forbidTools()
		case transcript.NextRetried:
			r.query.sendAgain(providers.ErrorKind(a.ErrorKind))
		case transcript.NextCapRaised, transcript.NextCapRaisedMore:
			r.query.raiseCap(a.Next == transcript.NextCapRaisedMore)
		case transcript.NextShortened:
			r.repeatShorter(isSummary(tried, i))
		case transcript.NextSummary:
			r.lookAtSummary(i+1, missing)
		case transcript.NextSummarized:
			missing = append(missing, r.repeatSummary(a)...)
		case transcript.NextReasoningDropped:
			r.query.dropReasoning()
		case transcript.NextSubstitute:
			r.substitute()
		case transcript.NextAskedAlone:
			r.askAlone()
		case transcript.NextInsisted:
			r.insist()
		case transcript.NextAskedAgain, transcript.NextReconsidered:
			missing = append(missing, r.repeatAsked(i, a)...)
		}
	}
	return missing
}

// repeatPartial keeps the text of an attempt whose call failed, as readPartial does. Invalid replies and refusals are none.
func (r *Run) repeatPartial(a *transcript.Attempt) {
	mayCall := !a.ToolsForbidden && r.query.model.Request.MayCallTools()
	switch providers.ErrorKind(a.ErrorKind) {
	case "", providers.InvalidResponse, providers.Refused:
		return
	default:
		if !mayCall && !a.ReplyCut {
			r.keepText(textOf(a.Reply))
		}
	}
}

// lookAt shows the request of attempt i to whoever looks at it.
func (r *Run) lookAt(tried []transcript.Attempt, i int, missing []string) {
	if r.look == nil || isSummary(tried, i) {
		return
	}
	if tried[i].ToolsForbidden {
		r.query.forbidTools()
	}
	r.look(i, &r.query.model.Request, missing)
}

// lookAtSummary shows the request for a summary, which is attempt i.
func (r *Run) lookAtSummary(i int, missing []string) {
	request, err := r.query.summaryRequest(&r.Plan.Summarizer, r.Plan.Pseudonyms, r.Plan.Step.Actor)
	if err == nil && r.look != nil {
		r.look(i, &request, missing)
	}
}

// repeatRound adds the round of tool calls of attempt i to the request. It is nil if it is not kept.
func (r *Run) repeatRound(i int, round *Round) (missing []string) {
	if round == nil {
		return []string{fmt.Sprintf("the round of tool calls of attempt %d is not kept", i+1)}
	}
	r.query.dialog.number++
	if round.Results != nil {
		r.query.addRound(*round)
	}
	return nil
}

// repeatShorter shortens the prompt. After the request for a summary, which has failed, only the history is shortened.
func (r *Run) repeatShorter(afterSummary bool) {
	if afterSummary {
		r.query.halveHistory()
		return
	}
	r.query.shorten(func() bool { return false })
}

// repeatSummary changes the request as the attempt of a summary did.
func (r *Run) repeatSummary(a *transcript.Attempt) (missing []string) {
	const what = "the summary of the older half of the history, which was made after an overflow, "
	switch {
	case a.Reply == "":
		missing = []string{what + "is not kept: set Options.KeepReplies"}
	case a.ReplyCut:
		missing = []string{what + "is longer than 64 KiB, and not kept whole"}
	default:
		said, _ := reasoning.Split(a.Reply)
		r.query.useSummary(r.Plan.Pseudonyms, said)
		return nil
	}
	r.query.summarized = true
	r.query.halveHistory()
	return missing
}

// repeatAsked changes the request as the reply of attempt i did, which the model was asked to correct or to reconsider.
func (r *Run) repeatAsked(i int, a *transcript.Attempt) (missing []string) {
	r.query.askedAgain = true
	switch {
	case a.ReplyCut:
		return []string{fmt.Sprintf("the invalid reply of attempt %d is longer than 64 KiB, and not kept whole", i+1)}
	case a.Reply == "":
		return []string{fmt.Sprintf("the invalid reply of attempt %d is not kept: set Options.KeepReplies", i+1)}
	}
	r.query.askedAgain = false
	said := &providers.Response{
		Text:         a.Reply,
		FinishReason: providers.FinishReason(a.FinishReason),
		Usage:        a.Usage,
	}
	_, err := r.accept(said) // it asks for a valid reply if this one is not
	if err == nil && a.Next == transcript.NextReconsidered && r.Plan.Step.Doubt != nil {
		_, _ = r.doubt(said)
	}
	return nil
}
