package main

import (
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// filterFlags lists the flags that select stored debates.
var filterFlags = []string{"state", "outcome", "failure", "label", "waiting", "since", "before", "updated-since", "updated-before"}

// filters hold the flags that select stored debates.
type filters struct {
	states, outcomes, failures, labels         []string
	since, before, updatedSince, updatedBefore timeFlag
	waiting                                    string
	limit                                      int
}

func (f *filters) addFlags(flags *pflag.FlagSet) {
	flags.StringArrayVar(&f.states, "state", nil, "debates in this `state`: running, paused, completed, canceled, error or another; can be repeated")
	flags.StringArrayVar(&f.outcomes, "outcome", nil, "debates with this `outcome`, such as round_limit or judge_decided; can be repeated")
	flags.StringArrayVar(&f.failures, "failure", nil, "debates that a failure of this `kind` stopped, such as rate_limit; can be repeated")
	flags.StringArrayVar(&f.labels, "label", nil, "debates with this label, as `name=value`; can be repeated")
	flags.StringVar(&f.waiting, "waiting", "", "debates that wait for the reply of the person of this `name`")
	flags.Var(&f.since, "since", "debates created since `time`: a date (2026-01-31), a time, or an age (12h, 30d)")
	flags.Var(&f.before, "before", "debates created before `time`")
	flags.Var(&f.updatedSince, "updated-since", "debates changed last since `time`")
	flags.Var(&f.updatedBefore, "updated-before", "debates changed last before `time`")
}

// query returns the query for a store.
func (f *filters) query() (q store.Query, err error) {
	q = store.Query{
		CreatedSince: f.since.Time, CreatedBefore: f.before.Time, UpdatedSince: f.updatedSince.Time, UpdatedBefore: f.updatedBefore.Time,
		Limit: f.limit, FailureKinds: f.failures, Waiting: f.waiting,
	}
	for _, name := range f.states {
		matching := slices.DeleteFunc(slices.Clone(states), func(s fsm.State) bool {
			return string(s) != name && !strings.HasPrefix(string(s), name+".")
		})
		if len(matching) == 0 {
			return q, exitErrorf(exitInput, "read arguments: --state %s is unknown, use running or one of %s", name, joinNames(states))
		}
		q.States = append(q.States, matching...)
	}
	for _, name := range f.outcomes {
		if !slices.Contains(outcomes, transcript.Outcome(name)) {
			return q, exitErrorf(exitInput, "read arguments: --outcome %s is unknown, use one of %s", name, joinNames(outcomes))
		}
		q.Outcomes = append(q.Outcomes, transcript.Outcome(name))
	}
	for _, name := range f.failures {
		if !slices.Contains(failures, providers.ErrorKind(name)) {
			return q, exitErrorf(exitInput, "read arguments: --failure %s is unknown, use one of %s", name, joinNames(failures))
		}
	}
	for _, label := range f.labels {
		key, value, ok := strings.Cut(label, "=")
		if !ok {
			return q, exitErrorf(exitInput, "read arguments: --label %s, want NAME=VALUE", label)
		}
		if q.Labels == nil {
			q.Labels = map[string]string{}
		}
		q.Labels[key] = value
	}
	return q, nil
}

// states lists what --state accepts. It also accepts "running" for all states whose names begin with "running.".
var states = []fsm.State{
	fsm.Configuring, fsm.Validating, fsm.Ready, fsm.Initializing, fsm.AwaitingResponses, fsm.Judging, fsm.RoundComplete, fsm.Paused,
	fsm.Completing, fsm.Completed, fsm.Canceled, fsm.Error,
}

// outcomes lists what --outcome accepts.
var outcomes = []transcript.Outcome{
	transcript.JudgeDecided, transcript.Converged, transcript.DiminishingReturns, transcript.Unanimous, transcript.EarlyStop, transcript.RoundLimit,
	transcript.TokenBudget, transcript.CostBudget, transcript.TimeBudget, transcript.QuorumLost, transcript.Stopped, transcript.Canceled,
}

// failures lists what --failure accepts: the kinds of errors of providers, and what a debate has whose start was refused.
var failures = []providers.ErrorKind{
	providers.Network, providers.RateLimit, providers.ServerError, providers.Timeout, providers.ContextOverflow, providers.Authentication,
	providers.InvalidRequest, providers.InvalidResponse, providers.ContentFiltered, providers.Billing, providers.OutOfMemory,
	providers.Declined, providers.Panic, "rejected",
}

// joinNames returns a list of names, separated by commas.
func joinNames[S ~string](names []S) string { return strings.Join(namesOf(names), ", ") }

func namesOf[S ~string](names []S) []string {
	list := make([]string, len(names))
	for i, name := range names {
		list[i] = string(name)
	}
	return list
}

// timeFlag is a flag for a time: a date, a time as in RFC 3339, or the time that has passed since then, such as 12h or 30d.
type timeFlag struct{ time.Time }

// String implements pflag.Value.
func (t *timeFlag) String() string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.RFC3339)
}

// Type implements pflag.Value.
func (*timeFlag) Type() string { return "time" }

var age = regexp.MustCompile(`^(\d{1,6})([mhd])$`)

// Set implements pflag.Value.
func (t *timeFlag) Set(value string) (err error) {
	if m := age.FindStringSubmatch(value); m != nil {
		n, _ := strconv.Atoi(m[1])
		if m[2] == "d" {
			t.Time = time.Now().AddDate(0, 0, -n) // a duration cannot be longer than 292 years
			return nil
		}
		unit := map[string]time.Duration{"m": time.Minute, "h": time.Hour}[m[2]]
		t.Time = time.Now().Add(-time.Duration(n) * unit)
		return nil
	}
	t.Time, err = time.ParseInLocation(time.DateOnly, value, time.Local)
	if err == nil {
		return nil
	}
	t.Time, err = time.Parse(time.RFC3339, value)
	if err != nil {
		return errors.New("want a date such as 2026-01-31, a time such as 2026-01-31T12:00:00Z, or an age such as 12h or 30d")
	}
	return nil
}
