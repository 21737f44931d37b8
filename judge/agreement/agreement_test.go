package agreement_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/recorded"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/judge/agreement"
	"github.com/elenchus-go/debate/judge/estimate"
	"github.com/elenchus-go/debate/transcript"
)

// The worked example of Krippendorff, Computing Krippendorff's Alpha-Reliability (2011), section C: four observers, twelve units.
func TestKrippendorffsExample(t *testing.T) {
	no := math.NaN()
	observers := [4][12]float64{
		{1, 2, 3, 3, 2, 1, 4, 1, 2, no, no, no},
		{1, 2, 3, 3, 2, 2, 4, 1, 2, 5, no, 3},
		{no, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, no},
		{1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, no},
	}
	var units []agreement.Unit
	for u := range 12 {
		unit := agreement.Unit{}
		for _, o := range observers {
			unit.Values = append(unit.Values, o[u])
		}
		units = append(units, unit)
	}
	for level, want := range map[agreement.Level]float64{agreement.Nominal: .743, agreement.Ordinal: .815, agreement.Numeric: .849} {
		got := agreement.Alpha(units, level)
		assert.InDelta(t, want, got.Value, 5e-4, level)
		assert.Equal(t, 11, got.N, "the last unit has one rating")
		assert.False(t, got.Known(), "eleven units are too few for an interval")
	}
}

// The winners and margins of six judges in recorded debates, as another program computed alpha of them.
func TestAlphaOfRecordedMatchups(t *testing.T) {
	type matchup struct {
		Eligible bool   `json:"eligible"`
		Group    string `json:"group"`
		Debates  []struct {
			Pro       string `json:"pro"`
			Judgments []struct {
				Winner string  `json:"winner"`
				Margin float64 `json:"margin_pro_raw"`
			} `json:"judgments"`
		} `json:"debates"`
	}
	var winners, margins []agreement.Unit
	for _, m := range recorded.Lines[matchup](t, "matchups.jsonl") {
		if !m.Eligible {
			continue
		}
		for _, d := range m.Debates {
			winner, margin := agreement.Unit{Group: m.Group}, agreement.Unit{Group: m.Group}
			for _, j := range d.Judgments {
				won := 0.0
				if j.Winner == d.Pro {
					won = 1
				}
				winner.Values, margin.Values = append(winner.Values, won), append(margin.Values, j.Margin)
			}
			winners, margins = append(winners, winner), append(margins, margin)
		}
	}
	got := agreement.Alpha(winners, agreement.Nominal)
	assert.InDelta(t, .490, got.Value, 6e-4)
	assert.True(t, got.Low < got.Value && got.Value < got.High && got.High-got.Low < .1, got)
	assert.InDelta(t, .603, agreement.Alpha(margins, agreement.Numeric).Value, 6e-4)
	assert.InDelta(t, .75, agreement.Raw(winners, 0).Value, .02, "raw agreement looks better")
}

func TestAlphaIsUndefinedWithoutSpread(t *testing.T) {
	same := agreement.Alpha([]agreement.Unit{{Values: []float64{1, 1}}, {Values: []float64{1, 1}}}, agreement.Nominal)
	none := agreement.Alpha([]agreement.Unit{{Values: []float64{1, math.NaN()}}}, agreement.Nominal)
	for _, got := range []estimate.Interval{same, none, agreement.Raw(nil, 0), agreement.Summarize(nil, "x").Effective} {
		assert.False(t, got.Known())
		assert.Equal(t, "–", got.String())
		_, err := json.Marshal(got)
		assert.NoError(t, err)
	}
}

func TestRaw(t *testing.T) {
	units := []agreement.Unit{{Values: []float64{7, 7.5, 9}}, {Values: []float64{5, 5, math.NaN()}}}
	assert.InDelta(t, 1./4, agreement.Raw(units, 0).Value, 1e-12)
	assert.InDelta(t, 2./4, agreement.Raw(units, 1).Value, 1e-12)
}

func TestItem(t *testing.T) {
	a := agreement.A
	b := agreement.B
	tie := agreement.Tie
	none := agreement.None
	i := agreement.Item{Gold: b, Decisions: map[string][]agreement.Decision{
		"right": {b, b}, "wrong": {a, a}, "first": {a, b}, "half": {b, tie}, "unread": {b, none}, "ties": {tie, tie},
	}}
	for judge, want := range map[string]struct {
		score float64
		vote  agreement.Decision
	}{"right": {1, b}, "wrong": {0, a}, "first": {.5, none}, "half": {.75, b}, "unread": {.5, b}, "ties": {.5, none}, "absent": {0, none}} {
		assert.Equal(t, want.score, i.Score(judge), judge)
		assert.Equal(t, want.vote, i.Vote(judge), judge)
	}
	assert.Equal(t, b, i.Majority("right", "wrong", "half"))
	assert.Equal(t, tie, i.Majority("right", "wrong"))
	unanimous := func(judges ...string) bool { _, ok := i.Unanimous(judges...); return ok }
	assert.True(t, unanimous("right"))
	assert.False(t, unanimous("right", "half"), "a tie prevents it")
	assert.False(t, unanimous("right", "unread"), "a decision that cannot be read prevents it")
	assert.False(t, unanimous("absent"))
	d, margin := i.Margin("right", "half", "wrong")
	assert.Equal(t, b, d)
	assert.Equal(t, 1, margin)
}

func TestIndependentJudgesAreWorthTheirNumber(t *testing.T) {
	items := simulate(rand.New(rand.NewPCG(1, 1)), 2000, .7, 0, "x", "y", "z")
	s := agreement.Summarize(items, "x", "y", "z")
	assert.True(t, s.Effective.Low < 3 && 3 < s.Effective.High, s.Effective)
	assert.True(t, s.Correlation.Low < 0 && 0 < s.Correlation.High, s.Correlation)
	same := agreement.Summarize(simulate(rand.New(rand.NewPCG(1, 1)), 200, .7, 1, "x", "y", "z"), "x", "y", "z")
	assert.InDelta(t, 1, same.Effective.Value, 1e-9, "three judges that always agree are one")
	assert.InDelta(t, 1, same.AlphaVotes.Value, 1e-9)
}

// simulate returns items that each judge gets right with a probability of accuracy. With a probability of shared, all judges
// decide alike.
func simulate(r *rand.Rand, n int, accuracy, shared float64, judges ...string) (items []agreement.Item) {
	toss := func() agreement.Decision {
		if r.Float64() < accuracy {
			return agreement.A
		}
		return agreement.B
	}
	for k := range n {
		i := agreement.Item{ID: fmt.Sprint(k), Gold: agreement.A, Decisions: map[string][]agreement.Decision{}}
		common, alike := toss(), r.Float64() < shared
		for _, j := range judges {
			d := toss()
			if alike {
				d = common
			}
			i.Decisions[j] = []agreement.Decision{d, d}
		}
		items = append(items, i)
	}
	return items
}

// A jury of one judge that is right in 78 % of cases misses a target of 80 %. At most one calibration in twenty may accept it.
func TestCalibrationsRarelyAcceptAJuryThatMissesItsTarget(t *testing.T) {
	accepted, good := 0, 0
	r := rand.New(rand.NewPCG(7, 7))
	const runs = 1000
	for range runs {
		if _, err := agreement.Calibrate(simulate(r, 150, .79, 0, "x"), .8, "x"); err == nil {
			accepted++
		}
		if _, err := agreement.Calibrate(simulate(r, 150, .9, 0, "x"), .8, "x"); err == nil {
			good++
		}
	}
	assert.LessOrEqual(t, float64(accepted)/runs, .05)
	assert.Greater(t, float64(good)/runs, .9, "it must not refuse good juries")
}

func TestCalibrationUsesOnePairOfEachQuestion(t *testing.T) {
	items := simulate(rand.New(rand.NewPCG(1, 1)), 60, 1, 0, "x")
	c, err := agreement.Calibrate(items, .9, "x")
	require.NoError(t, err)
	assert.Equal(t, agreement.Calibration{Judges: []string{"x"}, Target: .9, Decisions: 2, Margin: 1, Items: 60, Decided: 60, Bound: c.Bound}, c)
	assert.InDelta(t, 1-math.Pow(.05, 1./60), c.Bound, 1e-9)
	for i := range items {
		items[i].Group = fmt.Sprint(i % 20)
	}
	_, err = agreement.Calibrate(items, .9, "x")
	require.ErrorIs(t, err, agreement.ErrRefused, "60 pairs of 20 questions are 20 witnesses")
	assert.EqualError(t, err, "calibrate jury: the jury must not decide alone: of 20 items it decides 20 unanimously, 0 of them wrongly, so up to 14 % of such decisions may be wrong, and the target allows 10 %; it takes at least 29 such decisions, all right, to show the target")
}

func TestCalibrationDecidesOnlyWhatItWasMadeFor(t *testing.T) {
	items := simulate(rand.New(rand.NewPCG(1, 1)), 40, 1, 0, "x", "y")
	for k := range items { // y says the same as x, or nothing
		items[k].Decisions["y"][1] = agreement.None
	}
	_, err := agreement.Calibrate(items, .9, "x", "y")
	require.ErrorIs(t, err, agreement.ErrRefused, "no item is unanimous")
	for k := range items {
		items[k].Decisions["y"][1] = agreement.A
	}
	c, err := agreement.Calibrate(items, .9, "x", "y")
	require.NoError(t, err)
	d, ok := c.Decide(items[0])
	assert.True(t, ok)
	assert.Equal(t, agreement.A, d)
	delete(items[0].Decisions, "y")
	_, ok = c.Decide(items[0])
	assert.False(t, ok, "half of the jury is missing")
	_, ok = agreement.Calibration{Judges: c.Judges}.Decide(items[1])
	assert.False(t, ok, "the zero calibration decides nothing")
}

func TestCalibrationRefusesBadInput(t *testing.T) {
	for _, target := range []float64{0, 1, -1, math.NaN()} {
		_, err := agreement.Calibrate(nil, target, "x")
		assert.ErrorContains(t, err, "want a number between 0 and 1")
	}
	_, err := agreement.Calibrate(nil, .8)
	assert.ErrorContains(t, err, "there are no judges")
	_, err = agreement.Calibrate([]agreement.Item{{Gold: agreement.A}}, .8, "x")
	assert.ErrorContains(t, err, "no items with a gold label")
}

// A debate between two participants, or a decision between two options, is an item.
func TestAnItemOfADebate(t *testing.T) {
	turn := func(actor, target, data string, flags ...transcript.Flag) transcript.Turn {
		return transcript.Turn{Key: transcript.Key{Actor: actor, Target: target}, Data: json.RawMessage(data), Flags: flags}
	}
	item := agreement.ItemOf("d", "Ada", "Bo",
		turn("Cy", judge.Swapped, `{"winner": "Bo"}`), turn("Cy", "", `{"winner": "Ada"}`), turn("Di", "", `{}`), turn("Di", judge.Swapped, `{"winner": "Zoe"}`),
		turn("Ed", "", `{"option": 2}`), turn("Ed", judge.Swapped, `{"option": 1}`), turn("Fy", "", `{"option": 3}`), turn("Fy", judge.Swapped, `{"winner": "Ada"}`, transcript.Defaulted), turn("Gy", "", ""),
	)
	require.Equal(t, agreement.Item{ID: "d", Decisions: map[string][]agreement.Decision{
		"Cy": {agreement.A, agreement.B}, "Di": {agreement.Tie, agreement.None}, "Ed": {agreement.B, agreement.A}, "Fy": {agreement.None, agreement.None}, "Gy": {agreement.None},
	}}, item)
	require.Equal(t, []agreement.Decision{agreement.Tie}, agreement.ItemOf("d", "", "", turn("Cy", "", `{}`)).Decisions["Cy"], "of participants who are gone, nobody wins")
	require.Equal(t, []int{1, 2, 0, 0}, []int{agreement.A.Number(), agreement.B.Number(), agreement.Tie.Number(), agreement.None.Number()})
	var none agreement.Selection
	require.Empty(t, none.CheckDebate(nil, 1, 4, 3))
	none.Senior = "Eve"
	require.Contains(t, none.CheckDebate([]string{"Eve"}, 1, 2, 3), "the decision has 3 options, and a calibration is of two")
	require.Contains(t, none.CheckDebate([]string{"Eve"}, 1, 3, 0), "there are 3 participants, and a calibration is of two")
}
