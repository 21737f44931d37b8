package detect_test

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/judge/detect"
	"github.com/elenchus-go/debate/transcript"
)

// round returns the speeches of one round, from alternating actors and texts.
func round(n int, said ...string) []transcript.Turn {
	var turns []transcript.Turn
	for i := 0; i < len(said); i += 2 {
		turns = append(turns, transcript.Turn{
			Key:  transcript.Key{Run: 1, Round: n, Phase: "respond", Actor: said[i]},
			Kind: transcript.Speech, Text: said[i+1],
		})
	}
	return turns
}

func text(t transcript.Turn) string { return t.Text }

func TestRepetitionComparesATurnWithItsSpeakersEarlierOnes(t *testing.T) {
	const claim = "cars make our cities loud and dirty"
	for _, tt := range []struct {
		name   string
		before []string // rounds of Ann and Bob
		now    []string
		value  float64
		found  bool
	}{
		{"a first turn repeats nothing", nil, []string{"Ann", claim}, 0, false},
		{"a turn is said again", []string{"Ann", claim}, []string{"Ann", claim}, 1, true},
		{"case, spaces and punctuation do not matter", []string{"Ann", claim}, []string{"Ann", "CARS make: our\n**cities** loud, and dirty!"}, 1, true},
		{"a part of an earlier turn is said again", []string{"Ann", claim}, []string{"Ann", "make our cities loud"}, 1, true},
		{"half of a turn is said again", []string{"Ann", "a b c d e f"}, []string{"Ann", "a b c d x y z"}, 2. / 5, false},
		{"a trigram counts once", []string{"Ann", "a b c"}, []string{"Ann", "a b c a b c a b c"}, 1. / 3, false},
		{"what another one said is not repeated", []string{"Bob", claim}, []string{"Ann", claim}, 0, false},
		{"the round is the mean of its turns", []string{"Ann", claim, "Bob", "x"}, []string{"Ann", claim, "Bob", "quite another thing"}, 0.5, true},
		{"two words are a turn", []string{"Ann", "I agree"}, []string{"Ann", "I agree."}, 1, true},
		{"two words are not a part of three", []string{"Ann", "I agree entirely"}, []string{"Ann", "I agree"}, 0, false},
		{"a turn without words is passed over", []string{"Ann", claim}, []string{"Ann", "…!", "Ann", claim}, 1, true},
		{"nobody speaks", nil, nil, 0, false},
		{"letters of other scripts", []string{"Ann", "ΟΔΟΣ ΤΗΣ ΠΟΛΗΣ"}, []string{"Ann", "οδος της πολης"}, 1, true},
		{"no spaces between words", []string{"Ann", "自動車は都市を汚す"}, []string{"Ann", "自動車は都市を壊す"}, 5. / 7, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var d detect.Repetition
			d.Round(round(1, tt.before...))
			f := d.Round(round(2, tt.now...))
			require.InDelta(t, tt.value, f.Value, 1e-12, f)
			require.Equal(t, tt.found, f.Found, f)
			require.Equal(t, detect.Repetitive, f.Signal)
		})
	}
}

func TestRepetitionRemembersAllRounds(t *testing.T) {
	var d detect.Repetition
	for n := 1; n <= 50; n++ {
		require.Zero(t, d.Round(round(n, "Ann", strings.Repeat("w", n)+" x y")).Value)
	}
	require.InDelta(t, 1, d.Round(round(51, "Ann", "w x y")).Value, 0)
}

func TestOnlyWhatParticipantsSaidCounts(t *testing.T) {
	said := round(1, "Ann", "one two three", "Judge", "one two three", "Me", "one two three", "Bob", "one two three")
	said[1].Kind, said[2].Kind = transcript.Assessment, transcript.Remark
	said[3].Flags = []transcript.Flag{transcript.Reasked, transcript.Defaulted}
	var d detect.Repetition
	d.Round(said)
	f := d.Round(said)
	require.InDelta(t, 1, f.Value, 0)
	require.True(t, strings.HasSuffix(f.Evidence, ": Ann 1.00"), f.Evidence)
}

func byVectors(n int, actor string, values ...[]float32) []detect.Vector {
	var said []detect.Vector
	for _, v := range values {
		said = append(said, detect.Vector{Of: transcript.Key{Run: 1, Round: n, Actor: actor}, Values: v})
	}
	return said
}

func TestEchoComparesDirections(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, tt := range []struct {
		name        string
		before, now []float32
		value       float64
		found       bool
	}{
		{"the same", []float32{1, 2, 3}, []float32{1, 2, 3}, 1, true},
		{"the same direction", []float32{1, 2, 3}, []float32{2, 4, 6}, 1, true},
		{"very long and very short", []float32{3e38, 3e38}, []float32{1e-38, 1e-38}, 1, true},
		{"near enough", []float32{1, 0}, []float32{0.86, 0.51}, 0.86, true},
		{"not near enough", []float32{1, 0}, []float32{0.84, 0.54}, 0.84, false},
		{"at a right angle", []float32{1, 0}, []float32{0, 1}, 0, false},
		{"opposite", []float32{1, 0}, []float32{-1, 0}, 0, false},
		{"of different models", []float32{1, 0}, []float32{1, 0, 0}, 0, false},
		{"zero", []float32{1, 0}, []float32{0, 0}, 0, false},
		{"empty", []float32{1, 0}, nil, 0, false},
		{"no number", []float32{1, 0}, []float32{nan, 0}, 0, false},
		{"infinite", []float32{1, 0}, []float32{inf, 0}, 0, false},
		{"nothing usable before", []float32{nan, inf}, []float32{1, 0}, 0, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var d detect.Echo
			require.False(t, d.Round(byVectors(1, "Ann", tt.before)).Found)
			f := d.Round(byVectors(2, "Ann", tt.now))
			require.InDelta(t, tt.value, f.Value, 0.005, f)
			require.Equal(t, tt.found, f.Found, f)
			require.Equal(t, 2, f.Round)
		})
	}
}

func TestEchoHearsTheLastEightTurnsOfASpeaker(t *testing.T) {
	axis := func(i int) []float32 {
		v := make([]float32, 10)
		v[i] = 1
		return v
	}
	var d detect.Echo
	for i := range 9 {
		require.Zero(t, d.Round(byVectors(i+1, "Ann", axis(i))).Value)
	}
	require.Zero(t, d.Round(byVectors(10, "Bob", axis(8))).Value, "others do not count")
	require.InDelta(t, 1, d.Round(byVectors(10, "Ann", axis(1))).Value, 0, "eight turns ago")
	require.Zero(t, d.Round(byVectors(11, "Ann", axis(0))).Value, "ten turns ago")
}

func TestEchoKeepsCopies(t *testing.T) {
	var d detect.Echo
	reused := []float32{1, 0}
	d.Round(byVectors(1, "Ann", reused))
	reused[0], reused[1] = 0, 1
	require.Zero(t, d.Round(byVectors(2, "Ann", reused)).Value)
}

func TestReturnsDiminishWhereBothScoresFallOrRoundsRepeat(t *testing.T) {
	nan := math.NaN()
	for _, tt := range []struct {
		name   string
		rounds []detect.Scores
		value  float64
		found  bool
	}{
		{"both fall twice", []detect.Scores{{1, 8, 9, false}, {2, 7, 6, false}, {3, 6.9, 1, false}}, 1, true},
		{"both fell once", []detect.Scores{{1, 8, 9, false}, {2, 7, 6, false}}, 0.5, false},
		{"novelty is unchanged", []detect.Scores{{1, 8, 9, false}, {2, 7, 6, false}, {3, 6, 6, false}}, 0.75, false},
		{"both rise", []detect.Scores{{1, 1, 1, false}, {2, 2, 2, false}, {3, 3, 3, false}}, 0, false},
		{"they fall after they rose", []detect.Scores{{1, 1, 1, false}, {2, 9, 9, false}, {3, 8, 8, false}, {4, 7, 7, false}}, 1, true},
		{"a round is missing", []detect.Scores{{1, 8, 9, false}, {2, 7, 6, false}, {4, 6, 1, false}}, 0, false},
		{"a score is unknown", []detect.Scores{{1, 8, 9, false}, {2, 7, nan, false}, {3, 6, 1, false}}, 0.5, false},
		{"a score is out of bounds", []detect.Scores{{1, 80, 9, false}, {2, 7, 6, false}, {3, 6, -1, false}}, 0.5, false},
		{"two rounds repeat", []detect.Scores{{1, 1, 1, false}, {2, 2, 2, true}, {3, 3, 3, true}}, 1, true},
		{"two rounds repeat without scores", []detect.Scores{{2, nan, nan, true}, {3, nan, nan, true}}, 1, true},
		{"one round repeats", []detect.Scores{{1, 1, 1, false}, {2, 2, 2, true}}, 0.5, false},
		{"two rounds repeat with a break", []detect.Scores{{1, 1, 1, true}, {2, 2, 2, false}, {3, 3, 3, true}}, 0.5, false},
		{"two rounds repeat with a gap", []detect.Scores{{1, 1, 1, true}, {3, 3, 3, true}}, 0.5, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var d detect.DiminishingReturns
			var f detect.Finding
			for i, s := range tt.rounds {
				f = d.Round(s)
				require.True(t, i == len(tt.rounds)-1 || !f.Found, "too early: %s", f)
			}
			require.InDelta(t, tt.value, f.Value, 1e-12, f)
			require.Equal(t, tt.found, f.Found, f)
		})
	}
}

func TestTrendIsASlope(t *testing.T) {
	var d detect.DiminishingReturns
	quality, novelty := d.Trend()
	require.Zero(t, quality)
	require.Zero(t, novelty)
	d.Round(detect.Scores{Round: 1, Quality: 2, Novelty: math.NaN()})
	d.Round(detect.Scores{Round: 2, Quality: 9, Novelty: 4})
	d.Round(detect.Scores{Round: 3, Quality: 7, Novelty: math.NaN()})
	f := d.Round(detect.Scores{Round: 4, Quality: 8, Novelty: 6})
	quality, novelty = d.Trend()
	require.InDelta(t, -0.5, quality, 1e-12, "the first round is too long ago")
	require.InDelta(t, 1, novelty, 1e-12, "two rounds for two points")
	require.Equal(t, "quality 9.0, 7.0, 8.0 (trend -0.5 per round), novelty 4.0, unknown, 6.0 (trend +1.0 per round), consecutive repetitive rounds: 0", f.Evidence)
}

func TestLookingBackCanBeSet(t *testing.T) {
	d := detect.DiminishingReturns{Rounds: 2, Repetitive: 3}
	require.False(t, d.Round(detect.Scores{Round: 1, Quality: 5, Novelty: 5, Repetitive: true}).Found)
	require.False(t, d.Round(detect.Scores{Round: 2, Quality: 5, Novelty: 5, Repetitive: true}).Found)
	require.True(t, d.Round(detect.Scores{Round: 3, Quality: 4, Novelty: 4}).Found)
}

func TestDriftCountsTheTopicsWords(t *testing.T) {
	for _, tt := range []struct {
		name, topic string
		said        []string
		value       float64
		found       bool
	}{
		{"all of them", "Should cities ban private cars?", []string{"Ann", "Private cars? Cities should."}, 1, false},
		{"short words do not count", "Should cities ban private cars?", []string{"Ann", "Ban it!"}, 0, true},
		{"a word counts once", "Should cities ban private cars?", []string{"Ann", "Cars, cars, cars."}, 0.25, false},
		{"the mean of all turns", "Should cities ban private cars?", []string{"Ann", "Cars", "Bob", "Tulips"}, 0.125, true},
		{"a topic of short words", "War or no war?", []string{"Ann", "No war"}, 2. / 3, false},
		{"a topic without spaces", "禁止汽车", []string{"Ann", "汽车"}, 0.5, false},
		{"a topic without words", "?!", []string{"Ann", "Tulips"}, 1, false},
		{"a turn without words", "Cars", []string{"Ann", "…"}, 1, false},
		{"nobody speaks", "Cars", nil, 1, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := detect.Drift{Topic: tt.topic}
			f := d.Round(round(1, tt.said...))
			require.InDelta(t, tt.value, f.Value, 1e-12, f)
			require.Equal(t, tt.found, f.Found, f)
			require.Equal(t, f, d.Round(round(1, tt.said...)), "rounds do not depend on one another")
		})
	}
}

func TestDriftReadsTheJudgesScores(t *testing.T) {
	for _, tt := range []struct {
		name   string
		scores []float64
		value  float64
		found  bool
	}{
		{"below five", []float64{4.9}, 0.49, true},
		{"five", []float64{5}, 0.5, false},
		{"the mean of all judges", []float64{2, 9}, 0.55, false},
		{"no judge", nil, 1, false},
		{"scores that are none", []float64{math.NaN(), -1, 11, 3}, 0.3, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var d detect.Drift
			f := d.ByScores(7, tt.scores...)
			require.InDelta(t, tt.value, f.Value, 1e-12, f)
			require.Equal(t, tt.found, f.Found, f)
			require.Equal(t, 7, f.Round)
		})
	}
}

func TestAnAnswerIsUnanimousWhereAllGiveIt(t *testing.T) {
	for _, tt := range []struct {
		name  string
		said  []string
		value float64
		found bool
	}{
		{"all agree", []string{"Ann", "B", "Bob", "B", "Cyd", "B"}, 1, true},
		{"one does not", []string{"Ann", "B", "Bob", "B", "Cyd", "C"}, 2. / 3, false},
		{"one has no answer", []string{"Ann", "B", "Bob", "B", "Cyd", ""}, 2. / 3, false},
		{"no one has an answer", []string{"Ann", "", "Bob", ""}, 0, false},
		{"one alone", []string{"Ann", "B"}, 1, false},
		{"the last answer counts", []string{"Ann", "A", "Bob", "B", "Ann", "B"}, 1, true},
		{"an answer is withdrawn", []string{"Ann", "B", "Bob", "B", "Ann", ""}, 0.5, false},
		{"nobody", nil, 0, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := detect.Unanimity{Answer: text}
			f := d.Round(round(3, tt.said...))
			require.InDelta(t, tt.value, f.Value, 1e-12, f)
			require.Equal(t, tt.found, f.Found, f)
		})
	}
}

func TestAFallbackIsNoAnswer(t *testing.T) {
	said := round(1, "Ann", "B", "Bob", "B", "Bob", "B")
	said[2].Flags = []transcript.Flag{transcript.Defaulted}
	d := detect.Unanimity{Answer: text}
	require.False(t, d.Round(said).Found)
	require.True(t, d.Round(said[:2]).Found)
}

func TestAnswersMayBeMissed(t *testing.T) {
	d := detect.Unanimity{Answer: text, MinSpeakers: 3}
	require.False(t, d.Round(round(1, "Ann", "B", "Bob", "B")).Found, "one of three did not speak")
	var none detect.Unanimity
	require.False(t, none.Round(round(1, "Ann", "B", "Bob", "B")).Found, "nothing extracts answers")
}

func TestConvergenceIsOneAnswerThatStays(t *testing.T) {
	for _, tt := range []struct {
		name    string
		answers []string // for each round, one letter for each speaker; "-" is no answer
		found   bool
	}{
		{"one round is not enough", []string{"BBBB"}, false},
		{"three quarters for two rounds", []string{"BBBC", "ABBB"}, true},
		{"half for two rounds", []string{"BBCC", "BBCC"}, false},
		{"another answer", []string{"BBBB", "CCCC"}, false},
		{"a break", []string{"BBBB", "BBCC", "BBBB"}, false},
		{"it comes later", []string{"ABCD", "BBCC", "BBBB", "BBB-"}, true},
		{"no answer is no agreement", []string{"----", "----"}, false},
		{"one alone", []string{"B", "B"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := detect.Convergence{Answer: text}
			var f detect.Finding
			for n, answers := range tt.answers {
				var said []string
				for i, a := range strings.Split(answers, "") {
					said = append(said, string(rune('a'+i)), strings.Trim(a, "-"))
				}
				f = d.Round(round(n+1, said...))
			}
			require.Equal(t, tt.found, f.Found, f)
		})
	}
}

func TestConvergenceWantsRoundsInARow(t *testing.T) {
	d := detect.Convergence{Answer: text}
	require.False(t, d.Round(round(1, "Ann", "B", "Bob", "B")).Found)
	require.False(t, d.Round(round(3, "Ann", "B", "Bob", "B")).Found)
	require.True(t, d.Round(round(4, "Ann", "B", "Bob", "B")).Found)
}

func TestMoreThanHalfOfTheJudgesSaySo(t *testing.T) {
	var d detect.Convergence
	require.False(t, d.ByFlags(1).Found)
	require.False(t, d.ByFlags(1, true, false).Found)
	f := d.ByFlags(1, true, false, true)
	require.True(t, f.Found)
	require.Equal(t, "round 1: converged: 2 of 3 judges say that the participants agree on the substance", f.String())
}

func TestEvidenceIsShort(t *testing.T) {
	var said []string
	for i := range 26 {
		said = append(said, string(rune('A'+i)), strings.Repeat("ж", 5000))
	}
	var repetition detect.Repetition
	repetition.Round(round(1, said...))
	f := repetition.Round(round(2, said...))
	require.True(t, strings.HasSuffix(f.Evidence, "H 1.00, 18 more"), f.Evidence)

	unanimity := detect.Unanimity{Answer: text}
	f = unanimity.Round(round(1, said...))
	require.Equal(t, `26 of 26 speakers answer "`+strings.Repeat("ж", 59)+`…"`, f.Evidence)
}

func TestAFindingCanEndADebate(t *testing.T) {
	for sign, want := range map[detect.Signal]transcript.Outcome{
		detect.Repetitive: transcript.EarlyStop, detect.Drifting: transcript.EarlyStop,
		detect.Diminishing: transcript.DiminishingReturns, detect.Converged: transcript.Converged, detect.Unanimous: transcript.Unanimous,
	} {
		f := detect.Finding{Signal: sign, Round: 4, Value: 1, Evidence: "because"}
		require.Equal(t, transcript.Ending{}, f.Ending())
		f.Found = true
		require.Equal(t, transcript.Ending{Outcome: want, Round: 4, Evidence: f.String()}, f.Ending())
	}
}

func TestFindingsAreStoredInThisForm(t *testing.T) {
	f := detect.Finding{Signal: detect.Diminishing, Round: 4, Found: true, Value: 0.5, Evidence: "because"}
	b, err := json.Marshal(f)
	require.NoError(t, err)
	require.JSONEq(t, `{"signal":"diminishing_returns","round":4,"found":true,"value":0.5,"evidence":"because"}`, string(b))
	require.Equal(t, "round 4: diminishing returns: because", f.String())
	signs := []detect.Signal{detect.Repetitive, detect.Diminishing, detect.Drifting, detect.Converged, detect.Unanimous}
	require.Equal(t, []detect.Signal{"repetitive", "diminishing_returns", "drifting", "converged", "unanimous"}, signs)
}

func TestSettingsThatMakeNoSenseAreTheDefaults(t *testing.T) {
	said := round(1, "Ann", "a b c d", "Bob", "a b c d")
	for _, bad := range []float64{0, -1, math.NaN()} {
		d := detect.Repetition{Overlap: bad}
		require.False(t, d.Round(said).Found)
		require.True(t, d.Round(slices.Clone(said)).Found)
	}
}
