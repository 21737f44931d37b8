package retrieval_test

import (
	"encoding/base64"
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tmc/langchaingo/embeddings"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/retrieval"
)

var (
	_ embeddings.Embedder = retrieval.NGrams{}
	_ retrieval.Embedder  = (*embeddings.EmbedderImpl)(nil)
)

func cosine(a, b []float32) float64 {
	var dot, aa, bb float64
	for i := range a {
		dot += float64(a[i]) * float64(b[i])
		aa += float64(a[i]) * float64(a[i])
		bb += float64(b[i]) * float64(b[i])
	}
	return dot / math.Sqrt(aa*bb)
}

func embed(t *testing.T, text string) []float32 {
	t.Helper()
	v, err := retrieval.NGrams{}.EmbedQuery(t.Context(), text)
	require.NoError(t, err)
	return v
}

func TestNGramsAreNearWhereWordsAre(t *testing.T) {
	base := embed(t, "Cities should ban private cars from their centres.")
	require.Len(t, base, 1024)
	require.InDelta(t, 1, cosine(base, base), 1e-6)
	same := cosine(base, embed(t, "cities; SHOULD ban: private cars (from their centres)"))
	forms := cosine(base, embed(t, "A city that bans a private car from its centre."))
	other := cosine(base, embed(t, "Quantum computers factor large integers."))
	require.InDelta(t, 1, same, 1e-6, "case, order of marks and common words do not count")
	require.Greater(t, forms, 0.4, "other forms of the words are near")
	require.Less(t, other, 0.2)
}

func TestNGramsHaveTheLengthOne(t *testing.T) {
	for _, text := range []string{"a word", "word word word and another", "应该禁止汽车吗", "naïve café"} {
		sum := 0.0
		for _, x := range embed(t, text) {
			sum += float64(x) * float64(x)
		}
		require.InDelta(t, 1, sum, 1e-5, text)
	}
	for _, text := range []string{"", "  ", "should we be?!"} {
		require.Equal(t, make([]float32, 1024), embed(t, text), "%q says nothing", text)
	}
}

// The formula is documented and vectors may be stored, so the vectors must not change.
func TestNGramsFollowTheFormula(t *testing.T) {
	want := make([]float64, 1024)
	for _, f := range []struct {
		name   string
		weight float64
		count  float64
	}{
		{"ox", 1, 2},
		{"~ ox", 1 / math.Sqrt(2), 2},
		{"~ox ", 1 / math.Sqrt(2), 2},
		{"cat", 1, 1},
		{"~ ca", 1 / math.Sqrt(3), 1},
		{"~cat", 1 / math.Sqrt(3), 1},
		{"~at ", 1 / math.Sqrt(3), 1},
	} {
		h := uint64(14695981039346656037)
		for _, b := range []byte(f.name) {
			h = (h ^ uint64(b)) * 1099511628211
		}
		x := f.weight * (1 + math.Log(f.count))
		if h >= 1<<63 {
			x = -x
		}
		want[h%1024] += x
	}
	length := 0.0
	for _, x := range want {
		length += x * x
	}
	got := embed(t, "Ox, cat and ox!")
	for i, x := range want {
		require.InDelta(t, x/math.Sqrt(length), got[i], 1e-6, "dimension %d", i)
	}
	both, err := retrieval.NGrams{}.EmbedDocuments(t.Context(), []string{"ox", "Ox, cat and ox!"})
	require.NoError(t, err)
	require.Equal(t, [][]float32{embed(t, "ox"), got}, both)
}

func vectorsOf(t *testing.T, e retrieval.Embedder, r providers.Request) (list []string) {
	t.Helper()
	res, err := retrieval.EmbeddingProvider(e, "m").Generate(t.Context(), r)
	require.NoError(t, err)
	require.Equal(t, "m", res.Model)
	require.Zero(t, res.Usage)
	var reply map[string][]string
	require.NoError(t, json.Unmarshal([]byte(res.Text), &reply))
	require.Len(t, reply, 1)
	return reply["vectors"]
}

func TestVectorsAreBytes(t *testing.T) {
	for _, tt := range []struct {
		vector []float32
		want   []int8
	}{
		{[]float32{1, 0}, []int8{127, 0}},
		{[]float32{-5, 0}, []int8{-127, 0}},
		{[]float32{3, 4}, []int8{76, 102}},
		{[]float32{0, 0}, []int8{0, 0}},
		{[]float32{3e38, -3e38}, []int8{90, -90}},
	} {
		b, err := base64.StdEncoding.DecodeString(vectorsOf(t, odd{docs: [][]float32{tt.vector}}, ask("x"))[0])
		require.NoError(t, err)
		var got []int8
		for _, x := range b {
			got = append(got, int8(x))
		}
		require.Equal(t, tt.want, got, "%v", tt.vector)
	}
}

func TestEachWordOfTheUserHasAVector(t *testing.T) {
	e := &axes{words: []string{"cat", "dog"}}
	r := ask("cat", "dog", "cat")
	want := []string{"fwA=", "AH8=", "fwA="}
	require.Equal(t, want, vectorsOf(t, e, r))
	r.Messages = append(r.Messages, providers.Message{Role: providers.Assistant, Text: "{}"}, providers.Message{Role: providers.User, Text: "Again."})
	require.Equal(t, want, vectorsOf(t, e, r), "asking again asks for the same")
}

func TestEmbeddersThatFail(t *testing.T) {
	p := retrieval.EmbeddingProvider(&axes{err: errCause}, "m")
	_, err := p.Generate(t.Context(), ask("x"))
	require.EqualError(t, err, "server_error: embed 1 texts: the cause")
	_, err = retrieval.EmbeddingProvider(odd{}, "m").Generate(t.Context(), ask("x"))
	require.EqualError(t, err, "invalid_response: embed 1 texts: invalid_response: the embedder returned 0 vectors, want 1")
}

// The largest change among these random pairs is 0.0104; the bound is slightly larger.
func TestBytesKeepTheCosine(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	worst := 0.0
	for range 50 {
		a, b := make([]float32, 1536), make([]float32, 1536)
		mix := r.Float32()
		for i := range a {
			a[i] = float32(r.NormFloat64())
			b[i] = mix*a[i] + (1-mix)*float32(r.NormFloat64())
		}
		list := vectorsOf(t, odd{docs: [][]float32{a, b}}, ask("x", "y"))
		require.Len(t, list[0], 2048)
		worst = max(worst, math.Abs(cosine(a, b)-cosine(decoded(t, list[0]), decoded(t, list[1]))))
	}
	t.Logf("the worst of 50: %.4f", worst)
	require.Less(t, worst, 0.015)
}

func decoded(t *testing.T, s string) (v []float32) {
	t.Helper()
	b, err := base64.StdEncoding.DecodeString(s)
	require.NoError(t, err)
	for _, x := range b {
		v = append(v, float32(int8(x)))
	}
	return v
}
