package enginetest

import (
	"context"
	"regexp"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

var controlTests = map[string]func(*env){
	"an ended debate stays ended": (*env).endedStaysEnded,
	"after a pause by another process, calls in progress commit and no new ones start": (*env).pauseByOther,
	"a call that fails during a pause is repeated after it":                            (*env).failureDuringPause,
	"a stop by another process cancels calls in progress and leads to a conclusion":    (*env).stopByOther,
	"a cancel by another process cancels calls in progress, without a conclusion":      (*env).cancelByOther,
	"any process can answer a question":                                                (*env).decideByOther,
	"later prompts show a remark by another process":                                   (*env).remarkByOther,
	"the next driver uses an edit by another process":                                  (*env).editByOther,
}

func (s *env) endedStaysEnded() {
	cfg := pair(nil)
	cfg.ID = "completed"
	s.runToEnd(s.create(s.newProcess(), cfg))
	cfg.ID = "canceled"
	require.NoError(s, s.create(s.newProcess(), cfg).Cancel(s.ctx))
	asks := map[string]func(d *debate.Debate) error{
		"start": func(d *debate.Debate) error { return d.Start(s.ctx) }, "resume": func(d *debate.Debate) error { return d.Resume(s.ctx) },
		"pause": func(d *debate.Debate) error { return d.Pause(s.ctx) }, "retry": func(d *debate.Debate) error { return d.Retry(s.ctx) },
		"reset": func(d *debate.Debate) error { return d.Reset(s.ctx) }, "edit": func(d *debate.Debate) error { return d.Edit(s.ctx, cfg) },
		"stop": func(d *debate.Debate) error { return d.Stop(s.ctx) }, "cancel": func(d *debate.Debate) error { return d.Cancel(s.ctx) },
	}
	for id, fine := range map[string]string{"completed": "stop", "canceled": "cancel"} {
		before := s.stored(id, 0)
		for verb, ask := range asks {
			err := ask(s.openInNewProcess(id))
			if verb == fine {
				require.NoError(s, err, "%s: repeating the call is not an error", id)
				continue
			}
			var refused *fsm.Refused
			require.ErrorAs(s, err, &refused, "%s %s", verb, id)
			require.Equal(s, fsm.State(id), refused.State)
			require.ErrorContains(s, err, verb+" debate "+id)
		}
		o := s.runDebate(s.openInNewProcess(id))
		require.NoError(s, o.err)
		require.Len(s, o.events, 1, "only the end is reported")
		require.JSONEq(s, before, s.stored(id, 0))
	}
}

// heldDebate is a debate whose calls, of one participant or of both, are blocked in a process.
type heldDebate struct {
	*env
	*gate
	process *process
	events  <-chan runOutcome
}

func (s *env) holdCalls(cfg debate.Config, who string, calls int) heldDebate {
	s.Helper()
	h := heldDebate{env: s, gate: newGate(who), process: s.newProcess()}
	h.process.model.hook = h.gate.hold
	h.events = s.runInBackground(s.create(h.process, cfg))
	for range calls {
		await(s, h.arrived, "a call")
	}
	return h
}

// wait returns what the driver returned.
func (h heldDebate) wait() runOutcome {
	h.Helper()
	return await(h.env, h.events, "the end of Run")
}

func (s *env) pauseByOther() {
	spoken := map[string][]string{"in sequence": {"1/1/respond/A/"}, "in parallel": {"1/1/respond/A/", "1/1/respond/B/"}}
	for mode, keys := range spoken {
		s.runSubtest(mode, func(s *env) {
			cfg := pair(modes[mode])
			cfg.ID = string(mode[3])
			want := s.runInMemory(cfg).text
			h := s.holdCalls(cfg, "", len(keys))
			require.NoError(s, s.openInNewProcess(cfg.ID).Pause(s.ctx))
			require.Equal(s, fsm.Paused, s.status(s.openInNewProcess(cfg.ID)).State, "at once")
			require.Empty(s, s.turnKeys(s.openInNewProcess(cfg.ID)))
			h.release()
			require.NoError(s, h.wait().err)
			require.Equal(s, keys, s.turnKeys(s.openInNewProcess(cfg.ID)), "calls in progress are committed")
			require.Equal(s, fsm.Paused, s.status(s.openInNewProcess(cfg.ID)).State)
			require.Len(s, h.process.model.requestDigests(), len(keys), "no new call starts")

			third := s.newProcess()
			d := s.open(third, cfg.ID)
			stood := s.result(d).Turns
			require.NoError(s, d.Resume(s.ctx))
			s.runToEnd(d)
			s.requireNoRepeatedCalls(third, stood)
			require.Equal(s, want, s.transcript(d))
		})
	}
}

func (s *env) failureDuringPause() {
	s.forEachMode(func(s *env, cfg debate.Config, want reference) {
		first, g := s.newProcess(), newGate("B")
		first.model.hook = func(ctx context.Context, r providers.Request) error {
			if err := g.hold(ctx, r); err != nil {
				return err
			}
			return failAuthenticationOfB(ctx, r)
		}
		done := s.runInBackground(s.create(first, cfg))
		await(s, g.arrived, "the call of B")
		require.NoError(s, s.openInNewProcess(cfg.ID).Pause(s.ctx))
		g.release()
		require.NoError(s, await(s, done, "the end of Run").err)

		d := s.openInNewProcess(cfg.ID)
		require.Equal(s, fsm.Paused, s.status(d).State)
		require.Nil(s, s.result(d).Failure)
		require.NoError(s, d.Resume(s.ctx))
		s.runToEnd(d)
		require.Equal(s, want.text, s.transcript(d))
	})
}

func (s *env) stopByOther() {
	s.forEachMode(func(s *env, cfg debate.Config, _ reference) {
		h := s.holdCalls(cfg, "B", 1)
		d := s.openInNewProcess(cfg.ID)
		for ev, err := range d.Watch(s.ctx, 0) {
			require.NoError(s, err)
			if _, ok := ev.(debate.TurnDone); ok { // the turn of A
				break
			}
		}
		require.NoError(s, d.Stop(s.ctx))
		require.Error(s, await(s, h.cut, "the end of the call"))
		o := h.wait()
		require.NoError(s, o.err)
		require.IsType(s, debate.Ended{}, o.events[len(o.events)-1])
		d = s.openInNewProcess(cfg.ID)
		require.Equal(s, []string{"1/1/respond/A/", "1/1/verdict/J/"}, s.turnKeys(d))
		r := s.result(d)
		require.Equal(s, fsm.Completed, r.State)
		require.Equal(s, transcript.Stopped, r.Ending.Outcome)
		require.NotNil(s, r.Verdict)
	})
}

func (s *env) cancelByOther() {
	for mode, calls := range map[string]int{"in sequence": 1, "in parallel": 2} {
		s.runSubtest(mode, func(s *env) {
			cfg := pair(modes[mode])
			cfg.ID = string(mode[3])
			h := s.holdCalls(cfg, "", calls)
			require.NoError(s, s.openInNewProcess(cfg.ID).Cancel(s.ctx))
			for range calls {
				require.Error(s, await(s, h.cut, "the end of a call"))
			}
			o := h.wait()
			require.NoError(s, o.err)
			require.IsType(s, debate.Ended{}, o.events[len(o.events)-1])
			r := s.result(s.openInNewProcess(cfg.ID))
			require.Equal(s, fsm.Canceled, r.State)
			require.Equal(s, transcript.Canceled, r.Ending.Outcome)
			require.Empty(s, r.Turns)
			require.Nil(s, r.Verdict)
			require.Len(s, h.process.model.requestDigests(), calls, "no new call starts")
		})
	}
}

func (s *env) decideByOther() {
	for action, want := range map[string][]string{
		"retry": nil, // the same turns as undisturbed
		"end":   {"1/1/respond/A/", "1/1/verdict/J/"},
	} {
		cfg := pair(nil)
		cfg.ID, cfg.OnFailure = action, debate.Ask
		first := s.newProcess()
		first.model.hook = failAuthenticationOfB
		require.NoError(s, s.runDebate(s.create(first, cfg)).err, "a question is not an error")

		d := s.openInNewProcess(action)
		r := s.result(d)
		require.Equal(s, fsm.Paused, r.State)
		require.NotNil(s, r.Question)
		require.Equal(s, "B", r.Question.Failure.Key.Actor)
		require.ErrorAs(s, d.Resume(s.ctx), new(*fsm.Refused), "a question is decided first")
		require.ErrorContains(s, d.Decide(s.ctx, debatetest.Result(s.T, d).Question.ID, "sleep"), "is not a choice")
		require.NoError(s, d.Decide(s.ctx, debatetest.Result(s.T, d).Question.ID, action))

		third := s.newProcess()
		d = s.open(third, action)
		require.Nil(s, s.result(d).Question)
		s.runToEnd(d)
		s.requireNoRepeatedCalls(third, r.Turns)
		if want == nil {
			require.Equal(s, s.runInMemory(cfg).text, s.transcript(d))
		} else {
			require.Equal(s, want, s.turnKeys(d))
		}
	}
}

func (s *env) remarkByOther() {
	h := s.holdCalls(pair(nil), "A", 1)
	remark := debate.Remark{ID: "once", From: "Pat", Text: "What of buses?"}
	for range 2 {
		require.NoError(s, s.openInNewProcess("d").Inject(s.ctx, remark), "a remark with the same id is added once")
	}
	h.release()
	require.NoError(s, h.wait().err)
	require.Equal(s, []string{"1/0/remark/Pat/once", "1/1/respond/A/", "1/1/respond/B/"}, s.turnKeys(s.openInNewProcess("d"))[:3])
	for i, r := range h.process.model.requests() {
		var prompt strings.Builder
		for _, m := range r.Messages {
			prompt.WriteString(m.Text)
		}
		if i == 0 {
			require.NotContains(s, prompt.String(), remark.Text, "the first call had already begun")
		} else {
			require.Regexp(s, "Pat(: |>>>\n)"+regexp.QuoteMeta(remark.Text), prompt.String(), "the judge's prompt delimits it")
		}
	}
}

func (s *env) editByOther() {
	cfg := pair(nil)
	first := s.newProcess()
	first.model.hook = failAuthenticationOfB
	require.Error(s, s.runDebate(s.create(first, cfg)).err)
	d := s.openInNewProcess("d")
	require.NoError(s, d.Retry(s.ctx))
	require.Equal(s, fsm.Ready, s.status(d).State)
	cfg.Participants[1].Model = "another"
	require.NoError(s, d.Edit(s.ctx, cfg))

	third := s.newProcess()
	third.model.hook = failAuthenticationOfB // fails if the previous model is called
	d = s.open(third, "d")
	s.runToEnd(d)
	for _, t := range s.result(d).Turns {
		if t.Actor == "B" {
			require.Equal(s, "another", t.Attempts[0].Model)
		}
	}
	require.Equal(s, "another", third.model.requests()[0].Model, "B's call uses the new model")
}
