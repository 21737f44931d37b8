package offline_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/internal/protocols"
	"github.com/elenchus-go/debate/internal/test/enginetest"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/arbitration"
	"github.com/elenchus-go/debate/protocol/council"
	"github.com/elenchus-go/debate/protocol/mad"
	"github.com/elenchus-go/debate/protocol/oversight"
	"github.com/elenchus-go/debate/protocol/pairwise"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/protocol/procon"
	"github.com/elenchus-go/debate/protocol/refine"
	"github.com/elenchus-go/debate/protocol/review"
	"github.com/elenchus-go/debate/protocol/skeptic"
	"github.com/elenchus-go/debate/protocol/vote"
	"github.com/elenchus-go/debate/transcript"
)

// These tests read whole debates of the demo model as a newcomer does: nobody repeats a sentence, scores are plausible, and the debate
// ends when nothing new is said.

// topics are topics of all kinds: long, short, in other scripts, and with characters that mean something elsewhere.
var topics = []string{
	"Should cities ban private cars?", "Is tea better than coffee?", "Is 2027 a prime number? Answer yes or no.", "Why?", "42", "…",
	"Soll Homeoffice ein Recht sein?", "私たちは車を禁止すべきですか", "Should we “act now”, or <wait>?", "- a list\n- of two",
	"How should a small team back up its database, if it has one day, no budget and a hundred gigabytes of data that changes each night?",
	"100 %s of %d people: is that a majority?", "Refund the broken lamp?", "Write a plan.", "A. B. C. D.", "Zoos should be closed.",
}

// names are the names of up to eight participants; some begin with the same letter.
var names = []string{"Ada", "Bo", "Cy", "Di", "Abe", "Zoë B.", "Bea", "Élan"}

// whole is a kind of debate.
type whole struct {
	protocol    protocol.Protocol
	least, most int  // participants
	from, to    int  // rounds
	ends        bool // when nothing new is said; otherwise after a number of rounds, or by agreement
}

var scores = map[string]float64{"problem": 5, "solution": 5, "market": 5}

// wholes are the protocols of the library with their variants, by name.
var wholes = map[string]whole{
	"panel":                       {panel.Protocol{}, 2, 4, 1, 8, true},
	"panel, simultaneous":         {panel.Protocol{Mode: panel.Simultaneous}, 2, 4, 1, 8, true},
	"panel, convergence-seeking":  {panel.Protocol{Format: panel.ConvergenceSeeking}, 2, 4, 1, 8, true},
	"panel, personas":             {panel.Protocol{Personas: panel.Binary}, 2, 4, 1, 8, true},
	"panel, devil's advocate":     {panel.Protocol{DevilsAdvocate: true}, 2, 4, 2, 8, true},
	"panel, structured rounds":    {panel.Protocol{Format: panel.StructuredRounds}, 2, 4, 2, 8, false},
	"panel, round-limited":        {panel.Protocol{Format: panel.RoundLimited}, 2, 4, 1, 8, false},
	"panel, oxford":               {panel.Protocol{Format: panel.Oxford}, 2, 8, 2, 8, false},
	"skeptic":                     {skeptic.Protocol{}, 2, 2, 1, 8, false},
	"skeptic that wants more":     {skeptic.Protocol{ReadyScore: 9}, 2, 2, 1, 8, false},
	"refine":                      {refine.Protocol{}, 2, 8, 1, 8, false},
	"arbitration":                 {arbitration.Protocol{Scores: scores}, 2, 2, 1, 3, false},
	"arbitration with evidence":   {arbitration.Protocol{Scores: scores, Evidence: []string{"It rains.", "It snows."}}, 2, 2, 1, 3, false},
	"procon":                      {procon.Protocol{}, 2, 2, 2, 8, false},
	"vote":                        {vote.Protocol{}, 2, 8, 1, 8, false},
	"vote, ring":                  {vote.Protocol{Topology: vote.Ring}, 3, 8, 1, 8, false},
	"council":                     {council.Protocol{}, 3, 8, 1, 1, false},
	"mad":                         {mad.Protocol{}, 2, 2, 1, 8, true},
	"oversight":                   {oversight.Protocol{A: "Yes.", B: "No."}, 2, 2, 1, 8, false},
	"oversight, interactive":      {oversight.Protocol{Mode: oversight.Interactive, A: "Yes.", B: "No."}, 2, 2, 1, 8, false},
	"oversight, open consultancy": {oversight.Protocol{Mode: oversight.OpenConsultancy, A: "Yes.", B: "No."}, 1, 1, 1, 8, false},
	"review":                      {review.Protocol{}, 2, 8, 1, 1, false},
	"skeptic, plan":               {skeptic.Protocol{Plan: true}, 2, 2, 1, 8, false},
	"pairwise":                    {pairwise.Protocol{A: "Yes.", B: "No."}, 0, 0, 1, 1, false},
}

func TestEachProtocolIsRead(t *testing.T) {
	for _, p := range protocols.All() {
		assert.True(t, slices.ContainsFunc(slices.Collect(maps.Values(wholes)), func(w whole) bool { return w.protocol.Name() == p.Name() }), p.Name())
	}
}

// giveDocuments gives the reviewers of a debate something to read.
func giveDocuments(c *debate.Config) {
	if _, ok := c.Protocol.(review.Protocol); ok {
		var b strings.Builder
		for i := range 997 {
			fmt.Fprintf(&b, "It is known of private cars that %d of them turn.\n", i)
		}
		c.Documents = []evidence.Document{evidence.Shared("notes.md", b.String())}
	}
}

// hold runs a debate of a kind with the first n names.
func (w whole) hold(t *testing.T, topic string, n, rounds int) *debate.Result {
	t.Helper()
	c := debate.Config{ID: fmt.Sprintf("d-%d-%d", n, rounds), Topic: topic, Protocol: w.protocol, Judges: []debate.Participant{{Name: "Judge"}}}
	if w.to > 1 {
		c.Limits.MaxRounds = rounds
	}
	giveDocuments(&c)
	sides := []string{"for", "against"}
	if _, ok := w.protocol.(procon.Protocol); ok {
		sides = []string{"pro", "con"}
	}
	for i, name := range names[:n] {
		c.Participants = append(c.Participants, debate.Participant{Name: name, Side: sides[i%2]})
	}
	r, _ := run(t, c, debate.Options{})
	return r
}

func TestWholeDebates(t *testing.T) {
	for name, w := range wholes {
		t.Run(name, func(t *testing.T) {
			sample := enginetest.NewSample(t, 4)
			for _, n := range slices.Compact([]int{w.least, (w.least + w.most) / 2, w.most}) {
				for _, rounds := range slices.Compact([]int{w.from, min(4, w.to), w.to}) {
					if !sample.Tries("sizes") {
						continue
					}
					r := w.hold(t, topics[0], n, rounds)
					read(t, r)
					if w.ends {
						endsWhenNothingIsNew(t, r, rounds)
					}
				}
			}
			for _, topic := range topics {
				if !sample.Tries("topics") {
					continue
				}
				read(t, w.hold(t, topic, w.least, min(4, w.to)))
			}
		})
	}
}

// The purposes of the command are read too.
func TestPurposes(t *testing.T) {
	files, err := filepath.Glob("../../cmd/debate/purposes/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	e, err := debate.NewEngine(debate.Options{})
	require.NoError(t, err)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			for _, topic := range topics {
				c, err := e.ParseConfig(text)
				require.NoError(t, err)
				c.ID, c.Topic = "d", topic
				giveDocuments(&c)
				r, _ := run(t, c, debate.Options{})
				read(t, r)
			}
		})
	}
}

// read checks what a reader of a debate sees.
func read(t *testing.T, r *debate.Result) {
	t.Helper()
	said := map[string]string{} // who has said a sentence
	isParticipant := map[string]bool{}
	all := strings.Builder{}
	for _, p := range r.Participants {
		isParticipant[p.Name] = true
	}
	for _, turn := range r.Turns {
		all.WriteString(turn.Text + "\n")
		if isParticipant[turn.Actor] {
			for _, s := range sentencesOf(t, turn) {
				assert.Empty(t, said[s], "%s repeats this sentence in round %d of a debate about %q: %s", turn.Actor, turn.Round, r.Topic, s)
				said[s] = turn.Actor
			}
		}
		for _, score := range scoresOf(t, turn) {
			assert.True(t, score >= 4 && score <= 9, "%s scores %v in round %d of a debate about %q", turn.Actor, score, turn.Round, r.Topic)
		}
	}
	assert.Contains(t, all.String()+r.Answer.Text, "demo model", "a debate about %q", r.Topic)
}

var (
	codeBlock = regexp.MustCompile("(?s)```.*?```") // for programs
	quoted    = regexp.MustCompile(`(?s)“[^”]*”|<quote.*?</quote>`)
	end       = regexp.MustCompile(`[.!?]\s+(\p{Lu})|\n+`)
)

// sentencesOf returns the sentences of a turn of three words and more. A quotation is a part of the sentence that has it.
func sentencesOf(t *testing.T, turn transcript.Turn) (list []string) {
	t.Helper()
	texts := []string{turn.Text}
	if turn.Contract != "" {
		var reply any
		require.NoError(t, json.Unmarshal(turn.Data, &reply))
		texts = leaves(reply)
	}
	for _, text := range texts {
		text = quoted.ReplaceAllStringFunc(codeBlock.ReplaceAllString(text, ""), func(q string) string {
			return strings.Map(func(r rune) rune {
				if unicode.IsLetter(r) || unicode.IsDigit(r) {
					return r
				}
				return '_'
			}, q)
		})
		for s := range strings.Lines(end.ReplaceAllString(text, "\n$1")) {
			if words := strings.Fields(s); len(words) >= 3 {
				list = append(list, strings.Join(words, " "))
			}
		}
	}
	return list
}

// leaves returns the texts of a reply.
func leaves(reply any) (texts []string) {
	switch x := reply.(type) {
	case string:
		return []string{x}
	case []any:
		for _, v := range x {
			texts = append(texts, leaves(v)...)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(x)) {
			texts = append(texts, leaves(x[key])...)
		}
	}
	return texts
}

// scoresOf returns the scores from 0 to 10 that a turn gives.
func scoresOf(t *testing.T, turn transcript.Turn) (list []float64) {
	t.Helper()
	switch turn.Contract {
	case judge.AssessmentContract.Name():
		a, err := transcript.Decode[judge.Assessment](turn)
		require.NoError(t, err)
		list = append(list, a.Quality)
		for _, p := range a.Participants {
			list = append(list, p.Score)
			for _, c := range p.Criteria {
				list = append(list, c.Score)
			}
		}
	case procon.JudgmentContract.Name():
		j, err := transcript.Decode[procon.Judgment](turn)
		require.NoError(t, err)
		for _, p := range j.Participants {
			list = append(list, p.Score)
		}
	}
	if c, isCritique := skeptic.ParseCritique(turn.Text); isCritique && c.Score != nil {
		list = append(list, *c.Score)
	}
	return list
}

// endsWhenNothingIsNew checks that the debate ends with the first round that adds almost no words.
func endsWhenNothingIsNew(t *testing.T, r *debate.Result, rounds int) {
	t.Helper()
	known := map[string]bool{}
	fresh := map[int]int{}
	all := map[int]int{}
	for _, turn := range r.Turns {
		if turn.Kind != transcript.Speech {
			continue
		}
		for _, w := range strings.FieldsFunc(strings.ToLower(turn.Text), func(c rune) bool { return !unicode.IsLetter(c) }) {
			all[turn.Round]++
			if !known[w] {
				fresh[turn.Round]++
			}
			known[w] = true
		}
	}
	for round := 1; round <= r.Round; round++ {
		share := float64(fresh[round]) / float64(all[round])
		if round < r.Round {
			assert.Greater(t, share, 0.12, "round %d of %d has something new", round, r.Round)
		} else if round < rounds {
			assert.Less(t, share, 0.12, "round %d is the last one of at most %d", round, rounds)
		}
	}
	assert.LessOrEqual(t, r.Round, 4, "the debaters have something new for three rounds")
}
