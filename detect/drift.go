package detect

import (
	"fmt"
	"unicode/utf8"

	"github.com/elenchus-go/debate/transcript"
)

// drift finds rounds that have left the topic, by the judge's scores of relevance (Scored) or by the topic's words
// (Round).
//
// By words, a turn's similarity is the share of the topic's distinct words of at least four letters that stand in it; of
// all its words where the topic has none so long. The value is the mean similarity of the round's turns, 1 where there
// is nothing to compare. On recorded debates it tells rounds on the topic from spliced ones on another; the figures
// stand in docs/judging.md.
//
// It knows no synonyms and no other forms of a word, so a turn that is to the point in other words looks astray, all the
// more where the topic is short; and a turn that keeps naming the topic while it speaks of something else does not.
// Debates on neighbouring topics share words. A topic that is a page long is never covered by a turn: give its gist.
type drift struct {
	Topic      string  // for Round; a change after the first round has no effect
	Relevance  float64 // a mean score below it is astray, 0 to 10; defaults to 5
	Similarity float64 // a mean similarity below it is astray, 0 to 1; defaults to 0.25

	topic map[string]int // the words that count, and the last turn in which each stood
	turn  int
}

// ByScores looks at the scores of relevance, 0 to 10, that the judges gave one round. The value is a tenth of their mean,
// 1 where there is none; scores that are not from 0 to 10 are left out. It is as good as the judge.
func (d *drift) ByScores(round int, scores ...float64) Finding {
	f := Finding{Signal: Drifting, Round: round, Value: 1, Evidence: "no score of relevance"}
	var parts []turnValue
	for _, s := range scores {
		if validScore(s) {
			parts = append(parts, turnValue{value: s})
		}
	}
	if len(parts) > 0 {
		relevance, least := mean(parts), orDefault(d.Relevance, 5)
		f.Value, f.Found = relevance/10, relevance < least
		f.Evidence = fmt.Sprintf("relevance %.1f of 10, astray below %.1f", relevance, least)
	}
	return f
}

// Round looks at the turns of one round.
func (d *drift) Round(turns []transcript.Turn) Finding {
	if d.topic == nil {
		d.topic = topicWords(d.Topic)
	}
	var parts []turnValue
	for _, t := range speeches(turns) {
		if share, ok := d.coverage(t.Text); ok {
			parts = append(parts, turnValue{t.Actor, share})
		}
	}
	f := Finding{Signal: Drifting, Round: roundOf(turns), Value: 1, Evidence: "nothing to compare"}
	if len(parts) > 0 {
		least := orDefault(d.Similarity, 0.25)
		f.Value = mean(parts)
		f.Found = f.Value < least
		f.Evidence = fmt.Sprintf("mean share of the topic's words in turns %.2f, astray below %.2f: %s", f.Value, least, formatValues(parts))
	}
	return f
}

// topicWords are the words of a topic that count.
func topicWords(topic string) map[string]int {
	all, long := map[string]int{}, map[string]int{}
	eachWord(topic, func(word []byte) {
		all[string(word)] = 0
		if utf8.RuneCount(word) >= 4 {
			long[string(word)] = 0
		}
	})
	if len(long) == 0 {
		return all
	}
	return long
}

// coverage is the share of the topic's words that stand in a text. It is not ok where one of the two has no words.
func (d *drift) coverage(text string) (share float64, ok bool) {
	d.turn++
	found := 0
	eachWord(text, func(word []byte) {
		ok = true
		if last, topical := d.topic[string(word)]; topical && last != d.turn {
			d.topic[string(word)] = d.turn
			found++
		}
	})
	if len(d.topic) == 0 || !ok {
		return 0, false
	}
	return float64(found) / float64(len(d.topic)), true
}
