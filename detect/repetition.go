package detect

import (
	"fmt"
	"math"
	"slices"

	"github.com/elenchus-go/debate/transcript"
)

// repetition finds speakers who say again what they have said, word for word.
//
// A turn's overlap is the share of its distinct trigrams (sequences of three words) that stand in any earlier turn of
// the same speaker. A speaker's first turn has the overlap 0, a turn that is repeated has 1. A turn of one or two words
// counts as a single trigram, one without words is passed over. The value is the mean overlap of the round's turns.
//
// The default is half: in published debates (MAD) the overlap with the previous turn, in sequences of five words, was at
// least half in two of three turns of the fourth round, with medians of .11, .46 and .72 in rounds 2, 3 and 4.
//
// It is blind to a paraphrase, for which there is echo. A long debate overlaps more by mere chance, since there is
// more to overlap with. Headings and formulas that a format demands count as repetition, and so does a speaker's claim
// that is rightly quoted again. Its memory grows by each trigram that is new.
type repetition struct {
	Overlap float64 // from which on a round is repetitive; defaults to 0.5

	words wordIDs
	said  map[string]*speakerHistory // by speaker
}

// speakerHistory has the last turn, counted from 1, in which a speaker said a trigram.
type speakerHistory struct {
	turn  int32
	grams map[[3]uint32]int32
}

// Round looks at the turns of one round, in the order in which they were spoken.
func (d *repetition) Round(turns []transcript.Turn) Finding {
	var parts []turnValue
	for _, t := range speeches(turns) {
		if overlap, ok := d.read(t.Actor, t.Text); ok {
			parts = append(parts, turnValue{t.Actor, overlap})
		}
	}
	return repetitive(roundOf(turns), parts, orDefault(d.Overlap, 0.5), "mean overlap of turns with their speakers' earlier ones")
}

func repetitive(round int, parts []turnValue, threshold float64, what string) Finding {
	f := Finding{Signal: Repetitive, Round: round, Evidence: "nothing to compare"}
	if len(parts) > 0 {
		f.Value = mean(parts)
		f.Found = f.Value >= threshold
		f.Evidence = fmt.Sprintf("%s %.2f, repetitive from %.2f on: %s", what, f.Value, threshold, formatValues(parts))
	}
	return f
}

// read is the overlap of a turn that it then remembers. It is not ok where the turn has no words.
func (d *repetition) read(actor, text string) (overlap float64, ok bool) {
	words := d.words.read(text)
	if len(words) == 0 {
		return 0, false
	}
	m := d.said[actor]
	if m == nil {
		if d.said == nil {
			d.said = map[string]*speakerHistory{}
		}
		m = &speakerHistory{grams: map[[3]uint32]int32{}}
		d.said[actor] = m
	}
	return m.add(words), true
}

// add counts the trigrams of a turn, each once, and the repeated ones among them.
func (m *speakerHistory) add(words []uint32) float64 {
	m.turn++
	total, again := 0, 0
	for i := range max(1, len(words)-2) {
		var gram [3]uint32 // no word has the number 0, so a short turn is like no trigram
		copy(gram[:], words[i:])
		last := m.grams[gram]
		if last == m.turn {
			continue
		}
		m.grams[gram] = m.turn
		total++
		if last > 0 {
			again++
		}
	}
	return float64(again) / float64(total)
}

// Vector is the embedding of a turn, as a step of the debate obtained and committed it.
type Vector struct {
	Of     transcript.Key `json:"of"` // the turn
	Values []float32      `json:"values"`
}

// semanticRepetition is repetition on embeddings, so that it hears a paraphrase too.
//
// A turn's similarity is the highest cosine of its vector and those of the last eight turns of the same speaker; below
// 0 it counts as 0. A speaker's first turn has the similarity 0. The value is the mean similarity of the round's turns.
// Vectors that are empty, zero or not finite are passed over, and those of different lengths are not compared.
//
// What a cosine means is the embedding model's alone: many put any two texts on one topic above 0.7, so measure yours
// before you stop on it. It takes opposite claims in similar words for the same. What a speaker said more than eight
// turns ago is forgotten, so that a turn costs the same however long the debate is.
type semanticRepetition struct {
	Cosine float64 // from which on a round is repetitive; defaults to 0.85

	last map[string][]embedding // by speaker, the newest last
}

const comparedTurns = 8 // turns of a speaker that are compared

type embedding struct {
	values []float32
	length float64
}

// Round looks at the vectors of one round's speeches, in the order in which they were spoken.
func (d *semanticRepetition) Round(said []Vector) Finding {
	if d.last == nil {
		d.last = map[string][]embedding{}
	}
	var parts []turnValue
	round := 0
	for _, v := range said {
		round = v.Of.Round
		now := embedding{v.Values, math.Sqrt(dot(v.Values, v.Values))}
		if !(now.length > 0) || math.IsInf(now.length, 0) {
			continue
		}
		parts = append(parts, turnValue{v.Of.Actor, d.compare(v.Of.Actor, now)})
	}
	return repetitive(round, parts, orDefault(d.Cosine, 0.85), "mean similarity of turns with their speakers' earlier ones, as cosine,")
}

// compare is the similarity of a turn that it then remembers.
func (d *semanticRepetition) compare(actor string, now embedding) float64 {
	nearest := 0.0
	last := d.last[actor]
	for _, before := range last {
		nearest = max(nearest, min(1, now.cosine(before)))
	}
	if len(last) == comparedTurns {
		last = slices.Delete(last, 0, 1)
	}
	now.values = slices.Clone(now.values)
	d.last[actor] = append(last, now)
	return nearest
}

func (v embedding) cosine(w embedding) float64 {
	if len(v.values) != len(w.values) {
		return 0
	}
	return dot(v.values, w.values) / (v.length * w.length)
}

// dot cannot overflow, since the square of the greatest float32 is far from the greatest float64.
func dot(v, w []float32) (sum float64) {
	for i := range v {
		sum += float64(v[i]) * float64(w[i])
	}
	return sum
}
