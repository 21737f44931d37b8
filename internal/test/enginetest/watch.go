package enginetest

import (
	"fmt"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/store"
)

var watchTests = map[string]func(*env){
	"a watch in another process, from any event on, shows every event": (*env).watched,
	"a deletion by another process ends calls, drivers and watches":    (*env).deleted,
	"one of two processes that create the same debate succeeds":        (*env).createdTwice,
}

// watch follows a debate in the background; begun is closed at the first event.
func (s *env) watch(d *debate.Debate, after int64) (begun <-chan struct{}, done <-chan runOutcome) {
	first, all := make(chan struct{}), make(chan runOutcome, 1)
	go func() {
		var o runOutcome
		for ev, err := range d.Watch(s.ctx, after) {
			if err != nil {
				o.err = err
				continue
			}
			o.events = append(o.events, ev)
			if len(o.events) == 1 {
				close(first)
			}
		}
		all <- o
	}()
	return first, all
}

func (s *env) watched() {
	s.forEachMode(func(s *env, cfg debate.Config, _ reference) {
		d := s.create(s.newProcess(), cfg)
		require.True(s, s.runUntilEvent(d, 3))
		var watching []<-chan runOutcome
		starts := []int64{0, 0, 1, 4, s.status(d).Seq}
		for _, after := range starts {
			_, done := s.watch(s.openInNewProcess(cfg.ID), after)
			watching = append(watching, done)
		}
		s.runToEnd(s.openInNewProcess(cfg.ID))
		var all []debate.Event
		d = s.openInNewProcess(cfg.ID)
		for m, err := range d.Replay(s.ctx) {
			require.NoError(s, err)
			_, done := s.watch(d, int64(len(all))) // after the end of the debate
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

func (s *env) deleted() {
	s.forEachMode(func(s *env, cfg debate.Config, _ reference) {
		h := s.holdCalls(cfg, "A", 1)
		begun, watching := s.watch(s.openInNewProcess(cfg.ID), 0)
		await(s, begun, "the first event")
		require.NoError(s, s.newProcess().Delete(s.ctx, cfg.ID))
		require.ErrorIs(s, await(s, h.cut, "the end of the call"), store.ErrNotFound)
		require.ErrorIs(s, h.wait().err, store.ErrNotFound)
		require.ErrorIs(s, await(s, watching, "the end of the watch").err, store.ErrNotFound)
		_, err := s.newProcess().Open(s.ctx, cfg.ID)
		require.ErrorIs(s, err, store.ErrNotFound)
	})
}

func (s *env) createdTwice() {
	const debates = 8
	procs := []*process{s.newProcess(), s.newProcess()}
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
		require.ErrorIs(s, other, debate.ErrTaken)
		require.Equal(s, int64(1), s.status(s.openInNewProcess(cfg.ID)).Seq)
	}
}
