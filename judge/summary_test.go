package judge_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/judge"
)

// Points may be words, parts of sentences, or sentences in any script.
func TestPointsAreJoinedAsTheyEnd(t *testing.T) {
	for _, tt := range []struct {
		points []string
		want   string
	}{
		{[]string{"clear", "brief"}, "clear; brief"},
		{[]string{"It is clear.", "It is brief."}, "It is clear. It is brief."},
		{[]string{"Why?", "No!", "so;", "thus:", "well,", "hm\u2026", "end"}, "Why? No! so; thus: well, hm\u2026 end"},
		{[]string{`He said "yes."`, "(It is so.)", "**Bold.**", "«Bon.»", "a (b)", `the "c"`, "d"}, `He said "yes." (It is so.) **Bold.** «Bon.» a (b); the "c"; d`},
		{[]string{"成立。", "「不成立！」", "तर्क।", "كيف؟", "נכון׃", "ጥሩ።", "好", "end"}, "成立。 「不成立！」 तर्क। كيف؟ נכון׃ ጥሩ። 好; end"},
		{[]string{"  spaced.  ", " x ", "y\n"}, "spaced. x; y"},
	} {
		v := judge.Verdict{Insights: tt.points, Agreement: tt.points, Participants: []judge.KeyPoints{{Name: "Ann", Points: tt.points}}}
		require.Contains(t, v.Text(), "Insights: "+tt.want+"\n")
		require.Contains(t, v.Text(), "Ann: "+tt.want+"\n")
		a := judge.Assessment{Participants: []judge.ParticipantAssessment{{Name: "Ann", Strengths: tt.points}}, Recommendations: tt.points}
		require.Contains(t, a.Text(), "  strengths: "+tt.want+"\n")
		for _, end := range []string{".;", "?;", "!;", ";;", ":;", ",;", "。;", "؟;", "…;"} {
			require.NotContains(t, strings.Join([]string{v.Text(), a.Text()}, "\n"), end)
		}
	}
}
