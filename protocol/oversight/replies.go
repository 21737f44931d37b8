package oversight

import (
	"fmt"
	"math"
	"strconv"

	"github.com/elenchus-go/debate/judge/reply"
)

// The contracts of a judge's reply, and of a participant who chooses its answer.
var (
	CredenceContract = reply.New[Credence]("credence/1")
	ChoiceContract   = reply.New[Choice]("answer-choice/1")
)

// Credence is a judge's reply about the two answers as it saw them.
type Credence struct {
	Reason string `json:"reason" jsonschema:"minLength=1,maxLength=1900" jsonschema_description:"what speaks for and against each answer, in at most 150 words"`
	// First and Second are the probabilities that the answer that the judge saw first is right, and that the other one is.
	First  float64 `json:"first" jsonschema:"minimum=0,maximum=1" jsonschema_description:"the probability that answer 1 is right, from 0 to 1"`
	Second float64 `json:"second" jsonschema:"minimum=0,maximum=1" jsonschema_description:"the probability that answer 2 is right; both add up to 1"`
}

// maxRounding is how far the sum of two rounded probabilities may be from 1.
const maxRounding = 0.0101

// Check returns a violation if the probabilities do not add up to 1. It removes what rounding has left.
func (c *Credence) Check([]string) []string {
	sum := c.First + c.Second
	if math.Abs(sum-1) > maxRounding {
		return []string{fmt.Sprintf("/second: first and second add up to %s: one of the answers is right, so make it 1", strconv.FormatFloat(sum, 'g', 4, 64))}
	}
	c.First /= sum
	c.Second = 1 - c.First
	return nil
}

// Default sets a reply that holds both answers equally likely.
func (c *Credence) Default([]string) {
	*c = Credence{Reason: "The judge gave no valid decision.", First: 0.5, Second: 0.5}
}

// Text returns the reply for readers.
func (c *Credence) Text() string {
	return fmt.Sprintf("Answer 1: %s, answer 2: %s. %s", percent(c.First), percent(c.Second), c.Reason)
}

// probability returns the probability of an answer, where the judge saw the answer first.
func (c *Credence) probability(a, first answer) float64 {
	if a == first {
		return c.First
	}
	return c.Second
}

// percent returns a probability for readers.
func percent(p float64) string { return strconv.FormatFloat(math.Round(1000*p)/10, 'f', -1, 64) + " %" }

// The values of Choice.Answer.
const second string = "second"

// Choice is the reply of a participant who chooses the answer that it argues for.
type Choice struct {
	Answer string `json:"answer" jsonschema:"enum=first,enum=second" jsonschema_description:"the answer that you argue for: first is answer 1, second is answer 2"`
}

// Default chooses the answer that is shown first, which is drawn.
func (c *Choice) Default([]string) { c.Answer = "first" }

// Text returns the choice for readers.
func (c *Choice) Text() string {
	if c.Answer == second {
		return "I argue for answer 2."
	}
	return "I argue for answer 1."
}

// answer is one of the two answers, by its letter.
type answer string

// The answers.
const (
	answerA answer = "A"
	answerB answer = "B"
)

// other returns the other answer.
func (a answer) other() answer {
	if a == answerA {
		return answerB
	}
	return answerA
}
