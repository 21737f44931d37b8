package faulttest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// checked is a server that can be asked whether it answers.
type checked struct{ *server }

func (c checked) Check(context.Context, string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.down > 0 && c.calls >= c.down-1 && (c.upTime.IsZero() || time.Now().Before(c.upTime)) {
		return &providers.Error{Kind: providers.Network, Err: errors.New("connection refused")}
	}
	return nil
}

// network connects servers. After the fourth call it is down for a quarter of an hour.
type network struct {
	mu    sync.Mutex
	calls int
	up    time.Time
}

func (n *network) down() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return time.Now().Before(n.up)
}

func (n *network) called() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.calls++
	if n.calls == 4 {
		n.up = time.Now().Add(15 * time.Minute)
	}
}

// connect returns a provider whose server is reached over the network.
func (n *network) connect(s *server) providers.Provider { return &connected{n, s} }

type connected struct {
	network *network
	server  *server
}

func (c *connected) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	c.network.called()
	if err := c.Check(ctx, ""); err != nil {
		return providers.Response{}, err
	}
	return c.server.Generate(ctx, r)
}

func (c *connected) Check(context.Context, string) error {
	if c.network.down() {
		return &providers.Error{Kind: providers.Network, Err: errors.New("network is unreachable")}
	}
	return nil
}

// ownServers returns the configuration of a debate of three participants and some judges, each with a server of its own.
func ownServers(mode panel.Mode, judges int) debate.Config {
	c := debatetest.PairConfig(panel.Protocol{Mode: mode})
	c.Participants = []debate.Participant{{Name: "A", Provider: "a"}, {Name: "B", Provider: "b"}, {Name: "C", Provider: "c"}}
	c.Judges = nil
	for i := range judges {
		c.Judges = append(c.Judges, debate.Participant{Name: fmt.Sprint("J", i+1), Provider: fmt.Sprint("j", i+1)})
	}
	c.Limits = debate.Limits{MinRounds: 2, MaxRounds: 2}
	return c
}

// A participant whose provider cannot be reached loses its place if the others are answered meanwhile, as after other failures.
// If nobody can tell that, it has the time of a step.
func TestAParticipantWhoAloneCannotReachItsProviderIsDropped(t *testing.T) {
	type servers = map[string]providers.Provider
	up := func(check bool) (list servers) {
		list = servers{}
		for _, name := range []string{"a", "b", "c", "j1"} {
			if s := (&server{}); check {
				list[name] = checked{s}
			} else {
				list[name] = s
			}
		}
		return list
	}
	with := func(list servers, name string, s providers.Provider) servers {
		list[name] = s
		return list
	}
	for name, tt := range map[string]struct {
		servers func() servers
		modes   []panel.Mode
		edit    func(*debate.Config)
		most    time.Duration
	}{
		"it never answered": {
			servers: func() servers { return with(up(true), "c", checked{&server{down: 1}}) }, most: time.Minute,
		},
		"it answered before": {
			servers: func() servers { return with(up(true), "c", checked{&server{down: 2}}) }, most: time.Minute,
		},
		"nobody can be asked, and it never answered": {
			servers: func() servers { return with(up(false), "c", &server{down: 1}) }, most: time.Minute,
		},
		"nobody can be asked, and the others speak meanwhile": {
			servers: func() servers { return with(up(false), "c", &server{down: 2}) }, modes: []panel.Mode{panel.Simultaneous},
			most: time.Minute,
		},
		"nobody can be asked": {
			servers: func() servers { return with(up(false), "c", &server{down: 2}) }, most: 7 * time.Minute,
		},
		"a time": {
			servers: func() servers { return with(up(true), "c", checked{&server{down: 2}}) }, most: 12 * time.Minute,
			edit: func(c *debate.Config) { c.Limits.OutageTime = 10 * time.Minute },
		},
		"a number": {
			servers: func() servers { return with(up(false), "c", &server{down: 2}) }, most: time.Minute,
			edit: func(c *debate.Config) { c.Retries = map[providers.ErrorKind]int{providers.Network: 2} },
		},
	} {
		modes := tt.modes
		if modes == nil {
			modes = []panel.Mode{panel.Sequential, panel.Simultaneous}
		}
		for _, mode := range modes {
			for driver, drive := range outageDrivers {
				t.Run(fmt.Sprintf("%s/%s/%s", name, mode, driver), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						e := debatetest.Engine(t, debate.Options{Providers: tt.servers()})
						c := ownServers(mode, 1)
						if tt.edit != nil {
							tt.edit(&c)
						}
						d := debatetest.Create(t, e, c)
						began := time.Now()
						require.NoError(t, drive(t.Context(), d))
						require.LessOrEqual(t, time.Since(began), tt.most)
						if c.Limits.OutageTime > 0 {
							require.Greater(t, time.Since(began), c.Limits.OutageTime)
						}
						r := debatetest.Result(t, d)
						require.Equal(t, fsm.Completed, r.State)
						require.Equal(t, transcript.RoundLimit, r.Ending.Outcome)
						require.Equal(t, "dropped", r.Participants[2].State)
						requireDerived(t, d)
					})
				})
			}
		}
	}
}

// Nobody loses a place if the others cannot reach their providers either, or if the debate needs the participant.
func TestAnOutageOfAllProvidersCostsNobodyThePlace(t *testing.T) {
	for name, edit := range map[string]func(*debate.Config, map[string]providers.Provider){
		"all are down": func(_ *debate.Config, list map[string]providers.Provider) {
			n := &network{}
			for _, name := range []string{"a", "b", "c"} {
				list[name] = n.connect(&server{})
			}
		},
		"two debate": func(c *debate.Config, _ map[string]providers.Provider) { c.Participants = c.Participants[1:] },
	} {
		for _, mode := range []panel.Mode{panel.Sequential, panel.Simultaneous} {
			t.Run(fmt.Sprint(name, mode), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					list := map[string]providers.Provider{
						"a": checked{&server{}}, "b": checked{&server{}}, "c": checked{&server{down: 2, outage: 15 * time.Minute}},
						"j1": checked{&server{}},
					}
					c := ownServers(mode, 1)
					edit(&c, list)
					d := debatetest.Create(t, debatetest.Engine(t, debate.Options{Providers: list, Store: store.Memory()}), c)
					debatetest.Finish(t, d)
					r := debatetest.Result(t, d)
					require.Equal(t, fsm.Completed, r.State)
					for _, p := range r.Participants {
						require.NotEqual(t, "dropped", p.State)
					}
					requireDerived(t, d)
				})
			})
		}
	}
}

// One judge of three who cannot reach its provider does not hold the debate. Judges who are alone are waited for.
func TestAJudgeWhoAloneCannotReachItsProvider(t *testing.T) {
	for judges, waits := range map[int]bool{1: true, 3: false} {
		for _, policy := range []debate.FailurePolicy{debate.Continue, debate.DropJudge} {
			t.Run(fmt.Sprint(judges, policy), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					list := map[string]providers.Provider{"j1": checked{&server{down: 2, outage: 20 * time.Minute}}}
					for _, name := range []string{"a", "b", "c", "j2", "j3"} {
						list[name] = checked{&server{}}
					}
					c := ownServers(panel.Sequential, judges)
					c.OnJudgeFailure = policy
					d := debatetest.Create(t, debatetest.Engine(t, debate.Options{Providers: list}), c)
					began := time.Now()
					debatetest.Finish(t, d)
					require.Equal(t, waits, time.Since(began) > 10*time.Minute)
					require.Equal(t, fsm.Completed, debatetest.Result(t, d).State)
					requireDerived(t, d)
				})
			})
		}
	}
}

// requireDerived checks that the entries of a journal follow from what was before them.
func requireDerived(t *testing.T, d *debate.Debate) {
	t.Helper()
	for check, err := range d.VerifyEntries(t.Context()) {
		require.NoError(t, err)
		require.NotEqual(t, debate.EntryWrong, check.Verdict, check.Reason)
	}
}
