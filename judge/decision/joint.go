package decision

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/internal/contract"
	"github.com/elenchus-go/debate/internal/naming"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/transcript"
)

// Type is the type of an answer whose data is a [Joint] decision.
const Type string = "joint-decision/1"

// Joint is the decision of one or more judges. T is the type of their replies: [Choice], or that of your contract.
type Joint[T any] struct {
	// Choice is what more than half of the judges chose: the text of an option, or the value of the marked field. Judges who
	// contradict themselves or gave no valid reply do not count. It is empty if there is no majority, or if the contract marks
	// no field.
	Choice string `json:"choice,omitempty"`
	Option int    `json:"option,omitempty"` // the number of the option, from 1; 0 without one
	Field  string `json:"field,omitempty"`  // the name of the marked field in JSON; empty with options
	// Value is the reply of the first judge who made the choice, or of the only judge. It is zero without a decision.
	Value T `json:"value,omitzero"`
	// Confidence is the mean confidence, in percent, of the judges who made the choice; 0 without options.
	Confidence float64 `json:"confidence,omitempty"`
	Votes      []Votes `json:"votes,omitempty"` // by choice, most votes first
	// Tie lists the choices that have the most votes, if there are several.
	Tie []string `json:"tie,omitempty"`
	// Scores are the mean scores that the judges gave to the arguments of each participant. They do not decide.
	Scores judge.Scores `json:"scores,omitempty"`
	// Dissent describes what the other judges chose and why. Disagreement describes judges who contradict themselves.
	Dissent      []string `json:"dissent,omitempty"`
	Disagreement []string `json:"disagreement,omitempty"`
	// Failed says that no judge gave a valid reply. Then Value is the default of the contract.
	Failed   bool               `json:"failed,omitempty"`
	Opinions []judge.Opinion[T] `json:"opinions"` // all replies, in order
}

// Votes are the judges who made a choice.
type Votes struct {
	Choice string   `json:"choice"`
	Option int      `json:"option,omitempty"`
	Judges []string `json:"judges"`
}

// Combine returns the joint decision of the turns in which the judges replied, as a text for readers and as the JSON of a
// [Joint]. scores are the scores of the arguments.
func (t Task) Combine(scores judge.Scores, turns ...transcript.Turn) (text string, data json.RawMessage) {
	return t.CombineFor(0, scores, turns...)
}

// CombineFor is Combine for an option that is decided otherwise, such as by a calibrated margin. Options count from 1. If
// decided is 0, the majority decides.
func (t Task) CombineFor(decided int, scores judge.Scores, turns ...transcript.Turn) (text string, data json.RawMessage) {
	var said any
	if len(t.Options) > 0 {
		j := t.combineChoices(judge.Opinions[Choice](turns...), decided)
		j.Scores, said = scores, &j
		text = j.text((*Choice).Text)
	} else {
		j := t.combineReplies(judge.Opinions[json.RawMessage](turns...))
		j.Scores, said = scores, &j
		text = j.text(func(v *json.RawMessage) string { return textOf(turns, *v) })
	}
	data, _ = json.Marshal(said) // decoded values always encode
	return text, data
}

// combineChoices returns the joint decision for one of the options.
func (t Task) combineChoices(opinions []judge.Opinion[Choice], decided int) Joint[Choice] {
	option := func(c *Choice) int {
		if c.Option < 1 || c.Option > len(t.Options) {
			return 0
		}
		return c.Option
	}
	choice := ""
	if decided > 0 {
		choice = t.Options[decided-1]
	}
	j := combine(opinions, choice, func(c *Choice) string {
		if n := option(c); n > 0 {
			return t.Options[n-1]
		}
		return ""
	}, func(c *Choice) string { return c.Summary })
	j.Option = slices.Index(t.Options, j.Choice) + 1
	for i := range j.Votes {
		j.Votes[i].Option = slices.Index(t.Options, j.Votes[i].Choice) + 1
	}
	sum, n := 0.0, 0
	for i := range opinions {
		if o := &opinions[i]; j.Option > 0 && !o.Failed && slices.Contains(j.Votes[0].Judges, o.Judge) {
			sum, n = sum+o.Value.Confidence, n+1
		}
	}
	j.Confidence = math.Round(sum / float64(max(n, 1)))
	return j
}

// combineReplies returns the joint decision of replies in a contract of the user's.
func (t Task) combineReplies(opinions []judge.Opinion[json.RawMessage]) (j Joint[json.RawMessage]) {
	field := ""
	if of, known := contract.Of(t.Contract); known {
		field, _ = choiceOf(of)
	}
	if field == "" {
		j.Opinions, j.Failed = opinions, opinions[0].Failed
		if len(opinions) == 1 {
			j.Value = opinions[0].Value
		}
		return j
	}
	var known []string
	j = combine(opinions, "", func(v *json.RawMessage) string {
		choice := readField(*v, field)
		if at := slices.IndexFunc(known, func(k string) bool { return naming.Same(k, choice) }); at >= 0 {
			return known[at] // judges may write a choice in several ways
		}
		known = append(known, choice)
		return choice
	}, func(*json.RawMessage) string { return "" })
	j.Field = field
	return j
}

// readField returns the value of a field of a reply, in words.
func readField(v json.RawMessage, field string) string {
	var fields map[string]any
	if err := json.Unmarshal(v, &fields); err != nil || fields[field] == nil {
		return ""
	}
	switch x := fields[field].(type) {
	case bool:
		if x {
			return "yes"
		}
		return "no"
	case float64:
		return fmt.Sprintf("%.0f", x)
	default:
		return strings.TrimSpace(fmt.Sprint(x))
	}
}

// combine lets the judges decide by majority of a choice, which is empty if a reply has none, unless it is decided.
func combine[T any](opinions []judge.Opinion[T], decided string, choice, reason func(*T) string) Joint[T] {
	poll := judge.TakePoll(decided, opinions, choice, reason)
	j := Joint[T]{Choice: poll.Choice, Failed: poll.Failed, Dissent: poll.Dissent, Disagreement: poll.Disagreement, Opinions: opinions}
	if poll.First != nil && (poll.Choice != "" || poll.Failed) {
		j.Value = *poll.First
	}
	for choice, judges := range poll.Votes {
		if choice != "" {
			j.Votes = append(j.Votes, Votes{Choice: choice, Judges: judges})
		}
	}
	slices.SortFunc(j.Votes, func(a, b Votes) int {
		return cmp.Or(len(b.Judges)-len(a.Judges), strings.Compare(a.Choice, b.Choice))
	})
	for i := range j.Votes {
		if len(j.Votes) > 1 && len(j.Votes[i].Judges) == len(j.Votes[0].Judges) && len(j.Votes[1].Judges) == len(j.Votes[0].Judges) {
			j.Tie = append(j.Tie, j.Votes[i].Choice)
		}
	}
	return j
}

// Sentence returns the decision in a sentence without a full stop, such as "The decision is: Refund in full".
func (j *Joint[T]) Sentence() string {
	label := ""
	if j.Field != "" {
		label = j.Field + " is "
	}
	switch {
	case j.Choice != "" && j.Option > 0:
		return fmt.Sprintf("The decision is option %d: %s", j.Option, j.Choice)
	case j.Choice != "":
		return "The decision is: " + label + j.Choice
	case j.Failed:
		return "There is no decision, because no judge gave a valid one"
	case len(j.Tie) > 0:
		return fmt.Sprintf("There is no decision, because the votes are tied: %s", j.tally())
	case len(j.Votes) > 0:
		return "There is no decision, because no choice has a majority: " + j.tally()
	case len(j.Disagreement) > 0:
		return "There is no decision, because the judges contradict themselves"
	}
	return "The judge has decided"
}

// tally returns the votes in words.
func (j *Joint[T]) tally() string {
	var list []string
	for _, v := range j.Votes {
		list = append(list, fmt.Sprintf("%d for %q (%s)", len(v.Judges), v.Choice, strings.Join(v.Judges, ", ")))
	}
	return strings.Join(list, ", ")
}

// text returns the decision for readers. of returns a reply for readers.
func (j *Joint[T]) text(of func(*T) string) string {
	lines := []string{j.Sentence() + "."}
	if j.Choice != "" && len(j.Opinions) > 1 {
		lines = append(lines, "Votes: "+j.tally()+".")
	}
	if j.Choice != "" || j.Failed || len(j.Votes) == 0 && len(j.Opinions) == 1 {
		lines = append(lines, of(&j.Value))
	}
	if len(j.Scores) > 0 {
		lines = append(lines, "Scores of the arguments, which do not decide: "+j.Scores.String()+".")
	}
	for _, d := range j.Dissent {
		lines = append(lines, "Dissent: "+d)
	}
	for _, d := range j.Disagreement {
		lines = append(lines, "Disagreement: "+d)
	}
	return strings.Join(lines, "\n")
}

// textOf returns the text of the turn with the given data.
func textOf(turns []transcript.Turn, data json.RawMessage) string {
	for _, t := range turns {
		if string(t.Data) == string(data) {
			return t.Text
		}
	}
	return ""
}
