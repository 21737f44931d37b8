package findings_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/findings"
	"github.com/elenchus-go/debate/judge/detect"
)

func TestRulesThatADebateCannotHave(t *testing.T) {
	for _, tt := range []struct {
		rule           detect.Rule
		judged, embeds bool
		want           []string
	}{
		{rule: detect.Rule{Signal: detect.Repetitive, Method: "words"}},
		{rule: detect.Rule{Signal: detect.Repetitive, Method: "words", Effect: detect.Advise}, judged: true},
		{
			rule: detect.Rule{Signal: detect.Repetitive, Method: "words", Effect: detect.Advise},
			want: []string{`detect[0]: effect "advise" needs a judge, but no judge assesses the rounds of panel/1`},
		},
		{
			rule: detect.Rule{Signal: detect.Repetitive, Method: "vectors"},
			want: []string{"embedder.provider: it is empty, but detect[0] needs vectors"},
		},
		{rule: detect.Rule{Signal: detect.Repetitive, Method: "vectors"}, embeds: true},
		{
			rule: detect.Rule{Signal: detect.Drifting, Method: "scores"},
			want: []string{"detect[0]: drifting needs the scores of judges, but no judge assesses the rounds of panel/1"},
		},
	} {
		var texts []string
		for _, p := range findings.Check([]detect.Rule{tt.rule}, "panel/1", tt.judged, tt.embeds) {
			texts = append(texts, p.String())
		}
		require.Equal(t, tt.want, texts, "%+v", tt.rule)
	}
	require.NotEmpty(t, findings.Check([]detect.Rule{{Signal: "noise"}}, "panel/1", true, true), "the rule is invalid")
}
