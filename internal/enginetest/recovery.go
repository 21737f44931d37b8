package enginetest

import (
	"context"
	"fmt"
	"sync"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/providers"
)

var recovery = map[string]func(*scene){
	"a debate broken off after any event says what an undisturbed one says":    (*scene).brokenOff,
	"a debate with a process for each event says what an undisturbed one says": (*scene).handedOn,
	"a store that fails at any commit loses and doubles nothing":               (*scene).storeFails,
	"a refused key leaves an error, from which Retry calls what is missing":    (*scene).keyRefused,
	"two processes that run one debate at once say what one says":              (*scene).twoAtOnce,
}

func (s *scene) brokenOff() {
	s.each(func(s *scene, cfg debate.Config, want rehearsal) {
		id := cfg.ID
		for n := 1; n <= want.events; n++ {
			cfg.ID = fmt.Sprint(id, n)
			s.run(fmt.Sprint("event ", n), func(s *scene) { s.brokenOffAfter(n, cfg, s.undisturbed(cfg).text) })
		}
	})
}

func (s *scene) brokenOffAfter(n int, cfg debate.Config, want string) {
	first, second := s.process(), s.process()
	require.True(s, s.breakOff(s.create(first, cfg), n))
	d := s.open(second, cfg.ID)
	stood := s.result(d).Turns
	s.finish(d)
	require.Equal(s, want, s.transcript(d))
	s.frugal(first, nil)
	s.frugal(second, stood)
	if cfg.Protocol == modes["in sequence"] {
		require.Equal(s, answered(s.result(d).Turns), append(first.model.steps(), second.model.steps()...), "each step is called once")
	}
}

func (s *scene) handedOn() {
	s.each(func(s *scene, cfg debate.Config, want rehearsal) {
		d := s.create(s.process(), cfg)
		for !s.head(d).State.Final() {
			p := s.process()
			d = s.open(p, cfg.ID)
			stood := s.result(d).Turns
			s.breakOff(d, 1)
			s.frugal(p, stood)
		}
		require.Equal(s, want.text, s.transcript(s.elsewhere(cfg.ID)))
	})
}

func (s *scene) storeFails() {
	s.each(func(s *scene, cfg debate.Config, want rehearsal) {
		id, inSequence := cfg.ID, cfg.Protocol == modes["in sequence"]
		for n := 1; n <= want.commits; n++ {
			for when, after := range map[string]bool{"before": false, "after": true} {
				if even := n%2 == 0; !s.thorough() && after == (even == inSequence) {
					continue // the other mode has it
				}
				cfg.ID = fmt.Sprint(id, n, when)
				s.run(fmt.Sprint(when, " commit ", n), func(s *scene) {
					s.create(s.process(), cfg)
					o := s.drive(s.open(s.over(&failing{Store: s.place.Open(s), nth: int64(n), after: after}), cfg.ID))
					require.ErrorIs(s, o.err, errDisk)
					p := s.process()
					d := s.open(p, cfg.ID)
					stood := s.result(d).Turns
					s.finish(d)
					s.frugal(p, stood)
					require.Equal(s, s.undisturbed(cfg).text, s.transcript(d))
					s.sound(cfg.ID)
				})
			}
		}
	})
}

func (s *scene) keyRefused() {
	s.each(func(s *scene, cfg debate.Config, want rehearsal) {
		first := s.process()
		first.model.hold = refusesB
		o := s.drive(s.create(first, cfg))
		var failure *debate.Failure
		require.ErrorAs(s, o.err, &failure)
		require.Equal(s, providers.Authentication, failure.Kind)

		second := s.process()
		d := s.open(second, cfg.ID)
		r := s.result(d)
		require.Equal(s, fsm.Error, r.State)
		require.Equal(s, failure.Key, r.Failure.Key)
		require.Equal(s, providers.Authentication, r.Failure.Kind)
		require.Equal(s, []string{"1/1/respond/A/"}, s.keys(d), "what others said stands")
		require.ErrorAs(s, s.drive(d).err, &failure, "an error does not pass by itself")
		require.NoError(s, d.Retry(s.ctx))

		third := s.process()
		d = s.open(third, cfg.ID)
		require.Equal(s, fsm.Ready, s.head(d).State)
		s.finish(d)
		require.Equal(s, want.text, s.transcript(d))
		require.Empty(s, second.model.steps())
		require.ElementsMatch(s, answered(s.result(d).Turns)[1:], third.model.steps(), "what is missing, once")
	})
}

func (s *scene) twoAtOnce() {
	s.each(func(s *scene, cfg debate.Config, want rehearsal) {
		s.create(s.process(), cfg)
		var meeting sync.WaitGroup // at the first call of each
		meeting.Add(2)
		var procs []*process
		var done []<-chan outcome
		for range 2 {
			p := s.process()
			meet := sync.OnceFunc(func() { meeting.Done(); meeting.Wait() })
			p.model.hold = func(context.Context, providers.Request) error { meet(); return nil }
			procs, done = append(procs, p), append(done, s.begin(s.open(p, cfg.ID)))
		}
		for i, p := range procs {
			o := await(s, done[i], "the end of a process")
			require.NoError(s, o.err)
			require.IsType(s, debate.Ended{}, o.events[len(o.events)-1])
			s.frugal(p, nil)
		}
		require.Equal(s, want.text, s.transcript(s.elsewhere(cfg.ID)))
		s.sound(cfg.ID)
	})
}
