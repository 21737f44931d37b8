package debate_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/detect"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/transcript"
)

// naming is a panel whose judges are told of a participant by name, as what a step is about and in its parameters.
type naming struct{ panel.Protocol }

func (naming) Name() string { return "naming/1" }

func (p naming) Phases(r *protocol.Record) []protocol.Phase {
	phases := p.Protocol.Phases(r)
	if r.Cursor.Stage == transcript.Assessment {
		phases[0].Steps[0].Target, phases[0].Steps[0].Prompt = "Zelda", "named"
		phases[0].Steps[0].Vars = map[string]string{"format": "free-form", "who": "Zelda"}
	}
	return phases
}

func TestAdviceParametersAndTargetsReachAJudgeWithoutNames(t *testing.T) {
	j := labelled(t, 0)
	c := hearing("d", panel.Protocol{})
	c.Protocol, c.Limits.MaxRounds = naming{}, 3
	c.Watch = []detect.Rule{{Sign: detect.Repetitive, Use: detect.Advise}}
	d, err := debate.New(t.Context(), c, debate.Options{
		Providers: models(speakers, j), Protocols: []protocol.Protocol{naming{}},
		Prompts: fstest.MapFS{"named.tmpl": {Data: []byte(`{{define "system"}}{{template "judge" .}}{{end}}About {{.Vars.who}}, {{.Target.Name}}: {{range .Advice}}{{.}}{{end}}`)}},
	})
	require.NoError(t, err)
	_, err = run(t, d)
	require.NoError(t, err)
	all := ""
	for _, r := range j.Calls() {
		all += r.Messages[len(r.Messages)-1].Text + "\n"
	}
	require.Contains(t, all, "repetitive: mean overlap")
	require.Regexp(t, "About (Debater [AB]), (Debater [AB]):", all)
	require.NotRegexp(t, "Quentin|Zelda", all)
}

func TestANewRunIsMeasuredFromItsBeginning(t *testing.T) {
	broken := true
	m := chatter()
	c := watched(2, detect.Rule{Sign: detect.Repetitive}, detect.Rule{Sign: detect.Converged})
	var n atomic.Int64
	d, err := debate.New(t.Context(), c, debate.Options{Providers: models(generate(func(ctx context.Context, r providers.Request) (providers.Response, error) {
		if n.Add(1) > 2 && broken {
			return providers.Response{}, &providers.Error{Kind: providers.Authentication, Err: errors.New("the key has expired")}
		}
		return m.Generate(ctx, r)
	}), court(t, 9))})
	require.NoError(t, err)
	_, err = run(t, d)
	require.Error(t, err)
	require.Len(t, result(t, d).Findings, 2)
	require.NoError(t, d.Reset(t.Context()))
	require.Empty(t, result(t, d).Findings)
	broken = false
	_, err = run(t, d)
	require.NoError(t, err)
	require.Len(t, result(t, d).Findings, 4, "two of each round of the new run")
}

func TestRulesThatWereEditedHoldFromThenOn(t *testing.T) {
	m, broken := chatter(), true
	var n atomic.Int64
	c := watched(3, detect.Rule{Sign: detect.Repetitive})
	d, err := debate.New(t.Context(), c, debate.Options{Providers: models(generate(func(ctx context.Context, r providers.Request) (providers.Response, error) {
		if n.Add(1) > 4 && broken {
			return providers.Response{}, &providers.Error{Kind: providers.Authentication, Err: errors.New("the key has expired")}
		}
		return m.Generate(ctx, r)
	}), court(t, 9))})
	require.NoError(t, err)
	_, err = run(t, d)
	require.Error(t, err)
	require.NoError(t, d.Retry(t.Context()))
	c.Watch = []detect.Rule{{Sign: detect.Disengaged}}
	require.NoError(t, d.Edit(t.Context(), c))
	broken = false
	_, err = run(t, d)
	require.NoError(t, err)
	var signs []detect.Sign
	for _, f := range result(t, d).Findings {
		signs = append(signs, f.Sign)
	}
	require.Equal(t, []detect.Sign{detect.Repetitive, detect.Repetitive, detect.Disengaged}, signs)
}

func TestDefaultsAreNoMarks(t *testing.T) {
	c := watched(1, detect.Rule{Sign: detect.Drifting})
	j := &scripted.Provider{Func: func(r providers.Request) scripted.Reply { return scripted.Reply{Text: "No idea."} }}
	d, err := debate.New(t.Context(), c, debate.Options{Providers: models(chatter(), j)})
	require.NoError(t, err)
	_, err = run(t, d)
	require.NoError(t, err)
	require.True(t, strings.HasSuffix(result(t, d).Findings[0].Evidence, "no score of relevance"), result(t, d).Findings[0].Evidence)
}
