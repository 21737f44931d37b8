package window_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/elenchus-go/debate/context/window"
)

func ExampleCalibration() {
	var c window.Calibration
	c = c.WithReported(2000, 2500) // the estimate was 2,000 tokens, and the provider counted 2,500
	fmt.Println(c.Factor(), c.ToEstimated(20_000))

	c = c.WithOverflow(16_000, 24_000) // an estimate of 16,000 did not fit into 24,000 tokens
	fmt.Println(c.Factor(), c.ToEstimated(24_000))
	// Output:
	// 1.25 16000
	// 1.501 15989
}

func TestFactorsFollowWhatIsReported(t *testing.T) {
	for _, tt := range []struct {
		name    string
		counted []int // reported counts of prompts with an estimate of 1,000
		want    float64
	}{
		{"nothing is known", nil, 1},
		{"it rises at once", []int{1500}, 1.5},
		{"it falls after the second", []int{700}, 1},
		{"by then it does", []int{700, 710}, 0.71},
		{"it stays where little changes", []int{1500, 1550, 1540}, 1.5},
		{"little is up to a twentieth", []int{1050}, 1},
		{"more is not", []int{1051}, 1.051},
		{"one outlier among many changes nothing", []int{1200, 1210, 1220, 3900, 1200}, 1.2},
		{"nor do four", []int{1200, 1200, 1200, 1200, 1200, 3900, 3900, 3900, 3900}, 1.2},
		{"after nine the oldest go", []int{700, 700, 700, 700, 700, 2000, 2000, 2000, 2000, 2000}, 2},
		{"none reported", []int{0}, 1},
		{"less than none", []int{-1000}, 1},
		{"half at least", []int{500, 500}, 0.5},
		{"less than half", []int{499, 499, 499}, 1},
		{"four times at most", []int{4000}, 4},
		{"more", []int{4001}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var c window.Calibration
			for _, n := range tt.counted {
				c = c.WithReported(1000, n)
			}
			require.InDelta(t, tt.want, c.Factor(), 1e-9)
		})
	}
}

func TestAShortPromptSaysNothing(t *testing.T) {
	require.Zero(t, window.Calibration{}.WithReported(99, 198))
	require.Zero(t, window.Calibration{}.WithReported(0, 0))
	require.Zero(t, window.Calibration{}.WithReported(-1000, -1000))
	require.InDelta(t, 2, window.Calibration{}.WithReported(100, 200).Factor(), 1e-9)
}

func TestAnOverflowRaisesTheFactor(t *testing.T) {
	c := window.Calibration{}.WithReported(1000, 1200)
	require.InDelta(t, 1.32, c.WithOverflow(10_000, 10_000).Factor(), 1e-9, "by a tenth")
	require.InDelta(t, 2.001, c.WithOverflow(10_000, 20_000).Factor(), 1e-9, "by what did not fit")
	require.InDelta(t, 1.32, c.WithOverflow(0, 20_000).Factor(), 1e-9, "an empty prompt says nothing more")
	require.InDelta(t, 16, c.WithOverflow(1, 20_000).Factor(), 1e-9, "there is a bound")

	c = c.WithOverflow(10_000, 20_000)
	for range 9 {
		c = c.WithReported(1000, 900)
	}
	require.InDelta(t, 2.001, c.Factor(), 1e-9, "what did not fit once is not tried again")
	for range 9 {
		c = c.WithReported(1000, 3000)
	}
	require.InDelta(t, 3, c.Factor(), 1e-9)
}

func TestCalibrationsKeepTheirPromises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c window.Calibration
		for range rapid.IntRange(0, 30).Draw(t, "steps") {
			before := c
			estimated, room := rapid.IntRange(-10, 50_000).Draw(t, "estimated"), rapid.IntRange(0, 50_000).Draw(t, "room")
			if rapid.Bool().Draw(t, "overflow") {
				c = c.WithOverflow(estimated, room)
				require.GreaterOrEqual(t, c.Factor(), before.Factor())
				if c.Factor() < 16 {
					require.Greater(t, c.Factor(), before.Factor())
					require.False(t, estimated > 0 && c.ToEstimated(room) >= estimated, "the prompt that did not fit would fit")
				}
			} else {
				c = c.WithReported(estimated, room)
				require.Equal(t, c, before.WithReported(estimated, room), "the same turns, the same factor")
			}
			require.GreaterOrEqual(t, c.Factor(), 0.5)
			require.LessOrEqual(t, c.Factor(), 16.0)
			tokens := rapid.IntRange(0, 100_000).Draw(t, "tokens")
			require.LessOrEqual(t, float64(c.ToEstimated(tokens))*c.Factor(), float64(tokens)+1e-6, "no more than there is room for")
		}
	})
}

func TestASharpFallIsASuspectedCut(t *testing.T) {
	for _, tt := range []struct {
		name    string
		prompts [][2]int // estimated and counted
		want    bool     // for the last
	}{
		{"the first prompt", [][2]int{{3000, 2000}}, false},
		{"the count stops growing", [][2]int{{1000, 2000}, {1500, 3000}, {2000, 4000}, {2600, 4000}}, true},
		{"a fifth is not enough", [][2]int{{1000, 2000}, {1500, 3000}, {2000, 4000}, {2500, 4000}}, false},
		{"the first that is cut may have more tokens", [][2]int{{1000, 2000}, {1900, 3800}, {2500, 3980}}, false},
		{"the next has not", [][2]int{{1000, 2000}, {1900, 3800}, {2500, 3980}, {2600, 3970}}, true},
		{"a cut in whole messages", [][2]int{{1000, 2000}, {2000, 4000}, {2600, 3100}}, true},
		{"the count grows: another template", [][2]int{{200, 400}, {300, 480}, {900, 1080}, {1500, 1700}}, false},
		{"the prompt is shorter too", [][2]int{{1000, 2000}, {2000, 4000}, {1000, 2000}}, false},
		{"tokens from a cache are not counted", [][2]int{{1000, 1000}, {1600, 600}}, false},
		{"all tokens come from a cache", [][2]int{{1000, 1000}, {1600, 0}}, false},
		{"fewer than half of the largest count", [][2]int{{1000, 2000}, {2000, 4000}, {2100, 1900}}, false},
		{"a short prompt", [][2]int{{1000, 1500}, {99, 80}}, false},
		{"one outlier before", [][2]int{{1000, 1000}, {1100, 1100}, {1200, 4000}, {1300, 1300}}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var c window.Calibration
			last := len(tt.prompts) - 1
			for _, p := range tt.prompts[:last] {
				require.False(t, c.SuspectsCut(p[0], p[1]), p)
				c = c.WithReported(p[0], p[1])
			}
			p := tt.prompts[last]
			require.Equal(t, tt.want, c.SuspectsCut(p[0], p[1]))
			if tt.want {
				require.Equal(t, c, c.WithReported(p[0], p[1]), "nothing is learned from it")
			}
		})
	}
}

// A model that has been replaced by one with other tokens is suspected until a count is larger than all before.
func TestAChangedModelIsNotSuspectedForLong(t *testing.T) {
	var c window.Calibration
	for i := range 9 {
		c = c.WithReported(1000+100*i, 2*(1000+100*i))
	}
	require.True(t, c.SuspectsCut(2000, 2400))
	require.False(t, c.SuspectsCut(4000, 4800))
	for i := range 9 {
		c = c.WithReported(4000+100*i, (4000+100*i)*12/10)
	}
	require.InDelta(t, 1.2, c.Factor(), 0.01)
	require.False(t, c.SuspectsCut(2000, 2400))
}

// The ratios are those of docs/measured/windows.md. The debate changes its language, or uses two in turn, and its window cuts half of
// the history when it is full.
func TestOtherLanguagesAreNoCut(t *testing.T) {
	for vocabulary, ratios := range map[string]map[string]float64{
		"o200k_base":  {"English": 0.765, "German": 0.950, "Chinese": 0.875, "Go": 0.908},
		"cl100k_base": {"English": 0.770, "German": 1.225, "Chinese": 1.348, "Go": 0.914},
	} {
		for first, a := range ratios {
			for second, b := range ratios {
				for _, alternate := range []bool{false, true} {
					var c window.Calibration
					tokens := []float64{500 * a}
					for n := 1; n <= 60; n++ {
						ratio := a
						if alternate && n%2 == 1 || !alternate && n > 20 {
							ratio = b
						}
						tokens = append(tokens, 250*ratio)
						if len(tokens) > 28 {
							tokens = append(tokens[:1:1], tokens[14:]...)
						}
						estimated, counted := 500+250*(len(tokens)-1), 0.0
						for _, x := range tokens {
							counted += x
						}
						require.False(t, c.SuspectsCut(estimated, int(counted)), "%s: %s, then %s, prompt %d", vocabulary, first, second, n)
						c = c.WithReported(estimated, int(counted))
					}
				}
			}
		}
	}
}

func TestAnotherActorStartsFromTheFactor(t *testing.T) {
	c := window.Calibration{}.WithReported(1000, 1900).WithReported(1100, 2090)
	start := c.Start()
	require.InDelta(t, 1.9, start.Factor(), 1e-9)
	require.False(t, start.SuspectsCut(3000, 2000), "its own prompts are not known")
	require.InDelta(t, 1.9, start.WithReported(1000, 1200).Factor(), 1e-9, "it falls after the second")
	require.InDelta(t, 1.21, start.WithReported(1000, 1200).WithReported(1000, 1210).Factor(), 1e-9)
	require.InDelta(t, 2.5, start.WithReported(1000, 2500).Factor(), 1e-9)
	require.InDelta(t, 2.09, c.WithOverflow(1000, 1500).Start().Factor(), 1e-9)
	require.Zero(t, window.Calibration{}.Start())
}

// An actor without counts of its own is compared with others of the same model.
func TestTheFirstPromptMayBeCut(t *testing.T) {
	other := window.Calibration{}.WithReported(1000, 1300).WithReported(1000, 1300)
	for _, tt := range []struct {
		name           string
		scale          window.Calibration
		least, counted int
		want           bool
	}{
		{"a large cut", other.Start(), 5473, 4096, true},
		{"a small one", other.Start(), 5473, 5000, false},
		{"just enough", other.Start(), 10_000, 9_099, true},
		{"not enough", other.Start(), 10_000, 9_100, false},
		{"of a third actor", other.Start().Start(), 5473, 4096, true},
		{"nothing is known of others", window.Calibration{}.Start(), 5473, 4096, false},
		{"others have no counts, but were too long", window.Calibration{}.WithOverflow(1000, 2000).Start(), 5473, 4096, false},
		{"others were too long too", other.WithOverflow(1000, 3000).Start(), 10_000, 9_100, false},
		{"a short prompt", other.Start(), 99, 100, false},
		{"no count", other.Start(), 5473, 0, false},
		{"it has counts of its own", other.Start().WithReported(1000, 1300), 5473, 4096, false},
		{"cut again", other.Start().WithCut(3911).WithCut(4096), 9000, 4090, true},
		{"it grows", other.Start().WithCut(3911).WithCut(4096), 9000, 4890, false},
	} {
		require.Equal(t, tt.want, tt.scale.SuspectsFirstCut(tt.least, tt.counted), tt.name)
	}
}

// The count of a cut prompt changes no factor.
func TestCountsOfCutPrompts(t *testing.T) {
	c := window.Calibration{}.WithReported(1000, 1300).Start()
	cut := c.WithCut(4096)
	require.InDelta(t, c.Factor(), cut.Factor(), 0)
	require.InDelta(t, 0.9, cut.WithReported(10_000, 9_000).WithReported(10_000, 9_000).Factor(), 1e-9)
	known := c.WithReported(1000, 1300)
	require.Equal(t, known, known.WithCut(900))
}
