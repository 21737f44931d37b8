package forktest_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/enginetest"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/price"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/providers/tool"
	"github.com/elenchus-go/debate/transcript"
)

// A speech is repeated as it was: what it names like a source is not checked again when new judges have found sources.
func TestRepeatedTurnsAreNotCitedAgain(t *testing.T) {
	cfg := judged()["panel by scores"]
	search := tool.Func(tool.Spec{Name: "search", Description: "Searches."}, func(context.Context, struct{}) (tool.Result, error) {
		return tool.Result{Text: "Found.", Sources: []tool.Source{{Title: "Streets", Text: "Buses need less room than cars."}}}, nil
	})
	e, m := newEngine(t, cfg, func(o *debate.Options) { o.Tools = []tool.Tool{search} })
	m.alter = func(k transcript.Key, n int, reply *scripted.Reply) {
		switch {
		case !decides(cfg, k):
			reply.Text = "As I have read [1], buses need less room."
		case k.Actor == "new" && n == 1 && len(m.last(k).Tools) > 0:
			*reply = scripted.Reply{ToolCalls: []providers.ToolCall{{ID: "1", Name: "search", Arguments: []byte("{}")}}}
		}
	}
	parent := create(t, e, cfg)
	run(t, parent)
	judges := []debate.Participant{{Name: "new", Provider: "m", Tools: []string{"search"}}}
	d := rejudge(t, e, parent.ID(), debate.Rejudge{ID: "again", Judges: judges})
	run(t, d)
	require.NotEmpty(t, debatetest.Result(t, d).Sources, "the judge has found a source")
	require.Equal(t, kept(t, cfg, parent), kept(t, cfg, d))
	require.NoError(t, d.Verify(t.Context()))
}

// A protocol that holds a function is the parent's, whatever else is new.
func TestRejudgingWithAProtocolWithAFunction(t *testing.T) {
	cfg := lifeConfig()
	cfg.Protocol = ended{Protocol: panel.Protocol{ByScores: true}, After: func(round int) bool { return round == 2 }}
	e, _, parent := completed(t, cfg)
	d := rejudge(t, e, parent.ID(), debate.Rejudge{ID: "again", Judges: []debate.Participant{{Name: "new", Provider: "m"}}})
	run(t, d)
	require.Equal(t, debatetest.Result(t, parent).Ending, debatetest.Result(t, d).Ending)
	require.Empty(t, debatetest.Result(t, d).Rejudged.Departures)
}

// A judge who dropped out before the first decision stays out with other prices, and with nothing new.
func TestJudgesWhoDroppedOutStayOut(t *testing.T) {
	cfg := enginetest.PresetConfigs()["panel"]
	cfg.OnJudgeFailure, cfg.Judges = debate.DropJudge, []debate.Participant{{Name: "J", Provider: "m"}, {Name: "K", Provider: "m"}}
	e, m := newEngine(t, cfg)
	m.alter = func(k transcript.Key, _ int, reply *scripted.Reply) {
		if k.Actor == "K" && k.Phase == "assess" {
			reply.Err = &providers.Error{Kind: providers.ContentFiltered, Err: errors.New("refused")}
		}
	}
	parent := create(t, e, cfg)
	run(t, parent)
	for id, again := range map[string]debate.Rejudge{"same": {}, "prices": {Prices: price.Prices{"x": {Input: 1}}}} {
		again.ID = id
		m.take()
		run(t, rejudge(t, e, parent.ID(), again))
		for key := range m.take() {
			require.Equal(t, "J", key.Actor, id)
		}
	}
}

// A fork of a debate that failed may have a judge who is asked in the setup.
func TestAForkOfAnErrorHasANewSetup(t *testing.T) {
	cfg := enginetest.PresetConfigs()["panel in Oxford style"]
	e, m := newEngine(t, cfg)
	m.alter = func(k transcript.Key, _ int, reply *scripted.Reply) {
		if k.Actor == "J" && k.Phase == "audience-after" {
			reply.Err = &providers.Error{Kind: providers.InvalidRequest, Err: errors.New("no such model")}
		}
	}
	parent := create(t, e, cfg)
	_, err := debatetest.Run(t, parent)
	require.Error(t, err)
	m.alter = nil
	edited := cfg
	edited.Judges = append([]debate.Participant{{Name: "new", Provider: "m"}}, cfg.Judges[1:]...)
	d := debatetest.Fork(t, e, parent.ID(), 0, debate.Edits{ID: "fork", Config: &edited})
	require.NoError(t, d.Retry(t.Context()))
	run(t, d)
	require.Equal(t, fsm.Completed, debatetest.Status(t, d).State)
	require.NoError(t, d.Verify(t.Context()))
}
