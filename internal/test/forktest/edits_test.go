package forktest_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/enginetest"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/protocol/vote"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// configAt returns the configuration of a debate after the entry seq.
func configAt(t testing.TB, e *debate.Engine, d *debate.Debate, seq int64) (c debate.Config) {
	t.Helper()
	for _, ev := range events(t, d)[:seq] {
		if changed, ok := ev.(debate.ConfigChanged); ok {
			var err error
			c, err = e.ParseConfig(changed.Config)
			require.NoError(t, err)
		}
	}
	return c
}

// An edit of the configuration shows in the prompts that follow, and changes nothing that is committed.
func TestEditedConfigurations(t *testing.T) {
	formal := fstest.MapFS{"_house.tmpl": {Data: []byte(`{{define "rules"}}Speak formally.{{end}}`)}}
	for name, tt := range map[string]struct {
		edit func(*debate.Config)
		// shows reports whether the request for a step that follows shows the edit.
		shows func(key transcript.Key, r providers.Request, text string) bool
		who   string // the actors whose requests show it; empty for all
	}{
		"topic": {
			func(c *debate.Config) { c.Topic = "Ban bikes?" },
			func(_ transcript.Key, _ providers.Request, text string) bool {
				return strings.Contains(text, "Ban bikes?") && !strings.Contains(text, "Ban cars?")
			}, "",
		},
		"background": {
			func(c *debate.Config) { c.Background = "Some village." },
			func(_ transcript.Key, _ providers.Request, text string) bool {
				return strings.Contains(text, "Some village.")
			}, "",
		},
		"a participant's instructions": {
			func(c *debate.Config) { c.Participants[0].Instructions = "Quote Kant." },
			func(_ transcript.Key, _ providers.Request, text string) bool {
				return strings.Contains(text, "Quote Kant.")
			}, "A",
		},
		"a participant's position": {
			func(c *debate.Config) { c.Participants[1].Position = "Keep them all." },
			func(_ transcript.Key, _ providers.Request, text string) bool {
				return strings.Contains(text, "Keep them all.")
			}, "",
		},
		"a participant's persona": {
			func(c *debate.Config) { c.Participants[1].Persona = "Taxi driver." },
			func(_ transcript.Key, _ providers.Request, text string) bool {
				return strings.Contains(text, "Taxi driver.")
			}, "B",
		},
		"a participant's model": {
			func(c *debate.Config) { c.Participants[0].Model = "large" },
			func(_ transcript.Key, r providers.Request, _ string) bool { return r.Model == "large" }, "A",
		},
		"a judge": {
			func(c *debate.Config) { c.Judges[0].Instructions = "Be strict." },
			func(_ transcript.Key, _ providers.Request, text string) bool {
				return strings.Contains(text, "Be strict.")
			}, "J",
		},
		"the prompts": {
			func(c *debate.Config) { c.Prompts = "formal" },
			func(_ transcript.Key, _ providers.Request, text string) bool {
				return strings.Contains(text, "Speak formally.")
			}, "AB",
		},
		"a limit of tokens": {
			func(c *debate.Config) { c.Participants[0].MaxTokens = 777 },
			func(_ transcript.Key, r providers.Request, _ string) bool { return r.MaxTokens == 777 }, "A",
		},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := lifeConfig()
			cfg.Participants = cfg.Participants[:2]
			cfg.Judges = cfg.Judges[:1]
			cfg.Seed = "seed"
			e, m := newEngine(t, cfg, func(o *debate.Options) { o.PromptSets = map[string]fs.FS{"formal": formal} })
			parent := create(t, e, cfg)
			run(t, parent)
			before := m.take()
			turns := debatetest.Result(t, parent).Turns
			last := turns[1] // of the first round
			edited := configAt(t, e, parent, last.Seq)
			tt.edit(&edited)
			d := fork(t, e, last.Seq, debate.Edits{Config: &edited})
			run(t, d)
			r := debatetest.Result(t, d)
			require.Equal(t, fsm.Completed, r.State)
			require.Equal(t, texts(turns[:2]), texts(r.Turns[:2]))
			after := m.take()
			require.Len(t, after, len(r.Turns)-2)
			for key, requests := range after {
				shown := tt.shows(key, requests[0], text(requests[0]))
				require.Equal(t, tt.who == "" || strings.Contains(tt.who, key.Actor), shown, "%s: %s", key, text(requests[0]))
			}
			for _, turn := range r.Turns {
				p := debatetest.PromptOf(t, d, turn.Key)
				want := before
				if turn.Seq > last.Seq {
					want = after
				}
				require.Equal(t, want[turn.Key][0], p.Request, turn.Key.String())
				require.False(t, p.OtherTemplates)
			}
			require.Equal(t, "seed", configAt(t, e, d, r.Turns[2].Seq).Seed)
		})
	}
}

// text returns the messages of a request as one text.
func text(r providers.Request) (all string) {
	for _, m := range r.Messages {
		all += m.Text + "\n"
	}
	return all
}

func TestAnEditedLimit(t *testing.T) {
	cfg := lifeConfig()
	e, _ := newEngine(t, cfg)
	parent := create(t, e, cfg)
	run(t, parent)
	first := debatetest.Result(t, parent).Turns[0]
	edited := configAt(t, e, parent, first.Seq)
	edited.Limits.MaxRounds = 1
	d := fork(t, e, first.Seq, debate.Edits{Config: &edited})
	run(t, d)
	r := debatetest.Result(t, d)
	require.Equal(t, 1, r.Round)
	require.Equal(t, transcript.RoundLimit, r.Ending.Outcome)
	require.Equal(t, 2, debatetest.Result(t, parent).Round)
}

// Before the first turn, everything can be edited.
func TestEditsBeforeTheFirstTurn(t *testing.T) {
	cfg := lifeConfig()
	e, _ := newEngine(t, cfg)
	parent := create(t, e, cfg)
	run(t, parent)
	for seq := range debatetest.Result(t, parent).Turns[0].Seq - 1 {
		edited := cfg
		edited.ID = ""
		edited.Seed = "other"
		edited.Protocol = vote.Protocol{}
		edited.Judges = nil
		edited.Participants = []debate.Participant{{Name: "D"}, {Name: "E"}, {Name: "F"}}
		d := fork(t, e, seq+1, debate.Edits{Config: &edited})
		run(t, d)
		r := debatetest.Result(t, d)
		require.Equal(t, fsm.Completed, r.State)
		require.Equal(t, "vote/1", r.Protocol)
		require.Equal(t, "D", r.Turns[0].Actor)
	}
}

// To edit a turn to what it was changes nothing but the flag, in any protocol: what follows is decided again.
func TestATurnEditedToWhatItWas(t *testing.T) {
	for name, cfg := range enginetest.PresetConfigs() {
		t.Run(name, func(t *testing.T) {
			e, m := newEngine(t, cfg)
			parent := create(t, e, cfg)
			run(t, parent)
			calls := m.take()
			r := debatetest.Result(t, parent)
			sample := enginetest.NewSample(t, 12)
			for i, turn := range r.Turns {
				if !sample.Tries(turn.Phase) {
					continue
				}
				reply := turn.Text
				if turn.Contract != "" {
					reply = string(turn.Data)
				}
				d := fork(t, e, 0, debate.Edits{ID: fmt.Sprint("fork-", i), Turn: turn.Key, Reply: reply})
				require.Equal(t, transcript.Parent{ID: "d", Seq: turn.Seq - 1}, debatetest.Status(t, d).Parent)
				require.False(t, debatetest.Status(t, d).State.Active())
				run(t, d)
				is := debatetest.Result(t, d)
				require.Equal(t, texts(r.Turns), texts(is.Turns), turn.Key.String())
				require.Equal(t, r.Ending, is.Ending)
				require.Equal(t, r.Answer.Text, is.Answer.Text)
				for j, after := range is.Turns {
					require.Equal(t, i == j, len(after.Flags) > 0, after.Key)
					require.JSONEq(t, string(data(r.Turns[j])), string(data(after)))
				}
				require.Empty(t, m.take()[turn.Key], "no model is asked for the edited turn")
				p := debatetest.PromptOf(t, d, turn.Key)
				require.Equal(t, calls[turn.Key][0], p.Request, "what a model would have been asked")
				require.Contains(t, p.Missing[0], "no model was asked")
			}
		})
	}
}

// data returns the data of a turn, or null.
func data(turn transcript.Turn) json.RawMessage {
	if turn.Data == nil {
		return json.RawMessage("null")
	}
	return turn.Data
}

// The transitions after an edited turn follow from it.
func TestWhatFollowsFromAnEditedTurn(t *testing.T) {
	cfg := lifeConfig()
	cfg.Judges = cfg.Judges[:1]
	e, m := newEngine(t, cfg)
	parent := create(t, e, cfg)
	run(t, parent)
	require.Equal(t, 2, debatetest.Result(t, parent).Round)
	m.take()
	for _, turn := range debatetest.Result(t, parent).Turns {
		if turn.Kind != transcript.Assessment || turn.Round != 1 {
			continue
		}
		a, err := transcript.Decode[judge.Assessment](turn)
		require.NoError(t, err)
		a.ShouldContinue = false
		d := fork(t, e, turn.Seq, debate.Edits{Turn: turn.Key, Reply: debatetest.Encode(t, a)})
		list := events(t, d)
		require.Equal(t, fsm.Completing, list[len(list)-1].(debate.StateChanged).From, "it concludes")
		run(t, d)
		r := debatetest.Result(t, d)
		require.Equal(t, transcript.JudgeDecided, r.Ending.Outcome)
		require.Equal(t, 1, r.Round)
		require.Len(t, m.take(), 1, "only the verdict is asked for")
		require.Contains(t, strings.Join(r.Warnings, "\n"), "a person gave the reply in a fork")
	}
}

func TestWrongEdits(t *testing.T) {
	cfg := lifeConfig()
	e, _ := newEngine(t, cfg)
	parent := create(t, e, cfg)
	run(t, parent)
	turns := debatetest.Result(t, parent).Turns
	speech, assessed := turns[0], turns[3]
	require.Equal(t, transcript.Assessment, assessed.Kind)
	config := func(edit func(*debate.Config)) *debate.Config {
		c := configAt(t, e, parent, speech.Seq)
		edit(&c)
		return &c
	}
	end := debatetest.Status(t, parent).Seq
	for name, tt := range map[string]struct {
		seq    int64
		edits  debate.Edits
		fields []string
	}{
		"beyond the end":                {end + 1, debate.Edits{}, []string{"seq"}},
		"a negative entry":              {-1, debate.Edits{}, []string{"seq"}},
		"an invalid id":                 {1, debate.Edits{ID: "a b"}, []string{"id"}},
		"everything":                    {-1, debate.Edits{ID: "a b", Reply: "x"}, []string{"id", "seq", "turn"}},
		"a reply without a turn":        {1, debate.Edits{Reply: "x"}, []string{"turn"}},
		"a turn that is not next":       {1, debate.Edits{Turn: speech.Key, Reply: "x"}, []string{"turn"}},
		"a turn that does not exist":    {speech.Seq, debate.Edits{Turn: transcript.Key{Run: 1, Round: 9, Phase: "respond", Actor: "A"}, Reply: "x"}, []string{"turn"}},
		"a blank reply":                 {speech.Seq, debate.Edits{Turn: speech.Key, Reply: " \n"}, []string{"reply"}},
		"no reply":                      {speech.Seq, debate.Edits{Turn: speech.Key}, []string{"reply"}},
		"a long reply":                  {speech.Seq, debate.Edits{Turn: speech.Key, Reply: strings.Repeat("word ", 5000)}, []string{"reply"}},
		"a reply that breaks a rule":    {0, debate.Edits{Turn: assessed.Key, Reply: `{"reasoning": "x"}`}, []string{"reply"}},
		"a reply of another form":       {0, debate.Edits{Turn: assessed.Key, Reply: "A is better."}, []string{"reply"}},
		"a completed debate":            {0, debate.Edits{Config: config(func(*debate.Config) {})}, []string{"seq"}},
		"an invalid configuration":      {speech.Seq, debate.Edits{Config: config(func(c *debate.Config) { c.Topic, c.Participants[0].TopP = "", 2 })}, []string{"config.topic", "config.participants[0].top_p"}},
		"another name":                  {speech.Seq, debate.Edits{Config: config(func(c *debate.Config) { c.Participants[0].Name = "Z" })}, []string{"config.participants"}},
		"another side":                  {speech.Seq, debate.Edits{Config: config(func(c *debate.Config) { c.Participants[0].Side = "left" })}, []string{"config.participants"}},
		"fewer participants":            {speech.Seq, debate.Edits{Config: config(func(c *debate.Config) { c.Participants = c.Participants[:2] })}, []string{"config.participants"}},
		"another seed":                  {speech.Seq, debate.Edits{Config: config(func(c *debate.Config) { c.Seed = "x" })}, []string{"config.seed"}},
		"another protocol":              {speech.Seq, debate.Edits{Config: config(func(c *debate.Config) { c.Protocol = panel.Protocol{Mode: panel.Simultaneous} })}, []string{"config.protocol"}},
		"a prompt that leaves no space": {speech.Seq, debate.Edits{Config: config(func(c *debate.Config) { c.Judges[0].Window = 600 })}, []string{"config.judges[0].window"}},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := e.Fork(t.Context(), "d", tt.seq, tt.edits)
			require.Nil(t, d)
			problems, ok := errors.AsType[*debate.Problems](err)
			require.True(t, ok, "%v", err)
			var fields []string
			for _, p := range problems.List {
				if len(fields) == 0 || fields[len(fields)-1] != p.Field {
					fields = append(fields, p.Field)
				}
			}
			require.Equal(t, tt.fields, fields, "%v", err)
			require.ErrorContains(t, err, "fork debate d: check fork: ")
		})
	}
	n := debatetest.Call(t, e.Count, store.Query{})
	require.Equal(t, map[fsm.State]int{fsm.Completed: 1}, n, "a refused fork leaves nothing")
	_, err := e.Fork(t.Context(), "none", 0, debate.Edits{})
	require.ErrorIs(t, err, store.ErrNotFound)
	_, err = e.Fork(t.Context(), "d", 0, debate.Edits{ID: "d"})
	require.ErrorIs(t, err, debate.ErrTaken)
	require.EqualError(t, err, "fork debate d: the id is taken: d")
}

// A fork of a debate in error continues with another configuration.
func TestAForkOfAnError(t *testing.T) {
	cfg := lifeConfig()
	broken := false
	e, m := newEngine(t, cfg, func(o *debate.Options) {
		o.Providers["n"] = failing{o.Providers["m"], func(debate.Step) bool { return broken }}
	})
	broken = true
	cfg.Judges, cfg.OnJudgeFailure = []debate.Participant{{Name: "J", Provider: "n"}}, debate.Ask
	parent := create(t, e, cfg)
	run(t, parent)
	asked := debatetest.Result(t, parent)
	require.NotNil(t, asked.Question)
	edited := cfg
	edited.Judges = []debate.Participant{{Name: "J", Provider: "m"}}
	d := fork(t, e, 0, debate.Edits{Config: &edited})
	require.NoError(t, d.Decide(t.Context(), asked.Question.ID, "retry"))
	run(t, d)
	require.Equal(t, fsm.Completed, debatetest.Status(t, d).State)
	require.Equal(t, fsm.Paused, debatetest.Status(t, parent).State)

	cfg.ID = "e"
	cfg.OnJudgeFailure = debate.Continue
	cfg.Judges = []debate.Participant{{Name: "J", Provider: "m"}}
	cfg.Participants[1].Provider, cfg.Participants = "n", cfg.Participants[:2]
	parent = create(t, e, cfg)
	_, err := debatetest.Run(t, parent)
	require.Error(t, err)
	require.Equal(t, fsm.Error, debatetest.Status(t, parent).State)
	edited = cfg
	edited.Participants = []debate.Participant{{Name: "A", Provider: "m"}, {Name: "B", Provider: "m"}}
	d = debatetest.Fork(t, e, "e", 0, debate.Edits{Config: &edited})
	require.Equal(t, fsm.Error, debatetest.Status(t, d).State)
	require.NoError(t, d.Retry(t.Context()))
	m.take()
	run(t, d)
	r := debatetest.Result(t, d)
	require.Equal(t, fsm.Completed, r.State)
	require.Len(t, m.take(), len(r.Turns)-1, "the turn of A is not asked for again")
}

// A person's turn is edited as a model's, and its editing counts as the person's reply. With another configuration, people are
// asked again.
func TestForksOfPeoplesTurns(t *testing.T) {
	cfg := lifeConfig()
	cfg.Participants[1] = debate.Participant{Name: "B", Human: true}
	e, _ := newEngine(t, cfg)
	parent := create(t, e, cfg)
	run(t, parent)
	waiting := debatetest.Waiting(t, parent)
	require.Len(t, waiting, 1)
	key := waiting[0].Key

	edited := configAt(t, e, parent, 1)
	edited.Topic = "Ban bikes?"
	again := fork(t, e, 0, debate.Edits{Config: &edited})
	require.Equal(t, []string{"B"}, debatetest.Status(t, again).Waiting)
	list := events(t, again)
	require.IsType(t, debate.Asked{}, list[len(list)-2], "B is asked again")

	early := fork(t, e, 0, debate.Edits{Turn: key, Reply: "No."}) // in place of the person
	require.Equal(t, "B", debatetest.Result(t, early).Turns[1].By)
	require.NoError(t, parent.Answer(t.Context(), key, "Yes.", "Bob"))
	d := fork(t, e, 0, debate.Edits{Turn: key, Reply: "No."})
	turn := debatetest.Result(t, d).Turns[1]
	require.Equal(t, "No.", turn.Text)
	require.Equal(t, []transcript.Flag{transcript.Edited}, turn.Flags)
	require.NoError(t, d.Answer(t.Context(), key, "No.", "Bob"))
	require.ErrorIs(t, d.Answer(t.Context(), key, "Yes.", "Bob"), debate.ErrAnswered)
	run(t, d)
	require.Equal(t, []string{"B"}, debatetest.Status(t, d).Waiting, "in the second round")
	require.Equal(t, "Yes.", debatetest.Result(t, parent).Turns[1].Text)
}

// Replies of an edited configuration are limited to what fits into the windows, as before a start.
func TestRepliesOfAnEditedWindow(t *testing.T) {
	cfg := lifeConfig()
	e, m, parent := completed(t, cfg)
	seq := debatetest.Result(t, parent).Turns[1].Seq
	edited := configAt(t, e, parent, seq)
	edited.Judges[0].Window = 4000
	d := fork(t, e, seq, debate.Edits{Config: &edited})
	run(t, d)
	n := 0
	for key, requests := range m.take() {
		if key.Actor == "J" {
			n++
			require.Less(t, requests[0].MaxTokens, 3000, key)
			require.Positive(t, requests[0].MaxTokens)
		}
	}
	require.Equal(t, 3, n)
	require.Contains(t, strings.Join(debatetest.Result(t, d).Warnings, "\n"), "replies of J are limited to")
	again := configAt(t, e, d, debatetest.Status(t, d).Seq)
	require.Equal(t, edited.Judges[0].MaxTokens, again.Judges[0].MaxTokens, "the configuration itself does not change")
}

// A participant keeps the persona that it was assigned, unless the persona is edited.
func TestAssignedPersonas(t *testing.T) {
	cfg := lifeConfig()
	cfg.Protocol = panel.Protocol{Personas: panel.Binary}
	e, m, parent := completed(t, cfg)
	turns := debatetest.Result(t, parent).Turns
	require.Equal(t, transcript.Setup, turns[0].Kind)
	edited := configAt(t, e, parent, turns[0].Seq)
	edited.Topic, edited.Participants[0].Persona = "Ban bikes?", "Taxi driver"
	d := fork(t, e, turns[0].Seq, debate.Edits{Config: &edited})
	run(t, d)
	words := strings.Fields(turns[0].Text)
	require.NotEmpty(t, words)
	calls := m.take()
	a, b := turns[1].Key, turns[2].Key
	require.Equal(t, []string{"A", "B"}, []string{a.Actor, b.Actor})
	digest := regexp.MustCompile("[0-9a-f]{16}").FindString(turns[0].Text)
	require.NotEmpty(t, digest)
	own := func(key transcript.Key) string { return strings.Split(text(calls[key][0]), "The other")[0] }
	require.Contains(t, own(a), "Taxi driver")
	require.NotContains(t, own(a), digest)
	require.Contains(t, own(b), digest)
}

// A configuration names one of the engine's sets of templates. An engine without it leaves the debate alone.
func TestPromptSets(t *testing.T) {
	formal := fstest.MapFS{"_house.tmpl": {Data: []byte(`{{define "rules"}}Speak formally.{{end}}`)}}
	for want, sets := range map[string]map[string]fs.FS{
		`prompt set "" needs a name and templates`:  {"": formal},
		`prompt set "x" needs a name and templates`: {"x": nil},
		`prompt set "x": check prompt: `:            {"x": fstest.MapFS{"opening.tmpl": {Data: []byte("no system prompt")}}},
	} {
		_, err := debate.NewEngine(debate.Options{PromptSets: sets})
		require.ErrorContains(t, err, "make engine: "+want)
	}
	cfg := lifeConfig()
	cfg.Prompts = "formal"
	kept := store.Memory()
	e, m := newEngine(t, cfg, func(o *debate.Options) { o.Store = kept })
	_, err := e.Launch(t.Context(), cfg)
	problems, ok := errors.AsType[*debate.Problems](err)
	require.True(t, ok, "%v", err)
	require.Equal(t, "prompts", problems.List[0].Field)
	d := create(t, e, cfg)
	_, err = debatetest.Run(t, d)
	require.ErrorIs(t, err, debate.ErrUnsupported)
	require.ErrorContains(t, err, `prompts: "formal" is unknown to this engine, add it to Options.PromptSets`)
	require.Empty(t, m.take())
	require.Equal(t, fsm.Configuring, debatetest.Status(t, d).State)
	able, m := newEngine(t, cfg, func(o *debate.Options) { o.Store, o.PromptSets = kept, map[string]fs.FS{"formal": formal} })
	d = debatetest.Open(t, able, "d")
	run(t, d)
	formally, versions := 0, map[string]bool{}
	for _, requests := range m.take() {
		if strings.Contains(text(requests[0]), "Speak formally.") {
			formally++
		}
	}
	require.Equal(t, 6, formally, "each speech")
	for _, ev := range events(t, d) {
		if done, ok := ev.(debate.TurnDone); ok {
			versions[done.Templates] = true
		}
	}
	require.Len(t, versions, 1)
	plain := debatetest.PromptOf(t, d, debatetest.Result(t, d).Turns[0].Key)
	require.False(t, plain.OtherTemplates)
}
