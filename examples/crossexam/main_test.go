package main

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/examples/offline"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/consoletest"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

func speaker() providers.Provider { return script{offline.Model(false)} }

func engine(t *testing.T, s store.Store, model providers.Provider) *debate.Engine {
	t.Helper()
	o := options(model)
	o.Store = s
	e, err := debate.NewEngine(o)
	require.NoError(t, err)
	return e
}

// hold runs a debate of two rounds to its end and returns its result.
func hold(t *testing.T, followUps int, model providers.Provider) *debate.Result {
	t.Helper()
	d, err := engine(t, nil, model).Create(t.Context(), named("d", followUps))
	require.NoError(t, err)
	finish(t, d)
	r, err := d.Result(t.Context())
	require.NoError(t, err)
	return r
}

func named(id string, followUps int) debate.Config {
	c := config("Should tea be free?", followUps, 2)
	c.ID = id
	return c
}

func finish(t *testing.T, d *debate.Debate) {
	t.Helper()
	for _, err := range d.Run(t.Context()) {
		require.NoError(t, err)
	}
}

// steps returns the phase and the actor of each turn.
func steps(turns []transcript.Turn) (list []string) {
	for _, turn := range turns {
		list = append(list, turn.Phase+" "+turn.Actor)
	}
	return list
}

func TestTheProgram(t *testing.T) {
	code, stdout, stderr := consoletest.Run(t, run, "-rounds", "2", "Should tea be free?")
	require.Equal(t, 0, code, stderr)
	require.Contains(t, stdout, "Should tea be free?\n\nOn the topic “Should tea be free?”")
	require.Regexp(t, `Ada · Ada-asks-1, Bo · .*\n  Please answer directly: does the status quo have costs, yes or no\?\n\nBo · Bo-answers-1, Ada · .*\n  Yes, but the costs`, stderr)
}

// Bo evades Ada's first question and is asked again. Ada answers plainly and is not.
func TestAnEvasiveAnswerBringsAFurtherQuestion(t *testing.T) {
	r := hold(t, 1, speaker())
	require.Equal(t, fsm.Completed, r.State)
	require.Equal(t, transcript.RoundLimit, r.Ending.Outcome)
	require.Equal(t, []string{
		"opening Ada", "opening Bo",
		"Ada-asks-0 Ada", "Bo-answers-0 Bo", "Ada-asks-1 Ada", "Bo-answers-1 Bo",
		"Bo-asks-0 Bo", "Ada-answers-0 Ada",
		"verdict Judge",
	}, steps(r.Turns))
	require.Equal(t, "That depends on what you compare it with.", r.Turns[3].Text)
	require.Contains(t, r.Answer.Text, "Winner: ")
}

func TestFurtherQuestionsAreBounded(t *testing.T) {
	evader := &scripted.Provider{Func: func(r providers.Request) scripted.Reply {
		if r.SchemaName == answerContract.Name() {
			return scripted.Reply{Text: `{"reply": "Who knows?", "evasive": true}`}
		}
		said, err := speaker().Generate(t.Context(), r)
		require.NoError(t, err)
		return scripted.Reply{Text: said.Text}
	}}
	for followUps, questions := range map[int]int{0: 2, 1: 4, 3: 8} {
		asked := 0
		for _, step := range steps(hold(t, followUps, evader).Turns) {
			if strings.Contains(step, "asks") {
				asked++
			}
		}
		require.Equal(t, questions, asked, "with %d follow-ups", followUps)
	}
}

// An invalid answer counts as evasive and is flagged.
func TestAnInvalidAnswerIsAskedForAgain(t *testing.T) {
	mumbler := &scripted.Provider{Func: func(r providers.Request) scripted.Reply {
		if r.SchemaName == answerContract.Name() {
			return scripted.Reply{Text: "Hm."}
		}
		said, err := speaker().Generate(t.Context(), r)
		require.NoError(t, err)
		return scripted.Reply{Text: said.Text}
	}}
	r := hold(t, 1, mumbler)
	require.Equal(t, fsm.Completed, r.State)
	require.Equal(t, "No valid answer.", r.Turns[3].Text)
	require.Contains(t, r.Turns[3].Flags, transcript.Defaulted)
	require.Equal(t, "Ada-asks-1", r.Turns[4].Phase)
}

// The answering side reads the question, and the asking side reads the evasive answer.
func TestPrompts(t *testing.T) {
	model := &scripted.Provider{Func: func(r providers.Request) scripted.Reply {
		said, err := speaker().Generate(t.Context(), r)
		require.NoError(t, err)
		return scripted.Reply{Text: said.Text}
	}}
	hold(t, 1, model)
	for i, want := range map[int][]string{
		2: {" begin: Bo, round 1>>>\n", "Round 2 of 2. Put one question to Bo. "},
		3: {" begin: Ada on Bo, round 2>>>\nAre you satisfied with the status quo?", "Answer the question that Ada has just asked you", "- evasive ("},
		4: {" begin: Bo on Ada, round 2>>>\nThat depends on what you compare it with.", "Put one question to Bo. "},
	} {
		var text strings.Builder
		for _, m := range model.Calls()[i].Messages {
			text.WriteString(m.Text + "\n")
		}
		for _, part := range want {
			require.Contains(t, text.String(), part, "call %d", i)
		}
	}
}

// An engine that continues a debate at any point produces the same transcript.
func TestAnotherEngineTakesOver(t *testing.T) {
	whole := hold(t, 1, speaker())
	for stop := 1; stop < 30; stop++ {
		kept := store.Memory()
		d, err := engine(t, kept, speaker()).Create(t.Context(), named("d", 1))
		require.NoError(t, err)
		if leave(t, d, stop) {
			require.Greater(t, stop, 20, "the debate has more entries")
			return
		}
		e := engine(t, kept, speaker())
		again, err := e.Open(t.Context(), "d")
		require.NoError(t, err)
		finish(t, again)
		r, err := again.Result(t.Context())
		require.NoError(t, err)
		require.Equal(t, said(whole.Turns), said(r.Turns), "continued after %d entries", stop)
		require.Equal(t, whole.Answer, r.Answer)
	}
	t.Fatal("the debate does not end")
}

// leave runs a debate up to a number of entries, and reports whether the debate ended before.
func leave(t *testing.T, d *debate.Debate, entries int) (ended bool) {
	t.Helper()
	for event, err := range d.Run(t.Context()) {
		require.NoError(t, err)
		if stamp := event.Meta(); !stamp.Live && stamp.Seq > int64(entries) {
			return false
		}
	}
	return true
}

// said returns the turns without the fields that depend on time.
func said(turns []transcript.Turn) (list []transcript.Turn) {
	for _, turn := range turns {
		list = append(list, transcript.Turn{Key: turn.Key, Kind: turn.Kind, Order: turn.Order, Text: turn.Text, Contract: turn.Contract, Data: turn.Data})
	}
	return list
}

func TestADebateIsReadBackFromJSON(t *testing.T) {
	kept := store.Memory()
	d, err := engine(t, kept, speaker()).Create(t.Context(), named("d", 2))
	require.NoError(t, err)
	finish(t, d)
	want, err := d.Result(t.Context())
	require.NoError(t, err)

	e := engine(t, kept, speaker())
	again, err := e.Open(t.Context(), "d")
	require.NoError(t, err)
	got, err := again.Result(t.Context())
	require.NoError(t, err)
	require.Equal(t, want, got)

	written, err := json.Marshal(named("d", 2))
	require.NoError(t, err)
	require.Contains(t, string(written), `"protocol":{"name":"cross/1","follow_ups":2}`)
	read, err := e.ParseConfig(written)
	require.NoError(t, err)
	require.Equal(t, named("d", 2), read)
}

func TestWhatIsWrongIsTold(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*debate.Config)
		want   string
	}{
		"one side":           {func(c *debate.Config) { c.Participants = c.Participants[:1] }, "participants: 1 enabled, want 2"},
		"negative questions": {func(c *debate.Config) { c.Protocol = Cross{FollowUps: -1} }, "protocol.follow_ups: -1, want 0 or more"},
	} {
		t.Run(name, func(t *testing.T) {
			c := named("d", 1)
			test.change(&c)
			_, err := engine(t, nil, speaker()).Create(t.Context(), c)
			require.ErrorContains(t, err, test.want)
		})
	}
}

func TestADebateMayLackAJudge(t *testing.T) {
	c := named("d", 1)
	c.Judges = nil
	d, err := engine(t, nil, speaker()).Create(t.Context(), c)
	require.NoError(t, err)
	finish(t, d)
	r, err := d.Result(t.Context())
	require.NoError(t, err)
	require.Equal(t, fsm.Completed, r.State)
	require.Zero(t, r.Answer)
}

func TestADebateThatLosesASideEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := hold(t, 1, failing{speaker()})
		require.Equal(t, fsm.Completed, r.State)
		require.Equal(t, transcript.QuorumLost, r.Ending.Outcome)
		require.Equal(t, []string{"opening Ada", "opening Bo", "verdict Judge"}, steps(r.Turns))
	})
}

// failing is a model that fails to ask questions.
type failing struct{ providers.Provider }

func (f failing) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	if strings.Contains(r.Messages[len(r.Messages)-1].Text, "Put one question") {
		return providers.Response{}, &providers.Error{Kind: providers.Timeout, Err: context.DeadlineExceeded}
	}
	return f.Provider.Generate(ctx, r)
}

// A protocol, its prompts and its contract take 60 lines, not counting imports, comments and blank lines.
func TestTheProtocolIsShort(t *testing.T) {
	lines := 0
	for _, file := range []string{"protocol.go", "ask.tmpl", "answer.tmpl"} {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		program := string(text)
		if strings.HasSuffix(file, ".go") {
			_, program, _ = strings.Cut(program, "\n)\n")
		}
		for line := range strings.Lines(program) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
				lines++
			}
		}
	}
	require.LessOrEqual(t, lines, 60)
	t.Logf("%d lines", lines)
}

var _ protocol.Protocol = Cross{}
