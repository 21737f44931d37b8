package step

import (
	"github.com/elenchus-go/debate/journal"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// What follows an attempt is decided here, from the attempts so far and from what is known of the last one. A step that goes on after
// a crash decides as it would have done without the crash, because its attempts say what followed them.

// A progress holds what the attempts of a step say about its next one.
type progress struct {
	plan      *Plan
	number    int                         // attempts, without those for summaries
	counted   int                         // those that count against Limits.Attempts: since a wait for a service, and without rounds
	failures  map[providers.ErrorKind]int // of the model in use, since a wait for a rate limit of all
	shortened bool                        // the prompt of the model in use was shortened
	raised    bool                        // the token limit of the model in use was raised
	doubted   bool                        // the model was asked to reconsider its reply

	summarized bool // the prompt was shortened with a summary, which follows the last attempt
}

// An outcome holds what is known of an attempt that has failed.
type outcome struct {
	kind  providers.ErrorKind
	guess providers.ErrorKind // the kind if kind is a guess that does not hold; otherwise empty
	wants transcript.Next     // what the reply calls for; empty if there is none, or if it calls for nothing
	final bool                // a retry does not help
	waits bool                // the step may wait for the service
	first bool                // the earlier failures of its kind belong to an outage that is over
	ends  bool                // the default reply is used
}

// progressOf returns the progress of a step with the given attempts. What followed the last one may not be known yet.
func (p *Plan) progressOf(tried []transcript.Attempt) *progress {
	c := &progress{
		plan:     p,
		failures: map[providers.ErrorKind]int{},
	}
	for i := range tried {
		failed := &tried[i]
		if isSummary(tried, i) {
			failed = &tried[i-1]
		} else {
			c.number++
			c.counted++
		}
		c.add(failed, tried[i].Next)
	}
	return c
}

// isSummary reports whether an attempt did not ask for the turn, but for a summary.
func isSummary(tried []transcript.Attempt, i int) bool {
	return i > 0 && tried[i-1].Next == transcript.NextSummary
}

// An effect is what something that followed an attempt does to the progress of its step.
type effect struct {
	change func(c *progress) // nil if nothing changes besides
	free   bool              // the attempt does not count as a failure of its kind
}

var effects = map[transcript.Next]effect{
	"":                              {free: true},
	transcript.NextSummary:          {free: true},
	transcript.NextReasoningDropped: {free: true},
	transcript.NextGivenUp:          {free: true},
	transcript.NextTools: {
		free:   true,
		change: (*progress).addRound,
	},
	transcript.NextWithoutTools: {
		free:   true,
		change: (*progress).addRound,
	},
	transcript.NextShortened: {
		free:   true,
		change: func(c *progress) { c.shortened = true },
	},
	transcript.NextSummarized: {
		free:   true,
		change: func(c *progress) { c.shortened = true },
	},
	transcript.NextSubstitute: {
		free:   true,
		change: (*progress).startAgain,
	},
	transcript.NextWaited: {change: func(c *progress) {
		c.counted = 0
	}},
	transcript.NextCapRaised: {change: func(c *progress) {
		c.raised = true
	}},
	transcript.NextCapRaisedMore: {change: func(c *progress) {
		c.raised = true
	}},
	transcript.NextReconsidered: {change: func(c *progress) {
		c.doubted = true
	}},
}

// addRound adds a response that is no attempt at a reply: it has calls of tools.
func (c *progress) addRound() { c.counted-- }

// startAgain begins with another model.
func (c *progress) startAgain() {
	clear(c.failures)
	c.shortened = false
	c.raised = false
}

// add adds what followed an attempt.
func (c *progress) add(a *transcript.Attempt, next transcript.Next) {
	kind := c.kindOf(providers.ErrorKind(a.ErrorKind))
	is := effects[next]
	if is.change != nil {
		is.change(c)
	}
	if is.free {
		return
	}
	c.failures[kind]++
	switch {
	case next == transcript.NextWaited && kind == providers.RateLimit:
		clear(c.failures)
	case next == transcript.NextRetried && c.failures[kind] > c.plan.maxRetries(kind): // its outage was over
		c.failures[kind] = 1
	}
}

// kindOf returns the kind that a failure counts as, if no shorter prompt followed it. A limit that the model does not allow makes a
// reply invalid. A guess of an overflow that did not hold is the failure of a server.
func (c *progress) kindOf(kind providers.ErrorKind) providers.ErrorKind {
	switch {
	case kind == providers.InvalidRequest && c.raised:
		return providers.InvalidResponse
	case kind == providers.ContextOverflow && c.plan.maxRetries(kind) == 0:
		return providers.ServerError
	}
	return kind
}

// failuresOf returns the number of earlier failures of a kind. If the last attempt is the first one after an outage, it is 0.
func (c *progress) failuresOf(kind providers.ErrorKind, first bool) int {
	if first {
		return 0
	}
	return c.failures[kind]
}

// isLast reports whether no attempt may follow the last one, unless the step waits for a service.
func (c *progress) isLast() bool { return c.counted >= c.plan.Limits.Attempts }

// next returns what may follow the last attempt, in the order in which the step tries it. The first for which there is time, and
// something to remove from the prompt, is what follows. The last is always possible.
func (c *progress) next(o *outcome) (list []transcript.Next) {
	overflow := o.kind == providers.ContextOverflow
	guessed := overflow && o.guess != ""
	if guessed && !c.shortened && !c.isLast() && !c.doubted {
		list = append(list, transcript.NextShortened)
	}
	kind := o.kind
	if guessed {
		kind = o.guess
	}
	if kind == providers.InvalidRequest {
		kind = c.kindOf(kind)
	}
	switch {
	case c.doubted, o.ends, c.isLast() && !o.waits:
		return append(list, transcript.NextGivenUp)
	case o.wants != "":
		return append(list, o.wants)
	case overflow && !guessed:
		list = append(list, transcript.NextShortened)
	case kind == providers.InvalidRequest:
		list = append(list, transcript.NextReasoningDropped)
	}
	if !o.final && c.failuresOf(kind, o.first) < c.plan.maxRetries(kind) {
		list = append(list, transcript.NextRetried)
	}
	if len(c.plan.Substitutes) > 0 {
		list = append(list, transcript.NextSubstitute)
	}
	if !o.final && o.waits {
		list = append(list, transcript.NextWaited)
	}
	return append(list, transcript.NextGivenUp)
}

// maxRetries returns the maximum number of retries for a kind of error.
func (p *Plan) maxRetries(kind providers.ErrorKind) int {
	if n, ok := p.Retries[kind]; ok {
		return n
	}
	return journal.DefaultRetries()[kind]
}
