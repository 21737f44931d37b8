package step

import (
	"fmt"
	"slices"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// What followed a stored attempt is compared here with what may follow it. What an attempt does not say, such as how much time there
// was, is taken to be as it must have been.

// follows returns an error if the last of the attempts says that something followed it that cannot follow. The request is that of the
// attempt.
func (r *Run) follows(tried []transcript.Attempt) error {
	n := len(tried)
	is := &tried[n-1]
	if is.ErrorKind == "" && !isSummary(tried, n-1) {
		return nil // a reply, or calls of tools: the request that followed shows it
	}
	may := r.mayFollow(tried)
	if !slices.Contains(may, is.Next) {
		return fmt.Errorf("its call %d says that what followed is %q, want one of %q", n, is.Next, may)
	}
	return nil
}

// mayFollow returns what may have followed the last of the attempts.
func (r *Run) mayFollow(tried []transcript.Attempt) (list []transcript.Next) {
	n := len(tried)
	before := slices.Clone(tried)
	before[n-1].Next = ""
	c := r.Plan.progressOf(before)
	failed := &tried[n-1]
	afterSummary := isSummary(tried, n-1)
	if afterSummary {
		failed = &tried[n-2]
	}
	for _, o := range r.outcomes(tried[:n-1], failed) {
		for _, next := range c.next(&o) {
			can, must := r.canFollow(next)
			if !can {
				continue
			}
			list = append(list, next)
			switch {
			case next != transcript.NextShortened:
			case !afterSummary:
				list = append(list, transcript.NextSummary)
			case tried[n-1].ErrorKind == "":
				list = append(list, transcript.NextSummarized)
			}
			if must {
				break
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// canFollow reports whether something can follow an attempt, as far as the request says, and whether the step tries nothing else then.
func (r *Run) canFollow(next transcript.Next) (can, must bool) {
	q := &r.query
	switch next {
	case transcript.NextShortened:
		must = r.copied().query.shorten(func() bool { return false })
		return must || q.Shorten && q.Summarize && !q.summarized, must
	case transcript.NextReasoningDropped:
		return q.Opaque > 0, q.Opaque > 0
	case transcript.NextRetried, transcript.NextWaited: // if there was time
		return true, false
	default:
		return true, true
	}
}

// outcomes returns what an attempt that has failed can have been.
func (r *Run) outcomes(before []transcript.Attempt, a *transcript.Attempt) (list []outcome) {
	kind := providers.ErrorKind(a.ErrorKind)
	list = []outcome{{kind: kind}, {kind: kind, final: true}}
	for _, change := range unknowns[kind] {
		for _, o := range list {
			change(&o)
			list = append(list, o)
		}
	}
	if kind == providers.InvalidResponse || kind == providers.Refused {
		for _, wants := range r.wanted(before, a) {
			list = append(list, outcome{
				kind:  kind,
				wants: wants,
			})
		}
	}
	return list
}

// unknowns are what an attempt that has failed does not say of its outcome, by its kind.
var unknowns = map[providers.ErrorKind][]func(*outcome){
	providers.RateLimit:       {mayWait},
	providers.Network:         {mayWait, endsOutage},
	providers.Timeout:         {mayWait, endsOutage},
	providers.ContextOverflow: {guessesServer, guessesRequest},
}

func mayWait(o *outcome)        { o.waits = true }
func endsOutage(o *outcome)     { o.first = true }
func guessesServer(o *outcome)  { o.guess = providers.ServerError }
func guessesRequest(o *outcome) { o.guess = providers.InvalidRequest }

// wanted returns what the reply of an attempt may have called for. If the reply is kept, it says so itself.
func (r *Run) wanted(before []transcript.Attempt, a *transcript.Attempt) (list []transcript.Next) {
	isCut := a.FinishReason == string(providers.Length)
	list = []transcript.Next{transcript.NextReconsidered, transcript.NextAskedAlone}
	switch {
	case a.ErrorKind == string(providers.Refused):
		list = []transcript.Next{transcript.NextInsisted}
	case isCut:
		list = append(list, transcript.NextCapRaised, transcript.NextCapRaisedMore)
	default:
		list = append(list, transcript.NextAskedAgain)
	}
	list = slices.DeleteFunc(list, func(next transcript.Next) bool {
		return !asks[next](r.copied())
	})
	if a.Reply == "" || a.ReplyCut {
		return list
	}
	is := r.read(before, a)
	mayHaveCalled := r.query.dialog != nil && isCut // the attempt does not have the calls
	return slices.DeleteFunc(list, func(next transcript.Next) bool {
		return next != is && (next != transcript.NextCapRaisedMore || !mayHaveCalled)
	})
}

// asks say whether a model can be asked for another reply in a way. They may change the run.
var asks = map[transcript.Next]func(r *Run) bool{
	transcript.NextAskedAgain: func(r *Run) bool {
		return r.Plan.Contract != nil && !r.query.askedAgain
	},
	transcript.NextReconsidered: func(r *Run) bool {
		return r.Plan.Step.Doubt != nil
	},
	transcript.NextAskedAlone: func(r *Run) bool {
		return r.Plan.Speech != nil && r.askAlone()
	},
	transcript.NextInsisted: func(r *Run) bool {
		return r.Plan.Speech != nil && r.insist()
	},
	transcript.NextCapRaised: func(r *Run) bool {
		return r.query.raiseCap(true)
	},
	transcript.NextCapRaisedMore: func(r *Run) bool {
		return r.query.raiseCap(true)
	},
}

// copied returns a run with the request. What is done to it does not change r.
func (r *Run) copied() *Run {
	again := &Run{Plan: r.Plan, query: r.query}
	if d := r.query.dialog; d != nil {
		again.query.dialog = new(*d)
	}
	if d := r.query.Data; d != nil {
		again.query.Data = new(*d)
	}
	return again
}

// read reads the reply of an attempt as Do does, and returns what it calls for.
func (r *Run) read(before []transcript.Attempt, a *transcript.Attempt) transcript.Next {
	again := r.copied()
	again.draft.start(&r.Plan.Step)
	again.draft.Attempts = before
	next, _ := again.readReply(responseOf(a))
	return next
}
