package retrieval

import (
	"context"
	"encoding/base64"
	"fmt"
	"hash/fnv"
	"math"
	"strings"
	"unicode"

	"github.com/elenchus-go/debate/providers"
)

// Embedder makes vectors of texts. The embedders of langchaingo have this form.
type Embedder interface {
	// EmbedDocuments makes a vector of each text, all of the same length.
	EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error)
	// EmbedQuery makes a vector of one text.
	EmbedQuery(ctx context.Context, text string) ([]float32, error)
}

// EmbeddingProvider answers with a vector for each user message before any of the assistant's, in order, as a JSON object:
//
//	{"vectors": ["AH8A/w=="]}
//
// A vector is standard base64 with padding of one byte a dimension, signed: each number x of the vector, of which the
// sum of squares is 1, stands as 127x rounded to the nearest. A vector of zeros stays one. 1,536 dimensions take 2,048
// characters; over 50 pairs of random vectors of that size, the cosine moved by up to 0.0104. The model, which may be
// empty, names the embedding model. Usage is not reported. A call ends with ctx as one of [New] does.
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

// checkVectors says what is wrong with the vectors of n texts.
func checkVectors(vectors [][]float32, n int) error {
	wrong := func(format string, args ...any) error {
		return &providers.Error{Kind: providers.InvalidResponse, Err: fmt.Errorf(format, args...)}
	}
	if len(vectors) != n {
		return wrong("%d vectors came, %d are wanted", len(vectors), n)
	}
	for i, v := range vectors {
		if len(v) == 0 || len(v) != len(vectors[0]) {
			return wrong("vector %d has %d dimensions, the first has %d", i, len(v), len(vectors[0]))
		}
		if l := norm(v); math.IsNaN(l) || math.IsInf(l, 0) {
			return wrong("vector %d has a number that is none", i)
		}
	}
	return nil
}

// quantize is a vector of length 1 in bytes.
func quantize(v []float32) []byte {
	out := make([]byte, len(v))
	for i, x := range normalize(v) {
		out[i] = byte(int8(math.Round(127 * float64(x)))) //nolint:gosec // the sign becomes the highest bit
	}
	return out
}

// normalize is a vector in its direction with the length 1; one of zeros stays.
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

// NGrams is an embedder without a model: it counts words and pieces of words. It works offline, in no time, and gives
// the same vectors anywhere.
//
// A text's features are its words in lower case, without the commonest of English, and the runs of three characters in
// each word with a blank at both ends, such as "~ ox" and "~ox ". A feature f that comes n times adds w(1 + ln n) to
// the number at h(f) mod 1,024, or takes it away where the highest bit of h(f) is set: h is FNV-1a of 64 bits, the
// weight w is 1 for a word and 1/√k for each of the k runs of a word of k letters. The vector is scaled to the length
// 1.
//
// It knows words and not what they mean: texts on the same matter in other words are strangers to it. Where that
// matters, use a model.
type NGrams struct{}

// dimensions of an NGrams vector.
const dimensions = 1024

// EmbedDocuments makes a vector of each text. It never fails.
func (NGrams) EmbedDocuments(_ context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		vectors[i] = ngrams(text)
	}
	return vectors, nil
}

// EmbedQuery makes a vector of one text. It never fails.
func (NGrams) EmbedQuery(_ context.Context, text string) ([]float32, error) { return ngrams(text), nil }

func ngrams(text string) []float32 {
	type feature struct {
		count  int
		weight float64
	}
	features := map[string]feature{}
	var order []string // sums of numbers depend on it
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

// contentWords are the words of a text in lower case, without the commonest.
func contentWords(text string) (list []string) {
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) }) {
		if !stopWords[w] {
			list = append(list, w)
		}
	}
	return list
}

// stopWords are words that say nothing of what a text is about.
var stopWords = func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(`a about also an and any are as at be been but by can could did do does first for
		from had has have how i if in into is it its last made more most no not of on or other our out s should so some
		such t than that the their them then there these they this those three to two us was we were what when where
		which who why will with would you your`) {
		m[w] = true
	}
	return m
}()
