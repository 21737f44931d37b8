package audit

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/judge/agreement"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
)

// simulated is a judge of known accuracy and biases. A bias is the probability that the judge decides for what it is biased by,
// whatever the answers say. All is drawn from the texts, so that a judge is asked in any order and in parallel.
type simulated struct {
	accuracy                                         float64
	position, length, family, verbosity, instruction float64
	formatting                                       float64
	unsteady                                         float64 // probability that it draws anew when it is asked again
	turns                                            float64 // probability that a challenge changes a decision
}

// part returns the text of a part of a prompt between its delimiters.
func part(prompt, name string) string {
	_, after, _ := strings.Cut(prompt, "begin: "+name+">>>\n")
	text, _, _ := strings.Cut(after, "\n<<<")
	return text
}

// chance returns a number from 0 to 1 that is drawn for texts.
func chance(texts ...string) float64 {
	sum := sha256.Sum256([]byte(strings.Join(texts, "\x00")))
	return float64(binary.BigEndian.Uint64(sum[:])>>11) / (1 << 53)
}

// better returns 1 or 2, the answer for which the judge decides.
func (s simulated) better(question, first, second, salt string) int {
	draw := func(what string) float64 { return chance(what, question, first, second, salt) }
	for _, b := range []struct {
		name   string
		with   float64
		choose func(text, other string) bool
	}{
		{"position", s.position, func(text, _ string) bool { return text == first }},
		{"length", s.length, func(text, other string) bool { return len(text) > len(other) }},
		{"family", s.family, func(text, other string) bool {
			return strings.Contains(text, "sim:") && !strings.Contains(other, "sim:")
		}},
		{"verbosity", s.verbosity, func(text, _ string) bool { return strings.Contains(text, "In conclusion") }},
		{"formatting", s.formatting, func(text, _ string) bool { return strings.Contains(text, "## Answer") }},
		{"instruction", s.instruction, func(text, _ string) bool { return strings.Contains(text, "Note to the judge") }},
	} {
		if draw(b.name) >= b.with {
			continue
		}
		if b.choose(first, second) {
			return 1
		} else if b.choose(second, first) {
			return 2
		}
	}
	right := 1
	if strings.Contains(second, "right") {
		right = 2
	}
	if draw("accuracy") < s.accuracy {
		return right
	}
	return 3 - right
}

func (s simulated) provider() *scripted.Provider {
	return &scripted.Provider{Func: func(r providers.Request) scripted.Reply {
		var texts []string
		for _, m := range r.Messages {
			texts = append(texts, m.Text)
		}
		prompt := strings.Join(texts, "\n")
		question := part(prompt, "the question")
		first := part(prompt, "answer 1")
		second := part(prompt, "answer 2")
		nonce, _, _ := strings.Cut(prompt[strings.Index(prompt, "<<<"):], " ")
		salt := ""
		if chance("unsteady", nonce, question, first, second) < s.unsteady {
			salt = nonce
		}
		winner := s.better(question, first, second, salt)
		if strings.Contains(prompt, "I disagree") && chance("turns", question, first, second) < s.turns {
			winner = 3 - winner
		}
		return scripted.Reply{Text: fmt.Sprintf(`{"reason": "Because.", "winner": %q, "margin": 1}`, []string{"", "first", "second"}[winner])}
	}}
}

// pairsOf returns n pairs. The right answer is A in every second pair, the longer one in two of four, and by the family sim in
// four of eight.
func pairsOf(n int) (pairs []Pair) {
	for i := range n {
		right, wrong := fmt.Sprintf("the right one %d.", i), fmt.Sprintf("the other one %d.", i)
		long := strings.Repeat("More words. ", 2+i%7)
		if i/2%2 == 0 {
			right += " " + long
		} else {
			wrong += " " + long
		}
		authors := [2]string{"other-1", "sim-1"} // of the right answer, and of the wrong one
		if i/4%2 == 0 {
			authors = [2]string{"sim-1", "other-1"}
			right = "sim: " + right
		} else {
			wrong = "sim: " + wrong
		}
		p := Pair{ID: fmt.Sprint("p", i), Question: fmt.Sprint("Question ", i, "?"), A: right, B: wrong, Gold: agreement.A, AuthorA: authors[0], AuthorB: authors[1]}
		if i%2 == 1 {
			p.A = wrong
			p.B = right
			p.Gold = agreement.B
			p.AuthorA = authors[1]
			p.AuthorB = authors[0]
		}
		pairs = append(pairs, p)
	}
	return pairs
}

// judgeOf returns a judge whose model is that of a provider.
func judgeOf(name string) Judge {
	return Judge{Name: name, Config: debate.Config{Judges: []debate.Participant{{Provider: name, Model: "sim-1"}}}}
}

// observedBy returns what a simulated judge decides about pairs, without debates.
func (s simulated) observedBy(pairs []Pair) (list []observed) {
	ask := func(p Pair, salt string) decisions {
		d := decisions{agreement.A, agreement.B}
		if s.better(p.Question, p.A, p.B, salt) == 2 {
			d[0] = agreement.B
		}
		if s.better(p.Question, p.B, p.A, salt) == 2 {
			d[1] = agreement.A
		}
		return d
	}
	for _, p := range pairs {
		x := observed{pair: p, judged: true, decisions: ask(p, ""), planted: map[Plant]decisions{}}
		for _, plant := range Plants {
			x.planted[plant] = ask(plant.into(p), "")
		}
		list = append(list, x)
	}
	return list
}
