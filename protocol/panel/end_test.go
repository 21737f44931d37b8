package panel_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/transcript"
)

// Short names for assessments.
const (
	on     = "the debate should go on"
	enough = "enough is said"
	agreed = "they agree, go on"
	stale  = "less and less is new, go on"
	noise  = "it drifts and repeats itself, go on"
	done   = "they agree, less and less is new, and enough is said"
	failed = "no valid reply came"
	broken = "what came is of another contract"
	absent = "no assessment at all"
)

// turn returns the committed turn of an assessment.
func turn(t *testing.T, word string) (turn transcript.Turn) {
	t.Helper()
	a := judge.Assessment{Reasoning: word, ShouldContinue: word != enough && word != done}
	switch word {
	case agreed:
		a.Converged = true
	case stale:
		a.DiminishingReturns = true
	case noise:
		a.Drifting, a.Repetitive = true, true
	case done:
		a.Converged, a.DiminishingReturns = true, true
	case failed:
		a.Default([]string{"p1", "p2"})
		turn.Flags = []transcript.Flag{transcript.Defaulted}
	}
	data, err := json.Marshal(a)
	require.NoError(t, err)
	if word == broken {
		data = []byte(`{"should_continue":"no"}`)
	}
	turn.Data = data
	return turn
}

// judged returns the record of a complete second round.
func judged(t *testing.T, words ...string) *protocol.Record {
	t.Helper()
	r := record(2, len(words))
	r.Cursor.Round, r.Cursor.Stage = 2, transcript.Assessment
	r.StartPhase("assess", 1)
	for i, word := range words {
		if word == absent {
			continue
		}
		turn := turn(t, word)
		turn.Key = transcript.Key{Run: 1, Round: 2, Phase: "assess", Actor: r.Judges[i]}
		turn.Kind = transcript.Assessment
		turn.Order = i
		turn.Seq = r.Seq + 1
		turn.Contract = "assessment/1"
		require.True(t, r.Apply(turn))
	}
	return r
}

func TestWhatEndsAPanel(t *testing.T) {
	type says []string
	free := []panel.Format{"", panel.FreeForm}
	seeking := []panel.Format{panel.ConvergenceSeeking}
	deaf := []panel.Format{panel.RoundLimited, panel.StructuredRounds}
	goesOn, decided := transcript.Outcome(""), transcript.JudgeDecided
	for _, tt := range []struct {
		name     string
		formats  []panel.Format
		judges   says
		want     transcript.Outcome
		evidence string
	}{
		{"the format ignores the judge", deaf, says{done}, goesOn, ""},
		{"the format ignores three judges", deaf, says{enough, done, enough}, goesOn, ""},

		{"the judge continues", free, says{on}, goesOn, ""},
		{"the judge has heard enough", free, says{enough}, decided, "j1: " + enough},
		{"agreement is no reason to end", free, says{agreed}, goesOn, ""},
		{"little news is no reason to end", free, says{stale}, goesOn, ""},
		{"noise is no reason to end", free, says{noise}, goesOn, ""},
		{"enough for all reasons", free, says{done}, decided, "j1: " + done},
		{"one of two is not the majority", free, says{enough, on}, goesOn, ""},
		{"two of two", free, says{done, enough}, decided, "j1: " + done},
		{"one of three is not the majority", free, says{on, on, enough}, goesOn, ""},
		{"two of three, the first of them is heard", free, says{on, done, enough}, decided, "j2: " + done},
		{"three of three", free, says{enough, enough, enough}, decided, "j1: " + enough},

		{"seeking: the judge continues", seeking, says{on}, goesOn, ""},
		{"seeking: agreement ends it, whatever else the judge says", seeking, says{agreed}, transcript.Converged, "j1: " + agreed},
		{"seeking: little news ends it", seeking, says{stale}, transcript.DiminishingReturns, "j1: " + stale},
		{"seeking: noise does not", seeking, says{noise}, goesOn, ""},
		{"seeking: the judge's word ends it", seeking, says{enough}, decided, "j1: " + enough},
		{"seeking: agreement counts before all else", seeking, says{done}, transcript.Converged, "j1: " + done},
		{"seeking: one of two is not the majority", seeking, says{on, done}, goesOn, ""},
		{"seeking: two of two agree on the agreement", seeking, says{agreed, done}, transcript.Converged, "j1: " + agreed},
		{"seeking: two of two, each for a reason of its own", seeking, says{agreed, stale}, goesOn, ""},
		{"seeking: two of two agree on little news", seeking, says{stale, done}, transcript.DiminishingReturns, "j1: " + stale},
		{"seeking: two of two agree on the end", seeking, says{enough, done}, decided, "j1: " + enough},
		{"seeking: two of three see agreement, the first of them is heard", seeking, says{on, agreed, done}, transcript.Converged, "j2: " + agreed},
		{"seeking: two of three see agreement, two see little news", seeking, says{stale, agreed, done}, transcript.Converged, "j2: " + agreed},
		{"seeking: little news counts before the judges' word", seeking, says{stale, enough, done}, transcript.DiminishingReturns, "j1: " + stale},
		{"seeking: one of three is not the majority", seeking, says{on, done, on}, goesOn, ""},

		{"no valid reply ends nothing", free, says{failed}, goesOn, ""},
		{"seeking: no valid reply ends nothing", seeking, says{failed}, goesOn, ""},
		{"of two, one reply was not valid, the other counts", free, says{enough, failed}, decided, "j1: " + enough},
		{"of three, one reply was not valid, two are the majority", free, says{failed, enough, enough}, decided, "j2: " + enough},
		{"of three, two replies were not valid, the third counts", seeking, says{failed, done, failed}, transcript.Converged, "j2: " + done},
		{"of three, one reply was not valid, the others are even", free, says{failed, enough, on}, goesOn, ""},
		{"what cannot be read ends nothing", free, says{broken}, goesOn, ""},
		{"of three, what cannot be read is not counted", free, says{broken, enough, enough}, decided, "j2: " + enough},
		{"a judge who said nothing ends nothing", free, says{absent}, goesOn, ""},
		{"a judge who said nothing is not counted", seeking, says{done, absent}, transcript.Converged, "j1: " + done},
	} {
		for _, f := range tt.formats {
			for _, m := range modes {
				t.Run(fmt.Sprintf("%s, %s %s", tt.name, f, m), func(t *testing.T) {
					got := panel.Protocol{Format: f, Mode: m}.End(judged(t, tt.judges...))
					require.Equal(t, transcript.Ending{Outcome: tt.want, Evidence: tt.evidence}, got)
				})
			}
		}
	}
}

func TestOnlyTheRoundAtHandEndsAPanel(t *testing.T) {
	r := judged(t, enough)
	require.NotEmpty(t, panel.Protocol{}.End(r).Outcome)
	r.Cursor.Round = 3
	require.Empty(t, panel.Protocol{}.End(r).Outcome)
}
