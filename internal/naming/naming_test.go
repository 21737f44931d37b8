package naming_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/naming"
)

func TestCheckEach(t *testing.T) {
	known := []string{"Ada", "Jean-Luc", "ann", "Ann"}
	for _, tt := range []struct {
		spoken, want []string
		violations   []string
	}{
		{spoken: []string{"ada ", "jean_luc", "Ann"}, want: []string{"Ada", "Jean-Luc", "Ann"}},
		{spoken: []string{"Ada", "ADA"}, want: []string{"Ada", "ADA"}, violations: []string{`/list/1: "Ada" appears twice`}},
		{spoken: []string{"ANN"}, want: []string{"ANN"}, violations: []string{`/list/0: "ANN" is not a participant; the participants are ["Ada" "Jean-Luc" "ann" "Ann"]`}},
		{spoken: []string{"none"}, want: []string{"none"}, violations: []string{`/list/0: "none" is not a participant; the participants are ["Ada" "Jean-Luc" "ann" "Ann"]`}},
	} {
		var names []*string
		for i := range tt.spoken {
			names = append(names, &tt.spoken[i])
		}
		require.Equal(t, tt.violations, naming.Participant.CheckEach(names, known, "/list/%d"))
		require.Equal(t, tt.want, tt.spoken)
	}
}

func TestCheckOptional(t *testing.T) {
	known := []string{"Ada", "Draw"}
	for spoken, want := range map[string]string{"ada": "Ada", "draw": "Draw", "": "", " None": "", "tie": "", "Ada": "Ada"} {
		require.Empty(t, naming.Participant.CheckOptional(&spoken, known, "/winner"))
		require.Equal(t, want, spoken)
	}
	spoken := "Zoe"
	require.Equal(t, []string{`/winner: "Zoe" is not a participant; the participants are ["Ada" "Draw"]`}, naming.Participant.CheckOptional(&spoken, known, "/winner"))
	require.Equal(t, "Zoe", spoken)
}

type here struct{}

func TestTypesAndFunctionsHaveNames(t *testing.T) {
	const folder = "github.com/elenchus-go/debate/internal/naming_test."
	require.Equal(t, folder+"here", naming.OfType(here{}))
	require.Equal(t, "**"+folder+"here", naming.OfType(new(new(here{}))))
	require.Equal(t, "struct {}", naming.OfType(struct{}{}))
	require.Empty(t, naming.OfType(nil))
	require.Equal(t, folder+"TestTypesAndFunctionsHaveNames", naming.OfFunction(TestTypesAndFunctionsHaveNames))
	require.Empty(t, naming.OfFunction((func())(nil)))
}
