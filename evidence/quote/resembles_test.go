package quote_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/evidence/quote"
)

func TestResembles(t *testing.T) {
	text := quote.New("Any rent above 800 euros is void. The landlord pays the difference back, with interest, within one month. 東京都の人口は約千四百万人である。")
	for words, want := range map[string]bool{
		"any rent above 900 euros is void":                    true,
		"rent above 800 euros is null and void":               true,
		"The landlord pays back the difference with interest": true,
		"東京都の人口は約千三百万人である":                                    true,
		"the tenant keeps the flat for one year":              false,
		"大阪府の面積は広い":                                           false,
		"void":                                                true,
		"":                                                    false,
		"…":                                                   false,
	} {
		require.Equal(t, want, text.Resembles(words), words)
	}
}

// Of quotes of ten words, those with one or two words replaced resemble the text, and words in random order of another text
// do not.
func TestResemblesOnRandomTexts(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	vocabulary := make([]string, 3000)
	for i := range vocabulary {
		vocabulary[i] = strings.Map(func(rune) rune { return 'a' + rune(random.IntN(26)) }, strings.Repeat("x", 2+random.IntN(8)))
	}
	words := make([]string, 50_000)
	for i := range words {
		words[i] = vocabulary[int(float64(len(vocabulary))*random.Float64()*random.Float64()*random.Float64())] // some are frequent
	}
	text := quote.New(strings.Join(words, " "))
	for range 100 {
		at := random.IntN(len(words) - 10)
		changed := append([]string{}, words[at:at+10]...)
		changed[random.IntN(10)], changed[random.IntN(10)] = "altered", "replaced"
		require.True(t, text.Resembles(strings.Join(changed, " ")))
		for i := range changed {
			changed[i] = vocabulary[random.IntN(len(vocabulary))]
		}
		require.False(t, text.Resembles(strings.Join(changed, " ")))
	}
}
