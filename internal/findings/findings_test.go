package findings

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/judge/detect"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// rounds returns a record in which two debaters repeat themselves in each round.
func rounds(n int) *protocol.Record {
	r := &protocol.Record{Topic: "Cats or dogs?"}
	for round := 1; round <= n; round++ {
		for _, name := range []string{"Ada", "Bo"} {
			r.Apply(transcript.Turn{
				Key: transcript.Key{Run: 1, Round: round, Phase: "speech", Actor: name}, Kind: transcript.Speech, Seq: int64(3*round + len(name)),
				Text: name + " says that cats are quiet, clean and cheap, and that dogs need walks in the rain.",
			})
		}
	}
	r.Cursor.Round = n
	return r
}

func source(r *protocol.Record, rules ...detect.Rule) Source {
	return Source{Record: r, Rules: rules, Vectors: func(*protocol.Record, int) []detect.Vector { return nil }}
}

func TestEachRoundIsReportedOnce(t *testing.T) {
	s := source(rounds(3), detect.Rule{Signal: detect.Repetitive, Effect: detect.Stop})
	var f Findings
	found := f.New(s, false)
	require.NotEmpty(t, found, "the rounds before are checked too, although another process has reported them")
	for _, x := range found {
		require.Equal(t, 3, x.Round)
	}
	require.Empty(t, f.New(s, false), "checked, but not in the journal yet")
	f.List = append(f.List, found...)
	f.Reported(3, false)
	f.ChangeRules()
	require.Empty(t, f.New(s, false), "in the journal")
	require.Equal(t, found, f.List)
}

func TestFindingsOfRulesThatAreNotThere(t *testing.T) {
	var f Findings
	require.Empty(t, f.New(source(rounds(2)), true))
	require.Nil(t, f.detector)
}

func TestWhatFollowsFromFindings(t *testing.T) {
	find := func(round int, e string, found bool) detect.Finding {
		return detect.Finding{Round: round, Effect: e, Found: found, Signal: detect.Repetitive}
	}
	tests := map[string]struct {
		list   []detect.Finding
		fresh  []detect.Finding
		stops  bool
		advice int // in round 3
	}{
		"nothing":                   {},
		"a stop in this round":      {list: []detect.Finding{find(3, detect.Stop, true)}, stops: true, advice: 1},
		"a stop in an earlier one":  {list: []detect.Finding{find(2, detect.Stop, true)}, advice: 1},
		"a stop that was not found": {list: []detect.Finding{find(3, detect.Stop, false)}},
		"a stop that is new":        {fresh: []detect.Finding{find(3, detect.Stop, true)}, stops: true},
		"advice":                    {list: []detect.Finding{find(1, detect.Advise, true), find(2, detect.Advise, true), find(3, detect.Advise, true)}, advice: 2},
		"a report":                  {list: []detect.Finding{find(3, detect.Report, true)}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			f := Findings{List: tt.list}
			require.Equal(t, tt.stops, f.stopping(3, tt.fresh...).Outcome != "")
			require.Len(t, f.Advice(3), tt.advice)
		})
	}
}
