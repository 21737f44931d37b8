package faulttest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
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
	"github.com/elenchus-go/debate/internal/test/enginetest"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/store"
)

var simulatedProtocols = map[string]protocol.Protocol{
	"sequential":   panel.Protocol{},
	"simultaneous": panel.Protocol{Mode: panel.Simultaneous, Personas: panel.Spectrum},
	"structured":   panel.Protocol{Format: panel.StructuredRounds},
	"convergence":  panel.Protocol{Format: panel.ConvergenceSeeking, Mode: panel.Simultaneous},
	"mesh":         debatetest.Mesh{Rounds: 3},
}

// A debate that is crashed, paused, run by two processes and answered in any order equals an undisturbed one.
func TestDisturbedRunsGiveTheSameTranscript(t *testing.T) {
	for name, p := range simulatedProtocols {
		t.Run(name, func(t *testing.T) {
			want := transcriptOf(t, p, nil)
			sample := enginetest.NewSample(t, 10)
			for seed := range 60 {
				if sample.Tries("seed") {
					require.Equal(t, want, transcriptOf(t, p, newRand(uint64(seed))), "seed %d", seed)
				}
			}
		})
	}
}

// transcriptOf runs a debate to its end and returns all turns in order, and the outcome.
func transcriptOf(t *testing.T, p protocol.Protocol, rng *rand.Rand) (text string) {
	synctest.Test(t, func(t *testing.T) {
		s := &simulation{t: t, rng: rng, store: store.Memory()}
		cfg := debatetest.PairConfig(p)
		cfg.Participants = append(cfg.Participants, debate.Participant{Name: "C", Provider: "m"})
		cfg.Judges = append(cfg.Judges, debate.Participant{Name: "J2", Provider: "j"}, debate.Participant{Name: "J3", Provider: "j"})
		cfg.Limits = debate.Limits{MinRounds: 2, MaxRounds: 4, OutputTokens: 1 << 30, RunningTime: 1000 * time.Hour}
		debatetest.Create(t, s.engine(), cfg)
		for n := 0; ; n++ {
			require.Less(t, n, 2000, "the debate does not end")
			if s.runProcesses() {
				break
			}
		}
		d := debatetest.Open(t, s.engine(), "d")
		res := debatetest.Result(t, d)
		var b strings.Builder
		for _, turn := range res.Turns {
			fmt.Fprintln(&b, turn.Key, turn.Kind, turn.Order, turn.Text)
		}
		fmt.Fprintln(&b, res.State, res.Ending)
		text = b.String()
	})
	return text
}

type simulation struct {
	t     *testing.T
	rng   *rand.Rand // nil if nothing goes wrong
	mu    sync.Mutex
	store store.Store
}

func (s *simulation) chance(oneIn int) bool {
	if s.rng == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rng.IntN(oneIn) == 0
}

func (s *simulation) latency() time.Duration {
	if s.rng == nil {
		return 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Duration(s.rng.IntN(1000)) * time.Millisecond
}

// engine returns a new process with the same store.
func (s *simulation) engine() *debate.Engine {
	model := &debatetest.DigestModel{Names: []string{"A", "B", "C"}, Latency: s.latency, Fault: s.fault}
	e := debatetest.Engine(s.t, debate.Options{
		Store: &flakyStore{Store: s.store, sim: s}, Protocols: []protocol.Protocol{debatetest.Mesh{}},
		Providers: map[string]providers.Provider{"m": model, "j": model},
	})
	return e
}

// runProcesses runs one process, or two concurrently. It reports whether the debate has ended.
func (s *simulation) runProcesses() bool {
	if !s.chance(4) {
		return s.runProcess()
	}
	var other sync.WaitGroup
	other.Go(func() { s.runProcess() })
	ended := s.runProcess()
	other.Wait()
	return ended
}

var errDisk = errors.New("the disk is full")

func (s *simulation) runProcess() bool {
	ctx := s.t.Context()
	d, err := s.engine().Open(ctx, "d")
	require.NoError(s.t, err)
	s.recover(ctx, d)
	for ev, err := range d.Run(ctx) {
		if err != nil {
			s.requireExpected("run", err)
			return false
		}
		if _, ok := ev.(debate.Ended); ok {
			return true
		}
		if s.chance(40) {
			return false // the process dies
		}
		if s.chance(60) {
			s.pause(ctx)
		}
	}
	return false
}

// recover continues the work of another process.
func (s *simulation) recover(ctx context.Context, d *debate.Debate) {
	switch debatetest.Result(s.t, d).State {
	case fsm.Paused:
		s.requireExpected("resume", d.Resume(ctx))
	case fsm.Error:
		s.requireExpected("retry", d.Retry(ctx))
	default:
	}
}

// pause pauses the debate from another process.
func (s *simulation) pause(ctx context.Context) {
	d, err := s.engine().Open(ctx, "d")
	require.NoError(s.t, err)
	s.requireExpected("pause", d.Pause(ctx))
}

// requireExpected fails the test on errors other than those expected here: of the store, of the model's key, and from
// concurrent processes.
func (s *simulation) requireExpected(what string, err error) {
	var (
		refused *fsm.Refused
		failure *debate.Failure
	)
	if err != nil && !errors.Is(err, errDisk) && !errors.As(err, &refused) && !errors.As(err, &failure) {
		s.t.Errorf("%s: %v", what, err)
	}
}

// fault returns an authentication error now and then. It stops the debate with an error, after other calls in progress
// have committed.
func (s *simulation) fault() error {
	if !s.chance(40) {
		return nil
	}
	return &providers.Error{Kind: providers.Authentication, Err: errors.New("the key has expired")}
}

// flakyStore is a store that fails now and then, before or after it has committed. Like a database, it returns JSON.
type flakyStore struct {
	store.Store
	sim *simulation
}

func (f *flakyStore) Commit(ctx context.Context, c store.Change) error {
	if c.After > 0 && f.sim.chance(40) {
		return errDisk
	}
	err := f.Store.Commit(ctx, c)
	if err == nil && c.After > 0 && f.sim.chance(40) {
		return errDisk // committed, but the caller does not know it
	}
	return err
}

func (f *flakyStore) Watch(id string, wake func(int64)) (stop func()) {
	return f.Store.(store.Watcher).Watch(id, wake)
}

func (f *flakyStore) Load(ctx context.Context, id string, after int64) (store.Status, []store.Entry, error) {
	status, entries, err := f.Store.Load(ctx, id, after)
	entries = slices.Clone(entries)
	for i := range entries {
		entries[i].Data = json.RawMessage(debatetest.Encode(f.sim.t, entries[i].Data))
	}
	return status, entries, err
}

// newRand returns a seeded random source for disturbances.
func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }
