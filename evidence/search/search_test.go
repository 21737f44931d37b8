package search_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/elenchus-go/debate/evidence/search"
)

func ExampleIndex_Find() {
	index, err := search.New(context.Background(), map[string]string{
		"report.md": "Trains were late.\nIn 2021, 12.5 % of all trips were made by bicycle.\nBuses were full.\n",
	}, search.Options{Bytes: 60})
	if err != nil {
		panic(err)
	}
	found, err := index.Find(context.Background(), "How many trips by bicycle?", 1)
	fmt.Println(found[0].Document, found[0].Start, found[0].End, err)
	// Output: report.md 0 69 <nil>
}

// Rare words count more than common ones, and a short passage more than a long one.
func TestRanks(t *testing.T) {
	x, err := search.New(t.Context(), map[string]string{
		"a": "the the the the cat", "b": "the zebra", "c": "the zebra and very many other words that say nothing at all here", "d": "自転車で行く",
	}, search.Options{})
	require.NoError(t, err)
	for query, want := range map[string]string{"the zebra": "bca", "ZEBRA!": "bc", "cat": "a", "nothing like it": "c", "転車": "d", "": "", "unknown": ""} {
		found, err := x.Find(t.Context(), query, 10)
		require.NoError(t, err)
		names := ""
		for _, p := range found {
			names += p.Document
		}
		require.Equal(t, want, names, query)
	}
}

// An embedder finds what has other words.
func TestVectors(t *testing.T) {
	fail := error(nil)
	embed := func(_ context.Context, texts []string) (list [][]float64, err error) {
		for _, text := range texts {
			v := []float64{0, 1}
			if strings.Contains(text, "bicycle") || strings.Contains(text, "cycling") {
				v = []float64{1, 0}
			}
			list = append(list, v)
		}
		return list, fail
	}
	x, err := search.New(t.Context(), map[string]string{"a": "A bicycle.", "b": "A bus."}, search.Options{Embed: embed})
	require.NoError(t, err)
	found, err := x.Find(t.Context(), "cycling", 5)
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.Equal(t, "a", found[0].Document)
	fail = errors.New("down")
	_, err = x.Find(t.Context(), "cycling", 5)
	require.EqualError(t, err, "search documents: down")
	_, err = search.New(t.Context(), map[string]string{"a": "x"}, search.Options{Embed: embed})
	require.EqualError(t, err, "index documents: down")
}

// Each passage is the text in its range, and whole characters.
func TestRangesAreThoseOfTheText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringN(0, 400, -1).Draw(t, "text") + rapid.SampledFrom([]string{"", "\n", strings.Repeat("字", 90), strings.Repeat("ab ", 90)}).Draw(t, "tail") + " word"
		x, err := search.New(context.Background(), map[string]string{"a": text}, search.Options{Bytes: rapid.IntRange(1, 60).Draw(t, "bytes")})
		require.NoError(t, err)
		found, err := x.Find(context.Background(), text, 1000)
		require.NoError(t, err)
		require.NotEmpty(t, found)
		for _, p := range found {
			require.Equal(t, text[p.Start:p.End], p.Text)
			require.True(t, utf8.ValidString(p.Text))
			require.Positive(t, p.Score)
		}
	})
}
