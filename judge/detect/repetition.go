package detect

import (
	"fmt"
	"math"
	"slices"

	"github.com/elenchus-go/debate/transcript"
)

// repetition finds speakers who repeat their own words.
//
// The overlap of a turn is the share of its distinct trigrams (sequences of three words) that occur in any earlier
// turn of the same speaker. A speaker's first turn has overlap 0, and an exact repetition has overlap 1. A turn of
// one or two words counts as a single trigram, and a turn without words is skipped. The value is the mean overlap of
// the round's turns.
//
// The default threshold was measured: with it, the detector finds all recorded rounds in which half of each turn was
// replaced by earlier words, and less than 1 % of those in which nothing was. docs/measured/detectors.md has the figures.
//
// The detector does not recognize a paraphrase; semanticRepetition does. The longer a debate, the more overlap occurs
// by chance. Headings and phrases that a format requires count as repetition, and so does a legitimate quote of the
// speaker's own claim. Memory grows with each new trigram.
type repetition struct {
	Overlap float64 // a round with at least this mean overlap is repetitive; defaults to 0.45

	words wordIDs
	said  map[string]*speakerHistory // by speaker
}

const repetitionThreshold = 0.45 // the default of repetition.Overlap

// speakerHistory records the last turn, counted from 1, in which a speaker used each trigram.
type speakerHistory struct {
	turn  int32
	grams map[[3]uint32]int32
}

// Round checks the turns of one round, in the order in which they were spoken.
func (d *repetition) Round(turns []transcript.Turn) Finding {
	var parts []turnValue
	for _, t := range speeches(turns) {
		if overlap, ok := d.read(t.Actor, t.Text); ok {
			parts = append(parts, turnValue{t.Actor, overlap})
		}
	}
	return repetitive(roundOf(turns), parts, orDefault(d.Overlap, repetitionThreshold), "mean overlap with the speaker's earlier turns")
}

// repetitive returns the finding for measured turns. what describes the measured value.
func repetitive(round int, parts []turnValue, threshold float64, what string) Finding {
	f := Finding{Signal: Repetitive, Round: round, Evidence: "nothing to compare"}
	if len(parts) > 0 {
		f.Value = mean(parts)
		f.Found = f.Value >= threshold
		f.Evidence = fmt.Sprintf("%s %.2f (repetitive from %.2f): %s", what, f.Value, threshold, formatValues(parts))
	}
	return f
}

// read returns the overlap of a turn and records the turn. It returns false if the turn has no words.
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

// add records the trigrams of a turn and returns the share that occurred before. Each distinct trigram counts once.
func (m *speakerHistory) add(words []uint32) float64 {
	m.turn++
	total, again := 0, 0
	for i := range max(1, len(words)-2) {
		var gram [3]uint32 // 0 is no word's id, so a short turn differs from every trigram
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
	Of     transcript.Key `json:"of"` // key of the turn
	Values []float32      `json:"values"`
}

// semanticRepetition finds repetition by embeddings, so it also recognizes a paraphrase.
//
// The similarity of a turn is the highest cosine between its embedding and those of the last eight turns of the same
// speaker. A negative cosine counts as 0, and a speaker's first turn has similarity 0. The value is the mean
// similarity of the round's turns. Embeddings that are empty, zero or not finite are skipped. Embeddings of different
// lengths have similarity 0.
//
// What a cosine means depends on the embedding model. Many models put any two texts on one topic above 0.7, so
// measure yours before you stop debates on this signal. The detector treats opposite claims in similar words as the
// same. It compares only eight turns, so that a turn takes the same time however long the debate is.
type semanticRepetition struct {
	Cosine float64 // a round with at least this mean similarity is repetitive; defaults to 0.85

	last map[string][]embedding // by speaker, newest last
}

const comparedTurns = 8 // earlier turns of a speaker that are compared

// embedding is a vector with its length.
type embedding struct {
	values []float32
	length float64
}

// Round checks the embeddings of one round's speeches, in the order in which they were spoken.
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
	return repetitive(round, parts, orDefault(d.Cosine, 0.85), "mean cosine similarity to the speaker's earlier turns")
}

// compare returns the similarity of a turn and records the turn.
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

// cosine returns the cosine of two embeddings, or 0 if their lengths differ.
func (v embedding) cosine(w embedding) float64 {
	if len(v.values) != len(w.values) {
		return 0
	}
	return dot(v.values, w.values) / (v.length * w.length)
}

// dot returns the scalar product. It cannot overflow, because the square of the greatest float32 is far below the
// greatest float64.
func dot(v, w []float32) (sum float64) {
	for i := range v {
		sum += float64(v[i]) * float64(w[i])
	}
	return sum
}
