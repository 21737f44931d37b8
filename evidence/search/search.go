// Package search finds passages in documents: by their words (BM25), and by vectors if there is an embedder.
//
//	index, err := search.New(ctx, map[string]string{"report.md": report}, search.Options{})
//	passages, err := index.Find(ctx, "trips by bicycle", 5)
//
// For documents that are too long for a window, a tool lets a model search them, in one line with package tool:
//
//	find := tool.Func(spec, func(ctx context.Context, q query) ([]search.Passage, error) { return index.Find(ctx, q.Words, 5) })
package search

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"
)

// Options configure an index.
type Options struct {
	// Bytes is the least size of a passage, which ends with the line. A longer line is cut between words. Defaults to 800.
	Bytes int
	// Embed returns a vector for each text. If it is set, passages are found by vectors too: Find merges the ranks of both
	// lists. Defaults to none.
	Embed func(ctx context.Context, texts []string) ([][]float64, error)
}

// Passage is a part of a document.
type Passage struct {
	Document string  `json:"document"` // its name
	Start    int     `json:"start"`    // where it begins in the text, in bytes
	End      int     `json:"end"`      // where it ends, in bytes
	Text     string  `json:"text"`     // the text in that range
	Score    float64 `json:"score"`    // greater is better; comparable only within one search
}

// Index finds passages. It is safe for concurrent use.
type Index struct {
	passages []Passage
	counts   []map[string]int // of the words of each passage
	lengths  []int            // words of each passage
	within   map[string]int   // number of passages that have a word
	average  float64          // words of a passage
	vectors  [][]float64      // nil without an embedder
	embed    func(ctx context.Context, texts []string) ([][]float64, error)
}

// New returns an index of texts, by the names of their documents.
func New(ctx context.Context, texts map[string]string, o Options) (*Index, error) {
	x := &Index{within: map[string]int{}, embed: o.Embed}
	size, all := cmp.Or(max(o.Bytes, 0), 800), 0
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		for _, r := range split(texts[name], size) {
			p := Passage{Document: name, Start: r[0], End: r[1], Text: texts[name][r[0]:r[1]]}
			counts, n := map[string]int{}, 0
			for _, w := range words(p.Text) {
				counts[w]++
				n++
			}
			for w := range counts {
				x.within[w]++
			}
			x.passages = append(x.passages, p)
			x.counts = append(x.counts, counts)
			x.lengths = append(x.lengths, n)
			all += n
		}
	}
	x.average = max(float64(all)/float64(max(len(x.passages), 1)), 1)
	if o.Embed == nil || len(x.passages) == 0 {
		return x, nil
	}
	list := make([]string, len(x.passages))
	for i, p := range x.passages {
		list[i] = p.Text
	}
	var err error
	x.vectors, err = o.Embed(ctx, list)
	if err == nil && len(x.vectors) != len(list) {
		err = fmt.Errorf("%d vectors for %d passages", len(x.vectors), len(list))
	}
	if err != nil {
		return nil, fmt.Errorf("index documents: %w", err)
	}
	return x, nil
}

// split returns the ranges of the passages of a text. They are adjacent, and no character is cut.
func split(text string, size int) (ranges [][2]int) {
	for start := 0; start < len(text); {
		end := len(text)
		if at := start + size; at < end {
			switch line := strings.IndexByte(text[at:], '\n'); {
			case line >= 0 && line <= size:
				end = at + line + 1
			default:
				end = wordEnd(text, at)
			}
		}
		if strings.TrimSpace(text[start:end]) != "" {
			ranges = append(ranges, [2]int{start, end})
		}
		start = end
	}
	return ranges
}

// wordEnd returns where the word at a place ends. A word that is longer than 100 bytes is cut between two characters.
func wordEnd(text string, at int) int {
	for i, r := range text[at:] {
		if unicode.IsSpace(r) || i >= 100 && r != unicode.ReplacementChar {
			return at + i
		}
	}
	return len(text)
}

// words returns the words of a text in lower case. A character of a script without spaces is a word of its own.
func words(text string) (list []string) {
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) }) {
		rest := 0
		for i, r := range w {
			if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai) {
				if i > rest {
					list = append(list, w[rest:i])
				}
				list = append(list, string(r))
				rest = i + len(string(r))
			}
		}
		if rest < len(w) {
			list = append(list, w[rest:])
		}
	}
	return list
}

// The parameters of BM25, from Robertson and Zaragoza, The Probabilistic Relevance Framework, 2009.
const (
	k1 = 1.2
	b  = 0.75
)

// fusion is the constant of reciprocal rank fusion, from Cormack, Clarke and Büttcher, 2009.
const fusion = 60

// Find returns the passages that fit a query best, the best first, and at most n of them. It returns an error only if the
// embedder does.
func (x *Index) Find(ctx context.Context, query string, n int) ([]Passage, error) {
	scores := x.byWords(query)
	if x.vectors != nil {
		v, err := x.embed(ctx, []string{query})
		if err == nil && len(v) != 1 {
			err = fmt.Errorf("%d vectors for a query", len(v))
		}
		if err != nil {
			return nil, fmt.Errorf("search documents: %w", err)
		}
		near := make([]float64, len(x.vectors))
		for i := range near {
			near[i] = cosine(v[0], x.vectors[i])
		}
		scores = fuse(scores, near)
	}
	var found []Passage
	best := ranked(scores)
	for _, i := range best[:min(max(n, 0), len(best))] {
		p := x.passages[i]
		p.Score = scores[i]
		found = append(found, p)
	}
	return found, nil
}

// byWords returns the BM25 score of each passage.
func (x *Index) byWords(query string) []float64 {
	scores := make([]float64, len(x.passages))
	list := words(query)
	slices.Sort(list)
	for _, w := range slices.Compact(list) {
		df := float64(x.within[w])
		if df == 0 {
			continue
		}
		idf := math.Log(1 + (float64(len(x.passages))-df+0.5)/(df+0.5))
		for i, counts := range x.counts {
			if tf := float64(counts[w]); tf > 0 {
				scores[i] += idf * tf * (k1 + 1) / (tf + k1*(1-b+b*float64(x.lengths[i])/x.average))
			}
		}
	}
	return scores
}

// ranked returns the places of the scores above 0, the best first.
func ranked(scores []float64) (list []int) {
	for i, s := range scores {
		if s > 0 {
			list = append(list, i)
		}
	}
	slices.SortStableFunc(list, func(i, j int) int { return cmp.Compare(scores[j], scores[i]) })
	return list
}

// fuse returns scores by the ranks in several lists.
func fuse(lists ...[]float64) []float64 {
	all := make([]float64, len(lists[0]))
	for _, scores := range lists {
		for rank, i := range ranked(scores) {
			all[i] += 1 / float64(fusion+rank+1)
		}
	}
	return all
}

// cosine returns the cosine of the angle between two vectors, or 0 if it is not defined.
func cosine(a, c []float64) float64 {
	if len(a) != len(c) {
		return 0
	}
	dot := 0.0
	na := 0.0
	nc := 0.0
	for i := range a {
		dot += a[i] * c[i]
		na += a[i] * a[i]
		nc += c[i] * c[i]
	}
	if v := dot / math.Sqrt(na*nc); v > -1.1 && v < 1.1 {
		return v
	}
	return 0
}
