package faulttest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/step"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/enginetest"
	"github.com/elenchus-go/debate/internal/test/fakellm"
	"github.com/elenchus-go/debate/internal/test/servicetest"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// ownWords returns the errors of servicetest that were worded before the rules that classify them.
func ownWords(t *testing.T) (list []servicetest.Case) {
	t.Helper()
	for _, c := range servicetest.Load(t) {
		if strings.HasPrefix(c.Source, "own words; ") {
			list = append(list, c)
		}
	}
	require.Greater(t, len(list), 80)
	return list
}

// overOwnWords calls a test for a sample of these errors, with a service that always fails and a provider that calls it.
func overOwnWords(t *testing.T, test func(t *testing.T, c servicetest.Case, service *failing, p providers.Provider)) {
	sample := enginetest.NewSample(t, 4)
	for i, c := range ownWords(t) {
		if !sample.Tries(fmt.Sprint(c.Service, c.Kind)) {
			continue
		}
		t.Run(fmt.Sprint(i, " ", c.Service, " ", c.Kind), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, service := debateOver(t, c, func(int, []byte) bool { return true })
				test(t, c, service, uncheckable{providerOver(t, c.Service, &http.Client{Transport: service})})
			})
		})
	}
}

// If one service has all seats and fails from the first call on, the debate says why, soon, and never ends as complete.
func TestOneServiceForAllSeats(t *testing.T) {
	overOwnWords(t, func(t *testing.T, c servicetest.Case, service *failing, p providers.Provider) {
		cfg := debate.Config{
			Topic: "Ban cars?", Protocol: panel.Protocol{Mode: panel.Sequential},
			Participants: []debate.Participant{{Name: "A", Model: "m"}, {Name: "B", Model: "m"}, {Name: "C", Model: "m"}},
			Judges:       []debate.Participant{{Name: "J", Model: "m"}},
		}
		d := debatetest.New(t, cfg, debate.Options{Providers: map[string]providers.Provider{"p": p}})
		began := time.Now()
		_, err := debatetest.Run(t, d)
		r := debatetest.Result(t, d)
		if c.InStream() && err == nil { // what has arrived of a speech is kept
			for _, turn := range r.Turns {
				require.True(t, turn.Kind != transcript.Speech || slices.Contains(turn.Flags, transcript.Partial))
			}
			return
		}
		require.Error(t, err)
		require.Equal(t, fsm.Error, r.State)
		if m := messageOf.FindStringSubmatch(string(c.Body)); m != nil {
			require.Contains(t, r.Failure.Message, m[1])
		}
		require.LessOrEqual(t, time.Since(began), time.Hour)
		if step.Fatal(c.Kind) {
			require.Equal(t, c.Kind, r.Failure.Kind)
			require.Less(t, time.Since(began), time.Minute)
			require.LessOrEqual(t, service.failed, 2)
		}
		if wait, _ := time.ParseDuration("0" + c.RetryAfter); wait > time.Hour {
			require.Equal(t, wait, r.Failure.RetryAfter)
			require.Less(t, time.Since(began), time.Minute, "a wait that is too long is not begun")
		}
	})
}

// If a judge's service fails, another model judges.
func TestASecondModelForAJudge(t *testing.T) {
	overOwnWords(t, func(t *testing.T, c servicetest.Case, service *failing, p providers.Provider) {
		good := &debatetest.DigestModel{Names: []string{"A", "B"}}
		cfg := debatetest.PairConfig(panel.Protocol{Mode: panel.Sequential})
		cfg.Judges = []debate.Participant{{Name: "J", Provider: "p", Model: "m"}}
		cfg.Substitutes = []debate.Participant{{Provider: "m"}}
		cfg.Limits = debate.Limits{MaxRounds: 1}
		d := debatetest.New(t, cfg, debate.Options{Providers: map[string]providers.Provider{"p": p, "m": good}})
		debatetest.Finish(t, d)
		r := debatetest.Result(t, d)
		require.Equal(t, fsm.Completed, r.State)
		require.True(t, slices.Contains(r.Verdict.Flags, transcript.Substituted))
		require.Equal(t, string(c.Kind), r.Verdict.Attempts[0].ErrorKind)
		require.Positive(t, service.failed)
	})
}

// providerOver returns the provider of a service that a client reaches.
func providerOver(t *testing.T, service fakellm.Protocol, client *http.Client) providers.Provider {
	t.Helper()
	p, err := newProvider(service, client)
	require.NoError(t, err)
	return p
}
