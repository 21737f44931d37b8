package enginetest

import (
	"encoding/json"
	"maps"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

var keeping = map[string]func(*scene){
	"a replay shows what was shown, and each state on the way": (*scene).replayed,
	"all that a turn keeps is read back":                       (*scene).readBack,
	"a key of a provider is stored nowhere":                    (*scene).keyNowhere,
	"a journal of a newer format is read and left alone":       (*scene).newerFormat,
}

// diary is what was seen of a debate while it ran, by seq.
type diary struct{ events, heads, results map[int64]string }

// watchedRun drives a debate and notes all that it shows, and where it stands then for another process.
func (s *scene) watchedRun(d *debate.Debate, n diary, act func(debate.Event)) error {
	s.Helper()
	other := s.elsewhere(d.ID())
	for ev, err := range d.Run(s.ctx) {
		if err != nil {
			return err
		}
		if ev.Event().Live {
			continue
		}
		n.events[ev.Event().Seq] = s.json(ev)
		act(ev)
		head := s.head(other)
		n.heads[head.Seq], n.results[head.Seq] = s.json(head), s.json(s.result(other))
	}
	return nil
}

func (s *scene) replayed() {
	s.each(func(s *scene, cfg debate.Config, _ rehearsal) {
		n := diary{map[int64]string{}, map[int64]string{}, map[int64]string{}}
		first := s.process()
		first.model.hold = refusesB
		err := s.watchedRun(s.create(first, cfg), n, func(ev debate.Event) {
			if p, ok := ev.(debate.PhaseStarted); ok && p.Phase == "respond" {
				require.NoError(s, s.elsewhere(cfg.ID).Inject(s.ctx, debate.Remark{From: "Pat", Text: "Be brief."}))
				require.NoError(s, s.elsewhere(cfg.ID).Annotate(s.ctx, "stars", 4))
			}
		})
		require.Error(s, err)
		d := s.elsewhere(cfg.ID)
		require.NoError(s, d.Retry(s.ctx))
		require.NoError(s, s.watchedRun(d, n, func(debate.Event) {}))

		var unseen []string
		state, last := fsm.Configuring, int64(0)
		for m, err := range s.elsewhere(cfg.ID).Replay(s.ctx) {
			require.NoError(s, err)
			if c, ok := m.Event.(debate.StateChanged); ok {
				state = c.To
			}
			head, at := m.Head(), m.Event.Event()
			require.Equal(s, last+1, at.Seq)
			last = at.Seq
			require.Equal(s, last, head.Seq)
			require.Equal(s, state, head.State)
			require.Equal(s, state, m.Result().State)
			if shown := n.events[last]; shown == "" {
				unseen = append(unseen, at.Type)
			} else {
				require.Equal(s, shown, s.json(m.Event))
			}
			if was := n.heads[last]; was != "" {
				require.Equal(s, was, s.json(head), "the head after event %d", last)
				require.Equal(s, n.results[last], s.json(m.Result()), "the result after event %d", last)
			}
		}
		require.Equal(s, []string{"config", "state"}, unseen, "what Create and Retry committed")
		require.Contains(s, n.heads, last)
		require.Greater(s, len(n.heads), 7)
		d = s.elsewhere(cfg.ID)
		require.Equal(s, s.json(s.head(d)), n.heads[last])
		require.Equal(s, s.json(s.result(d)), n.results[last])
		require.Equal(s, n.heads[last], s.json(s.listed(cfg.ID)))
	})
}

func (s *scene) readBack() {
	cfg := pair(nil)
	cfg.Limits.MaxRounds = 4
	for i := range cfg.Participants {
		cfg.Participants[i].Window, cfg.Participants[i].MaxTokens = 3000, 400
	}
	used := transcript.Usage{Input: 100, Cached: 40, Output: 20, Reasoning: 5}
	invalid := true
	first := s.process()
	first.model.alter = func(r providers.Request, reply scripted.Reply, _ int) scripted.Reply {
		reply.Usage = used
		switch {
		case r.Reply == "":
			reply.Text += strings.Repeat(" and more of it", 120)
			reply.Finish = providers.Length
		case invalid:
			reply.Text, invalid = "I will not judge.", false
		}
		return reply
	}
	var shown []transcript.Turn
	for _, ev := range s.finish(s.create(first, cfg)) {
		if t, ok := ev.(debate.TurnDone); ok {
			shown = append(shown, t.Turn)
		}
	}
	turns := s.result(s.elsewhere("d")).Turns
	require.Equal(s, s.json(shown), s.json(turns), "as it was when it happened")

	speech, assessment, late := turns[0], turns[2], turns[len(turns)-3]
	require.Len(s, speech.Attempts, 1)
	require.Equal(s, "model-A", speech.Attempts[0].Model)
	require.Equal(s, "m", speech.Attempts[0].Provider)
	require.Equal(s, string(providers.Length), speech.Attempts[0].Finish)
	require.Equal(s, used, speech.Usage)
	require.Positive(s, speech.Attempts[0].Took)
	require.Equal(s, []transcript.Flag{transcript.Truncated}, speech.Flags)
	require.WithinRange(s, speech.Ended, speech.Began, speech.Began.Add(patience))
	require.Nil(s, speech.Window)
	require.NotNil(s, late.Window, "the history was cut")
	require.Positive(s, late.Window.Cut)

	require.Len(s, assessment.Attempts, 2)
	require.Equal(s, string(providers.InvalidResponse), assessment.Attempts[0].Error)
	require.NotEmpty(s, assessment.Attempts[0].Message)
	require.Empty(s, assessment.Attempts[1].Error)
	require.Equal(s, string(providers.Stop), assessment.Attempts[1].Finish)
	require.Equal(s, used.Add(used), assessment.Usage, "of both attempts")
	require.Equal(s, []transcript.Flag{transcript.Reasked}, assessment.Flags)
	a, err := transcript.Decode[judge.Assessment](assessment)
	require.NoError(s, err)
	require.InDelta(s, 6, a.Quality, 0)
	require.Len(s, a.Participants, 2)
}

const secret = "sk-secret-0123456789"

// keyed is a provider that holds a key, as clients of services do.
type keyed struct {
	*model
	Key string
}

func (s *scene) keyNowhere() {
	p := s.process(func(o *debate.Options) {
		m := &model{hold: refusesB}
		o.Providers["m"] = &keyed{model: m, Key: secret}
	})
	d := s.create(p, pair(nil))
	require.Error(s, s.drive(d).err)
	require.NoError(s, d.Retry(s.ctx))
	s.finish(s.open(s.process(func(o *debate.Options) { o.Providers["m"] = keyed{model: &model{}, Key: secret} }), "d"))
	for _, text := range []string{s.stored("d", 0), s.json(s.listed("d")), s.json(s.result(s.elsewhere("d")))} {
		require.Contains(s, text, "Ban cars?", "the scan sees what is stored")
		require.NotContains(s, text, secret)
		require.NotContains(s, text, "sk-")
	}
}

func (s *scene) newerFormat() {
	p := s.process()
	require.True(s, s.breakOff(s.create(p, pair(nil)), 7))
	head := s.append(p, "d", map[string]any{"format": store.Format + 1, "novelty": true}, "novelty", "annotated")
	before := s.stored("d", 0)

	require.Equal(s, s.json(head), s.json(s.listed("d")))
	d := s.elsewhere("d")
	require.Equal(s, head.Seq, s.head(d).Seq)
	require.Equal(s, head.State, s.result(d).State)
	var watched, replayed []int64
	for ev, err := range d.Watch(s.ctx, 0) {
		require.NoError(s, err)
		watched = append(watched, ev.Event().Seq)
		if ev.Event().Seq == head.Seq {
			break
		}
	}
	for m, err := range d.Replay(s.ctx) {
		require.NoError(s, err)
		replayed = append(replayed, m.Event.Event().Seq)
	}
	require.Equal(s, watched, replayed)
	require.Len(s, watched, int(head.Seq)-1, "all but what is unknown")
	for verb, err := range map[string]error{"run": s.drive(d).err, "start": d.Start(s.ctx), "pause": d.Pause(s.ctx)} {
		require.ErrorIs(s, err, debate.ErrUnsupported, verb)
	}
	require.JSONEq(s, before, s.stored("d", 0), "nothing is changed")
}

// append commits what a newer version might: the configuration with other fields, then entries of some types.
func (s *scene) append(p *process, id string, fields map[string]any, types ...string) store.Head {
	s.Helper()
	head, entries, err := p.store.Load(s.ctx, id, 0)
	require.NoError(s, err)
	after, now := head.Seq, time.Now().UTC().Truncate(time.Microsecond)
	var config map[string]any
	require.NoError(s, json.Unmarshal([]byte(s.json(entries[0].Data)), &config))
	maps.Copy(config, fields)
	change := store.Change{ID: id, After: after}
	for i, data := range append([]map[string]any{config}, make([]map[string]any, len(types))...) {
		if data == nil {
			data = map[string]any{"type": types[i-1], "name": "stars", "value": 4, "at": now}
		}
		head.Seq++
		data["seq"] = head.Seq
		change.Entries = append(change.Entries, store.Entry{Seq: head.Seq, Type: data["type"].(string), At: now, Data: json.RawMessage(s.json(data))})
	}
	head.Format, head.Updated = store.Format+1, now
	change.Head = head
	require.NoError(s, p.store.Commit(s.ctx, change))
	return head
}
