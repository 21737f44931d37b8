package speech

import (
	"strings"
)

const (
	maxRefusal  = 160 // words of a refusal
	maxPreamble = 40  // words before the sentence that refuses
	maxRest     = 60  // words after it that neither refuse nor offer something else
	maxBeside   = 4   // such words beside "I won't write …", which says nothing of the request
	maxGap      = 6   // words between who speaks and "not"
	maxPlace    = 3   // the sentence that refuses is among the first ones
)

// IsRefusal reports whether a reply declines to speak in place of a speech, as models do that are asked to take a side.
//
// A refusal is short, and one of its first sentences says that the speaker is not able or willing to do what a request asks for. The
// verb decides: "I can't help with that" refuses, and "I can't accept that" argues. Or the speaker says that it is a program, or
// that it stays neutral. A reply that argues after such a sentence is no refusal.
func IsRefusal(text string) bool {
	if len(text) > maxRefusal*16 || strings.Count(text, " ") > maxRefusal+maxRefusal/4 { // more words than it may have, as most speeches
		return false
	}
	said := sentencesOf(text)
	total := 0
	for _, s := range said {
		total += s.words
	}
	if total == 0 || total > maxRefusal {
		return false
	}
	for i := range said[:min(len(said), maxPlace)] {
		said[i].find()
	}
	for i := range languages {
		if refuses(i, said) {
			return true
		}
	}
	return false
}

// refuses reports whether sentences are a refusal in a language.
func refuses(lang int, said []sentence) bool {
	before := 0
	for i := range said[:min(len(said), maxPlace)] {
		r := reader{lang: lang, sentence: &said[i]}
		at, alone := r.refusal()
		most := maxRest
		if alone {
			most = maxBeside
		}
		if at > 0 {
			return before <= maxPreamble && !r.goesOn(said[i+1:], at, most)
		}
		before += said[i].words
	}
	return false
}

// reader reads a sentence in a language.
type reader struct {
	lang     int
	sentence *sentence
}

// refusal returns where a refusal ends in the sentence, or 0 if there is none. alone reports that it is one only if the speaker says
// nothing else.
func (r reader) refusal() (at int, alone bool) {
	if len(r.sentence.found) == 0 || r.has(never) {
		return 0, false
	}
	if m := r.first(refusal, 0); m.end > 0 {
		return m.end, false
	}
	who := r.negation()
	if m := r.first(neutral, 0); m.end > 0 && (who.end == 0 || m.end < who.at) {
		return m.end, false
	}
	if m := r.first(machine, 0); m.end > 0 && (who.end > 0 || r.has(fair)) {
		return max(m.end, who.end), false
	}
	if who.end == 0 {
		return 0, false
	}
	if m := r.first(argues, who.at); !languages[r.lang].verbLast && m.end > 0 && m.end <= who.end {
		return 0, false
	}
	return r.verb(who)
}

// verb looks for the verb that goes with a "not", and returns where the refusal ends; see refusal.
func (r reader) verb(who match) (at int, alone bool) {
	verbLast := languages[r.lang].verbLast
	nearest := match{}
	for _, k := range []kind{argues, tasks, acts} {
		m := r.first(k, who.end-1)
		if verbLast {
			m = r.last(k, who.at+1)
		}
		isNearer := nearest.end == 0 || !verbLast && m.at < nearest.at || verbLast && m.at > nearest.at
		if m.end > 0 && isNearer {
			nearest = m
		}
	}
	at = max(nearest.end, who.end)
	thing := r.first(things, 0)
	switch {
	case nearest.end == 0 || nearest.kind == argues:
		return 0, false
	case nearest.kind == tasks:
		return at, false
	case thing.end > 0:
		return max(at, thing.end), false
	case r.first(makes, nearest.at).at == nearest.at && r.has(makes):
		return len(r.sentence.text), true
	}
	return 0, false
}

// negation returns where the sentence says that the speaker cannot or does not do something.
func (r reader) negation() match {
	m := r.first(cannot, 0)
	switch {
	case m.end > 0 && languages[r.lang].verbLast:
		return r.last(cannot, len(r.sentence.text))
	case m.end > 0:
		return match{at: m.end - 1, end: m.end} // it has no verb within it
	}
	for m = r.first(self, 0); m.end > 0; m = r.first(self, m.end-1) {
		no := r.first(not, m.end-1)
		again := r.first(self, m.end-1)
		isNearest := again.end == 0 || again.at > no.at
		if no.end > 0 && isNearest && strings.Count(r.sentence.text[m.end-1:no.at], " ") <= maxGap {
			return match{at: m.at, end: no.end}
		}
	}
	return match{}
}

// goesOn reports whether the speaker argues after the refusal that ends at a place of the sentence: in more than a number of words,
// or because it says so.
func (r reader) goesOn(after []sentence, at, most int) bool {
	rest := 0
	if r.has(turns) {
		return true
	}
	if r.first(offers, at-1).end == 0 {
		rest += strings.Count(r.sentence.text[at-1:], " ") - 1
	}
	for i := range after {
		after[i].find()
		next := reader{lang: r.lang, sentence: &after[i]}
		if next.has(turns) {
			return true
		}
		if end, _ := next.refusal(); end == 0 && !next.has(offers) {
			rest += after[i].words
		}
	}
	return rest > most
}

// has reports whether the sentence has a word of a kind.
func (r reader) has(k kind) bool { return r.first(k, 0).end > 0 }

// first returns the first word of a kind at a place or after it. The zero match means that there is none.
func (r reader) first(k kind, from int) match {
	for _, m := range r.sentence.found {
		if m.lang == r.lang && m.kind == k && m.at >= from {
			return m
		}
	}
	return match{}
}

// last returns the last word of a kind that ends before a place.
func (r reader) last(k kind, to int) (last match) {
	for _, m := range r.sentence.found {
		if m.lang == r.lang && m.kind == k && m.end <= to {
			last = m
		}
	}
	return last
}
