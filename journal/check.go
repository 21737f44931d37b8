package journal

import (
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/internal/actor"
	"github.com/elenchus-go/debate/internal/attachment"
	"github.com/elenchus-go/debate/internal/reasoning"
	"github.com/elenchus-go/debate/internal/userinput"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
)

// DefaultRetries returns the number of retries of a step for each kind of error, where Config.Retries has no other one.
func DefaultRetries() map[providers.ErrorKind]int {
	return map[providers.ErrorKind]int{
		providers.Network:         3,
		providers.RateLimit:       5,
		providers.ServerError:     2,
		providers.Timeout:         2,
		providers.InvalidResponse: 1,
		providers.Loop:            1,
		providers.Refused:         1,
		providers.ContentFiltered: 1,
		providers.WrongAddress:    1,
		providers.ContextOverflow: 0,
		providers.Authentication:  0,
		providers.Billing:         0,
		providers.InvalidRequest:  0,
		providers.OutOfMemory:     0,
	}
}

// problemList collects the problems of a check.
type problemList struct{ list []protocol.Problem }

func (l *problemList) add(field, format string, args ...any) {
	l.list = append(l.list, protocol.Problemf(field, format, args...))
}

// CheckValues returns a problem for each value that no configuration has, whether it is new or stored. Defaults are filled in.
func (c *Config) CheckValues() []protocol.Problem {
	l := &problemList{}
	l.list = append(l.list, userinput.CheckID(c.ID)...)
	if len(c.Seed) > 128 {
		l.add("seed", "it has %d bytes, use at most 128", len(c.Seed))
	}
	l.policy("on_failure", c.OnFailure, Degrade, Ask)
	l.policy("on_judge_failure", c.OnJudgeFailure, Continue, DropJudge, End, Ask)
	l.policy("on_retrieval_failure", c.OnRetrievalFailure, Degrade, Continue, Ask)
	l.policy("on_refusal", c.OnRefusal, Continue, Degrade)
	l.policy("on_overflow", c.OnOverflow, OverflowTruncate, OverflowSummarize, End, Degrade)
	known := DefaultRetries()
	for _, kind := range slices.Sorted(maps.Keys(c.Retries)) {
		n := c.Retries[kind]
		_, ok := known[kind]
		if !ok || n < 0 {
			l.add("retries", "%s: %d is not valid, use 0 or more for each of %q", kind, n, slices.Sorted(maps.Keys(known)))
		}
	}
	for i, j := range c.Judges {
		if j.Side != "" || j.Position != "" || j.Disabled {
			l.add(actor.Field("judges", i), "a judge must not have a side or a position and must not be disabled")
		}
	}
	for field, p := range c.Actors() {
		p.MaxTokens = c.ReplyLimit(field, &p)
		l.list = append(l.list, p.Check(field)...)
	}
	l.list = append(l.list, checkPrices(c.Prices)...)
	if len(c.Attachments)+len(c.Documents) > 0 {
		c.checkFiles(l)
	}
	if c.Reference != "" && len(c.Judges) == 0 {
		l.add("reference", "there are no judges, who alone read it: leave it out")
	}
	if x := c.AskAboveCost; !(x >= 0) || math.IsInf(x, 0) {
		l.add("ask_above_cost", "%v is not valid, use 0 or more", x)
	}
	for _, p := range c.Rubric.Check() {
		l.add("rubric", "%s", p)
	}
	for _, p := range c.History.Check() {
		l.add("history", "%s", p)
	}
	return l.list
}

func (c *Config) checkFiles(l *problemList) {
	var files []attachment.Named
	for _, a := range c.Attachments {
		file := attachment.File{
			MediaType: a.MediaType,
			Data:      a.Data,
			URL:       a.URL,
			Pages:     a.Pages,
		}
		files = append(files, attachment.Named{
			File:    file,
			Name:    a.Name,
			Readers: a.Readers,
		})
	}
	for _, p := range attachment.CheckAll(files, c.HasSeat) {
		l.add("attachments"+p.Field, "%s", p.Reason)
	}
	for _, p := range evidence.CheckAll(c.Documents, c.HasSeat) {
		l.add("documents"+p.Field, "%s", p.Reason)
	}
}

// policy adds a problem if a field does not have one of the known policies. It may be empty in an early journal.
func (l *problemList) policy(field string, is FailurePolicy, known ...FailurePolicy) {
	if is != "" && !slices.Contains(known, is) {
		l.add(field, "%q is unknown, use one of %q", is, known)
	}
}

// ReplyLimit returns the token limit of the replies of the actor in a field. That of a substitute is the lowest for any judge.
func (c *Config) ReplyLimit(field string, p *Participant) int {
	limit := p.MaxTokens
	if !strings.HasPrefix(field, "substitutes") {
		return limit
	}
	for i := range c.Judges {
		limit = min(limit, p.LimitFor(&c.Judges[i]))
	}
	return limit
}

// LimitFor returns the token limit of a substitute's replies in place of a judge: the lower one of the two limits. The substitute
// has room for its reasoning in addition to the judge's limit.
func (p *Participant) LimitFor(judge *Participant) int {
	return min(p.MaxTokens, judge.MaxTokens+reasoning.Tokens(p.Reasoning))
}

// HasSeat reports whether a participant or a judge has a name.
func (c *Config) HasSeat(name string) bool {
	is := func(p Participant) bool { return p.Name == name }
	return slices.ContainsFunc(c.Participants, is) || slices.ContainsFunc(c.Judges, is)
}
