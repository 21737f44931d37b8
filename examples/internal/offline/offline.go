// Package offline is a script that stands in for a model in the examples. It reads the topic and what was said, but
// understands nothing of it: it quotes, and it counts words.
package offline

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode"

	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
)

// Notice says that a script speaks, and what to do about it.
const Notice = "offline: a script speaks, no model"

// Model is the script. When it is slow it takes a second for each reply.
func Model(slow bool) providers.Provider {
	return &scripted.Provider{Forget: true, Func: func(r providers.Request) scripted.Reply {
		reply := scripted.Reply{Text: answer(read(r), r.Schema), Chunks: 40}
		if slow {
			reply.Latency = time.Second
		}
		return reply
	}}
}

// prompt is what the script finds in a request.
type prompt struct {
	topic, side   string
	round, rounds int
	heard         []statement // from others, in order
}

type statement struct{ name, text string }

func read(r providers.Request) (p prompt) {
	system, task := r.Messages[0].Text, r.Messages[len(r.Messages)-1].Text
	p.topic, p.side = line(system, "Topic: "), line(system, "Your side: ")
	_, _ = fmt.Sscanf(task, "Round %d of %d", &p.round, &p.rounds) // a verdict has no round
	for _, m := range r.Messages[1 : len(r.Messages)-1] {
		if m.Role == providers.User {
			name, text, _ := strings.Cut(m.Text, ": ")
			p.heard = append(p.heard, statement{name, text})
		}
	}
	return p
}

// line is the rest of the line that begins with a label.
func line(text, label string) string {
	_, after, _ := strings.Cut("\n"+text, "\n"+label)
	rest, _, _ := strings.Cut(after, "\n")
	return rest
}

func answer(p prompt, schema json.RawMessage) string {
	switch {
	case schema == nil:
		return p.speech()
	case bytes.Contains(schema, []byte(`"should_continue"`)):
		return encode(p.assessment())
	}
	return encode(p.verdict())
}

func encode(v any) string {
	b, _ := json.Marshal(v) // plain structs always encode
	return string(b)
}

// lines are what each side says, round by round; each has a place for a word of the topic.
var lines = map[string][]string{
	"for": {
		"I say yes. The topic says “%s”, and there too leaving things as they are is a choice, whose price is paid by those with the least say.",
		"Every change looks costly on the day before it. With “%s” it will be fought first, and defended afterwards.",
		"So weigh both errors, with “%s” in mind. Acting too early can be undone next year, waiting too long cannot.",
	},
	"against": {
		"I say no. A rule about “%s” is simple to write, and hard on everybody whose case is different.",
		"Good aims do not make a good tool. Whoever worries about “%s” can begin with prices and offers, which bend where a rule breaks.",
		"What remains is the burden of proof. It lies with those who would command others in the name of “%s”, and I have not seen it met.",
	},
}

// answers come before them; each has a place for who spoke last, and what.
var answers = []string{
	"%s tells us: “%s” That sounds finished, but it skips a step.",
	"I have listened to %s: “%s” Granted, and yet it proves less than it seems to.",
	"Let me take %s at that word: “%s” It is the best point so far, and still not enough.",
}

func (p prompt) speech() string {
	n := max(p.round-1, 0)
	text := fmt.Sprintf(pick(lines[p.side], n), pick(keywords(p.topic), n))
	if len(p.heard) > 0 {
		last := p.heard[len(p.heard)-1]
		text = fmt.Sprintf(pick(answers, n), last.name, last.point()) + "\n\n" + text
	}
	return text
}

// pick is the nth of a list that begins anew at its end.
func pick(list []string, n int) string { return list[n%len(list)] }

// keywords are the words that a text may be about.
func keywords(text string) (list []string) {
	for _, w := range words(text) {
		if len(w) > 3 && !strings.Contains(idle, " "+strings.ToLower(w)+" ") {
			list = append(list, w)
		}
	}
	if len(list) == 0 {
		list = []string{"the question"}
	}
	return list
}

// idle words say nothing of what a text is about.
const idle = " should would could must will with that than this from have does what when which there "

func words(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) })
}

// point is a statement's last sentence, cut where it is long.
func (s statement) point() string {
	text := strings.TrimSpace(s.text)
	text = text[strings.LastIndex(text, "\n")+1:]
	if i := strings.LastIndex(strings.TrimRight(text, ".?! "), ". "); i >= 0 {
		text = text[i+2:]
	}
	if r := []rune(text); len(r) > 150 {
		text = string(r[:150]) + "..."
	}
	return text
}

// speaker is what the script can tell of somebody.
type speaker struct {
	name   string
	points []string
	share  float64 // of new words in the last statement
	fresh  int     // new words in all statements
}

// speakers are those who spoke, in order.
func (p prompt) speakers() (list []*speaker) {
	known, by := map[string]bool{}, map[string]*speaker{}
	for _, s := range p.heard {
		who := by[s.name]
		if who == nil {
			who = &speaker{name: s.name}
			by[s.name], list = who, append(list, who)
		}
		who.hear(s, known)
	}
	return list
}

func (w *speaker) hear(s statement, known map[string]bool) {
	said, before := words(strings.ToLower(s.text)), len(known)
	for _, word := range said {
		known[word] = true
	}
	fresh := len(known) - before
	w.points, w.fresh, w.share = append(w.points, s.point()), w.fresh+fresh, float64(fresh)/float64(max(len(said), 1))
}

func (p prompt) assessment() judge.Assessment {
	a := judge.Assessment{
		Reasoning:      fmt.Sprintf("In round %d I counted the words that nobody had used before. I am a script: that is all I can do.", p.round),
		ShouldContinue: p.round < p.rounds,
	}
	all := p.speakers()
	for _, w := range all {
		score := math.Round(100*w.share) / 10
		a.Quality += score
		a.Participants = append(a.Participants, judge.Score{Name: w.name, Score: score})
	}
	a.Quality = math.Round(10*a.Quality/float64(max(len(all), 1))) / 10
	a.DiminishingReturns = a.Quality < 1
	return a
}

func (p prompt) verdict() judge.Verdict {
	v := judge.Verdict{Summary: fmt.Sprintf("On the question “%s” I weighed nothing: I am a script, and counted new words.", p.topic), Quality: 50}
	most := 0
	for _, w := range p.speakers() {
		v.Summary += fmt.Sprintf(" %s brought %d.", w.name, w.fresh)
		v.Participants = append(v.Participants, judge.KeyPoints{Name: w.name, Points: w.points})
		switch {
		case w.fresh > most:
			most, v.Winner = w.fresh, w.name
		case w.fresh == most:
			v.Winner = ""
		}
	}
	return v
}
