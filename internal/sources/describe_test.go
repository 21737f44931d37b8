package sources

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/transcript"
)

func TestDescribe(t *testing.T) {
	list := []evidence.Source{{Number: 1, Name: "law.md"}, {Number: 3, Name: strings.Repeat("n", 200)}}
	long := strings.Repeat("words ", 100)
	for want, c := range map[string]transcript.Citation{
		"Verified: “so it is” is in [1] law.md.":                                  {Source: 1, Quote: "so it is", Verdict: transcript.Verified},
		"Verified, with 4 words left out: “so … is” is in [1] law.md.":            {Source: 1, Quote: "so … is", Verdict: transcript.Verified, Omitted: 4},
		"Altered: “so it was” is not in [1] law.md, which has a similar passage.": {Source: 1, Quote: "so it was", Verdict: transcript.Altered},
		"Not found: “never said” is not in [1] law.md.":                           {Source: 1, Quote: "never said", Verdict: transcript.NotFound},
		"Not found: “never said”, because there is no source [9].":                {Source: 9, Quote: "never said", Verdict: transcript.NotFound},
		"Not found: “never said” names no source of the debate.":                  {Quote: "never said", Verdict: transcript.NotFound},
		"Not found: there is no source [9].":                                      {Source: 9, Verdict: transcript.NotFound},
		"Not checked: “so”, from [1] law.md.":                                     {Source: 1, Quote: "so", Verdict: transcript.NotChecked},
		"Cites [1] law.md.": {Source: 1},
		"Verified: “" + long[:197] + "…” is in [3] " + strings.Repeat("n", 97) + "….": {Source: 3, Quote: long, Verdict: transcript.Verified},
	} {
		require.Equal(t, []string{want}, Describe([]transcript.Citation{c}, list))
	}
	require.Equal(t, []string{"Not found: there is no source [9].", "Cites [1] law.md, [2]."},
		Describe([]transcript.Citation{{Source: 1}, {Source: 9, Verdict: transcript.NotFound}, {Source: 2}}, list))
	require.Equal(t, []string{"Not found: “never said” is not in [9]."}, Describe([]transcript.Citation{{Source: 9, Quote: "never said", Verdict: transcript.NotFound}}, nil))
	require.Nil(t, Describe(nil, list))
}

func TestCount(t *testing.T) {
	quote := func(v transcript.Verdict) transcript.Citation { return transcript.Citation{Quote: "x", Verdict: v} }
	for want, cited := range map[string][]transcript.Citation{
		"":                 {{Source: 1}, {Source: 9, Verdict: transcript.NotFound}},
		"1 quote verified": {quote(transcript.Verified), {Source: 1}},
		"2 quotes verified, 1 altered, 1 not found, 1 not checked": {
			quote(transcript.NotChecked), quote(transcript.Verified), quote(transcript.NotFound), quote(transcript.Altered), quote(transcript.Verified),
		},
		"1 quote altered": {quote(transcript.Altered)},
	} {
		require.Equal(t, want, Count(cited))
	}
}
