package detect

import (
	"fmt"
	"unicode/utf8"

	"github.com/elenchus-go/debate/transcript"
)

// drift finds rounds that left the topic, either by the judges' scores for relevance (ByScores) or by the topic's
// words (Round).
//
// By words, the similarity of a turn is the share of the topic's distinct words of at least four letters that occur
// in it. If the topic has no word of that length, all its words count. The value is the mean similarity of the
// round's turns, or 1 if there is nothing to compare. On recorded debates it separates rounds on the topic from
// rounds that were spliced in from other debates; docs/measured/detectors.md has the figures.
//
// The detector knows no synonyms and no inflected forms. A relevant turn in other words therefore looks like drift,
// especially if the topic is short. A turn that repeats the topic's words but is about something else does not.
// Debates on neighboring topics share words. No turn covers a topic that is a page long, so pass a short version of
// such a topic.
type drift struct {
	Topic      string  // used by Round; changes after the first round have no effect
	Relevance  float64 // a round with a lower mean score is drifting, 0 to 10; defaults to 5
	Similarity float64 // a round with a lower mean similarity is drifting, 0 to 1; defaults to 0.25

	topic map[string]int // the words that count, each with the last turn in which it occurred
	turn  int
}

// ByScores checks the judges' scores for relevance in one round, from 0 to 10. The value is a tenth of their mean, or
// 1 if there is none. Scores outside 0 to 10 are ignored. It is only as reliable as the judges.
func (d *drift) ByScores(round int, scores ...float64) Finding {
	f := Finding{Signal: Drifting, Round: round, Value: 1, Evidence: "no relevance score"}
	var parts []turnValue
	for _, s := range scores {
		if validScore(s) {
			parts = append(parts, turnValue{value: s})
		}
	}
	if len(parts) > 0 {
		relevance, least := mean(parts), orDefault(d.Relevance, 5)
		f.Value, f.Found = relevance/10, relevance < least
		f.Evidence = fmt.Sprintf("relevance %.1f of 10 (drifting below %.1f)", relevance, least)
	}
	return f
}

// Round checks the turns of one round.
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
		f.Evidence = fmt.Sprintf("mean share of the topic's words in a turn %.2f (drifting below %.2f): %s", f.Value, least, formatValues(parts))
	}
	return f
}

// topicWords returns the words of a topic that count.
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

// coverage returns the share of the topic's words that occur in a text. It returns false if the topic or the text has
// no words.
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
