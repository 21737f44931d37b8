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

// replayed is an attempt whose effect on the request is repeated.
type replayed struct {
	*transcript.Attempt

	at           int
	afterSummary bool     // it asked for a summary, not for the turn
	round        *Round   // of tool calls that the attempt has asked for; nil if it is not kept
	missing      []string // what cannot be repeated, of this attempt and of those before it
}

// miss notes something that cannot be repeated.
func (x *replayed) miss(format string, args ...any) {
	x.missing = append(x.missing, fmt.Sprintf(format, args...))
}

// replays say how what followed an attempt changed the request. What they lack has changed nothing.
var replays = map[transcript.Next]func(r *Run, x *replayed){
	transcript.NextTools: (*Run).repeatRound,
	transcript.NextWithoutTools: func(r *Run, _ *replayed) {
		r.query.forbidTools()
	},
	transcript.NextRetried: func(r *Run, x *replayed) {
		r.query.sendAgain(providers.ErrorKind(x.ErrorKind))
	},
	transcript.NextCapRaised: func(r *Run, _ *replayed) {
		r.query.raiseCap(false)
	},
	transcript.NextCapRaisedMore: func(r *Run, _ *replayed) {
		r.query.raiseCap(true)
	},
	transcript.NextShortened:  (*Run).repeatShorter,
	transcript.NextSummary:    (*Run).lookAtSummary,
	transcript.NextSummarized: (*Run).repeatSummary,
	transcript.NextReasoningDropped: func(r *Run, _ *replayed) {
		r.query.dropReasoning()
	},
	transcript.NextSubstitute: func(r *Run, _ *replayed) {
		r.substitute()
	},
	transcript.NextAskedAlone: func(r *Run, _ *replayed) {
		r.askAlone()
	},
	transcript.NextInsisted: func(r *Run, _ *replayed) {
		r.insist()
	},
	transcript.NextAskedAgain:   (*Run).repeatAsked,
	transcript.NextReconsidered: (*Run).repeatAsked,
}

// replay changes the request as the first n attempts did, without a call. It returns what cannot be repeated.
func (r *Run) replay(tried []transcript.Attempt, n int) (missing []string) {
	ends := r.Plan.Tools.roundEnds()
	for i := range n {
		r.lookAt(tried, i, missing)
		x := &replayed{
			Attempt:      &tried[i],
			at:           i,
			afterSummary: isSummary(tried, i),
			round:        ends[i],
			missing:      missing,
		}
		if !x.afterSummary {
			r.repeatPartial(x.Attempt)
		}
		if repeat := replays[x.Next]; repeat != nil {
			repeat(r, x)
		}
		missing = x.missing
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

// lookAtSummary shows the request for a summary, which is the next attempt.
func (r *Run) lookAtSummary(x *replayed) {
	request, err := r.query.summaryRequest(&r.Plan.Summarizer, r.Plan.Pseudonyms, r.Plan.Step.Actor)
	if err == nil && r.look != nil {
		r.look(x.at+1, &request, x.missing)
	}
}

// repeatRound adds the round of tool calls of an attempt to the request.
func (r *Run) repeatRound(x *replayed) {
	if x.round == nil {
		x.miss("the round of tool calls of attempt %d is not kept", x.at+1)
		return
	}
	r.query.dialog.number++
	if x.round.Results != nil {
		r.query.addRound(*x.round)
	}
}

// repeatShorter shortens the prompt. After the request for a summary, which has failed, only the history is shortened.
func (r *Run) repeatShorter(x *replayed) {
	if x.afterSummary {
		r.query.halveHistory()
		return
	}
	r.query.shorten(func() bool { return false })
}

// repeatSummary changes the request as the attempt of a summary did.
func (r *Run) repeatSummary(x *replayed) {
	const what = "the summary of the older half of the history, which was made after an overflow, "
	switch {
	case x.Reply == "":
		x.miss(what + "is not kept: set Options.KeepReplies")
	case x.ReplyCut:
		x.miss(what + "is longer than 64 KiB, and not kept whole")
	default:
		said, _ := reasoning.Split(x.Reply)
		r.query.useSummary(r.Plan.Pseudonyms, said)
		return
	}
	r.query.summarized = true
	r.query.halveHistory()
}

// repeatAsked changes the request as the reply of an attempt did, which the model was asked to correct or to reconsider.
func (r *Run) repeatAsked(x *replayed) {
	r.query.askedAgain = true
	switch {
	case x.ReplyCut:
		x.miss("the invalid reply of attempt %d is longer than 64 KiB, and not kept whole", x.at+1)
		return
	case x.Reply == "":
		x.miss("the invalid reply of attempt %d is not kept: set Options.KeepReplies", x.at+1)
		return
	}
	r.query.askedAgain = false
	said := responseOf(x.Attempt)
	_, err := r.accept(said) // it asks for a valid reply if this one is not
	if err == nil &&
		x.Next == transcript.NextReconsidered &&
		r.Plan.Step.Doubt != nil {
		_, _ = r.doubt(said)
	}
}

// responseOf returns the response of an attempt, as far as the attempt keeps it.
func responseOf(a *transcript.Attempt) *providers.Response {
	return &providers.Response{
		Text:         a.Reply,
		FinishReason: providers.FinishReason(a.FinishReason),
		Usage:        a.Usage,
		Model:        a.Model,
	}
}
