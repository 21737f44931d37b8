package debate_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/store"
)

// crowd is a model that takes ten seconds for each reply, and knows which debates call it.
type crowd struct {
	mu            sync.Mutex
	order         []string // topics, by their first call
	calling, most int
	fails         string // topic of the debate whose calls fail
}

func (c *crowd) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	topic := ""
	for i := range 10 {
		if t := fmt.Sprintf("Question %d?", i); slices.ContainsFunc(r.Messages, func(m providers.Message) bool { return strings.Contains(m.Text, t) }) {
			topic = t
		}
	}
	c.mu.Lock()
	if !slices.Contains(c.order, topic) {
		c.order = append(c.order, topic)
	}
	c.calling++
	c.most = max(c.most, c.calling)
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		c.calling--
		c.mu.Unlock()
	}()
	if err := sleepContext(ctx, 10*time.Second); err != nil {
		return providers.Response{}, providers.ContextError(ctx, providers.Response{})
	}
	if c.fails != "" && topic == c.fails {
		return providers.Response{}, &providers.Error{Kind: providers.Authentication, Err: errors.New("no key")}
	}
	return (&debatetest.DigestModel{Names: []string{"A", "B"}}).Generate(ctx, r)
}

// seen returns the topics so far, and the number of calls in progress now and at most.
func (c *crowd) seen() (order []string, calling, most int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.order), c.calling, c.most
}

// crowdEngine returns an engine that drives three debates at once.
func crowdEngine(t *testing.T, s store.Store, c *crowd) *debate.Engine {
	t.Helper()
	e := debatetest.Engine(t, debate.Options{
		Store: s, Name: "one", MaxDebates: 3, Providers: map[string]providers.Provider{"m": c, "j": c},
	})
	return e
}

// launchCrowd starts debates about ten questions.
func launchCrowd(t *testing.T, e *debate.Engine) (list []*debate.Debate, topics []string) {
	t.Helper()
	for i := range 10 {
		cfg := debatetest.PairConfig(nil)
		cfg.ID, cfg.Topic = fmt.Sprint("d", i), fmt.Sprintf("Question %d?", i)
		cfg.Limits.MaxRounds = 2
		d := debatetest.Call(t, e.Launch, cfg)
		list, topics = append(list, d), append(topics, cfg.Topic)
	}
	return list, topics
}

// states returns how many debates are in each state.
func states(t *testing.T, e *debate.Engine) map[fsm.State]int {
	t.Helper()
	n, err := e.Count(t.Context(), store.Query{})
	require.NoError(t, err)
	return n
}

func TestAnEngineDrivesDebatesInOrderUpToItsLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &crowd{fails: "Question 1?"}
		e := crowdEngine(t, store.Memory(), c)
		_, topics := launchCrowd(t, e)
		time.Sleep(5 * time.Second)
		_, calling, _ := c.seen()
		require.Equal(t, 3, calling)
		time.Sleep(time.Hour)
		require.Equal(t, map[fsm.State]int{fsm.Completed: 9, fsm.Error: 1}, states(t, e), "an error of one does not stop the others")
		order, _, most := c.seen()
		require.Equal(t, 3, most)
		require.ElementsMatch(t, topics[:3], order[:3])
		require.ElementsMatch(t, topics, order)
		require.NoError(t, e.Close(t.Context()))
	})
}

func TestAPausedDebateGivesUpItsPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &crowd{}
		e := crowdEngine(t, store.Memory(), c)
		list, _ := launchCrowd(t, e)
		time.Sleep(5 * time.Second)
		for _, d := range list[:3] {
			require.NoError(t, d.Pause(t.Context()))
		}
		require.NoError(t, list[9].Cancel(t.Context()), "a debate that waits can be canceled")
		time.Sleep(time.Hour)
		require.Equal(t, map[fsm.State]int{fsm.Completed: 6, fsm.Paused: 3, fsm.Canceled: 1}, states(t, e))
		for _, d := range list[:3] {
			require.NoError(t, d.Resume(t.Context()))
		}
		time.Sleep(time.Hour)
		require.Equal(t, map[fsm.State]int{fsm.Completed: 9, fsm.Canceled: 1}, states(t, e))
		_, _, most := c.seen()
		require.Equal(t, 3, most)
		require.NoError(t, e.Close(t.Context()))
	})
}

// A debate that waits for a person needs no place until the person has replied.
func TestADebateThatWaitsForAPersonGivesUpItsPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &crowd{}
		e := crowdEngine(t, store.Memory(), c)
		var list []*debate.Debate
		for i := range 10 {
			cfg := debatetest.PairConfig(nil)
			cfg.ID, cfg.Topic, cfg.Limits.MaxRounds = fmt.Sprint("d", i), fmt.Sprintf("Question %d?", i), 1
			if i < 4 {
				cfg.Participants[1] = debate.Participant{Name: "B", Human: true}
			}
			d := debatetest.Call(t, e.Launch, cfg)
			list = append(list, d)
		}
		time.Sleep(time.Hour)
		require.Equal(t, map[fsm.State]int{fsm.Completed: 6, fsm.Paused: 4}, states(t, e))
		for _, d := range list[:4] {
			asked := debatetest.Waiting(t, d)
			require.Len(t, asked, 1)
			require.NoError(t, d.Answer(t.Context(), asked[0].Key, "Because of the noise.", "Bea"))
		}
		time.Sleep(time.Hour)
		require.Equal(t, map[fsm.State]int{fsm.Completed: 10}, states(t, e))
		_, _, most := c.seen()
		require.Equal(t, 3, most)
		require.NoError(t, e.Close(t.Context()))
	})
}

func TestDebatesThatWaitSurviveTheirEngine(t *testing.T) {
	for name, ctx := range map[string]func() (context.Context, context.CancelFunc){
		"closed":  func() (context.Context, context.CancelFunc) { return context.WithCancel(context.Background()) },
		"crashed": func() (context.Context, context.CancelFunc) { return context.WithTimeout(context.Background(), 0) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, c := store.Memory(), &crowd{}
				e := crowdEngine(t, s, c)
				launchCrowd(t, e)
				time.Sleep(25 * time.Second)
				ctx, cancel := ctx()
				defer cancel()
				_ = e.Close(ctx)
				synctest.Wait()
				c.mu.Lock()
				require.Len(t, c.order, 3)
				require.Zero(t, c.calling)
				c.most = 0
				c.mu.Unlock()
				again := crowdEngine(t, s, c)
				require.NoError(t, again.Recover(t.Context()))
				time.Sleep(time.Hour)
				require.Equal(t, map[fsm.State]int{fsm.Completed: 10}, states(t, again))
				_, _, most := c.seen()
				require.Equal(t, 3, most)
				require.NoError(t, again.Close(t.Context()))
			})
		})
	}
}
