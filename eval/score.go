package eval

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"text/template"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/canonical"
	"github.com/elenchus-go/debate/internal/delimit"
	"github.com/elenchus-go/debate/protocol/vote"
)

// Comparison says how an answer is compared with gold.
type Comparison string

// The comparisons.
const (
	ByTask Comparison = ""       // Choice if the task has choices, Number if each gold is a number, or else Exact
	Exact  Comparison = "exact"  // as texts, without case and the punctuation around words
	Number Comparison = "number" // by the last number of the answer
	Choice Comparison = "choice" // by the letter or the text of a choice
)

// Score says what an answer is, and whether it is right.
type Score struct {
	Answer string // in a form in which equal answers are equal; empty if there is none
	Right  bool
}

// Scorer scores the answers of debates. The zero Scorer compares them with gold. Set at most one field.
type Scorer struct {
	Compare Comparison
	// Judge returns the debate that judges whether an answer is right. It ends with the answer, option or choice "right" or
	// "wrong". It is a run too: it is stored and counts against the limits, but not for the arm. See [JudgedBy].
	Judge func(t Task, answer string) debate.Config
	// Func scores the result of a debate that has ended.
	Func func(ctx context.Context, t Task, r *debate.Result) (Score, error)
}

// Verdicts of a scorer's judge.
const verdictRight, verdictWrong = "right", "wrong"

//go:embed judge.md.tmpl
var judgeSource string

var judgeTopic = template.Must(template.New("judge").Parse(judgeSource))

// JudgedBy returns a function for Scorer.Judge: one model sees the question, its right answers, the answer, and the rubric,
// which may be empty.
func JudgedBy(p debate.Participant, rubric string) func(Task, string) debate.Config {
	return func(t Task, answer string) debate.Config {
		var topic strings.Builder
		nonce := fmt.Sprintf("%020d", digest(t.ID+"\x00"+t.Topic+"\x00"+answer))
		err := judgeTopic.Execute(&topic, map[string]any{
			"Question": t.Question(), "Gold": t.Gold, "Answer": delimit.Enclose(nonce, "answer", answer), "Rubric": rubric,
		})
		c := Samples(p, 1)
		c.Topic = topic.String()
		c.Background = t.Background
		c.Protocol = vote.Protocol{Samples: 1, Options: []string{verdictRight, verdictWrong}}
		c.Documents = t.Documents
		if err != nil { // unreachable: the template is the package's own
			c.Topic = ""
		}
		return c
	}
}

// compare scores a text.
func (s Scorer) compare(t Task, text string) Score {
	how := s.Compare
	if how == ByTask {
		how = map[string]Comparison{"letter": Choice, "number": Number, "text": Exact}[t.extractor()]
	}
	form := map[Comparison]func(string) string{Exact: canonical.Text, Number: canonical.Number, Choice: t.choiceOf}[how]
	answer := form(text)
	return Score{answer, answer != "" && slices.ContainsFunc(t.Gold, func(g string) bool { return t.equal(how, form(g), answer) })}
}

// equal reports whether two answers are equal. Choices with the same text are.
func (t Task) equal(how Comparison, a, b string) bool {
	if a == b || how != Choice || a == "" || b == "" {
		return a == b
	}
	return t.Choices[a[0]-'A'] == t.Choices[b[0]-'A']
}

// choiceOf returns the letter of the choice that an answer names, or "".
func (t Task) choiceOf(answer string) string {
	if l := t.letter(answer); l != "" {
		return l
	}
	return t.letter(canonical.Choice(answer, t.Choices))
}

// answerOf returns the answer of a debate that has ended, as it was written. It is empty if there is none, such as after a
// tie.
func answerOf(r *debate.Result) (text string, tie bool) {
	o := &r.Outcome
	if o.Answer != "" || o.Undecided {
		return o.Answer, o.Tie
	}
	return r.Answer.Text, false
}
