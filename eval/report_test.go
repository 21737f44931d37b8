package eval_test

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/eval"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/golden"
	"github.com/elenchus-go/debate/providers"
)

// evaluated returns the report of three arms on two hundred questions, which tests share.
func evaluated(t *testing.T) *eval.Report {
	t.Helper()
	evaluation.Do(func() { evaluation.report = evaluate(t) })
	require.NotNil(t, evaluation.report)
	return evaluation.report
}

var evaluation struct {
	sync.Once

	report *eval.Report
}

func evaluate(t *testing.T) *eval.Report {
	t.Helper()
	e := eval.Evaluation{
		Name: "votes", Tasks: questions(200), Arms: []eval.Arm{samples(t, "single", 1), samples(t, "vote", 7), debaters(t, "debate")},
		Require: []string{"vote > single", "vote >= 0.7", "single >= vote", "vote > single@vote", "single > 0.9", "debate > single"},
	}
	p := debatetest.Call(t, e.Run, options(&simulated{accuracy: 0.7}))
	return withoutTimes(p)
}

func TestReports(t *testing.T) {
	p := evaluated(t)
	var markdown, html bytes.Buffer
	require.NoError(t, p.Markdown(&markdown))
	require.NoError(t, p.HTML(&html))
	golden.Require(t, "testdata/report.md", markdown.String())
	require.Contains(t, html.String(), "<svg")
	require.Contains(t, html.String(), "single@vote")
	for d := xml.NewDecoder(bytes.NewReader(html.Bytes())); ; {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
	}
	raw, err := json.Marshal(p)
	require.NoError(t, err)
	var again eval.Report
	require.NoError(t, json.Unmarshal(raw, &again))
	require.Equal(t, p, &again)
}

// The report says in a sentence if an arm is worse.
func TestAnArmThatIsWorse(t *testing.T) {
	config := func(name string) eval.Arm {
		return arm(t, name, eval.Samples(debate.Participant{Name: name, Model: "m"}, 1))
	}
	answers := debatetest.ProviderFunc(func(ctx context.Context, _ providers.Request) (providers.Response, error) {
		step, _ := debate.StepFrom(ctx)
		return ballot(map[string]string{"ann": "1", "bo": "0"}[step.Key.Actor], 10), nil
	})
	e := eval.Evaluation{Name: "worse", Tasks: questions(40), Arms: []eval.Arm{config("ann"), config("bo")}, Budget: eval.NoBudget}
	p := debatetest.Call(t, e.Run, options(answers))
	require.Len(t, p.Summary, 1)
	require.Regexp(t, `^bo is worse than ann by 1\.000 \[0\.\d+, 1\.000\] on these 40 questions\.$`, p.Summary[0])
	require.True(t, p.Arms[0].Unbeaten)
	require.False(t, p.Arms[1].Unbeaten)
}

// A requirement is met only if the interval shows it.
func TestRequirements(t *testing.T) {
	p := evaluated(t)
	var unmet []string
	for _, text := range p.Unmet {
		unmet = append(unmet, text[:bytes.IndexByte([]byte(text), ':')])
	}
	require.Equal(t, []string{"single >= vote is not shown", "vote > single@vote is not shown", "single > 0.9 is not shown", "debate > single is not shown"}, unmet)
}
