package debate_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/judge/decision"
	"github.com/elenchus-go/debate/judge/reply"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
)

type refund struct {
	Why     string `json:"why" jsonschema:"minLength=1"`
	Percent int    `json:"percent" jsonschema:"minimum=0,maximum=100" decision:"choice"`
}

type safeRefund struct{ refund }

func (*safeRefund) Default([]string) {}

var refundContract = reply.New[refund]("root-refund/1")

// decidingPanel returns a debate whose judges decide by a contract of the user's, with the given replies by judge.
func decidingPanel(t *testing.T, judges map[string]string, change func(*debate.Config, *debate.Options)) *debate.Debate {
	t.Helper()
	return newPanelDebate(t, 1, func(c *debate.Config, o *debate.Options) {
		c.Protocol, o.Contracts = panel.Protocol{Decision: decision.Task{Contract: refundContract.Name()}}, []*reply.Contract{refundContract}
		c.Judges = nil
		for _, name := range []string{"J", "K", "L"} {
			if _, sits := judges[name]; sits {
				c.Judges = append(c.Judges, debate.Participant{Name: name, Provider: "j", Model: name})
			}
		}
		others := scriptedJudgeOfAll(t, 1)
		o.Providers["j"] = &scripted.Provider{Func: func(r providers.Request) scripted.Reply {
			if r.SchemaName == refundContract.Name() {
				return scripted.Reply{Text: judges[r.Model]}
			}
			return others.Func(r)
		}}
		if change != nil {
			change(c, o)
		}
	})
}

func TestJudgesDecideInAContractOfTheUsers(t *testing.T) {
	d := decidingPanel(t, map[string]string{"J": `{"why": "It was broken.", "percent": 100}`, "K": `{"why": "It was late.", "percent": 50}`, "L": `{"why": "So?", "percent": 100}`}, nil)
	res := debatetest.RunResult(t, d)
	var j decision.Joint[refund]
	require.NoError(t, res.Answer.Decode(decision.Type, &j))
	require.Equal(t, "100", j.Choice)
	require.Equal(t, "percent", j.Field)
	require.Equal(t, refund{"It was broken.", 100}, j.Value)
	require.Equal(t, []string{"K: 50"}, j.Dissent)
	require.Len(t, j.Scores, 2)
	_, err := panel.DecodeAnswer(res.Answer)
	require.ErrorContains(t, err, `its type is "joint-decision/1", want "panel/1"`)
	require.Equal(t, res.Answer, debatetest.Result(t, d.OpenWithProvider(t, talkingModel())).Answer, "another process reads the same")
}

// There is no decision to fall back on, so the debate must not end with one.
func TestAContractWithoutADefaultMakesAFailureAnError(t *testing.T) {
	d := decidingPanel(t, map[string]string{"J": "I cannot say."}, nil)
	_, err := debatetest.Run(t, d)
	require.Error(t, err)
	res := debatetest.Result(t, d)
	require.Equal(t, fsm.Error, res.State)
	require.Equal(t, "J", res.Failure.Key.Actor)
	require.Empty(t, res.Answer.Data)
}

func TestAContractWithADefaultEndsTheDebateWithoutADecision(t *testing.T) {
	safe := reply.New[safeRefund]("root-safe/1")
	d := decidingPanel(t, map[string]string{"J": ""}, func(c *debate.Config, o *debate.Options) {
		c.Protocol, o.Contracts = panel.Protocol{Decision: decision.Task{Options: []string{"Yes", "No"}}}, []*reply.Contract{safe}
		others := scriptedJudgeOfAll(t, 1)
		o.Providers["j"] = &scripted.Provider{Func: func(r providers.Request) scripted.Reply {
			if r.SchemaName == decision.Contract.Name() {
				return scripted.Reply{Text: "I cannot say."}
			}
			return others.Func(r)
		}}
	})
	debatetest.Finish(t, d)
	var j decision.Joint[decision.Choice]
	require.NoError(t, debatetest.Result(t, d).Answer.Decode(decision.Type, &j))
	require.True(t, j.Failed)
	require.Zero(t, j.Option)
}

func TestADecisionWithoutItsContractIsLeftAlone(t *testing.T) {
	cfg := debatetest.PairConfig(panel.Protocol{Decision: decision.Task{Contract: "nobody-knows/1"}})
	_, err := debate.New(t.Context(), cfg, debate.Options{Providers: providersOf(talkingModel(), talkingModel())})
	require.ErrorContains(t, err, `reply contract "nobody-knows/1" is unknown, add it to Options.Contracts`)
}

func TestADecisionBetweenNoOptionsIsRefused(t *testing.T) {
	for _, name := range []string{"panel/1", "procon/1"} {
		var c debate.Config
		require.NoError(t, c.UnmarshalJSON([]byte(`{"topic": "t", "participants": [{"name": "A", "position": "x"}, {"name": "B", "position": "y"}], "judges": [{"name": "J"}],
			"protocol": {"name": "`+name+`", "decision": {"options": []}}}`)))
		_, err := debate.New(t.Context(), c, debate.Options{Providers: providersOf(talkingModel(), talkingModel())})
		require.ErrorContains(t, err, "protocol.decision: the number of options is 0, use 2 to 16")
	}
}

// A person decides with the same fields as a model.
func TestAPersonDecides(t *testing.T) {
	d := newPanelDebate(t, 1, func(c *debate.Config, o *debate.Options) {
		c.Protocol = panel.Protocol{Decision: decision.Task{Options: []string{"Refund", "Refuse"}}}
		c.Judges = append(c.Judges, debate.Participant{Name: "Pat", Human: true})
		c.Limits.MaxRounds = 1
		m := scriptedJudgeOfAll(t, 1)
		o.Providers["j"] = &scripted.Provider{Func: func(r providers.Request) scripted.Reply {
			if r.SchemaName == decision.Contract.Name() {
				return scripted.Reply{Text: `{"summary": "s", "reasons": [{"text": "t"}], "option": 2, "confidence": 70}`}
			}
			return m.Func(r)
		}}
	})
	for {
		debatetest.Finish(t, d)
		list := debatetest.Waiting(t, d)
		if len(list) == 0 {
			break
		}
		text := assessmentReply(t, false, "A", "B")
		if list[0].Contract == decision.Contract.Name() {
			require.Contains(t, list[0].Task, "1. Refund\n2. Refuse")
			require.Contains(t, list[0].Fields, "would_change")
			require.Error(t, d.Answer(t.Context(), list[0].Key, `{"summary": "s", "reasons": [{"text": "t"}], "option": 9, "confidence": 70}`, ""))
			text = `{"summary": "s", "reasons": [{"text": "t", "speaker": "B", "round": 1}], "option": 2, "confidence": 80}`
		}
		require.NoError(t, d.Answer(t.Context(), list[0].Key, text, ""))
	}
	var j decision.Joint[decision.Choice]
	require.NoError(t, debatetest.Result(t, d).Answer.Decode(decision.Type, &j))
	require.Equal(t, 2, j.Option)
	require.Equal(t, 75.0, j.Confidence)
	require.Equal(t, []decision.Votes{{Choice: "Refuse", Option: 2, Judges: []string{"J", "Pat"}}}, j.Votes)
}
