package localtest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/fakellm"
	"github.com/elenchus-go/debate/internal/test/golden"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

const smallWindow = 4096

// smallRun is what a debate of a preset does in a window of 4,096 tokens.
type smallRun struct {
	stops             string // why it did not end, or ""
	replies, defaults int
	speeches, omitted int // speeches, and how many of them did not see the whole history
}

func (r smallRun) String() string {
	if r.stops != "" {
		return r.stops
	}
	return fmt.Sprintf("%d of %d, %d %%", r.defaults, r.replies, 100*r.omitted/max(r.speeches, 1))
}

// runSmall runs a debate of five rounds on a server with a window of 4,096 tokens, with a limit for the tokens of each reply.
func runSmall(t *testing.T, p preset, limit int) (run smallRun) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		model := &schemaModel{}
		s := &fakellm.OllamaServer{NumCtx: smallWindow, Reply: func(r fakellm.OllamaRequest) string {
			asked := providers.Request{Schema: r.Format}
			for _, m := range r.Messages {
				asked.Messages = append(asked.Messages, providers.Message{Role: providers.Role(m.Role), Text: m.Content})
			}
			res, err := model.Generate(t.Context(), asked)
			assert.NoError(t, err)
			return res.Text
		}}
		c := p.config("small", 5, smallWindow)
		c.Limits.StepTokens, c.Limits.JudgeTokens = limit, limit
		d := debatetest.New(t, c, debate.Options{Providers: map[string]providers.Provider{"m": viaOllama(t, s.Start(t), smallWindow)}})
		_, err := debatetest.Run(t, d)
		run.count(debatetest.Result(t, d), err)
	})
	return run
}

func (r *smallRun) count(result *debate.Result, err error) {
	var failure *debate.Failure
	switch {
	case errors.As(err, &failure):
		r.stops = "fails: " + string(failure.Kind)
	case err != nil:
		r.stops = "refused"
	case result.Ending.Outcome == transcript.QuorumLost:
		r.stops = "ends: a participant fails"
	}
	for _, turn := range result.Turns {
		switch {
		case len(turn.Attempts) == 0:
		case turn.Contract != "":
			r.replies++
			if slices.Contains(turn.Flags, transcript.Defaulted) {
				r.defaults++
			}
		default:
			r.speeches++
			if turn.Window != nil && turn.Window.Omitted > 0 {
				r.omitted++
			}
		}
	}
}

func TestSmallWindows(t *testing.T) {
	var b strings.Builder
	b.WriteString(smallText)
	for _, p := range presets {
		fmt.Fprintf(&b, "| %s |", p.name)
		for _, limit := range []int{0, 1024, 512, 256} {
			run := runSmall(t, p, limit)
			if limit == 0 {
				assert.Empty(t, run.stops, p.name)
				assert.LessOrEqual(t, run.defaults*20, run.replies, p.name)
			}
			fmt.Fprintf(&b, " %s |", run)
		}
		b.WriteString("\n")
	}
	b.WriteString(smallRest)
	golden.Section(t, page, "small windows", b.String())
}

const smallText = `
` + "`go test ./internal/test/localtest -update`" +
	` runs the protocols of the library against a stand-in for Ollama with a window of 4,096 tokens, and
writes this table. Debates have five rounds (arbitration has three, council one), and the model is the one above. All prompts and replies are in the window: the server refuses a prompt that is too long, and ends a reply that
fills the window. The columns are values of ` + "`limits.step_tokens` and `limits.judge_tokens`" + `. Each cell shows how many
structured replies were defaults, and the share of speeches whose prompt omitted a part of the history.

| protocol | default | 1,024 | 512 | 256 |
|---|---|---|---|---|
`

const smallRest = `
The texts of this model are as long as the schema allows, so these are upper bounds: a model that writes shorter texts needs
less. Smaller limits leave more room for the history. Structured replies need room too: a limit that is too small for them
leads to defaults, after an attempt with twice the limit. The default limits, 4,096 or less, are lowered to what fits into
the window beside the prompt, and a warning says so. An argument of arbitration has no default, so the debate ends.
`
