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
	c := r.Plan.courseOf(before)
	failed := &tried[n-1]
	afterSummary := isSummary(tried, n-1)
	if afterSummary {
		failed = &tried[n-2]
	}
	for _, o := range r.outcomes(tried[:n-1], failed) {
		for _, next := range c.next(&o) {
			switch {
			case next == transcript.NextShortened && afterSummary && tried[n-1].ErrorKind == "":
				list = append(list, transcript.NextSummarized)
			case next == transcript.NextShortened && r.Plan.Prompt.Summarize:
				list = append(list, transcript.NextSummary)
			}
			list = append(list, next)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// outcomes returns what an attempt that has failed can have been.
func (r *Run) outcomes(before []transcript.Attempt, a *transcript.Attempt) (list []outcome) {
	o := outcome{kind: providers.ErrorKind(a.ErrorKind)}
	list = []outcome{o}
	add := func(change func(*outcome)) {
		for _, o := range list {
			change(&o)
			list = append(list, o)
		}
	}
	add(func(o *outcome) { o.final = true })
	switch o.kind {
	case providers.RateLimit:
		add(func(o *outcome) { o.waits = true })
	case providers.Network, providers.Timeout:
		add(func(o *outcome) { o.waits = true })
		add(func(o *outcome) { o.first = true })
	case providers.ContextOverflow:
		add(func(o *outcome) { o.guess = providers.ServerError })
		add(func(o *outcome) { o.guess = providers.InvalidRequest })
	case providers.InvalidResponse, providers.Refused:
		for _, wants := range r.wanted(before, a) {
			list = append(list, outcome{kind: o.kind, wants: wants})
		}
	}
	return list
}

// wanted returns what the reply of an attempt may have called for. If the reply is kept, it says so itself.
func (r *Run) wanted(before []transcript.Attempt, a *transcript.Attempt) (list []transcript.Next) {
	isCut := a.FinishReason == string(providers.Length)
	switch {
	case a.ErrorKind == string(providers.Refused):
		list = []transcript.Next{transcript.NextInsisted}
	case isCut && !r.query.capRaised:
		list = []transcript.Next{transcript.NextCapRaised, transcript.NextCapRaisedMore, transcript.NextAskedAlone}
	default:
		list = []transcript.Next{transcript.NextAskedAgain, transcript.NextReconsidered, transcript.NextAskedAlone}
	}
	calls := r.query.dialog != nil && isCut // of tools, which the attempt does not have
	if a.Reply == "" || a.ReplyCut || calls {
		return list
	}
	is := r.read(before, a)
	return slices.DeleteFunc(list, func(next transcript.Next) bool { return next != is })
}

// read reads the reply of an attempt as Do does, and returns what it calls for. The run does not change.
func (r *Run) read(before []transcript.Attempt, a *transcript.Attempt) transcript.Next {
	again := &Run{Plan: r.Plan, query: r.query}
	if d := r.query.dialog; d != nil {
		again.query.dialog = new(*d)
	}
	if d := r.query.Data; d != nil {
		again.query.Data = new(*d)
	}
	again.draft.start(&r.Plan.Step)
	again.draft.Attempts = before
	next, _ := again.readReply(&providers.Response{
		Text:         a.Reply,
		FinishReason: providers.FinishReason(a.FinishReason),
		Usage:        a.Usage,
		Model:        a.Model,
	})
	return next
}
