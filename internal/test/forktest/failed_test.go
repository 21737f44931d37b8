package forktest_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/derivedtest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/price"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// failuresIn returns the failures of steps that an entry has.
func failuresIn(ev debate.Event) (list []*debate.Failure) {
	switch ev := ev.(type) {
	case debate.StateChanged:
		list = append(ev.OtherFailures, ev.Failure)
		if ev.Question != nil {
			list = append(list, ev.Question.Failure)
		}
	case debate.Dropped:
		list = append(ev.OtherFailures, ev.Failure)
	}
	return list
}

// The requests of steps that failed are made again, and their costs are computed, as those of turns are.
func TestCallsOfFailedStepsAreDerived(t *testing.T) {
	total := 0
	for name, l := range lives() {
		if l.fails == nil {
			continue
		}
		t.Run(name, func(t *testing.T) {
			_, _, _, d := l.lead(t)
			calls := map[string]bool{}
			for _, ev := range events(t, d) {
				for _, f := range failuresIn(ev) {
					for i := 0; f != nil && i < len(f.AttemptDetails); i++ {
						calls[f.Key.String()+f.AttemptDetails[i].Began.String()] = true
					}
				}
			}
			prompts := 0
			for c, err := range d.VerifyEntries(t.Context()) {
				require.NoError(t, err)
				if c.Type != "turn" {
					require.Zero(t, c.Unknown, c.Missing)
					prompts += c.Prompts
				}
			}
			require.Len(t, calls, prompts)
			total += prompts
		})
	}
	require.Greater(t, total, 5)
}

// What a journal says of the calls of failed steps is compared: a request that is not derived is named with the reason, and a cost
// that is not that of the prices is wrong.
func TestForgedCallsOfFailedStepsAreFound(t *testing.T) {
	cfg := lifeConfig()
	cfg.Prices = price.Prices{"": {Input: 1, Output: 2}}
	e, _ := newEngine(t, cfg, func(o *debate.Options) {
		o.Providers = map[string]providers.Provider{"m": failing{o.Providers["m"], of("C")}}
	})
	d := create(t, e, cfg)
	run(t, d)
	derivedtest.RequireAll(t, d)
	forge := func(change func(a *transcript.Attempt)) (checks []debate.EntryCheck) {
		o, _ := options.Load(e)
		status, entries, err := o.(debate.Options).Store.Load(t.Context(), d.ID(), 0)
		require.NoError(t, err)
		at := -1
		for i := range entries {
			if dropped, ok := entries[i].Data.(debate.Dropped); ok && at < 0 {
				failure := *dropped.Failure
				failure.AttemptDetails = append([]transcript.Attempt{}, failure.AttemptDetails...)
				change(&failure.AttemptDetails[0])
				dropped.Failure, at = &failure, i
				entries[i].Data = dropped
			}
		}
		require.GreaterOrEqual(t, at, 0)
		forged := store.Memory()
		require.NoError(t, forged.Commit(t.Context(), store.Change{ID: d.ID(), Status: status, Entries: entries}))
		other := debatetest.Engine(t, debate.Options{Store: forged})
		opened := debatetest.Open(t, other, d.ID())
		for c, err := range opened.VerifyEntries(t.Context()) {
			require.NoError(t, err)
			if c.Type == "dropped" {
				checks = append(checks, c)
			}
		}
		return checks
	}
	c := forge(func(a *transcript.Attempt) { a.Hash = strings.Repeat("A", 43) })[0]
	require.Equal(t, 1, c.Unknown)
	require.Contains(t, strings.Join(c.Missing, " "), "it is not known from which entries the requests of the step")
	require.Equal(t, debate.EntryInput, c.Verdict)
	c = forge(func(a *transcript.Attempt) { a.Usage.Cost = 7 })[0]
	require.Equal(t, debate.EntryWrong, c.Verdict)
	require.Contains(t, c.Reason, "the cost of its call 1 is 7, want")
}
