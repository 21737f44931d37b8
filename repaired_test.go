package debate_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/transcript"
)

// A reply whose syntax had to be corrected says so.
func TestARepairedReplyIsMarked(t *testing.T) {
	c := pair(panel.Protocol{})
	c.Limits.MaxRounds = 1
	j := scripted.Text(assess(t, true, "A", "B"), strings.TrimSuffix(verdict, "}")+",}")
	d, err := debate.New(t.Context(), c, debate.Options{Providers: models(chatter(), j)})
	require.NoError(t, err)
	_, err = run(t, d)
	require.NoError(t, err)
	res := result(t, d)
	require.Empty(t, res.Assessments[0].Flags)
	require.Equal(t, []transcript.Flag{transcript.Repaired}, res.Verdict.Flags)
	require.Empty(t, res.Warnings)
}

// Who reads what was said about somebody is told whom it is about.
func TestWhatIsSaidAboutSomebodySaysSo(t *testing.T) {
	m := chatter()
	c := pair(mesh{})
	c.Limits.MaxRounds = 1
	d, err := debate.New(t.Context(), c, debate.Options{Providers: models(m, court(t, 1))})
	require.NoError(t, err)
	_, err = run(t, d)
	require.NoError(t, err)
	heard := ""
	for _, r := range m.Calls() {
		for _, msg := range r.Messages {
			if msg.Role == providers.User {
				heard += msg.Text + "\n"
			}
		}
	}
	require.Contains(t, heard, "A on B: Statement")
	require.Contains(t, heard, "B: Statement")
}
