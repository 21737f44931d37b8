package forktest_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/judge"
)

// namesIn returns where VerifyEntries finds names of participants in the prompts of blind judges, by the actor of the turn.
func namesIn(t *testing.T, d *debate.Debate) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	for c, err := range d.VerifyEntries(t.Context()) {
		require.NoError(t, err)
		require.NotEqual(t, debate.EntryWrong, c.Verdict, c.Reason)
		if len(c.Names) > 0 {
			actor := strings.Split(c.Key, "/")[3]
			found[actor] = append(found[actor], c.Names...)
		}
	}
	return found
}

// The prompt of a blind judge has no name of a participant, unless a word of a template or of the rubric is one. Each such place
// is listed.
func TestNamesInPromptsOfBlindJudgesAreListed(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(c *debate.Config, o *debate.Options)
		want   []string // parts of what is listed for each judge
	}{
		"none": {func(*debate.Config, *debate.Options) {}, nil},
		"a name in all other texts": {func(c *debate.Config, _ *debate.Options) {
			c.Topic, c.Background = "Is Zenobia right?", "Zenobia spoke first."
		}, nil},
		"a name in a template": {func(_ *debate.Config, o *debate.Options) {
			o.Prompts = fstest.MapFS{"assess.tmpl": {Data: []byte(`{{define "system"}}{{template "judge" .}} Zenobia is strong.{{end}}Assess it. Zenobia may win. {{.ReplyFields}}`)}}
		}, []string{`message 1: "Zenobia is strong.`, `: "Zenobia may win.`}},
		"a word that is a name": {func(c *debate.Config, _ *debate.Options) { c.Participants[1].Name = "Be" }, []string{`message 1: "Be impartial`}},
		"a name in the rubric": {func(c *debate.Config, _ *debate.Options) {
			c.Rubric = judge.Rubric{{Name: "like Zenobia", Weight: 100}}
		}, []string{`"Zenobia`}},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := lifeConfig()
			cfg.Participants[0].Name = "Zenobia"
			o := debate.Options{}
			tt.change(&cfg, &o)
			e, _ := newEngine(t, cfg, func(to *debate.Options) { to.Prompts = o.Prompts })
			d := create(t, e, cfg)
			run(t, d)
			found := namesIn(t, d)
			if tt.want == nil {
				require.Empty(t, found)
				return
			}
			require.Len(t, found, 2, "both judges, and nobody else: %v", found)
			for _, want := range tt.want {
				for judge, list := range found {
					require.Contains(t, strings.ToLower(strings.Join(list, "\n")), strings.ToLower(want), judge)
				}
			}
		})
	}
}
