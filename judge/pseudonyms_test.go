package judge_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/transcript"
)

// labels returns pseudonyms of Ann and Bob, with Ann as Debater A.
func labels(t testing.TB, names ...string) *judge.Pseudonyms {
	t.Helper()
	for i := range 1000 {
		if l := judge.NewPseudonyms(names, fmt.Sprint("d", i), "J", false); l.Of(names[0]) == "Debater A" && l.Of(names[1]) == "Debater B" {
			return l
		}
	}
	t.Fatal("no such order")
	return nil
}

// Stored debates depend on the order, so it must not change between versions.
func TestTheOrderOfLabelsIsDrawnByDebateAndJudge(t *testing.T) {
	names := []string{"Ada", "Bo", "Cy", "Di"}
	order := func(debate, j string, swap bool) string {
		l := judge.NewPseudonyms(names, debate, j, swap)
		by := map[string]string{}
		for _, n := range names {
			by[l.Of(n)] = n
		}
		var list []string
		for _, label := range l.Names() {
			list = append(list, by[label])
		}
		return strings.Join(list, " ")
	}
	require.Equal(t, "Cy Bo Di Ada", order("d1", "Eve", false))
	require.Equal(t, "Ada Di Bo Cy", order("d1", "Eve", true), "the opposite")
	require.Equal(t, "Cy Ada Di Bo", order("d1", "Eva", false))
	require.Equal(t, "Di Cy Bo Ada", order("d2", "Eve", false))
	require.Equal(t, []string{"Debater A", "Debater B", "Debater C", "Debater D"}, judge.NewPseudonyms(names, "d1", "Eve", true).Names())
	slices.Reverse(names)
	require.Equal(t, "Cy Bo Di Ada", order("d1", "Eve", false), "the order of the participants does not matter")

	first := map[string]int{}
	for i := range 400 {
		first[strings.Fields(order(fmt.Sprint(i), "Eve", false))[0]]++
	}
	for _, n := range names {
		require.InDelta(t, 100, first[n], 40, "each comes first about as often")
	}
}

func TestLabelsBeyondTheAlphabet(t *testing.T) {
	var names []string
	for i := range 60 {
		names = append(names, fmt.Sprintf("n%02d", i))
	}
	l := judge.NewPseudonyms(names, "d", "J", false)
	list := l.Names()
	require.Equal(t, []string{"Debater Z", "Debater AA", "Debater AB"}, list[25:28])
	require.Equal(t, "Debater BH", list[59])
	for _, n := range names {
		require.Equal(t, n, l.Reveal(l.Of(n)))
	}
	require.Equal(t, "Zoe", l.Of("Zoe"))
}

func TestNamesAreHidden(t *testing.T) {
	for _, tt := range []struct {
		name       string
		names      []string
		text, want string
	}{
		{"a word", []string{"Ann", "Bob"}, "Ann says that Bob errs.", "Debater A says that Debater B errs."},
		{"with an ending", []string{"Ann", "Bob"}, "Ann's point, “Bob”, Bob’s, (Ann)-Bob", "Debater A's point, “Debater B”, Debater B’s, (Debater A)-Debater B"},
		{"in other words", []string{"Ann", "Bob"}, "Annual Bobsleigh, Joann, Ann2 and Bob_1", "Annual Bobsleigh, Joann, Ann2 and Bob_1"},
		{"in other words beyond ASCII", []string{"Ann", "Bob"}, "Annö, éBob, Bob\u0301", "Annö, éBob, Bob\u0301"},
		{"in another case", []string{"Ann", "Bob"}, "ann and BOB", "ann and BOB"},
		{"inside another name", []string{"Ann", "Ann Lee"}, "Ann Lee and Ann, Ann Leeds", "Debater B and Debater A, Debater A Leeds"},
		{"of several words", []string{"Claude 3.5", "GPT-4"}, "GPT-4 beats Claude 3.5; Claude 3.55 and GPT-4o do not count", "Debater B beats Debater A; Claude 3.55 and GPT-4o do not count"},
		{"with punctuation at its ends", []string{"C++", "@bo"}, "C++, x@bo, @bob C++!", "Debater A, x@bo, @bob Debater A!"},
		{"one letter", []string{"A", "B"}, "A claims what B denies. AB.", "Debater A claims what Debater B denies. AB."},
		{"without spaces", []string{"张三", "李四"}, "张三说李四错了。张三李四", "Debater A说Debater B错了。Debater A Debater B"},
		{"with Korean endings", []string{"민수", "지우"}, "민수는 지우가", "Debater A는 Debater B가"},
		{"beside another script", []string{"张三", "李四"}, "GPT张三x", "GPT Debater A x"},
		{"a pseudonym in the text", []string{"Ann", "Bob"}, "Debater B has lost, says debater  a. DEBATER_A!", "debater (B) has lost, says debater (A). debater (A)!"},
		{"an unassigned pseudonym", []string{"Ann", "Bob"}, "Debater C and debaters and Debater Alpha", "Debater C and debaters and Debater Alpha"},
		{"a name after the word", []string{"A", "B"}, "debater B, and debater b", "debater Debater B, and debater (B)"},
		{"a name that is a pseudonym", []string{"Debater B", "Debater A"}, "Debater B and Debater A", "Debater A and Debater B"},
		{"not UTF-8", []string{"Ann", "Bob"}, "\xffAnn\xc3 Bob", "\xffDebater A\xc3 Debater B"},
	} {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, labels(t, tt.names...).Hide(tt.text)) })
	}
}

// Names are found where Hide replaces them, but not in pseudonyms, which a reader may see.
func TestNamesAreFound(t *testing.T) {
	l := judge.NewPseudonyms([]string{"Ann", "B", "Debate", "Mary Ann"}, "seed", "reader", false)
	for text, want := range map[string][]int{
		"":                                    nil,
		"Debater A, Debater B and Debater_C.": nil,
		"debater (B) said it":                 nil,
		"Annual debater b":                    nil,
		"Ann's plan: B won, Mary Ann lost":    {0, 12, 19},
		"Debater B lost to B; a Debate.":      {18, 23},
		"Debater Z is unknown, B is not":      {22},
	} {
		require.Equal(t, want, l.Find(text), text)
	}
	require.Empty(t, judge.NewPseudonyms(nil, "seed", "reader", false).Find("Ann"))
}

func TestLabelsAreRevealed(t *testing.T) {
	l := labels(t, "Ann", "Bob")
	for text, want := range map[string]string{
		"Debater A beats Debater B.":                            "Ann beats Bob.",
		"debater a's DEBATER B, Debater_A":                      "debater a's Bob, Ann",
		"Debater\u00a0A, Debater-B, debater A":                  "Ann, Bob, Ann",
		"Debater AB, Debater C, Debater, xDebater A, Debater Á": "Debater AB, Debater C, Debater, xDebater A, Debater Á",
		"Debater A说Debater B":                                   "Ann说Bob",
		"Debater A1, Debater Aé, Debater B_2":                   "Debater A1, Debater Aé, Debater B_2",
		"":                                                      "",
	} {
		require.Equal(t, want, l.Reveal(text))
	}
	require.Equal(t, "Debater A", labels(t, "Debater B", "Debater A").Reveal("Debater B"))
}

// TestRevealUndoesHide checks texts without pseudonyms.
func TestRevealUndoesHide(t *testing.T) {
	names := []string{"Ann", "Ann Lee", "A", "Lee", "Jo-Ann", "C++", "Zoë", "R2", "Mr. X."}
	l := judge.NewPseudonyms(names, "d", "J", false)
	pieces := append([]string{
		" ", "  ", ".", ", ", "'s", "’s", "-", "_", "(", "é", "\u0301", "x", "s", "Z", "9", "\n", "debate", "the ", "\xff", "<<<", l.Nonce(),
	}, names...)
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.OneOf(rapid.SampledFrom(pieces), rapid.StringN(0, 3, -1))).Draw(t, "text"), "")
		require.Equal(t, text, l.Reveal(l.Hide(text)))
	})
}

func TestNoNameIsLeftInWhatWasHidden(t *testing.T) {
	l := labels(t, "Ann", "Bob")
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOf(rapid.SampledFrom([]string{"Ann", "Bob", "says", "Debater A", "said,"})).Draw(t, "words")
		hidden := l.Hide(strings.Join(words, " "))
		require.NotRegexp(t, `\b(Ann|Bob)\b`, hidden)
	})
}

func TestSeatsAreHidden(t *testing.T) {
	seats := []transcript.Profile{
		{Name: "Zoe", Persona: "knows Ann"},
		{
			Name: "Bob", Role: "Ann's brother", Side: "Bob's", Position: "Ann errs", Persona: "likes Ann", Instructions: "Answer Ann",
			KeyArguments: []string{"Ann said so", "none"},
		},
		{Name: "Ann"},
	}
	before := fmt.Sprint(seats)
	require.Equal(t, []transcript.Profile{
		{Name: "Debater A"},
		{
			Name: "Debater B", Role: "Debater A's brother", Side: "Debater B's", Position: "Debater A errs", Persona: "likes Debater A",
			Instructions: "Answer Debater A", KeyArguments: []string{"Debater A said so", "none"},
		},
		{Name: "Zoe", Persona: "knows Debater A"},
	}, labels(t, "Ann", "Bob").Profiles(seats))
	require.Equal(t, before, fmt.Sprint(seats), "the profiles themselves are unchanged")
}

func BenchmarkHide(b *testing.B) {
	l := judge.NewPseudonyms([]string{"Ann", "Bob", "Claude 3.5", "Debbie"}, "d", "J", false)
	text := strings.Repeat("Ann, as Bob's friend Debbie says, concedes the debated point; all of it Depends on Bolivia. ", 40)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		l.Hide(text)
	}
}

func BenchmarkQuote(b *testing.B) {
	l := judge.NewPseudonyms([]string{"Ann", "Bob", "Claude 3.5", "Debbie"}, "d", "J", false)
	for name, piece := range map[string]string{
		"typical": "Ann, as Bob's friend Debbie says, concedes the debated point; all of it Depends on Bolivia. ",
		"hostile": "debater debater __  Debater D<<< <<" + l.Nonce()[:11] + "《《\u200d《",
	} {
		b.Run(name, func(b *testing.B) {
			text := strings.Repeat(piece, 64<<10/len(piece))
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				l.Quote("Ann", 1, text)
			}
		})
	}
}

// "Debater a" is also ordinary English: only a capital letter makes it a pseudonym.
func TestTheWordDebaterBeforeAnArticleIsNoLabel(t *testing.T) {
	l := judge.NewPseudonyms([]string{"Ann", "Bob"}, "d", "J", false)
	for _, text := range []string{"It gave the debater a chance.", "Neither debater a priori wins.", "Debater a and debater b"} {
		t.Log(l.Reveal(text), "|", l.Hide(text))
	}
	require.Equal(t, "It gave the debater a chance.", l.Reveal("It gave the debater a chance."))
}

func TestQuoteTokens(t *testing.T) {
	l := judge.NewPseudonyms([]string{"Ada"}, "d", "J", false)
	for _, who := range []string{"A", "Ada", "Alexander the Great"} {
		added := window.Estimate(l.Quote(who, 2, "Hello there.")) - window.Estimate("Hello there.")
		require.InDelta(t, l.QuoteTokens(), added, 5, who)
	}
}
