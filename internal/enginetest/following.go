package enginetest

import (
	"fmt"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/store"
)

var following = map[string]func(*scene){
	"who watches elsewhere misses nothing, from any event on": (*scene).watched,
	"a deletion elsewhere ends calls, drivers and watchers":   (*scene).deleted,
	"one of two who create the same debate succeeds":          (*scene).createdTwice,
}

// watch follows a debate in the background; begun is closed at the first event.
func (s *scene) watch(d *debate.Debate, after int64) (begun <-chan struct{}, done <-chan outcome) {
	first, all := make(chan struct{}), make(chan outcome, 1)
	go func() {
		var o outcome
		for ev, err := range d.Watch(s.ctx, after) {
			if err != nil {
				o.err = err
				continue
			}
			if o.events = append(o.events, ev); len(o.events) == 1 {
				close(first)
			}
		}
		all <- o
	}()
	return first, all
}

func (s *scene) watched() {
	s.each(func(s *scene, cfg debate.Config, _ rehearsal) {
		d := s.create(s.process(), cfg)
		require.True(s, s.breakOff(d, 3))
		var watching []<-chan outcome
		starts := []int64{0, 0, 1, 4, s.head(d).Seq}
		for _, after := range starts {
			_, done := s.watch(s.elsewhere(cfg.ID), after)
			watching = append(watching, done)
		}
		s.finish(s.elsewhere(cfg.ID))
		var all []debate.Event
		d = s.elsewhere(cfg.ID)
		for m, err := range d.Replay(s.ctx) {
			require.NoError(s, err)
			_, done := s.watch(d, int64(len(all))) // when all is over
			all = append(all, m.Event)
			starts, watching = append(starts, int64(len(all)-1)), append(watching, done)
		}
		for i, done := range watching {
			o := await(s, done, "the end of a watch")
			require.NoError(s, o.err)
			require.Equal(s, s.json(all[starts[i]:]), s.json(durable(o.events)), "from %d", starts[i])
			end, ok := o.events[len(o.events)-1].(debate.Ended)
			require.True(s, ok)
			require.Equal(s, s.json(s.result(d)), s.json(end.Result))
		}
	})
}

func (s *scene) deleted() {
	s.each(func(s *scene, cfg debate.Config, _ rehearsal) {
		h := s.stall(cfg, "A", 1)
		begun, watching := s.watch(s.elsewhere(cfg.ID), 0)
		await(s, begun, "the first event")
		require.NoError(s, s.process().Delete(s.ctx, cfg.ID))
		require.ErrorIs(s, await(s, h.cut, "the end of the call"), store.ErrNotFound)
		require.ErrorIs(s, h.end().err, store.ErrNotFound)
		require.ErrorIs(s, await(s, watching, "the end of the watch").err, store.ErrNotFound)
		_, err := s.process().Open(s.ctx, cfg.ID)
		require.ErrorIs(s, err, store.ErrNotFound)
	})
}

func (s *scene) createdTwice() {
	const debates = 8
	procs := []*process{s.process(), s.process()}
	for n := range debates {
		cfg := pair(nil)
		cfg.ID = fmt.Sprint("d", n)
		errs, ready := make(chan error, len(procs)), make(chan struct{})
		for _, p := range procs {
			go func() {
				<-ready
				_, err := p.Create(s.ctx, cfg)
				errs <- err
			}()
		}
		close(ready)
		one, other := await(s, errs, "a debate"), await(s, errs, "a debate")
		if one != nil {
			one, other = other, one
		}
		require.NoError(s, one)
		require.ErrorContains(s, other, "the id is taken")
		require.ErrorAs(s, other, new(*store.Conflict))
		require.Equal(s, int64(1), s.head(s.elsewhere(cfg.ID)).Seq)
	}
}
