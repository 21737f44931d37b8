package detect

import (
	"fmt"
	"slices"

	"github.com/elenchus-go/debate/transcript"
)

// engagement finds rounds in which speakers pass one another by.
//
// A turn engages where it has an opponent's name, word for word in any case, or quotes an opponent: a sequence of eight
// words that an opponent said first, in an earlier turn or earlier in the round, and that the topic does not have. Turns
// count once an opponent has spoken in an earlier round, so no opening can fail. The value is the share of the turns
// that count which engage, 1 where none counts.
//
// It cannot tell a mention from an answer. Who is answered as "my opponent" is seen only where Calls says so, who is
// answered without any name hardly ever. A name that is also an everyday word (Will, Grace, Con) is seen too often.
// Speakers who share a formula quote each other by it, and where all speak at once two may say the same by chance:
// docs/judging.md has how often recorded turns "quote" a debate that they are not of.
type engagement struct {
	Topic    string               // what all may say; defaults to nothing
	Seats    []transcript.Profile // names, and sides, within which nobody is an opponent; those who speak without a seat have no side
	Aliases  map[string][]string  // what speakers are also called, by name, such as "opponent" or "the skeptic"; defaults to nothing
	MinShare float64              // a share below it is too little; defaults to 0.5

	words    wordIDs
	speakers map[string]*speaker
	names    map[uint32][]name               // by the first word
	phrases  map[[quoteWords]uint32]*speaker // who said it first
}

const quoteWords = 8 // words; with fewer, speakers of separate debates quote one another too often

// speaker is somebody who has a seat or has spoken.
type speaker struct {
	side  string
	spoke bool // in an earlier round
}

type name struct {
	words []uint32
	who   *speaker
}

// topicSpeaker is who said the words of the topic.
var topicSpeaker = &speaker{}

// Round looks at the turns of one round, in the order in which they were spoken.
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

func (d *engagement) finding(round, count, engaged int, without []string) Finding {
	f := Finding{Signal: Disengaged, Round: round, Value: 1, Evidence: "nothing to answer yet"}
	if count == 0 {
		return f
	}
	least := orDefault(d.MinShare, 0.5)
	f.Value = float64(engaged) / float64(count)
	f.Found = f.Value < least
	f.Evidence = fmt.Sprintf("%d of %d turns name or quote an opponent, too few below %.2f", engaged, count, least)
	if len(without) > 0 {
		f.Evidence += "; not " + joinLimited(without)
	}
	return f
}

func (d *engagement) init() {
	d.speakers, d.names, d.phrases = map[string]*speaker{}, map[uint32][]name{}, map[[quoteWords]uint32]*speaker{}
	d.record(topicSpeaker, d.words.read(d.Topic))
	for _, s := range d.Seats {
		d.speaker(s.Name, s.Side)
	}
}

// speaker finds somebody by the name, or takes a new name up.
func (d *engagement) speaker(actor, side string) *speaker {
	who := d.speakers[actor]
	if who == nil {
		who = &speaker{side: side}
		d.speakers[actor] = who
		d.name(who, actor)
		for _, called := range d.Aliases[actor] {
			d.name(who, called)
		}
	}
	return who
}

func (d *engagement) name(who *speaker, called string) {
	if words := d.words.read(called); len(words) > 0 {
		d.names[words[0]] = append(d.names[words[0]], name{slices.Clone(words), who})
	}
}

func (s *speaker) opposes(t *speaker) bool {
	return s != t && t != topicSpeaker && (s.side == "" || s.side != t.side)
}

// hasEarlierOpponent says whether an opponent spoke in an earlier round.
func (d *engagement) hasEarlierOpponent(who *speaker) bool {
	for _, s := range d.speakers {
		if s.spoke && who.opposes(s) {
			return true
		}
	}
	return false
}

// mentions looks for an opponent's name.
func (d *engagement) mentions(who *speaker, words []uint32) bool {
	for i, w := range words {
		if namesOpponent(who, d.names[w], words[i:]) {
			return true
		}
	}
	return false
}

// namesOpponent says whether an opponent is among those whose name the words begin with. Where one name begins with another, the
// longer one is namesOpponent; where several share one, each of them is.
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

func (d *engagement) quotes(who *speaker, words []uint32) bool {
	for ; len(words) >= quoteWords; words = words[1:] {
		if first := d.phrases[[quoteWords]uint32(words)]; first != nil && who.opposes(first) {
			return true
		}
	}
	return false
}

func (d *engagement) record(who *speaker, words []uint32) {
	for ; len(words) >= quoteWords; words = words[1:] {
		if key := [quoteWords]uint32(words); d.phrases[key] == nil {
			d.phrases[key] = who
		}
	}
}
