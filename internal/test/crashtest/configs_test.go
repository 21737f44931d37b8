package crashtest

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// callCounter counts the calls of each actor.
type callCounter struct {
	mu    sync.Mutex
	calls map[string]int
}

func (c *callCounter) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	_, actor, _ := strings.Cut(r.Model, "/")
	c.mu.Lock()
	c.calls[actor]++
	c.mu.Unlock()
	return DigestModel(0).Generate(ctx, r)
}

// The counts of calls after kills are right only if each turn takes one call of the model that is named after its actor.
func TestEachTurnTakesOneCallOfItsActor(t *testing.T) {
	require.GreaterOrEqual(t, len(kinds), 8)
	for i, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			id := strconv.Itoa(i) + "-0000000000000000"
			m := &callCounter{calls: map[string]int{}}
			d := debatetest.New(t, NewConfig(id), debate.Options{Providers: map[string]providers.Provider{"m": m}})
			r := debatetest.RunResult(t, d)
			require.Equal(t, fsm.Completed, r.State)
			turns := map[string]int{}
			for _, turn := range r.Turns {
				turns[turn.Key.Actor]++
			}
			require.Equal(t, turns, m.calls)
		})
	}
}

// Each kind of debate can have people, so each takes part in the trials with them. A person's turn takes no call.
func TestPeopleTakePartInEachKindOfDebate(t *testing.T) {
	for i, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			id := strconv.Itoa(i) + "-00000000000000c0"
			require.True(t, hasPeople(id))
			calls := 0
			RunThroughFailures(t, store.Memory(), id, func(error) { calls++ })
			require.Zero(t, calls)
			c := NewConfig(id)
			require.True(t, c.Participants[1].Human)
			require.Contains(t, runInMemory(t, id), "/"+c.Participants[1].Name+"/")
		})
	}
}

// A trial that fails names the errors of the debate.
func TestErrorsInEntries(t *testing.T) {
	at := debate.EventMeta{Seq: 7, Type: "state"}
	failed := []transcript.Attempt{{}, {ErrorKind: "server_error", ErrorMessage: "too busy", Duration: time.Second}}
	f := &debate.Failure{Key: transcript.Key{Phase: "talk", Actor: "C", Round: 1}, AttemptDetails: failed, Message: "it gave up"}
	attempt := ": an attempt of 1s after 0s: too busy"
	for _, tt := range []struct {
		ev   debate.Event
		want []string
	}{
		{debate.TurnDone{EventMeta: at, Turn: transcript.Turn{Attempts: failed[:1]}}, nil},
		{debate.TurnDone{EventMeta: at, Turn: transcript.Turn{Attempts: failed}}, []string{attempt}},
		{debate.Dropped{EventMeta: at, Name: "C", Failure: f}, []string{"7 dropped C: ", attempt}},
		{debate.StateChanged{EventMeta: at, Question: &debate.Question{Failure: f}}, []string{"it gave up", attempt}},
		{debate.StateChanged{EventMeta: at, Failure: f, OtherFailures: []*debate.Failure{f}}, []string{"it gave up", "it gave up", attempt, attempt}},
	} {
		got := errorsIn(tt.ev)
		require.Len(t, got, len(tt.want))
		for i, want := range tt.want {
			require.Contains(t, got[i], want)
		}
	}
}
