package debate_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/judge/reply"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/protocol/vote"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

func TestIdsAreSortableOrGiven(t *testing.T) {
	e := debatetest.Engine(t, debate.Options{})
	cfg := debatetest.PairConfig(nil)
	debatetest.Create(t, e, cfg)
	_, err := e.Create(t.Context(), cfg)
	require.ErrorIs(t, err, debate.ErrTaken)
	require.EqualError(t, err, "create debate d: the id is taken")
	e = debatetest.Engine(t, debate.Options{Providers: map[string]providers.Provider{"m": &scripted.Provider{}, "j": &scripted.Provider{}}})
	debatetest.Create(t, e, cfg)
	_, err = e.Launch(t.Context(), cfg)
	require.ErrorIs(t, err, debate.ErrTaken)
	cfg.ID = ""
	last := ""
	for range 50 {
		d := debatetest.Create(t, e, cfg)
		require.Less(t, last, d.ID())
		last = d.ID()
	}
	found := 0
	for _, h := range debatetest.List(t, e, store.Query{States: []fsm.State{fsm.Configuring}}) {
		require.Equal(t, "Ban cars?", h.Topic)
		require.Equal(t, "panel/1", h.Protocol)
		found++
	}
	require.Equal(t, 51, found)
	require.NoError(t, e.Delete(t.Context(), "d"))
	_, err = e.Open(t.Context(), "d")
	require.ErrorIs(t, err, store.ErrNotFound)
	require.ErrorIs(t, e.Delete(t.Context(), "d"), store.ErrNotFound)
	counts, err := e.Count(t.Context(), store.Query{})
	require.NoError(t, err)
	require.Equal(t, map[fsm.State]int{fsm.Configuring: 50}, counts)
	n, err := e.DeleteAll(t.Context(), store.Query{States: []fsm.State{fsm.Configuring}, UpdatedBefore: time.Now().Add(time.Hour), Limit: 20})
	require.NoError(t, err)
	require.Equal(t, 20, n)
	counts, err = e.Count(t.Context(), store.Query{})
	require.NoError(t, err)
	require.Equal(t, map[fsm.State]int{fsm.Configuring: 30}, counts)
}

func TestADebateOfAnUnknownProtocolIsReadButNotDriven(t *testing.T) {
	memory := store.Memory()
	opts := debate.Options{
		Store:     memory,
		Providers: providersOf(&debatetest.DigestModel{Names: []string{"A", "B"}}, scriptedJudge(t, 1)),
		Protocols: []protocol.Protocol{debatetest.Mesh{}},
	}
	e := debatetest.Engine(t, opts)
	d := debatetest.Create(t, e, debatetest.PairConfig(debatetest.Mesh{Rounds: 1}))
	runUntilTurn(t, d, "speech")

	opts.Protocols = nil
	e = debatetest.Engine(t, opts)
	d = debatetest.Open(t, e, "d")
	require.Equal(t, "mesh/1", debatetest.Result(t, d).Protocol)
	_, err := debatetest.Run(t, d)
	require.ErrorIs(t, err, debate.ErrUnsupported)
	require.ErrorContains(t, err, `"mesh/1"`)
}

// renamedPanel is a panel with another name, which engines only know if Options contain it.
type renamedPanel struct{ panel.Protocol }

func (renamedPanel) Name() string { return "named/1" }

func TestAnEngineWithoutTheProtocolDrivesNothing(t *testing.T) {
	awaiting := func(t *testing.T, d *debate.Debate) { runUntilTurn(t, d, transcript.Assessment) }
	paused := func(t *testing.T, d *debate.Debate) {
		awaiting(t, d)
		require.NoError(t, d.Pause(t.Context()))
	}
	ready := func(t *testing.T, d *debate.Debate) {
		_, err := debatetest.Run(t, d)
		require.ErrorAs(t, err, new(*debate.Failure))
		require.NoError(t, d.Retry(t.Context()))
	}
	drives := func(d *debate.Debate, ctx context.Context) error {
		_, err := countEvents(d.Run(ctx))
		return err
	}
	for name, tt := range map[string]struct {
		fails int // number of calls before
		reach func(*testing.T, *debate.Debate)
		verb  func(*debate.Debate, context.Context) error
	}{
		"resume":                 {0, paused, (*debate.Debate).Resume},
		"stop when paused":       {0, paused, (*debate.Debate).Stop},
		"stop":                   {0, awaiting, (*debate.Debate).Stop},
		"start":                  {1, ready, (*debate.Debate).Start},
		"run":                    {0, awaiting, drives},
		"run from the beginning": {0, func(*testing.T, *debate.Debate) {}, drives},
		"do": {1, ready, func(d *debate.Debate, ctx context.Context) (err error) {
			_, err = d.RunOnce(ctx)
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			opts := debate.Options{
				Store: store.Memory(), Providers: providersOf(
					modelFailingFirst(tt.fails, providers.Authentication, transcript.Usage{}),
					scriptedJudge(t, 3),
				),
			}
			d := debatetest.New(t, debatetest.PairConfig(renamedPanel{}), opts)
			tt.reach(t, d)
			before := debatetest.Status(t, d)

			strange := debatetest.Engine(t, opts)
			other := debatetest.Open(t, strange, "d")
			require.ErrorIs(t, tt.verb(other, t.Context()), debate.ErrUnsupported)
			after := debatetest.Status(t, d)
			require.Equal(t, after, debatetest.Status(t, other))
			after.Driver = before.Driver
			require.Equal(t, before, after, "nothing has changed")
		})
	}
}

func TestANilProviderIsRefused(t *testing.T) {
	_, err := debate.NewEngine(debate.Options{Providers: map[string]providers.Provider{"m": nil}})
	require.EqualError(t, err, `make engine: provider "m" is nil`)
	_, err = debate.NewEngine(debate.Options{Protocols: []protocol.Protocol{vote.Protocol{}, nil}})
	require.EqualError(t, err, "make engine: a protocol is nil")
	_, err = debate.NewEngine(debate.Options{Contracts: []*reply.Contract{nil}})
	require.EqualError(t, err, "make engine: a contract is nil")
}

func TestEditToAProtocolOfOnesOwn(t *testing.T) {
	d := newPanelDebate(t, 1, nil)
	require.NoError(t, d.Edit(t.Context(), debatetest.PairConfig(renamedPanel{panel.Protocol{Mode: panel.Simultaneous}})))
	debatetest.Finish(t, d)
	require.Equal(t, fsm.Completed, debatetest.Result(t, d).State)
	require.Equal(t, "named/1", debatetest.Status(t, d).Protocol)
}

// crossExamination is a custom protocol: each side questions the other, and again after an evasive answer.
type crossExamination struct {
	FollowUps int `json:"follow_ups"`
}

type answer struct {
	Reply   string `json:"reply" jsonschema:"description=What you answer"`
	Evasive bool   `json:"evasive" jsonschema:"description=Whether you left the question open"`
}

func (a *answer) Text() string { return a.Reply }

func (crossExamination) Name() string { return "cross/1" }

func (crossExamination) Check(r *protocol.Record) []protocol.Problem {
	if len(r.Participants) != 2 {
		return []protocol.Problem{protocol.Problemf("participants", "%d, cross-examination takes 2", len(r.Participants))}
	}
	return nil
}

func (c crossExamination) Phases(r *protocol.Record) []protocol.Phase {
	if r.Cursor.Stage != transcript.Speech {
		return nil
	}
	a, b := r.Participants[0].Name, r.Participants[1].Name
	return append(c.questions(r, a, b), c.questions(r, b, a)...)
}

func (c crossExamination) questions(r *protocol.Record, asks, answers string) (phases []protocol.Phase) {
	for i := range c.FollowUps + 1 {
		ask := protocol.Step{Key: transcript.Key{Actor: asks, Target: answers}, Prompt: "ask"}
		say := protocol.Step{Key: transcript.Key{Actor: answers, Target: asks}, Prompt: "answer", Contract: "answer/1"}
		name := fmt.Sprintf("%s-answers-%d", answers, i)
		phases = append(phases,
			protocol.Phase{Name: fmt.Sprintf("%s-asks-%d", asks, i), Steps: []protocol.Step{ask}},
			protocol.Phase{Name: name, Steps: []protocol.Step{say}})
		t, ok := r.FindCurrent(name, answers, asks)
		if !ok {
			return phases
		}
		if given, err := transcript.Decode[answer](t); err != nil || !given.Evasive {
			return phases
		}
	}
	return phases
}

func (crossExamination) End(*protocol.Record) transcript.Ending { return transcript.Ending{} }

func TestAProtocolOfOnesOwn(t *testing.T) {
	prompts := fstest.MapFS{
		"ask.tmpl": {
			Data: []byte(`{{define "system"}}You are {{.Me.Name}}, on {{.Topic}}.{{end}}Ask {{with .Target}}{{.Name}}{{end}} one question.`),
		},
		"answer.tmpl": {
			Data: []byte(`{{define "system"}}You are {{.Me.Name}}, on {{.Topic}}.{{end}}Answer {{with .Target}}{{.Name}}{{end}}. {{.ReplyFields}}`),
		},
	}
	model := scripted.Text(
		"Where were the buses?", `{"reply": "Somewhere.", "evasive": true}`, "Where exactly?", `{"reply": "In the depot.", "evasive": false}`,
		"Who pays?", `{"reply": "All do.", "evasive": false}`,
	)
	d := debatetest.New(t, debate.Config{
		Topic: "Ban cars?", Protocol: crossExamination{FollowUps: 1}, Participants: []debate.Participant{
			{Name: "A"},
			{Name: "B"},
		}, Limits: debate.Limits{MaxRounds: 1},
	}, debate.Options{
		Providers: map[string]providers.Provider{"only": model}, Prompts: prompts,
		Contracts: []*reply.Contract{reply.New[answer]("answer/1")},
	})
	res := debatetest.RunResult(t, d)
	require.Equal(t, fsm.Completed, res.State)
	require.Equal(t, []string{
		"1/1/A-asks-0/A/B", "1/1/B-answers-0/B/A", "1/1/A-asks-1/A/B", "1/1/B-answers-1/B/A", "1/1/B-asks-0/B/A", "1/1/A-answers-0/A/B",
	}, debatetest.TurnKeys(res))
	require.Equal(t, "In the depot.", res.Turns[3].Text)
	second := model.Calls()[1]
	require.Equal(t, "You are B, on Ban cars?.", second.Messages[0].Text)
	require.Contains(t, second.Messages[2].Text, "Answer A. ")
	require.Contains(t, second.Messages[2].Text, "evasive")
	require.NotEmpty(t, second.Schema)
}

// If a protocol asks for something that does not exist, the debate is refused before the first call, whatever the round.
func TestAProtocolThatAsksForWhatIsNotThere(t *testing.T) {
	for name, tt := range map[string]struct {
		step protocol.Step
		want string
	}{
		"actor": {
			protocol.Step{Key: transcript.Key{Actor: "Zoe"}, Prompt: "free-form"},
			`phase "odd": plan step odd: "Zoe" is not a participant, judge or system actor`,
		},
		"prompt": {protocol.Step{Key: transcript.Key{Actor: "A"}, Prompt: "rebutal"}, `prompt "rebutal"`},
		"contract": {
			protocol.Step{Key: transcript.Key{Actor: "A"}, Prompt: "free-form", Contract: "song/1"},
			`reply contract "song/1" is unknown`,
		},
		"variable": {protocol.Step{Key: transcript.Key{Actor: "A"}, Prompt: "sing"}, `map has no entry for key "tune"`},
	} {
		for round, p := range map[string]protocol.Protocol{
			"first":    oneStepProtocol{tt.step},
			"last":     lastRound{oneStepProtocol{tt.step}},
			"declared": declared{oneStepProtocol{tt.step}},
		} {
			t.Run(name+" "+round, func(t *testing.T) {
				model := talkingModel()
				c, o := debatetest.PairConfig(p), debate.Options{Providers: providersOf(model, model)}
				c.Limits.MaxRounds = 11
				o.Prompts = fstest.MapFS{"sing.tmpl": {Data: []byte(`{{define "system"}}Sing.{{end}}Sing {{.Vars.tune}}.`)}}
				_, err := debate.New(t.Context(), c, o)
				require.Equal(t, []string{"protocol"}, problemFields(t, err))
				require.ErrorContains(t, err, tt.want)
				e := debatetest.Engine(t, o)
				d := debatetest.Create(t, e, c)
				_, err = debatetest.Run(t, d)
				require.ErrorContains(t, err, tt.want)
				require.Empty(t, model.Calls())
			})
		}
	}
}

// lastRound is a protocol that asks for its step in the last round.
type lastRound struct{ oneStepProtocol }

func (p lastRound) Phases(r *protocol.Record) []protocol.Phase {
	if r.Cursor.Round < r.MaxRounds {
		return unjudgedPanel{}.Phases(r)
	}
	return p.oneStepProtocol.Phases(r)
}

// declared is a protocol that asks for its step only after a turn, and declares it.
type declared struct{ oneStepProtocol }

func (p declared) Phases(r *protocol.Record) []protocol.Phase {
	if len(r.Turns) == 0 {
		return unjudgedPanel{}.Phases(r)
	}
	return p.oneStepProtocol.Phases(r)
}

func (p declared) Steps(*protocol.Record) []protocol.Step {
	s := p.step
	s.Phase = "odd"
	return []protocol.Step{s}
}

// oneStepProtocol is a protocol with a single step.
type oneStepProtocol struct{ step protocol.Step }

func (oneStepProtocol) MarshalJSON() ([]byte, error) { return []byte("{}"), nil }

func (oneStepProtocol) Name() string { return "odd/1" }

func (oneStepProtocol) Check(*protocol.Record) []protocol.Problem { return nil }

func (o oneStepProtocol) Phases(r *protocol.Record) []protocol.Phase {
	if r.Cursor.Stage != transcript.Speech {
		return nil
	}
	return []protocol.Phase{{Name: "odd", Steps: []protocol.Step{o.step}}}
}

func (oneStepProtocol) End(*protocol.Record) transcript.Ending { return transcript.Ending{} }

// endsWhen is a protocol with a function field, which JSON omits.
type endsWhen struct {
	unjudgedDefaults
	Mark string                    `json:"mark,omitempty"`
	Done func(t, mark string) bool `json:"-"`
}

func (endsWhen) Name() string { return "until/1" }

func (u endsWhen) End(r *protocol.Record) transcript.Ending {
	if u.Done != nil && u.Done(r.Turns[len(r.Turns)-1].Text, u.Mark) {
		return transcript.Ending{Outcome: transcript.EarlyStop, Evidence: "it is done"}
	}
	return transcript.Ending{}
}

// Fields of a protocol that JSON omits come from the value in Options, and all others from the store.
func TestAFunctionOfAProtocolComesFromTheEngine(t *testing.T) {
	s := store.Memory()
	known := endsWhen{Mark: "of another debate", Done: strings.Contains}
	engine := func(p protocol.Protocol) *debate.Engine {
		model := &scripted.Provider{Func: func(providers.Request) scripted.Reply { return scripted.Reply{Text: "This is enough."} }}
		o := debate.Options{Providers: map[string]providers.Provider{"m": model}, Store: s}
		if p != nil {
			o.Protocols = []protocol.Protocol{p}
		}
		return debatetest.Engine(t, o)
	}
	cfg := debate.Config{
		ID: "d", Topic: "Cats?", Protocol: endsWhen{Mark: "enough"}, Limits: debate.Limits{MinRounds: 1},
		Participants: []debate.Participant{{Name: "A"}, {Name: "B"}},
	}
	debatetest.Create(t, engine(nil), cfg)

	e := engine(known)
	d := debatetest.Open(t, e, "d")
	_, err := d.RunOnce(t.Context()) // the configuration is accepted
	require.NoError(t, err)
	_, err = d.RunOnce(t.Context())
	require.NoError(t, err)
	require.Len(t, debatetest.Result(t, d).Turns, 1)

	res := debatetest.RunResult(t, d)
	require.Equal(t, transcript.EarlyStop, res.Ending.Outcome)
	require.Equal(t, 1, res.Round)
	require.Equal(t, "This is enough.", res.Answer.Text)
}

// A debate with such a protocol can be edited: a field that is not stored does not count as a change.
func TestAProtocolWithAFunctionDoesNotForbidAnEdit(t *testing.T) {
	p := endsWhen{Mark: "never", Done: strings.Contains}
	failing := true
	model := &scripted.Provider{Func: func(r providers.Request) scripted.Reply {
		if failing && len(r.Messages) > 2 {
			return scripted.Reply{Err: &providers.Error{Kind: providers.Authentication}}
		}
		return scripted.Reply{Text: "So."}
	}}
	cfg := debate.Config{
		ID: "d", Topic: "Cats?", Protocol: p, Limits: debate.Limits{MinRounds: 1},
		Participants: []debate.Participant{{Name: "A"}, {Name: "B"}},
	}
	d := debatetest.New(t, cfg, debate.Options{Providers: map[string]providers.Provider{"m": model}, Protocols: []protocol.Protocol{p}})
	_, err := debatetest.Run(t, d)
	require.Error(t, err)
	require.NoError(t, d.Retry(t.Context()))
	require.Equal(t, fsm.Ready, debatetest.Result(t, d).State)

	failing = false
	cfg.Limits.MaxRounds = 1
	require.NoError(t, d.Edit(t.Context(), cfg))
	other := cfg
	other.Protocol = endsWhen{Mark: "ever", Done: strings.Contains}
	require.ErrorContains(t, d.Edit(t.Context(), other), "protocol: cannot change after the first turn")
	debatetest.Finish(t, d)
	require.Equal(t, 1, debatetest.Result(t, d).Round)
}

// validConfigRow returns a stored configuration with its defaults.
func validConfigRow(t *testing.T) string {
	t.Helper()
	memory := store.Memory()
	debatetest.New(t, debatetest.PairConfig(nil), debate.Options{Store: memory, Providers: providersOf(talkingModel(), scriptedJudge(t, 1))})
	_, entries, err := memory.Load(t.Context(), "d", 0)
	require.NoError(t, err)
	return debatetest.Encode(t, entries[0].Data)
}

// storeOfRows returns a store with the given rows, as a database would return them, valid or not.
func storeOfRows(t *testing.T, list ...any) store.Store {
	t.Helper()
	memory := store.Memory()
	for i, data := range list {
		if text, ok := data.(string); ok {
			data = json.RawMessage(text)
		}
		err := memory.Commit(t.Context(), store.Change{
			ID: "d", After: int64(i), Entries: []store.Entry{{Seq: int64(i + 1), Data: data}}, Status: store.Status{ID: "d", Seq: int64(i + 1)},
		})
		require.NoError(t, err)
	}
	return rowStore{memory}
}

// rowStore returns each entry with the type, key and time of its data.
type rowStore struct{ store.Store }

func (s rowStore) Load(ctx context.Context, id string, after int64) (store.Status, []store.Entry, error) {
	head, entries, err := s.Store.Load(ctx, id, after)
	entries = slices.Clone(entries)
	for i := range entries {
		var row struct {
			Type string
			At   time.Time
			Turn *transcript.Turn
		}
		data, ok := entries[i].Data.(json.RawMessage)
		if ok && json.Unmarshal(data, &row) == nil {
			entries[i].Type, entries[i].At = row.Type, row.At
		}
		if row.Turn != nil {
			entries[i].Key = row.Turn.Key.String()
		}
	}
	return head, entries, err
}

// openRows opens the debate in the rows.
func openRows(t *testing.T, list ...any) *debate.Debate {
	t.Helper()
	e := debatetest.Engine(t, debate.Options{Store: storeOfRows(t, list...), Providers: providersOf(talkingModel(), scriptedJudge(t, 1))})
	return debatetest.Open(t, e, "d")
}

// openAndRun opens a debate, reads its status and result, runs it, and returns the first error.
func openAndRun(t *testing.T, s store.Store) error {
	t.Helper()
	e := debatetest.Engine(t, debate.Options{Store: s, Providers: providersOf(talkingModel(), scriptedJudge(t, 1))})
	d, err := e.Open(t.Context(), "d")
	if err != nil {
		return err
	}
	_, err = d.Status(t.Context())
	if err != nil {
		return err
	}
	_, err = d.Result(t.Context())
	if err != nil {
		return err
	}
	_, err = debatetest.Run(t, d)
	return err
}

// transitionRow returns the row of a transition.
func transitionRow(seq int, from, on, to, more string) string {
	return fmt.Sprintf(`{"type": "state", "seq": %d, "from": %q, "on": %q, "to": %q%s}`, seq, from, on, to, more)
}

func TestABadRowIsNamed(t *testing.T) {
	config := validConfigRow(t)
	started := []any{
		config, transitionRow(2, "configuring", "validate", "validating", ""), transitionRow(3, "validating", "accept", "ready", ""),
		transitionRow(
			4,
			"ready",
			"start",
			"initializing",
			"",
		), transitionRow(5, "initializing", "initialized", "running.awaiting_responses", `, "round": 1`),
	}
	then := func(list ...any) []any { return slices.Concat(started, list) }
	const turn = `{"type": "turn", "seq": %d,
		"turn": {"run": 1, "round": %d, "phase": "respond", "actor": "A", "kind": "speech", "text": "x"}}`
	for name, tt := range map[string]struct {
		rows  []any
		entry int    // the wrong entry
		says  string // part of the error message
	}{
		"no JSON":                {[]any{`{"type": "con`}, 1, "unexpected end of JSON input"},
		"no object":              {[]any{`7`}, 1, "parse event"},
		"null":                   {[]any{`null`}, 1, `type "" is unknown`},
		"no JSON at all":         {[]any{7}, 1, "data is int"},
		"nothing":                {[]any{nil}, 1, "data is <nil>"},
		"a type that is unknown": {[]any{config, `{"type": "thunder", "seq": 2}`}, 2, `type "thunder" is unknown`},
		"a live event": {
			[]any{config, `{"type": "warning", "seq": 2, "live": true}`},
			2,
			`type "warning" is not an entry of a journal`,
		},
		"a number too high":       {[]any{config, `{"type": "annotated", "seq": 3}`}, 2, "it has the seq 2, but its data has 3"},
		"a number twice":          {[]any{config, `{"type": "annotated", "seq": 1}`}, 2, "it has the seq 2, but its data has 1"},
		"a field of another type": {[]any{config, `{"type": "state", "seq": 2, "to": 7}`}, 2, `parse event of type "state"`},
		"no configuration first": {
			[]any{`{"type": "annotated", "seq": 1, "name": "a", "value": 1}`},
			1,
			"the journal must begin with a configuration",
		},
		"a turn first": {
			[]any{`{"type": "turn", "seq": 1, "turn": {"run": 1, "phase": "x", "actor": "A", "kind": "speech"}}`},
			1,
			"the journal must begin with a configuration",
		},
		"a configuration that is null": {
			[]any{`{"type":"config","seq":1,"format":1, "secret": "AAAAAAAAAAAAAAAAAAAAAA", "config": null}`},
			1,
			"the configuration has no protocol",
		},
		"no configuration in it": {
			[]any{`{"type": "config", "seq": 1, "format": 1, "secret": "AAAAAAAAAAAAAAAAAAAAAA"}`},
			1,
			"unexpected end of JSON input",
		},
		"no secret": {
			[]any{`{"type": "config", "seq": 1, "format": 1, "config": {"topic": "x"}}`},
			1,
			"the first entry has no secret",
		},
		"no format": {[]any{`{"type": "config", "seq": 1, "config": {"topic": "x"}}`}, 1, "the format is 0, want 1"},
		"no protocol": {
			[]any{`{"type":"config","seq":1,"format":1, "secret": "AAAAAAAAAAAAAAAAAAAAAA", "config": {"topic": "x"}}`},
			1,
			"the configuration has no protocol",
		},
		"a protocol without a name": {
			[]any{`{"type":"config","seq":1,"format":1, "secret": "AAAAAAAAAAAAAAAAAAAAAA", "config": {"topic": "x", "protocol": {}}}`},
			1,
			"protocol.name",
		},

		"an unknown transition": {[]any{config, transitionRow(2, "configuring", "start", "initializing", "")}, 2, "no such transition"},
		"an unknown state":      {[]any{config, transitionRow(2, "configuring", "validate", "thinking", "")}, 2, "no such transition"},
		"an error without a failure": {
			then(transitionRow(6, "running.awaiting_responses", "fail", "error", `, "round": 1`)),
			6,
			"the entry has no failure",
		},
		"a failure of a later round": {
			then(transitionRow(6, "running.awaiting_responses", "fail", "error", `, "round": 1, "failure": {"key": {"round": 9}}`)),
			6,
			"it belongs to round 9",
		},
		"a failure of a negative round": {
			then(transitionRow(6, "running.awaiting_responses", "fail", "error", `, "round": 1, "failure": {"key": {"round": -1}}`)),
			6,
			"it belongs to round -1",
		},
		"a question of a later round": {
			then(transitionRow(
				6,
				"running.awaiting_responses",
				"pause",
				"paused",
				`, "round": 1, "question": {"failure": {"key": {"round": 9}}}`,
			)), 6, "it belongs to round 9",
		},
		"a drop without a failure": {then(`{"type": "dropped", "seq": 6, "name": "A"}`), 6, "the entry has no failure"},
		"a drop of a later round": {
			then(`{"type": "dropped", "seq": 6, "name": "A", "failure": {"key": {"round": 9}}}`),
			6,
			"it belongs to round 9",
		},
		"a turn of a negative round":       {then(fmt.Sprintf(turn, 6, -1)), 6, "it belongs to round -1"},
		"a turn of a later round":          {then(fmt.Sprintf(turn, 6, 2)), 6, "it belongs to round 2, but the debate is in round 1"},
		"a turn before the debate's start": {[]any{config, fmt.Sprintf(turn, 2, 1)}, 2, "it belongs to round 1, but the debate is in round 0"},
		"a turn twice":                     {then(fmt.Sprintf(turn, 6, 1), fmt.Sprintf(turn, 7, 1)), 7, "is a duplicate"},
	} {
		t.Run(name, func(t *testing.T) {
			var err error
			require.NotPanics(t, func() { err = openAndRun(t, storeOfRows(t, tt.rows...)) })
			require.ErrorContains(t, err, fmt.Sprintf("entry %d of debate d", tt.entry))
			require.ErrorContains(t, err, tt.says)
		})
	}
	require.NoError(t, openAndRun(t, storeOfRows(t, then()...)), "without a bad row the debate runs")
}

func TestWatchNamesABadRow(t *testing.T) {
	memory := storeOfRows(t, validConfigRow(t))
	e := debatetest.Engine(t, debate.Options{Store: memory})
	d := debatetest.Open(t, e, "d")
	bad := store.Entry{Seq: 2, Data: json.RawMessage(`{"type": "thunder", "seq": 2}`)}
	require.NoError(
		t,
		memory.Commit(t.Context(), store.Change{ID: "d", After: 1, Entries: []store.Entry{bad}, Status: store.Status{ID: "d", Seq: 2}}),
	)
	n, err := countEvents(d.Watch(t.Context(), 0))
	require.Equal(t, 1, n, "what can be read is shown")
	require.EqualError(t, err, `read entry 2 of debate d: parse event: type "thunder" is unknown`)
}

// Fields that a stored configuration or question omits are not required.
func TestARowThatLeavesSomethingOut(t *testing.T) {
	t.Run("a temperature", func(t *testing.T) {
		d := openRows(t, `{"type":"config","seq":1,"format":1, "secret": "AAAAAAAAAAAAAAAAAAAAAA",
			"config": {"topic": "x", "protocol": {"name": "panel/1"},
			"participants": [{"name": "A", "provider": "m"}, {"name": "B", "provider": "m"}], "judges": [{"name": "J", "provider": "j"}]}}`)
		_, err := debatetest.Run(t, d)
		require.ErrorIs(t, err, debate.ErrUnsupported, "the retriever has no provider")
	})
	t.Run("a question's failure", func(t *testing.T) {
		list := []any{
			validConfigRow(t), transitionRow(2, "configuring", "validate", "validating", ""), transitionRow(3, "validating", "accept", "ready", ""),
			transitionRow(
				4,
				"ready",
				"start",
				"initializing",
				"",
			), transitionRow(5, "initializing", "initialized", "running.awaiting_responses", `, "round": 1`),
			transitionRow(
				6,
				"running.awaiting_responses",
				"pause",
				"paused",
				`, "round": 1, "question": {"cause": "Shall it?", "choices": [{"action": "end"}, {"action": "drop"}]}`,
			),
		}
		d := openRows(t, list...)
		require.ErrorContains(t, d.Decide(t.Context(), debatetest.Result(t, d).Question.ID, "drop"), "the question has no actor to drop")
		require.NoError(t, d.Decide(t.Context(), debatetest.Result(t, d).Question.ID, "end"))
		require.Contains(t, debatetest.Result(t, d).Ending.Evidence, "Shall it?")
	})
}

func TestSurvivesACrash(t *testing.T) {
	ctx := t.Context()
	model := scripted.Text(
		"Cars are freedom.",
		"Cars are noise.",
		"Freedom ends at the kerb.",
		"Freedom ends at the kerb.",
		"Buses are slow.",
	) // the third call is canceled and repeated
	jury := &scripted.Provider{Replies: []scripted.Reply{
		{Text: "{\"should_con", Chunks: 2, Err: &providers.Error{Kind: providers.Network}}, // cut off, then retried
		{Text: assessmentReply(t, true, "A", "B")},
		{Text: assessmentReply(t, false, "A", "B")},
		{Text: `{"summary": "A draw.", "quality": 50}`},
	}}
	opts := debate.Options{
		Store:     store.Memory(),
		Providers: map[string]providers.Provider{"m": model, "j": jury},
	}
	cfg := debate.Config{
		ID: "d1", Topic: "Ban cars?",
		Participants: []debate.Participant{{Name: "A", Provider: "m"}, {Name: "B", Provider: "m"}},
		Judges:       []debate.Participant{{Name: "J", Provider: "j"}},
	}
	d, err := debate.New(ctx, cfg, opts)
	require.NoError(t, err)
	for ev, err := range d.Run(ctx) {
		require.NoError(t, err)
		t.Logf("%T %+v", ev, ev)
		if c, ok := ev.(debate.Chunk); ok && c.Key.Round == 2 {
			break // the process dies in the middle of a call
		}
	}
	require.Len(t, model.Calls(), 3)

	eng, err := debate.NewEngine(opts) // another process, same store
	require.NoError(t, err)
	d, err = eng.Open(ctx, "d1")
	require.NoError(t, err)
	for ev, err := range d.Run(ctx) {
		require.NoError(t, err)
		t.Logf("%T %+v", ev, ev)
	}
	res, err := d.Result(ctx)
	require.NoError(t, err)
	require.Equal(t, fsm.Completed, res.State)
	require.Len(t, model.Calls(), 5) // only the canceled call was repeated
	require.Len(t, res.Turns, 7)     // 4 speeches, 2 assessments, 1 verdict

	err = d.Resume(ctx)
	var refused *fsm.Refused
	require.ErrorAs(t, err, &refused)
	require.Equal(t, fsm.Completed, refused.State)
}

func TestObservationAllocatesNothingWithoutAnObserver(t *testing.T) {
	require.Zero(t, debate.ObservationAllocations())
}

// encodedStore returns entries as JSON, as a database would. The row of one of them may be damaged.
type encodedStore struct {
	store.Store
	damaged int64 // the seq; 0 if there is none
}

func (s encodedStore) Load(ctx context.Context, id string, after int64) (store.Status, []store.Entry, error) {
	status, entries, err := s.Store.Load(ctx, id, after)
	for i, e := range entries {
		raw, _ := json.Marshal(e.Data)
		if e.Seq == s.damaged {
			raw = raw[:len(raw)/2]
		}
		entries[i].Data = json.RawMessage(raw)
	}
	return status, entries, err
}

// Long journals are decoded on all processors.
func TestALongJournalIsRead(t *testing.T) {
	memory := store.Memory()
	opts := debate.Options{Store: memory, Providers: providersOf(talkingModel(), scriptedJudge(t, 1000))}
	cfg := debatetest.PairConfig(panel.Protocol{Format: panel.RoundLimited})
	cfg.Limits.MaxRounds, cfg.Limits.OutputTokens = 100, 1<<40
	d := debatetest.New(t, cfg, opts)
	debatetest.Finish(t, d)
	last := debatetest.Status(t, d).Seq
	require.Greater(t, last, int64(700))
	for damaged := last - 512; damaged <= last; damaged += 64 {
		opts.Store = encodedStore{memory, damaged}
		e := debatetest.Engine(t, opts)
		_, err := e.Open(t.Context(), "d")
		require.ErrorContains(t, err, fmt.Sprintf("read entry %d of debate d: parse event: unexpected end of JSON input", damaged))
	}
	opts.Store = encodedStore{memory, 0}
	e := debatetest.Engine(t, opts)
	opened := debatetest.Open(t, e, "d")
	want, got := storedEvents(t, d), storedEvents(t, opened)
	require.Len(t, got, len(want))
	for i, ev := range want {
		require.Equal(t, debatetest.Encode(t, ev), debatetest.Encode(t, got[i]))
	}
}

func TestSimultaneousSpeakersTakeTheTimeOfTheSlowest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		latency := []time.Duration{7 * time.Second, 3 * time.Second}
		next := make(chan time.Duration, 2)
		next <- latency[0]
		next <- latency[1]
		d := newPanelDebate(t, 1, func(c *debate.Config, o *debate.Options) {
			c.Protocol = panel.Protocol{Mode: panel.Simultaneous}
			o.Providers["m"] = &scripted.Provider{Func: func(providers.Request) scripted.Reply {
				return scripted.Reply{Text: "at once", Chunks: 4, Latency: <-next}
			}}
		})
		began := time.Now()
		debatetest.Finish(t, d)
		require.Equal(t, latency[0], time.Since(began), "the slowest, not the sum")
		require.Equal(t, []string{"1/1/respond/A/", "1/1/respond/B/", "1/1/assess/J/", "1/1/verdict/J/"},
			debatetest.TurnKeys(debatetest.Result(t, d)), "in the order of the seats")
	})
}

func TestRoundDelayWaitsBetweenRounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newPanelDebate(t, 3, func(c *debate.Config, _ *debate.Options) { c.Limits.RoundDelay = time.Minute })
		began := time.Now()
		debatetest.Finish(t, d)
		require.Equal(t, 2*time.Minute, time.Since(began))
	})
}

func TestTheEndOfTheContextEndsTheDrivingOnly(t *testing.T) {
	d := newPanelDebate(t, 1, nil)
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	why := errors.New("the user has closed the lid")
	var got error
	for ev, err := range d.Run(ctx) {
		got = err
		if err != nil {
			continue
		}
		if _, ok := ev.(debate.Chunk); ok {
			cancel(why)
		}
	}
	require.ErrorIs(t, got, why)
	require.Equal(t, fsm.AwaitingResponses, debatetest.Result(t, d).State)
	require.Empty(t, debatetest.Result(t, d).Turns)
	debatetest.Finish(t, d)
	require.Len(t, debatetest.Result(t, d).Turns, 4)
}

func TestADetachedDebateGoesOnThroughAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newPanelDebate(t, 1, func(_ *debate.Config, o *debate.Options) { o.Providers["m"] = slowModel() })
		require.NoError(t, d.Start(t.Context()))
		time.Sleep(5 * time.Second)
		require.NoError(t, d.Pause(t.Context()))
		time.Sleep(time.Hour)
		require.Len(t, debatetest.Result(t, d).Turns, 1)
		require.ErrorAs(t, d.Start(t.Context()), new(*fsm.Refused))
		require.NoError(t, d.Resume(t.Context()))
		watchAll(t, d, 0)
		require.Equal(t, 15*time.Second, debatetest.Result(t, d).RunningTime, "5 of A, 10 of B: what A said while paused does not count")
	})
}

func TestOneEngineDrivesADebateOnce(t *testing.T) {
	d := newPanelDebate(t, 1, nil)
	for ev, err := range d.Run(t.Context()) {
		require.NoError(t, err)
		if _, ok := ev.(debate.Chunk); ok {
			_, err := debatetest.Run(t, d)
			require.ErrorIs(t, err, debate.ErrBusy)
			_, err = d.RunOnce(t.Context())
			require.ErrorIs(t, err, debate.ErrBusy)
		}
	}
	require.Equal(t, fsm.Completed, debatetest.Result(t, d).State)
}

func TestDoIsOneUnit(t *testing.T) {
	d := newPanelDebate(t, 1, func(c *debate.Config, _ *debate.Options) { c.Protocol = panel.Protocol{Mode: panel.Simultaneous} })
	var turns []int
	for more := true; more; {
		var err error
		more, err = d.RunOnce(t.Context())
		require.NoError(t, err)
		turns = append(turns, len(debatetest.Result(t, d).Turns))
	}
	require.Equal(t, []int{0, 2, 3, 4}, turns, "the check, both speeches, the assessment, the verdict")
	more, err := d.RunOnce(t.Context())
	require.NoError(t, err)
	require.False(t, more)
}

// countedLoads counts the loads of a store.
type countedLoads struct {
	store.Store
	store.Watcher
	loads *atomic.Int32
}

func (s countedLoads) Load(ctx context.Context, id string, after int64) (store.Status, []store.Entry, error) {
	s.loads.Add(1)
	return s.Store.Load(ctx, id, after)
}

func TestRunWhileRunsPlanAfterPlan(t *testing.T) {
	var loads atomic.Int32
	d := newPanelDebate(t, 2, func(_ *debate.Config, o *debate.Options) {
		memory := store.Memory()
		o.Store = countedLoads{memory, memory.(store.Watcher), &loads}
	})
	loads.Store(0)
	asked := 0
	more, err := d.RunWhile(t.Context(), func(s store.Status) bool {
		require.NotEmpty(t, s.Plan.Key)
		asked++
		return asked < 3
	})
	require.NoError(t, err)
	require.True(t, more)
	require.Equal(t, 3, asked, "after the check and after two turns")
	require.Equal(t, int32(1), loads.Load(), "the journal is read once")
	require.Len(t, debatetest.Result(t, d).Turns, 2)
	more, err = d.RunWhile(t.Context(), func(store.Status) bool { return true })
	require.NoError(t, err)
	require.False(t, more)
	require.Equal(t, fsm.Completed, debatetest.Result(t, d).State)
}

func TestRunWhileSeesWhatOthersCommit(t *testing.T) {
	d := newPanelDebate(t, 1, nil)
	other := d.OpenWithProvider(t, talkingModel())
	asked := 0
	more, err := d.RunWhile(t.Context(), func(store.Status) bool {
		asked++
		if asked == 2 { // after the check and a turn
			require.NoError(t, other.Pause(t.Context()))
		}
		return true
	})
	require.NoError(t, err)
	require.False(t, more)
	require.Equal(t, fsm.Paused, debatetest.Result(t, d).State)
	require.Len(t, debatetest.Result(t, d).Turns, 1)
}

func TestAPanicOfTheConditionOfRunWhilePasses(t *testing.T) {
	d := newPanelDebate(t, 1, nil)
	require.Panics(t, func() { _, _ = d.RunWhile(t.Context(), func(store.Status) bool { panic("mine") }) })
	debatetest.Finish(t, d)
	require.Equal(t, fsm.Completed, debatetest.Result(t, d).State)
}

func TestCloseLetsCallsInFlightCommit(t *testing.T) {
	for _, tt := range []struct {
		name  string
		grace time.Duration
		turns int
	}{{"within its time", time.Minute, 1}, {"or cuts them", time.Second, 0}} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				memory := store.Memory()
				e := debatetest.Engine(t, debate.Options{Store: memory, Providers: providersOf(slowModel(), scriptedJudge(t, 1))})
				d := debatetest.Create(t, e, debatetest.PairConfig(nil))
				require.NoError(t, d.Start(t.Context()))
				time.Sleep(2 * time.Second)
				ctx, cancel := context.WithTimeout(t.Context(), tt.grace)
				defer cancel()
				err := e.Close(ctx)
				require.Equal(t, tt.turns == 0, errors.Is(err, context.DeadlineExceeded))
				require.Len(t, debatetest.Result(t, d).Turns, tt.turns)
				require.Equal(t, fsm.AwaitingResponses, debatetest.Result(t, d).State)
				_, err = debatetest.Run(t, d)
				require.ErrorIs(t, err, debate.ErrClosed)
				require.NoError(t, e.Close(t.Context()), "closing twice is no error")
			})
		})
	}
}

func TestRunEndsWithErrClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := debatetest.Engine(t, debate.Options{Providers: providersOf(slowModel(), scriptedJudge(t, 1))})
		d := debatetest.Create(t, e, debatetest.PairConfig(nil))
		go func() {
			time.Sleep(time.Second)
			_ = e.Close(t.Context())
		}()
		_, err := debatetest.Run(t, d)
		require.ErrorIs(t, err, debate.ErrClosed)
		require.Len(t, debatetest.Result(t, d).Turns, 1)
	})
}

func TestAParticipantMakesOneCallAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		running := map[string]int{}
		most := map[string]int{}
		all := 0
		total := 0
		say := func(name string) providers.Provider {
			return debatetest.ProviderFunc(func(ctx context.Context, _ providers.Request) (providers.Response, error) {
				mu.Lock()
				running[name]++
				total++
				most[name], all = max(most[name], running[name]), max(all, total)
				mu.Unlock()
				defer func() {
					mu.Lock()
					defer mu.Unlock()
					running[name]--
					total--
				}()
				return providers.Response{Text: "I say."}, sleepContext(ctx, 10*time.Second)
			})
		}
		began := time.Now()
		d := newPanelDebate(t, 1, func(c *debate.Config, o *debate.Options) {
			c.Protocol, c.Participants = debatetest.Mesh{}, nil
			for _, name := range []string{"A", "B", "C"} {
				c.Participants = append(c.Participants, debate.Participant{Name: name, Provider: name})
				o.Providers[name] = say(name)
			}
			o.Providers["j"] = scriptedJudgeOfAll(t, 1)
		})
		debatetest.Finish(t, d)
		require.Equal(t, map[string]int{"A": 1, "B": 1, "C": 1}, most)
		require.Equal(t, 3, all, "others speak at the same time")
		require.Equal(t, (10+2*10+10)*time.Second, time.Since(began), "each criticises two, one after the other")
		require.Len(t, debatetest.Result(t, d).Turns, 3+6+3+2)
	})
}

// The wait for an earlier call of the same actor does not count towards a step's time.
func TestAStepsTimeBeginsWithItsOwnCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newPanelDebate(t, 1, func(c *debate.Config, o *debate.Options) {
			c.Protocol, c.Limits.StepTimeout = debatetest.Mesh{}, time.Minute
			c.Participants = append(c.Participants, debate.Participant{Name: "C", Provider: "m"})
			o.Providers["m"] = debatetest.ProviderFunc(func(ctx context.Context, _ providers.Request) (providers.Response, error) {
				return providers.Response{Text: "I say."}, sleepContext(ctx, 40*time.Second)
			})
			o.Providers["j"] = scriptedJudgeOfAll(t, 1)
		})
		debatetest.Finish(t, d)
		require.Len(t, debatetest.Result(t, d).Turns, 3+6+3+2)
	})
}

// blockingLogHandler is a log handler that blocks when a driver logs why it ends.
type blockingLogHandler struct {
	slog.Handler
	in, out chan struct{}
}

func (g blockingLogHandler) Enabled(context.Context, slog.Level) bool { return true }

func (g blockingLogHandler) Handle(_ context.Context, r slog.Record) error {
	if r.Message == "drive debate" {
		g.in <- struct{}{}
		<-g.out
	}
	return nil
}

func TestAStartWhileTheLastDriverLeavesIsNotLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := blockingLogHandler{slog.DiscardHandler, make(chan struct{}), make(chan struct{})}
		d := newPanelDebate(t, 1, func(_ *debate.Config, o *debate.Options) {
			o.Providers["m"], o.Logger = modelFailingFirst(1, providers.Authentication, transcript.Usage{}), slog.New(g)
		})
		require.NoError(t, d.Start(t.Context()))
		<-g.in // the debate is in error, and its driver has not left
		require.NoError(t, d.Retry(t.Context()))
		require.NoError(t, d.Start(t.Context()))
		close(g.out)
		synctest.Wait()
		require.Equal(t, fsm.Completed, debatetest.Result(t, d).State)
	})
}

func TestCloseReturnsWithItsContextThoughAViewerIsAtWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := debatetest.Engine(t, debate.Options{Providers: providersOf(talkingModel(), scriptedJudge(t, 1))})
		d := debatetest.Create(t, e, debatetest.PairConfig(nil))
		work, left := make(chan struct{}), make(chan error)
		go func() {
			var last error
			for _, last = range d.Run(t.Context()) {
				<-work
			}
			left <- last
		}()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		closed := make(chan error, 1)
		go func() { closed <- e.Close(ctx) }()
		time.Sleep(time.Minute)
		require.Len(t, closed, 1, "it waits no longer than its context")
		require.ErrorIs(t, <-closed, context.DeadlineExceeded)
		close(work)
		require.ErrorIs(t, <-left, debate.ErrClosed)
	})
}

func TestADebateUnderTheIDOfADeletedOneRuns(t *testing.T) {
	for name, between := range map[string]func(){"at once": func() {}, "later": func() { time.Sleep(time.Minute) }} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := debatetest.Engine(t, debate.Options{Providers: providersOf(slowModel(), scriptedJudge(t, 1))})
				old := debatetest.Create(t, e, debatetest.PairConfig(nil))
				startAndPause(t, old)
				require.NoError(t, e.Delete(t.Context(), "d"))
				between()
				cfg := debatetest.PairConfig(nil)
				cfg.Topic = "Ban bikes?"
				d := debatetest.Create(t, e, cfg)
				require.Equal(t, debatetest.Result(t, d), debatetest.Result(t, old), "an old handle shows the debate that there is")
				require.NoError(t, d.Start(t.Context()))
				time.Sleep(time.Hour)
				require.Equal(t, fsm.Completed, debatetest.Result(t, d).State)
				require.Equal(t, "Ban bikes?", debatetest.Result(t, d).Topic)
				require.Len(t, debatetest.Result(t, d).Turns, 4)
			})
		})
	}
}

func TestAPauseDuringTheRoundDelayEndsRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newPanelDebate(t, 3, func(c *debate.Config, _ *debate.Options) { c.Limits.RoundDelay = time.Hour })
		began := time.Now()
		time.AfterFunc(time.Minute, func() { _ = d.Pause(t.Context()) })
		debatetest.Finish(t, d)
		require.Equal(t, fsm.Paused, debatetest.Result(t, d).State)
		require.Equal(t, time.Minute, time.Since(began))
	})
}

var errNoSpace = errors.New("no space left on device")

// failingCommitStore is a store that fails a number of times to commit a turn of the given actor. If actor is empty,
// it fails for every commit except the first of a debate.
type failingCommitStore struct {
	store.Store
	actor string
	times atomic.Int64
}

func (f *failingCommitStore) Commit(ctx context.Context, c store.Change) error {
	hit := f.actor == "" && c.After > 1
	for _, e := range c.Entries {
		hit = hit || f.actor != "" && strings.Contains(e.Key, "/"+f.actor+"/")
	}
	if hit && f.times.Add(-1) >= 0 {
		return errNoSpace
	}
	return f.Store.Commit(ctx, c)
}

func (f *failingCommitStore) Watch(id string, wake func(int64)) (stop func()) {
	return f.Store.(store.Watcher).Watch(id, wake)
}

func TestAStartedDebateOutlastsAFailureOfTheStore(t *testing.T) {
	for name, tt := range map[string]struct {
		actor string
		calls int
	}{"after the check": {"", 2}, "after a speech": {"B", 5}, "after an assessment": {"J", 2}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				model, broken := talkingModel(), &failingCommitStore{Store: store.Memory(), actor: tt.actor}
				broken.times.Store(3)
				d := newPanelDebate(t, 1, func(c *debate.Config, o *debate.Options) {
					c.Limits.MaxRounds, c.Protocol = 1, panel.Protocol{Format: panel.RoundLimited}
					o.Providers["m"], o.Store = model, broken
				})
				began := time.Now()
				require.NoError(t, d.Start(t.Context()))
				watchAll(t, d, 0)
				require.Equal(t, fsm.Completed, debatetest.Result(t, d).State)
				require.Equal(t, (1+2+4)*time.Second, time.Since(began))
				require.Len(t, model.Calls(), tt.calls)
			})
		})
	}
}

// unsteadyStore fails the first commit of each turn.
type unsteadyStore struct {
	store.Store
	store.Watcher
	tried map[string]bool
}

func (u unsteadyStore) Commit(ctx context.Context, c store.Change) error {
	if key := c.Entries[0].Key; key != "" && !u.tried[key] {
		u.tried[key] = true
		return errNoSpace
	}
	return u.Store.Commit(ctx, c)
}

func TestTheWaitAfterAFailureOfTheStoreIsShortAgainAfterATurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory := store.Memory()
		d := newPanelDebate(t, 1, func(c *debate.Config, o *debate.Options) {
			c.Limits.MaxRounds, c.Protocol = 2, panel.Protocol{Format: panel.RoundLimited}
			o.Store = unsteadyStore{memory, memory.(store.Watcher), map[string]bool{}}
		})
		began := time.Now()
		require.NoError(t, d.Start(t.Context()))
		watchAll(t, d, 0)
		turns := len(debatetest.Result(t, d).Turns)
		require.Greater(t, turns, 4)
		require.Equal(t, time.Duration(turns)*time.Second, time.Since(began))
	})
}

// After a delay, a single plan begins a round and runs its first calls. The viewer sees the events of the round in
// between.
func TestNothingIsCalledThatIsEndedOrPausedBeforeItsCall(t *testing.T) {
	for _, act := range []struct {
		name string
		do   func(*debate.Debate, context.Context) error
		want fsm.State
	}{
		{"stop", (*debate.Debate).Stop, fsm.Completed},
		{"cancel", (*debate.Debate).Cancel, fsm.Canceled},
		{"pause", (*debate.Debate).Pause, fsm.Paused},
	} {
		for name, handle := range map[string]func(*testing.T, *debate.Debate) *debate.Debate{
			"by the handle that runs": func(_ *testing.T, d *debate.Debate) *debate.Debate { return d },
			"by another engine":       func(t *testing.T, d *debate.Debate) *debate.Debate { return d.OpenWithProvider(t, talkingModel()) },
		} {
			for _, mode := range panelModes {
				t.Run(act.name+" "+name+" "+string(mode), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						m := slowModel()
						d := newPanelDebate(t, 5, func(c *debate.Config, o *debate.Options) {
							c.Protocol = panel.Protocol{Mode: mode}
							c.Limits.RoundDelay = time.Minute
							o.Providers["m"] = m
						})
						var acted time.Time
						for ev, err := range d.Run(t.Context()) {
							require.NoError(t, err)
							if p, ok := ev.(debate.PhaseStarted); ok && p.Round == 2 && p.Phase == "respond" {
								acted = time.Now()
								require.NoError(t, act.do(handle(t, d), t.Context()))
							}
						}
						require.Zero(t, time.Since(acted), "it ends at once")
						require.Len(t, m.Calls(), 2, "those of the first round")
						require.Equal(t, act.want, debatetest.Result(t, d).State)
					})
				})
			}
		}
	}
}

// failingLoadStore is a store that fails to load a number of times.
type failingLoadStore struct {
	store.Store
	store.Watcher
	times atomic.Int64
}

func (l *failingLoadStore) Load(ctx context.Context, id string, after int64) (store.Status, []store.Entry, error) {
	if l.times.Add(-1) >= 0 {
		return store.Status{}, nil, errNoSpace
	}
	return l.Store.Load(ctx, id, after)
}

// A store announces a commit once. If the driver cannot read then, it tries again.
func TestACallIsCutWhereTheStoreFailedAtTheFirstLook(t *testing.T) {
	for _, times := range []int64{1, 3} {
		synctest.Test(t, func(t *testing.T) {
			memory := store.Memory()
			s := &failingLoadStore{Store: memory, Watcher: memory.(store.Watcher)}
			d := newPanelDebate(t, 1, func(_ *debate.Config, o *debate.Options) {
				o.Store, o.Providers["m"] = s, debatetest.ProviderFunc(func(ctx context.Context, _ providers.Request) (providers.Response, error) {
					<-ctx.Done()
					return providers.Response{}, providers.ContextError(ctx, providers.Response{})
				})
			})
			elsewhere := debatetest.Engine(t, debate.Options{Store: memory})
			other := debatetest.Open(t, elsewhere, d.ID())
			ran := make(chan error, 1)
			go func() {
				_, err := debatetest.Run(t, d)
				ran <- err
			}()
			synctest.Wait() // the call is in flight
			s.times.Store(times)
			began := time.Now()
			require.NoError(t, other.Cancel(t.Context()))
			require.NoError(t, <-ran)
			require.LessOrEqual(t, time.Since(began), time.Duration(times)*time.Second)
			require.Negative(t, s.times.Load(), "it did fail")
			require.Equal(t, fsm.Canceled, debatetest.Result(t, d).State)
		})
	}
}

// schedulingStore is a store that has workers drive its debates.
type schedulingStore struct {
	store.Store
	store.Watcher
}

func (schedulingStore) Schedules() bool { return true }

func TestWhereWorkersDriveDoNeedsAPlan(t *testing.T) {
	do := func(t *testing.T, d *debate.Debate, want bool) {
		t.Helper()
		more, err := d.RunOnce(t.Context())
		require.NoError(t, err)
		require.Equal(t, want, more)
	}
	for _, tt := range []struct {
		name  string
		reach func(t *testing.T, d *debate.Debate)
		state fsm.State
	}{
		{"never started", func(*testing.T, *debate.Debate) {}, fsm.Configuring},
		{"rejected", func(t *testing.T, d *debate.Debate) {
			locked := d.OpenWithProvider(t,
				providerWithFailingCheck{talkingModel(), &providers.Error{Kind: providers.Authentication, Err: errors.New("set M_KEY")}})
			require.NoError(t, d.Start(t.Context()))
			_, err := locked.RunOnce(t.Context())
			require.ErrorAs(t, err, new(*debate.Problems))
		}, fsm.Configuring},
		{"paused", func(t *testing.T, d *debate.Debate) {
			require.NoError(t, d.Start(t.Context()))
			do(t, d, true)
			require.NoError(t, d.Pause(t.Context()))
		}, fsm.Paused},
		{"ready again", func(t *testing.T, d *debate.Debate) {
			broken := d.OpenWithProvider(t,
				failingProvider{&providers.Error{Kind: providers.Authentication, Err: errors.New("the key has expired")}})
			require.NoError(t, broken.Start(t.Context()))
			do(t, broken, true)
			_, err := broken.RunOnce(t.Context())
			require.ErrorAs(t, err, new(*debate.Failure))
			require.NoError(t, d.Retry(t.Context()))
		}, fsm.Ready},
		{"canceled", func(t *testing.T, d *debate.Debate) {
			require.NoError(t, d.Start(t.Context()))
			require.NoError(t, d.Cancel(t.Context()))
		}, fsm.Canceled},
	} {
		t.Run(tt.name, func(t *testing.T) {
			memory, m := store.Memory(), talkingModel()
			d := newPanelDebate(t, 1, func(_ *debate.Config, o *debate.Options) {
				o.Store, o.Providers["m"] = schedulingStore{memory, memory.(store.Watcher)}, m
			})
			tt.reach(t, d)
			before := debatetest.Status(t, d)
			require.Equal(t, tt.state, before.State)
			require.Zero(t, before.Plan)
			do(t, d, false)
			require.Equal(t, before, debatetest.Status(t, d))
			require.Empty(t, m.Calls())
		})
	}
}

// The turns of an actor in a parallel phase are committed in the order of its calls, so that what the engine learns from one
// call after the other does not depend on chance.
func TestTurnsOfAnActorAreCommittedInTheOrderOfItsCalls(t *testing.T) {
	phase := protocol.Phase{Name: "speak", Parallel: true}
	for i := range 60 {
		for _, name := range []string{"A", "B"} {
			phase.Steps = append(phase.Steps, debatetest.Step(name, strconv.Itoa(i), nil))
		}
	}
	cfg := debatetest.PairConfig(phased{phase})
	cfg.Judges, cfg.Limits = nil, debate.Limits{MaxRounds: 10, OutputTokens: 1 << 30}
	d := debatetest.New(t, cfg, debate.Options{Providers: map[string]providers.Provider{"m": talkingModel()}})
	list, err := debatetest.Run(t, d)
	require.NoError(t, err)
	last := map[string]transcript.Turn{}
	for _, ev := range list {
		if done, ok := ev.(debate.TurnDone); ok {
			before := last[done.Turn.Actor]
			require.True(t, before.Round < done.Turn.Round || before.Order < done.Turn.Order, "%s after %s", done.Turn.Key, before.Key)
			last[done.Turn.Actor] = done.Turn
		}
	}
	require.Equal(t, "59", last["A"].Target)
}

// crowd is a model that takes ten seconds for each reply, and knows which debates call it.
type crowd struct {
	mu            sync.Mutex
	order         []string // topics, by their first call
	calling, most int
	fails         string // topic of the debate whose calls fail
}

func (c *crowd) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	topic := ""
	for i := range 10 {
		question := fmt.Sprintf("Question %d?", i)
		asks := func(m providers.Message) bool { return strings.Contains(m.Text, question) }
		if slices.ContainsFunc(r.Messages, asks) {
			topic = question
		}
	}
	c.mu.Lock()
	if !slices.Contains(c.order, topic) {
		c.order = append(c.order, topic)
	}
	c.calling++
	c.most = max(c.most, c.calling)
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		c.calling--
		c.mu.Unlock()
	}()
	if err := sleepContext(ctx, 10*time.Second); err != nil {
		return providers.Response{}, providers.ContextError(ctx, providers.Response{})
	}
	if c.fails != "" && topic == c.fails {
		return providers.Response{}, &providers.Error{Kind: providers.Authentication, Err: errors.New("no key")}
	}
	return (&debatetest.DigestModel{Names: []string{"A", "B"}}).Generate(ctx, r)
}

// seen returns the topics so far, and the number of calls in progress now and at most.
func (c *crowd) seen() (order []string, calling, most int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.order), c.calling, c.most
}

// crowdEngine returns an engine that drives three debates at once.
func crowdEngine(t *testing.T, s store.Store, c *crowd) *debate.Engine {
	t.Helper()
	e := debatetest.Engine(t, debate.Options{
		Store: s, Name: "one", MaxDebates: 3, Providers: map[string]providers.Provider{"m": c, "j": c},
	})
	return e
}

// launchCrowd starts debates about ten questions.
func launchCrowd(t *testing.T, e *debate.Engine) (list []*debate.Debate, topics []string) {
	t.Helper()
	for i := range 10 {
		cfg := debatetest.PairConfig(nil)
		cfg.ID, cfg.Topic = fmt.Sprint("d", i), fmt.Sprintf("Question %d?", i)
		cfg.Limits.MaxRounds = 2
		d := debatetest.Call(t, e.Launch, cfg)
		list, topics = append(list, d), append(topics, cfg.Topic)
	}
	return list, topics
}

// states returns how many debates are in each state.
func states(t *testing.T, e *debate.Engine) map[fsm.State]int {
	t.Helper()
	n, err := e.Count(t.Context(), store.Query{})
	require.NoError(t, err)
	return n
}

func TestAnEngineDrivesDebatesInOrderUpToItsLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &crowd{fails: "Question 1?"}
		e := crowdEngine(t, store.Memory(), c)
		_, topics := launchCrowd(t, e)
		time.Sleep(5 * time.Second)
		_, calling, _ := c.seen()
		require.Equal(t, 3, calling)
		time.Sleep(time.Hour)
		require.Equal(t, map[fsm.State]int{fsm.Completed: 9, fsm.Error: 1}, states(t, e), "an error of one does not stop the others")
		order, _, most := c.seen()
		require.Equal(t, 3, most)
		require.ElementsMatch(t, topics[:3], order[:3])
		require.ElementsMatch(t, topics, order)
		require.NoError(t, e.Close(t.Context()))
	})
}

func TestAPausedDebateGivesUpItsPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &crowd{}
		e := crowdEngine(t, store.Memory(), c)
		list, _ := launchCrowd(t, e)
		time.Sleep(5 * time.Second)
		for _, d := range list[:3] {
			require.NoError(t, d.Pause(t.Context()))
		}
		require.NoError(t, list[9].Cancel(t.Context()), "a debate that waits can be canceled")
		time.Sleep(time.Hour)
		require.Equal(t, map[fsm.State]int{fsm.Completed: 6, fsm.Paused: 3, fsm.Canceled: 1}, states(t, e))
		for _, d := range list[:3] {
			require.NoError(t, d.Resume(t.Context()))
		}
		time.Sleep(time.Hour)
		require.Equal(t, map[fsm.State]int{fsm.Completed: 9, fsm.Canceled: 1}, states(t, e))
		_, _, most := c.seen()
		require.Equal(t, 3, most)
		require.NoError(t, e.Close(t.Context()))
	})
}

// A debate that waits for a person needs no place until the person has replied.
func TestADebateThatWaitsForAPersonGivesUpItsPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &crowd{}
		e := crowdEngine(t, store.Memory(), c)
		var list []*debate.Debate
		for i := range 10 {
			cfg := debatetest.PairConfig(nil)
			cfg.ID = fmt.Sprint("d", i)
			cfg.Topic = fmt.Sprintf("Question %d?", i)
			cfg.Limits.MaxRounds = 1
			if i < 4 {
				cfg.Participants[1] = debate.Participant{Name: "B", Human: true}
			}
			d := debatetest.Call(t, e.Launch, cfg)
			list = append(list, d)
		}
		time.Sleep(time.Hour)
		require.Equal(t, map[fsm.State]int{fsm.Completed: 6, fsm.Paused: 4}, states(t, e))
		for _, d := range list[:4] {
			asked := debatetest.Waiting(t, d)
			require.Len(t, asked, 1)
			require.NoError(t, d.Answer(t.Context(), asked[0].Key, "Because of the noise.", "Bea"))
		}
		time.Sleep(time.Hour)
		require.Equal(t, map[fsm.State]int{fsm.Completed: 10}, states(t, e))
		_, _, most := c.seen()
		require.Equal(t, 3, most)
		require.NoError(t, e.Close(t.Context()))
	})
}

func TestDebatesThatWaitSurviveTheirEngine(t *testing.T) {
	for name, ctx := range map[string]func() (context.Context, context.CancelFunc){
		"closed":  func() (context.Context, context.CancelFunc) { return context.WithCancel(context.Background()) },
		"crashed": func() (context.Context, context.CancelFunc) { return context.WithTimeout(context.Background(), 0) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, c := store.Memory(), &crowd{}
				e := crowdEngine(t, s, c)
				launchCrowd(t, e)
				time.Sleep(25 * time.Second)
				ctx, cancel := ctx()
				defer cancel()
				_ = e.Close(ctx)
				synctest.Wait()
				c.mu.Lock()
				require.Len(t, c.order, 3)
				require.Zero(t, c.calling)
				c.most = 0
				c.mu.Unlock()
				again := crowdEngine(t, s, c)
				require.NoError(t, again.Recover(t.Context()))
				time.Sleep(time.Hour)
				require.Equal(t, map[fsm.State]int{fsm.Completed: 10}, states(t, again))
				_, _, most := c.seen()
				require.Equal(t, 3, most)
				require.NoError(t, again.Close(t.Context()))
			})
		})
	}
}

// A reply of which nobody can see anything is asked for again.
func TestAReplyThatNobodyCanSeeIsNoReply(t *testing.T) {
	for name, text := range map[string]string{
		"zero-width spaces":   "\u200b\u200b\ufeff",
		"joiners and marks":   "\u200d\u200c\u200e\u2060",
		"fillers":             "\u3164\u115f\uffa0 \u2800",
		"variation selectors": "\ufe0f\ufe0e",
		"soft hyphens":        "\u00ad\n\t",
		"tags":                "\U000e0041\U000e0001",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // a call is tried again after a wait
				calls := 0
				model := &scripted.Provider{Func: func(providers.Request) scripted.Reply {
					calls++
					if calls == 1 {
						return scripted.Reply{Text: text}
					}
					return scripted.Reply{Text: "So it is."}
				}}
				e := debatetest.Engine(t, debate.Options{Providers: providersOf(model, scriptedJudge(t, 1))})
				d := debatetest.Create(t, e, debatetest.PairConfig(nil))
				debatetest.Finish(t, d)
				for _, turn := range debatetest.Result(t, d).Turns {
					require.NotContains(t, turn.Text, text)
				}
				wrong := d.Inject(t.Context(), debate.Remark{From: "Pat", Text: text})
				require.ErrorContains(t, wrong, "it is blank")
				require.ErrorContains(t, d.Annotate(t.Context(), text, 1), "it is blank")
			})
		})
	}
	for _, text := range []string{"👨‍👩‍👧", "x\u200b", "ﷺ"} { // visible, with characters that are not
		e := debatetest.Engine(t, debate.Options{})
		c := debatetest.PairConfig(nil)
		c.Topic = text
		debatetest.Create(t, e, c)
	}
}

// byPointer is a protocol whose methods need a pointer that is not nil.
type byPointer struct{ panel.Protocol }

func (p *byPointer) Name() string { return p.Protocol.Name() }

func TestANilPointerIsNoProtocol(t *testing.T) {
	c := debatetest.PairConfig(nil)
	for _, p := range []protocol.Protocol{(*byPointer)(nil), (*panel.Protocol)(nil)} {
		c.Protocol = p
		_, err := debate.New(t.Context(), c, debate.Options{Providers: providersOf(talkingModel(), scriptedJudge(t, 1))})
		require.ErrorContains(t, err, "protocol: it is a nil pointer of type *")
		_, err = debate.NewEngine(debate.Options{Protocols: []protocol.Protocol{p}})
		require.ErrorContains(t, err, "a protocol is nil")
		_, err = c.MarshalJSON()
		require.ErrorContains(t, err, "encode protocol: it is a nil pointer")
		e := debatetest.Engine(t, debate.Options{})
		c.Protocol = nil
		d := debatetest.Create(t, e, c)
		c.Protocol = p
		require.ErrorContains(t, d.Edit(t.Context(), c), "it is a nil pointer")
		_, err = e.Fork(t.Context(), d.ID(), 0, debate.Edits{Config: &c})
		require.ErrorContains(t, err, "it is a nil pointer")
	}
}

// An observer that ends its goroutine when a drive ends does not keep the debate from being driven again.
func TestAnObserverEndsItsGoroutineWithTheDrive(t *testing.T) {
	ends := true
	e := debatetest.Engine(t, debate.Options{
		Providers: providersOf(talkingModel(), scriptedJudge(t, 1)),
		Observer: debate.Observer{Begin: func(ctx context.Context, s debate.Step) (context.Context, func(debate.Outcome)) {
			if s.Key != (transcript.Key{}) {
				return ctx, nil
			}
			return ctx, func(debate.Outcome) {
				if ends {
					runtime.Goexit()
				}
			}
		}},
	})
	d := debatetest.Create(t, e, debatetest.PairConfig(nil))
	for _, drive := range []func(){
		func() { _, _ = d.RunOnce(context.Background()) },
		func() {
			for ev, err := range d.Run(context.Background()) {
				if ev != nil || err != nil {
					break
				}
			}
		},
	} {
		done := make(chan struct{})
		go func() {
			defer close(done)
			drive()
		}()
		<-done
	}
	ends = false
	_, err := debatetest.Run(t, d)
	require.NoError(t, err, "nobody drives it any more")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	require.NoError(t, e.Close(ctx))
}

// Warnings of providers may quote a service, so only LogTexts brings them into the log.
func TestWarningsOfProvidersAreNotLogged(t *testing.T) {
	for _, texts := range []bool{false, true} {
		log := &bytes.Buffer{}
		model := debatetest.ProviderFunc(func(context.Context, providers.Request) (providers.Response, error) {
			return providers.Response{Text: "So it is.", Warnings: []string{"SECRET TEXT"}}, nil
		})
		d := debatetest.New(t, debatetest.PairConfig(nil), debate.Options{
			Providers: providersOf(model, scriptedJudge(t, 1)), Logger: slog.New(slog.NewTextHandler(log, nil)), LogTexts: texts,
		})
		debatetest.Finish(t, d)
		require.Equal(t, texts, bytes.Contains(log.Bytes(), []byte("SECRET TEXT")))
		require.Equal(t, !texts, bytes.Contains(log.Bytes(), []byte(`msg="warning of a provider"`)))
		require.Contains(t, debatetest.Result(t, d).Warnings[0], "SECRET TEXT")
	}
}
