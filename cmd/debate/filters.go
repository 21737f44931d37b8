package main

import (
	"errors"
	"flag"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// filterFlags are the flags that select stored debates.
const filterFlags = "state outcome failure label waiting since before updated-since updated-before"

// stringList is the value of a flag that may be given several times.
type stringList []string

func (l *stringList) String() string { return strings.Join(*l, ", ") }

// Set implements flag.Value.
func (l *stringList) Set(value string) error {
	*l = append(*l, value)
	return nil
}

// filters hold the flags that select stored debates.
type filters struct {
	states, outcomes, failures, labels         stringList
	since, before, updatedSince, updatedBefore timeFlag
	waiting                                    string
	limit                                      int
}

func (f *filters) addFlags(flags *flag.FlagSet) {
	for name, to := range map[string]*stringList{"state": &f.states, "outcome": &f.outcomes, "failure": &f.failures, "label": &f.labels} {
		flags.Var(to, name, "")
	}
	for name, to := range map[string]*timeFlag{"since": &f.since, "before": &f.before, "updated-since": &f.updatedSince, "updated-before": &f.updatedBefore} {
		flags.Var(to, name, "")
	}
	flags.StringVar(&f.waiting, "waiting", "", "")
	flags.IntVar(&f.limit, "limit", 0, "")
}

// given reports whether a filter is among the given flags.
func (f *filters) given(flags map[string]bool) bool {
	return slices.ContainsFunc(strings.Fields(filterFlags), func(name string) bool { return flags[name] })
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
			return q, exitErrorf(exitArguments, "read arguments: --state %s is unknown, use running or one of %s", name, joinNames(states))
		}
		q.States = append(q.States, matching...)
	}
	for _, name := range f.outcomes {
		if !slices.Contains(outcomes, transcript.Outcome(name)) {
			return q, exitErrorf(exitArguments, "read arguments: --outcome %s is unknown, use one of %s", name, joinNames(outcomes))
		}
		q.Outcomes = append(q.Outcomes, transcript.Outcome(name))
	}
	for _, label := range f.labels {
		key, value, ok := strings.Cut(label, "=")
		if !ok {
			return q, exitErrorf(exitArguments, "read arguments: --label %s, want NAME=VALUE", label)
		}
		if q.Labels == nil {
			q.Labels = map[string]string{}
		}
		q.Labels[key] = value
	}
	return q, nil
}

// states are the states that --state accepts. It also accepts "running" for all states whose names begin with "running.".
var states = []fsm.State{
	fsm.Configuring, fsm.Validating, fsm.Ready, fsm.Initializing, fsm.AwaitingResponses, fsm.Judging, fsm.RoundComplete, fsm.Paused,
	fsm.Completing, fsm.Completed, fsm.Canceled, fsm.Error,
}

// outcomes are the outcomes that --outcome accepts.
var outcomes = []transcript.Outcome{
	transcript.JudgeDecided, transcript.Converged, transcript.DiminishingReturns, transcript.Unanimous, transcript.EarlyStop, transcript.RoundLimit,
	transcript.TokenBudget, transcript.CostBudget, transcript.TimeBudget, transcript.QuorumLost, transcript.Stopped, transcript.Canceled,
}

// joinNames returns a list of names, separated by commas.
func joinNames[S ~string](names []S) string {
	list := make([]string, len(names))
	for i, name := range names {
		list[i] = string(name)
	}
	return strings.Join(list, ", ")
}

// timeFlag is a flag for a time: a date, a time as in RFC 3339, or the time that has passed since then, such as 12h or 30d.
type timeFlag struct{ time.Time }

// String implements flag.Value.
func (t *timeFlag) String() string { return t.Format(time.RFC3339) }

var age = regexp.MustCompile(`^(\d{1,6})([mhd])$`)

// Set implements flag.Value.
func (t *timeFlag) Set(value string) (err error) {
	if m := age.FindStringSubmatch(value); m != nil {
		n, _ := strconv.Atoi(m[1])
		unit := map[string]time.Duration{"m": time.Minute, "h": time.Hour, "d": 24 * time.Hour}[m[2]]
		t.Time = time.Now().Add(-time.Duration(n) * unit)
		return nil
	}
	if t.Time, err = time.ParseInLocation(time.DateOnly, value, time.Local); err == nil {
		return nil
	}
	if t.Time, err = time.Parse(time.RFC3339, value); err != nil {
		return errors.New("want a date such as 2026-01-31, a time such as 2026-01-31T12:00:00Z, or an age such as 12h or 30d")
	}
	return nil
}
