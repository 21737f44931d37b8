package enginetest

import (
	"context"
	"regexp"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

var control = map[string]func(*scene){
	"what has ended stays ended, whoever asks":                              (*scene).ended,
	"a pause from elsewhere lets calls in flight commit and starts no more": (*scene).pausedElsewhere,
	"a call that fails during a pause is made again after it":               (*scene).failedInPause,
	"a stop from elsewhere cuts calls in flight and leads to a conclusion":  (*scene).stoppedElsewhere,
	"a cancel from elsewhere cuts calls in flight and leads to none":        (*scene).canceledElsewhere,
	"a question is answered by any process":                                 (*scene).answeredElsewhere,
	"a remark from elsewhere is seen by the prompts that follow":            (*scene).remarkedElsewhere,
	"an edit from elsewhere is used by who drives next":                     (*scene).editedElsewhere,
}

func (s *scene) ended() {
	cfg := pair(nil)
	cfg.ID = "completed"
	s.finish(s.create(s.process(), cfg))
	cfg.ID = "canceled"
	require.NoError(s, s.create(s.process(), cfg).Cancel(s.ctx))
	asks := map[string]func(d *debate.Debate) error{
		"start": func(d *debate.Debate) error { return d.Start(s.ctx) }, "resume": func(d *debate.Debate) error { return d.Resume(s.ctx) },
		"pause": func(d *debate.Debate) error { return d.Pause(s.ctx) }, "retry": func(d *debate.Debate) error { return d.Retry(s.ctx) },
		"reset": func(d *debate.Debate) error { return d.Reset(s.ctx) }, "edit": func(d *debate.Debate) error { return d.Edit(s.ctx, cfg) },
		"stop": func(d *debate.Debate) error { return d.Stop(s.ctx) }, "cancel": func(d *debate.Debate) error { return d.Cancel(s.ctx) },
	}
	for id, fine := range map[string]string{"completed": "stop", "canceled": "cancel"} {
		before := s.stored(id, 0)
		for verb, ask := range asks {
			err := ask(s.elsewhere(id))
			if verb == fine {
				require.NoError(s, err, "%s: doing what was done is no error", id)
				continue
			}
			var refused *fsm.Refused
			require.ErrorAs(s, err, &refused, "%s %s", verb, id)
			require.Equal(s, fsm.State(id), refused.State)
			require.ErrorContains(s, err, verb+" debate "+id)
		}
		o := s.drive(s.elsewhere(id))
		require.NoError(s, o.err)
		require.Len(s, o.events, 1, "there is only the end to tell")
		require.JSONEq(s, before, s.stored(id, 0))
	}
}

// held is a debate whose calls of one participant, or of both, are in flight in a process.
type held struct {
	*scene
	*gate
	process *process
	events  <-chan outcome
}

func (s *scene) stall(cfg debate.Config, who string, calls int) held {
	s.Helper()
	h := held{scene: s, gate: shut(who), process: s.process()}
	h.process.model.hold = h.gate.hold
	h.events = s.begin(s.create(h.process, cfg))
	for range calls {
		await(s, h.arrived, "a call")
	}
	return h
}

// end is what the driver gave.
func (h held) end() outcome {
	h.Helper()
	return await(h.scene, h.events, "the end of Run")
}

func (s *scene) pausedElsewhere() {
	spoken := map[string][]string{"in sequence": {"1/1/respond/A/"}, "in parallel": {"1/1/respond/A/", "1/1/respond/B/"}}
	for mode, keys := range spoken {
		s.run(mode, func(s *scene) {
			cfg := pair(modes[mode])
			cfg.ID = string(mode[3])
			want := s.undisturbed(cfg).text
			h := s.stall(cfg, "", len(keys))
			require.NoError(s, s.elsewhere(cfg.ID).Pause(s.ctx))
			require.Equal(s, fsm.Paused, s.head(s.elsewhere(cfg.ID)).State, "at once")
			require.Empty(s, s.keys(s.elsewhere(cfg.ID)))
			h.free()
			require.NoError(s, h.end().err)
			require.Equal(s, keys, s.keys(s.elsewhere(cfg.ID)), "calls in flight are committed")
			require.Equal(s, fsm.Paused, s.head(s.elsewhere(cfg.ID)).State)
			require.Len(s, h.process.model.steps(), len(keys), "nothing new starts")

			third := s.process()
			d := s.open(third, cfg.ID)
			stood := s.result(d).Turns
			require.NoError(s, d.Resume(s.ctx))
			s.finish(d)
			s.frugal(third, stood)
			require.Equal(s, want, s.transcript(d))
		})
	}
}

func (s *scene) failedInPause() {
	s.each(func(s *scene, cfg debate.Config, want rehearsal) {
		first, g := s.process(), shut("B")
		first.model.hold = func(ctx context.Context, r providers.Request) error {
			if err := g.hold(ctx, r); err != nil {
				return err
			}
			return refusesB(ctx, r)
		}
		done := s.begin(s.create(first, cfg))
		await(s, g.arrived, "the call of B")
		require.NoError(s, s.elsewhere(cfg.ID).Pause(s.ctx))
		g.free()
		require.NoError(s, await(s, done, "the end of Run").err)

		d := s.elsewhere(cfg.ID)
		require.Equal(s, fsm.Paused, s.head(d).State)
		require.Nil(s, s.result(d).Failure)
		require.NoError(s, d.Resume(s.ctx))
		s.finish(d)
		require.Equal(s, want.text, s.transcript(d))
	})
}

func (s *scene) stoppedElsewhere() {
	s.each(func(s *scene, cfg debate.Config, _ rehearsal) {
		h := s.stall(cfg, "B", 1)
		d := s.elsewhere(cfg.ID)
		for ev, err := range d.Watch(s.ctx, 0) {
			require.NoError(s, err)
			if _, ok := ev.(debate.TurnDone); ok { // A's
				break
			}
		}
		require.NoError(s, d.Stop(s.ctx))
		require.Error(s, await(s, h.cut, "the end of the call"))
		o := h.end()
		require.NoError(s, o.err)
		require.IsType(s, debate.Ended{}, o.events[len(o.events)-1])
		d = s.elsewhere(cfg.ID)
		require.Equal(s, []string{"1/1/respond/A/", "1/1/verdict/J/"}, s.keys(d))
		r := s.result(d)
		require.Equal(s, fsm.Completed, r.State)
		require.Equal(s, transcript.Stopped, r.Ending.Outcome)
		require.NotNil(s, r.Verdict)
	})
}

func (s *scene) canceledElsewhere() {
	for mode, calls := range map[string]int{"in sequence": 1, "in parallel": 2} {
		s.run(mode, func(s *scene) {
			cfg := pair(modes[mode])
			cfg.ID = string(mode[3])
			h := s.stall(cfg, "", calls)
			require.NoError(s, s.elsewhere(cfg.ID).Cancel(s.ctx))
			for range calls {
				require.Error(s, await(s, h.cut, "the end of a call"))
			}
			o := h.end()
			require.NoError(s, o.err)
			require.IsType(s, debate.Ended{}, o.events[len(o.events)-1])
			r := s.result(s.elsewhere(cfg.ID))
			require.Equal(s, fsm.Canceled, r.State)
			require.Equal(s, transcript.Canceled, r.Ending.Outcome)
			require.Empty(s, r.Turns)
			require.Nil(s, r.Verdict)
			require.Len(s, h.process.model.steps(), calls, "nothing new starts")
		})
	}
}

func (s *scene) answeredElsewhere() {
	for action, want := range map[string][]string{
		"retry": nil, // all there is
		"end":   {"1/1/respond/A/", "1/1/verdict/J/"},
	} {
		cfg := pair(nil)
		cfg.ID, cfg.OnFailure = action, debate.Ask
		first := s.process()
		first.model.hold = refusesB
		require.NoError(s, s.drive(s.create(first, cfg)).err, "a question is no error")

		d := s.elsewhere(action)
		r := s.result(d)
		require.Equal(s, fsm.Paused, r.State)
		require.NotNil(s, r.Question)
		require.Equal(s, "B", r.Question.Failure.Key.Actor)
		require.ErrorAs(s, d.Resume(s.ctx), new(*fsm.Refused), "a question is decided first")
		require.ErrorContains(s, d.Decide(s.ctx, "sleep"), "is no choice")
		require.NoError(s, d.Decide(s.ctx, action))

		third := s.process()
		d = s.open(third, action)
		require.Nil(s, s.result(d).Question)
		s.finish(d)
		s.frugal(third, r.Turns)
		if want == nil {
			require.Equal(s, s.undisturbed(cfg).text, s.transcript(d))
		} else {
			require.Equal(s, want, s.keys(d))
		}
	}
}

func (s *scene) remarkedElsewhere() {
	h := s.stall(pair(nil), "A", 1)
	remark := debate.Remark{ID: "once", From: "Pat", Text: "What of buses?"}
	for range 2 {
		require.NoError(s, s.elsewhere("d").Inject(s.ctx, remark), "a remark of one id is one remark")
	}
	h.free()
	require.NoError(s, h.end().err)
	require.Equal(s, []string{"1/0/remark/Pat/once", "1/1/respond/A/", "1/1/respond/B/"}, s.keys(s.elsewhere("d"))[:3])
	for i, r := range h.process.model.heard() {
		var prompt strings.Builder
		for _, m := range r.Messages {
			prompt.WriteString(m.Text)
		}
		if i == 0 {
			require.NotContains(s, prompt.String(), remark.Text, "the first call was under way")
		} else {
			require.Regexp(s, "Pat(: |>>>\n)"+regexp.QuoteMeta(remark.Text), prompt.String(), "a judge reads it between marks")
		}
	}
}

func (s *scene) editedElsewhere() {
	cfg := pair(nil)
	first := s.process()
	first.model.hold = refusesB
	require.Error(s, s.drive(s.create(first, cfg)).err)
	d := s.elsewhere("d")
	require.NoError(s, d.Retry(s.ctx))
	require.Equal(s, fsm.Ready, s.head(d).State)
	cfg.Participants[1].Model = "another"
	require.NoError(s, d.Edit(s.ctx, cfg))

	third := s.process()
	third.model.hold = refusesB // where it is asked for the model of before
	d = s.open(third, "d")
	s.finish(d)
	for _, t := range s.result(d).Turns {
		if t.Actor == "B" {
			require.Equal(s, "another", t.Attempts[0].Model)
		}
	}
	require.Equal(s, "another", third.model.heard()[0].Model, "B is called with it")
}
