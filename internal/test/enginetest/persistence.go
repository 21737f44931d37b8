package enginetest

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/transcript"
)

var persistenceTests = map[string]func(*env){
	"a replay shows the same events and states as the run": (*env).replayed,
	"every field of a turn is stored and loaded":           (*env).turnReadBack,
	"reasoning goes back to its model after a restart":     (*env).reasoningReadBack,
	"a provider's key is not stored":                       (*env).keyNotStored,
}

// runLog records, by seq, what a running debate showed.
type runLog struct{ events, statuses, results map[int64]string }

// recordRun runs a debate. It records its events, and its status and result as another process sees them.
func (s *env) recordRun(d *debate.Debate, n runLog, act func(debate.Event)) error {
	s.Helper()
	other := s.openInNewProcess(d.ID())
	for ev, err := range d.Run(s.ctx) {
		if err != nil {
			return err
		}
		if ev.Meta().Live {
			continue
		}
		n.events[ev.Meta().Seq] = s.json(ev)
		act(ev)
		status := s.status(other)
		n.statuses[status.Seq], n.results[status.Seq] = s.json(status), s.json(s.result(other))
	}
	return nil
}

func (s *env) replayed() {
	s.forEachMode(func(s *env, cfg debate.Config, _ reference) {
		n := runLog{map[int64]string{}, map[int64]string{}, map[int64]string{}}
		first := s.newProcess()
		first.model.hook = failAuthenticationOfB
		err := s.recordRun(s.create(first, cfg), n, func(ev debate.Event) {
			if p, ok := ev.(debate.PhaseStarted); ok && p.Phase == "respond" {
				require.NoError(s, s.openInNewProcess(cfg.ID).Inject(s.ctx, debate.Remark{From: "Pat", Text: "Be brief."}))
				require.NoError(s, s.openInNewProcess(cfg.ID).Annotate(s.ctx, "stars", 4))
			}
		})
		require.Error(s, err)
		d := s.openInNewProcess(cfg.ID)
		require.NoError(s, d.Retry(s.ctx))
		require.NoError(s, s.recordRun(d, n, func(debate.Event) {}))

		var unseen []string
		state, last := fsm.Configuring, int64(0)
		for m, err := range s.openInNewProcess(cfg.ID).Replay(s.ctx) {
			require.NoError(s, err)
			if c, ok := m.Event.(debate.StateChanged); ok {
				state = c.To
			}
			status, at := m.Status(), m.Event.Meta()
			require.Equal(s, last+1, at.Seq)
			last = at.Seq
			require.Equal(s, last, status.Seq)
			require.Equal(s, state, status.State)
			require.Equal(s, state, m.Result().State)
			if shown := n.events[last]; shown == "" {
				unseen = append(unseen, at.Type)
			} else {
				require.Equal(s, shown, s.json(m.Event))
			}
			if was := n.statuses[last]; was != "" {
				require.Equal(s, was, s.json(status), "the status after event %d", last)
				require.Equal(s, n.results[last], s.json(m.Result()), "the result after event %d", last)
			}
		}
		require.Equal(s, []string{"config", "state"}, unseen, "what Create and Retry committed")
		require.Contains(s, n.statuses, last)
		require.Greater(s, len(n.statuses), 7)
		d = s.openInNewProcess(cfg.ID)
		require.Equal(s, s.json(s.status(d)), n.statuses[last])
		require.Equal(s, s.json(s.result(d)), n.results[last])
		require.Equal(s, n.statuses[last], s.json(s.listedStatus(cfg.ID)))
	})
}

func (s *env) turnReadBack() {
	cfg := pair(nil)
	cfg.Limits.MaxRounds = 4
	for i := range cfg.Participants {
		cfg.Participants[i].Window, cfg.Participants[i].MaxTokens = 3000, 400
	}
	used := transcript.Usage{Input: 100, Cached: 40, Output: 20, Reasoning: 5}
	invalid := true
	first := s.newProcess()
	first.model.alter = func(r providers.Request, reply scripted.Reply, _ int) scripted.Reply {
		reply.Usage = used
		switch {
		case r.SchemaName == "":
			reply.Text += strings.Repeat(" and more of it", 120)
			reply.FinishReason = providers.Length
		case invalid:
			reply.Text, invalid = "I will not judge.", false
		}
		return reply
	}
	var shown []transcript.Turn
	for _, ev := range s.runToEnd(s.create(first, cfg)) {
		if t, ok := ev.(debate.TurnDone); ok {
			shown = append(shown, t.Turn)
		}
	}
	turns := s.result(s.openInNewProcess("d")).Turns
	require.Equal(s, s.json(shown), s.json(turns), "the loaded turns equal those of the events")

	speech := turns[0]
	assessment := turns[2]
	late := turns[len(turns)-3]
	require.Len(s, speech.Attempts, 1)
	require.Equal(s, "model-A", speech.Attempts[0].Model)
	require.Equal(s, "m", speech.Attempts[0].Provider)
	require.Equal(s, string(providers.Length), speech.Attempts[0].FinishReason)
	require.Equal(s, used, speech.Usage)
	require.Positive(s, speech.Attempts[0].Duration)
	require.Equal(s, []transcript.Flag{transcript.Truncated}, speech.Flags)
	require.WithinRange(s, speech.Ended, speech.Started, speech.Started.Add(envTimeout))
	require.Nil(s, speech.Window)
	require.NotNil(s, late.Window, "part of the history was omitted")
	require.Positive(s, late.Window.Omitted)

	require.Len(s, assessment.Attempts, 2)
	require.Equal(s, string(providers.InvalidResponse), assessment.Attempts[0].ErrorKind)
	require.NotEmpty(s, assessment.Attempts[0].ErrorMessage)
	require.Empty(s, assessment.Attempts[1].ErrorKind)
	require.Equal(s, string(providers.Stop), assessment.Attempts[1].FinishReason)
	require.Equal(s, used.Add(used), assessment.Usage, "usage of both attempts")
	require.Equal(s, []transcript.Flag{transcript.Reasked}, assessment.Flags)
	a, err := transcript.Decode[judge.Assessment](assessment)
	require.NoError(s, err)
	require.InDelta(s, 6, a.Quality, 0)
	require.Len(s, a.Participants, 2)
}

// reasoningReadBack interrupts a debate after each speech. Each process finds the reasoning of the earlier ones.
func (s *env) reasoningReadBack() {
	cfg := pair(nil)
	d, n := s.create(s.newProcess(), cfg), 0
	for {
		p := s.newProcess(func(o *debate.Options) { o.KeepReasoning = true })
		p.model.alter = func(r providers.Request, reply scripted.Reply, _ int) scripted.Reply {
			if r.SchemaName == "" {
				n++
			}
			reply.Reasoning = []providers.Reasoning{{Text: "Hm."}, {Service: "svc", Data: json.RawMessage(strconv.Itoa(n))}}
			return reply
		}
		more, err := s.open(p, cfg.ID).RunOnce(s.ctx)
		require.NoError(s, err)
		for _, r := range p.model.requests() {
			var sealed []string
			for _, m := range r.Messages {
				for _, part := range m.Parts {
					if part.Reasoning != nil {
						sealed = append(sealed, string(part.Reasoning.Data))
					}
				}
			}
			want := []string(nil)
			if r.SchemaName == "" && n > 2 {
				want = []string{strconv.Itoa(n - 2)} // of the actor's own speech in round 1
			}
			require.Equal(s, want, sealed)
		}
		if !more {
			break
		}
	}
	require.Equal(s, 4, n)
	for _, turn := range s.result(d).Turns {
		require.Equal(s, "Hm.", turn.Reasoning.Text)
		require.Equal(s, turn.Kind == transcript.Speech, turn.Reasoning.Opaque != nil, "only prompts of participants show it again")
	}
}

const secret = "sk-secret-0123456789"

// modelWithKey is a provider that holds a key, like a service's client.
type modelWithKey struct {
	*model
	Key string
}

func (s *env) keyNotStored() {
	p := s.newProcess(func(o *debate.Options) {
		m := &model{hook: failAuthenticationOfB}
		o.Providers["m"] = &modelWithKey{model: m, Key: secret}
	})
	d := s.create(p, pair(nil))
	require.Error(s, s.runDebate(d).err)
	require.NoError(s, d.Retry(s.ctx))
	s.runToEnd(s.open(s.newProcess(func(o *debate.Options) { o.Providers["m"] = modelWithKey{model: &model{}, Key: secret} }), "d"))
	for _, text := range []string{s.stored("d", 0), s.json(s.listedStatus("d")), s.json(s.result(s.openInNewProcess("d")))} {
		require.Contains(s, text, "Ban cars?", "the scanned text is the stored data")
		require.NotContains(s, text, secret)
		require.NotContains(s, text, secret[:8], "a part of it; hashes are random and may contain shorter ones")
	}
}
