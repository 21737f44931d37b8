package debate_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
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
	opts := debate.Options{Store: memory, Providers: providersOf(&debatetest.DigestModel{Names: []string{"A", "B"}}, scriptedJudge(t, 1)), Protocols: []protocol.Protocol{debatetest.Mesh{}}}
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
				Store: store.Memory(), Providers: providersOf(modelFailingFirst(tt.fails, providers.Authentication, transcript.Usage{}), scriptedJudge(t, 3)),
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
		"ask.tmpl":    {Data: []byte(`{{define "system"}}You are {{.Me.Name}}, on {{.Topic}}.{{end}}Ask {{with .Target}}{{.Name}}{{end}} one question.`)},
		"answer.tmpl": {Data: []byte(`{{define "system"}}You are {{.Me.Name}}, on {{.Topic}}.{{end}}Answer {{with .Target}}{{.Name}}{{end}}. {{.ReplyFields}}`)},
	}
	model := scripted.Text(
		"Where were the buses?", `{"reply": "Somewhere.", "evasive": true}`, "Where exactly?", `{"reply": "In the depot.", "evasive": false}`,
		"Who pays?", `{"reply": "All do.", "evasive": false}`,
	)
	d := debatetest.New(t, debate.Config{
		Topic: "Ban cars?", Protocol: crossExamination{FollowUps: 1}, Participants: []debate.Participant{{Name: "A"}, {Name: "B"}}, Limits: debate.Limits{MaxRounds: 1},
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
		"actor":    {protocol.Step{Key: transcript.Key{Actor: "Zoe"}, Prompt: "free-form"}, `phase "odd": plan step odd: "Zoe" is not a participant, judge or system actor`},
		"prompt":   {protocol.Step{Key: transcript.Key{Actor: "A"}, Prompt: "rebutal"}, `prompt "rebutal"`},
		"contract": {protocol.Step{Key: transcript.Key{Actor: "A"}, Prompt: "free-form", Contract: "song/1"}, `reply contract "song/1" is unknown`},
		"variable": {protocol.Step{Key: transcript.Key{Actor: "A"}, Prompt: "sing"}, `map has no entry for key "tune"`},
	} {
		for round, p := range map[string]protocol.Protocol{"first": oneStepProtocol{tt.step}, "last": lastRound{oneStepProtocol{tt.step}}, "declared": declared{oneStepProtocol{tt.step}}} {
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
	if _, err = d.Status(t.Context()); err != nil {
		return err
	}
	if _, err = d.Result(t.Context()); err != nil {
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
		transitionRow(4, "ready", "start", "initializing", ""), transitionRow(5, "initializing", "initialized", "running.awaiting_responses", `, "round": 1`),
	}
	then := func(list ...any) []any { return slices.Concat(started, list) }
	const turn = `{"type": "turn", "seq": %d, "turn": {"run": 1, "round": %d, "phase": "respond", "actor": "A", "kind": "speech", "text": "x"}}`
	for name, tt := range map[string]struct {
		rows  []any
		entry int    // the wrong entry
		says  string // part of the error message
	}{
		"no JSON":                      {[]any{`{"type": "con`}, 1, "unexpected end of JSON input"},
		"no object":                    {[]any{`7`}, 1, "parse event"},
		"null":                         {[]any{`null`}, 1, `type "" is unknown`},
		"no JSON at all":               {[]any{7}, 1, "data is int"},
		"nothing":                      {[]any{nil}, 1, "data is <nil>"},
		"a type that is unknown":       {[]any{config, `{"type": "thunder", "seq": 2}`}, 2, `type "thunder" is unknown`},
		"a live event":                 {[]any{config, `{"type": "warning", "seq": 2, "live": true}`}, 2, `type "warning" is not an entry of a journal`},
		"a number too high":            {[]any{config, `{"type": "annotated", "seq": 3}`}, 2, "it has the seq 2, but its data has 3"},
		"a number twice":               {[]any{config, `{"type": "annotated", "seq": 1}`}, 2, "it has the seq 2, but its data has 1"},
		"a field of another type":      {[]any{config, `{"type": "state", "seq": 2, "to": 7}`}, 2, `parse event of type "state"`},
		"no configuration first":       {[]any{`{"type": "annotated", "seq": 1, "name": "a", "value": 1}`}, 1, "the journal must begin with a configuration"},
		"a turn first":                 {[]any{`{"type": "turn", "seq": 1, "turn": {"run": 1, "phase": "x", "actor": "A", "kind": "speech"}}`}, 1, "the journal must begin with a configuration"},
		"a configuration that is null": {[]any{`{"type":"config","seq":1,"format":1, "secret": "AAAAAAAAAAAAAAAAAAAAAA", "config": null}`}, 1, "the configuration has no protocol"},
		"no configuration in it":       {[]any{`{"type": "config", "seq": 1, "format": 1, "secret": "AAAAAAAAAAAAAAAAAAAAAA"}`}, 1, "unexpected end of JSON input"},
		"no secret":                    {[]any{`{"type": "config", "seq": 1, "format": 1, "config": {"topic": "x"}}`}, 1, "the first entry has no secret"},
		"no format":                    {[]any{`{"type": "config", "seq": 1, "config": {"topic": "x"}}`}, 1, "the format is 0, want 1"},
		"no protocol":                  {[]any{`{"type":"config","seq":1,"format":1, "secret": "AAAAAAAAAAAAAAAAAAAAAA", "config": {"topic": "x"}}`}, 1, "the configuration has no protocol"},
		"a protocol without a name":    {[]any{`{"type":"config","seq":1,"format":1, "secret": "AAAAAAAAAAAAAAAAAAAAAA", "config": {"topic": "x", "protocol": {}}}`}, 1, "protocol.name"},

		"an unknown transition":         {[]any{config, transitionRow(2, "configuring", "start", "initializing", "")}, 2, "no such transition"},
		"an unknown state":              {[]any{config, transitionRow(2, "configuring", "validate", "thinking", "")}, 2, "no such transition"},
		"an error without a failure":    {then(transitionRow(6, "running.awaiting_responses", "fail", "error", `, "round": 1`)), 6, "the entry has no failure"},
		"a failure of a later round":    {then(transitionRow(6, "running.awaiting_responses", "fail", "error", `, "round": 1, "failure": {"key": {"round": 9}}`)), 6, "it belongs to round 9"},
		"a failure of a negative round": {then(transitionRow(6, "running.awaiting_responses", "fail", "error", `, "round": 1, "failure": {"key": {"round": -1}}`)), 6, "it belongs to round -1"},
		"a question of a later round": {
			then(transitionRow(6, "running.awaiting_responses", "pause", "paused", `, "round": 1, "question": {"failure": {"key": {"round": 9}}}`)), 6, "it belongs to round 9",
		},
		"a drop without a failure":         {then(`{"type": "dropped", "seq": 6, "name": "A"}`), 6, "the entry has no failure"},
		"a drop of a later round":          {then(`{"type": "dropped", "seq": 6, "name": "A", "failure": {"key": {"round": 9}}}`), 6, "it belongs to round 9"},
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
	require.NoError(t, memory.Commit(t.Context(), store.Change{ID: "d", After: 1, Entries: []store.Entry{bad}, Status: store.Status{ID: "d", Seq: 2}}))
	n, err := countEvents(d.Watch(t.Context(), 0))
	require.Equal(t, 1, n, "what can be read is shown")
	require.EqualError(t, err, `read entry 2 of debate d: parse event: type "thunder" is unknown`)
}

// Fields that a stored configuration or question omits are not required.
func TestARowThatLeavesSomethingOut(t *testing.T) {
	t.Run("a temperature", func(t *testing.T) {
		d := openRows(t, `{"type":"config","seq":1,"format":1, "secret": "AAAAAAAAAAAAAAAAAAAAAA", "config": {"topic": "x", "protocol": {"name": "panel/1"},
			"participants": [{"name": "A", "provider": "m"}, {"name": "B", "provider": "m"}], "judges": [{"name": "J", "provider": "j"}]}}`)
		_, err := debatetest.Run(t, d)
		require.ErrorIs(t, err, debate.ErrUnsupported, "the retriever has no provider")
	})
	t.Run("a question's failure", func(t *testing.T) {
		list := []any{
			validConfigRow(t), transitionRow(2, "configuring", "validate", "validating", ""), transitionRow(3, "validating", "accept", "ready", ""),
			transitionRow(4, "ready", "start", "initializing", ""), transitionRow(5, "initializing", "initialized", "running.awaiting_responses", `, "round": 1`),
			transitionRow(6, "running.awaiting_responses", "pause", "paused", `, "round": 1, "question": {"cause": "Shall it?", "choices": [{"action": "end"}, {"action": "drop"}]}`),
		}
		d := openRows(t, list...)
		require.ErrorContains(t, d.Decide(t.Context(), debatetest.Result(t, d).Question.ID, "drop"), "the question has no actor to drop")
		require.NoError(t, d.Decide(t.Context(), debatetest.Result(t, d).Question.ID, "end"))
		require.Contains(t, debatetest.Result(t, d).Ending.Evidence, "Shall it?")
	})
}

func TestSurvivesACrash(t *testing.T) {
	ctx := t.Context()
	model := scripted.Text("Cars are freedom.", "Cars are noise.", "Freedom ends at the kerb.", "Freedom ends at the kerb.", "Buses are slow.") // the third call is canceled and repeated
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
