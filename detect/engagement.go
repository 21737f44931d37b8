package detect

import (
	"fmt"
	"slices"

	"github.com/elenchus-go/debate/transcript"
)

// engagement finds rounds in which speakers do not answer one another.
//
// A turn engages if it names an opponent, word for word in any case, or quotes one. Participants on the same side are
// not opponents, and speakers who are not listed in Seats have no side. A quote is a sequence of eight words that an
// opponent said first, in an earlier turn or earlier in the round, and that does not occur in the topic. A turn
// counts if an opponent spoke in an earlier round, so turns of the first round never count. The value is the share of
// the counted turns that engage, or 1 if none counts.
//
// The detector cannot tell a mention from an answer. It recognizes "my opponent" and the like, but other names of an
// opponent only if Names lists them, and an answer that names nobody only if it quotes. A name that is also a common
// word (Will, Grace, Con) is recognized too often. Speakers who use the same fixed phrases appear to quote each other,
// and speakers in a parallel phase may use the same words by chance. docs/measured/detectors.md shows how often recorded turns
// "quote" a debate to which they do not belong.
type engagement struct {
	Topic    string               // text that everybody may repeat; defaults to none
	Seats    []transcript.Profile // participants with their sides
	Names    map[string][]string  // other names by name, such as "the skeptic"; see Rule.Names
	MinShare float64              // a round with a lower share is disengaged; defaults to 0.5

	words    wordIDs
	speakers map[string]*speaker
	names    map[uint32][]name               // by first word
	phrases  map[[quoteWords]uint32]*speaker // the speaker who said it first
}

const quoteWords = 8 // words; shorter sequences match too often between separate debates

// speaker is a participant that is listed or has spoken.
type speaker struct {
	side  string
	spoke bool // in an earlier round
}

// name is a name of a speaker.
type name struct {
	words []uint32
	who   *speaker
}

var (
	topicSpeaker = &speaker{} // stands for the author of the topic
	anyOpponent  = &speaker{} // stands for whoever opposes the speaker
)

// opponentNames refer to any opponent.
var opponentNames = []string{"my opponent", "my opponents", "our opponent", "our opponents"}

// Round checks the turns of one round, in the order in which they were spoken.
func (d *engagement) Round(turns []transcript.Turn) Finding {
	if d.speakers == nil {
		d.init()
	}
	said := speeches(turns)
	count, engaged := 0, 0
	var without []string
	for _, t := range said {
		who := d.speaker(t.Actor, "")
		words := d.words.read(t.Text)
		engages := d.mentions(who, words) || d.quotes(who, words)
		d.record(who, words)
		switch {
		case !d.hasEarlierOpponent(who):
		case engages:
			count, engaged = count+1, engaged+1
		default:
			count, without = count+1, append(without, t.Actor)
		}
	}
	for _, t := range said {
		d.speakers[t.Actor].spoke = true
	}
	return d.finding(roundOf(turns), count, engaged, without)
}

// finding returns the finding for a round. without lists the speakers of counted turns that do not engage.
func (d *engagement) finding(round, count, engaged int, without []string) Finding {
	f := Finding{Signal: Disengaged, Round: round, Value: 1, Evidence: "no opponent to answer yet"}
	if count == 0 {
		return f
	}
	least := orDefault(d.MinShare, 0.5)
	f.Value = float64(engaged) / float64(count)
	f.Found = f.Value < least
	f.Evidence = fmt.Sprintf("%d of %d turns name or quote an opponent (disengaged below %.2f)", engaged, count, least)
	if len(without) > 0 {
		f.Evidence += "; turns without: " + joinLimited(without)
	}
	return f
}

// init records the topic and the listed participants.
func (d *engagement) init() {
	d.speakers, d.names, d.phrases = map[string]*speaker{}, map[uint32][]name{}, map[[quoteWords]uint32]*speaker{}
	d.record(topicSpeaker, d.words.read(d.Topic))
	for _, called := range opponentNames {
		d.name(anyOpponent, called)
	}
	for _, s := range d.Seats {
		d.speaker(s.Name, s.Side)
	}
}

// speaker returns the speaker of a name, and adds a speaker for a new name.
func (d *engagement) speaker(actor, side string) *speaker {
	who := d.speakers[actor]
	if who == nil {
		who = &speaker{side: side}
		d.speakers[actor] = who
		d.name(who, actor)
		for _, called := range d.Names[actor] {
			d.name(who, called)
		}
	}
	return who
}

// name adds a name of a speaker.
func (d *engagement) name(who *speaker, called string) {
	if words := d.words.read(called); len(words) > 0 {
		d.names[words[0]] = append(d.names[words[0]], name{slices.Clone(words), who})
	}
}

// opposes reports whether t is an opponent of s.
func (s *speaker) opposes(t *speaker) bool {
	return s != t && t != topicSpeaker && (s.side == "" || s.side != t.side)
}

// hasEarlierOpponent reports whether an opponent spoke in an earlier round.
func (d *engagement) hasEarlierOpponent(who *speaker) bool {
	for _, s := range d.speakers {
		if s.spoke && who.opposes(s) {
			return true
		}
	}
	return false
}

// mentions reports whether the words contain the name of an opponent.
func (d *engagement) mentions(who *speaker, words []uint32) bool {
	for i, w := range words {
		if namesOpponent(who, d.names[w], words[i:]) {
			return true
		}
	}
	return false
}

// namesOpponent reports whether the words begin with the name of an opponent. If one name begins with another, the
// longer name counts. If several speakers share a name, it names each of them.
func namesOpponent(who *speaker, names []name, words []uint32) (opponent bool) {
	longest := 0
	for _, n := range names {
		size := len(n.words)
		if size < longest || size > len(words) || !slices.Equal(n.words, words[:size]) {
			continue
		}
		opponent = who.opposes(n.who) || opponent && size == longest
		longest = size
	}
	return opponent
}

// quotes reports whether the words contain a sequence that an opponent said first.
func (d *engagement) quotes(who *speaker, words []uint32) bool {
	for ; len(words) >= quoteWords; words = words[1:] {
		if first := d.phrases[[quoteWords]uint32(words)]; first != nil && who.opposes(first) {
			return true
		}
	}
	return false
}

// record records who said each sequence of words first.
func (d *engagement) record(who *speaker, words []uint32) {
	for ; len(words) >= quoteWords; words = words[1:] {
		if key := [quoteWords]uint32(words); d.phrases[key] == nil {
			d.phrases[key] = who
		}
	}
}
