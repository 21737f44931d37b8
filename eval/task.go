package eval

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/internal/canonical"
	"github.com/elenchus-go/debate/internal/runs"
)

// Task is a question with its right answers.
type Task struct {
	// ID identifies the task in its evaluation. Use at most 128 bytes without control characters. Read sets it to the number
	// of the line if the file has no id.
	ID    string   `json:"id"`
	Topic string   `json:"topic"` // the question
	Gold  []string `json:"gold"`  // the right answers; one of them suffices
	// Choices are the 2 to 26 answers to choose from, which are lettered from A. Then each of Gold is the text of a choice
	// or its letter.
	Choices []string `json:"choices,omitempty"`
	// Distractors are the wrong choices, by text, that are hardest to tell from right ones. One of them is drawn where an arm
	// has two answers; see [Template]. If there are none, it is drawn from all wrong choices.
	Distractors []string `json:"distractors,omitempty"`
	Background  string   `json:"background,omitempty"` // what every system prompt includes
	// Documents are texts that all participants and judges read; see debate.Config. Use evidence.Shared to make one.
	// An arm can hide them from some; see [Template].
	Documents []evidence.Document `json:"documents,omitempty"`
	// Group names the tasks that depend on one another, such as similar questions or questions about one text. Intervals
	// are then computed over groups. If it is empty, the task stands for itself.
	Group string `json:"group,omitempty"`

	seed string // of the evaluation
}

// Question returns the topic, and below it the choices with their letters.
func (t Task) Question() string {
	var b strings.Builder
	b.WriteString(t.Topic)
	for i, c := range t.Choices {
		if i == 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "\n%c. %s", 'A'+i, c)
	}
	return b.String()
}

// check returns what is wrong with the task, or nil.
func (t Task) check() error {
	switch {
	case !runs.IsName(t.ID):
		return fmt.Errorf("id: %q, use 1 to %d bytes without control characters", t.ID, runs.MaxName)
	case len(t.Group) > runs.MaxName || !runs.IsPrintable(t.Group):
		return fmt.Errorf("group: %q, use at most %d bytes without control characters", t.Group, runs.MaxName)
	case strings.TrimSpace(t.Topic) == "":
		return errors.New("topic: it is missing or blank")
	case len(t.Gold) == 0:
		return errors.New("gold: it is missing, use one right answer or a list")
	case slices.ContainsFunc(t.Gold, func(g string) bool { return strings.TrimSpace(g) == "" }):
		return errors.New("gold: an answer is blank")
	case len(t.Choices) == 1 || len(t.Choices) > 26:
		return fmt.Errorf("choices: %d, use 2 to 26", len(t.Choices))
	}
	for i, c := range t.Choices {
		if canonical.Text(c) == "" && strings.TrimSpace(c) == "" {
			return fmt.Errorf("choices: choice %c is blank", 'A'+i)
		}
	}
	for _, g := range t.Gold {
		if len(t.Choices) > 0 && t.letter(g) == "" {
			return fmt.Errorf("gold: %q is neither the text nor the letter of one of the %d choices", g, len(t.Choices))
		}
	}
	for _, d := range t.Distractors {
		if l := t.letter(d); l == "" || t.isGold(l) {
			return fmt.Errorf("distractors: %q is not one of the wrong choices", d)
		}
	}
	return t.checkDocuments()
}

// isGold reports whether a letter is that of a right choice.
func (t Task) isGold(letter string) bool {
	return slices.ContainsFunc(t.Gold, func(g string) bool { return t.letter(g) == letter })
}

// letter returns the letter of the choice that a text names: by its text, or else by its letter. It returns "" if it names
// none.
func (t Task) letter(text string) string {
	at := slices.Index(t.Choices, text)
	if at < 0 {
		at = slices.IndexFunc(t.Choices, func(c string) bool { return canonical.Text(c) != "" && canonical.Text(c) == canonical.Text(text) })
	}
	if l := strings.ToUpper(strings.TrimSpace(text)); at < 0 && len(l) == 1 {
		at = int(l[0]) - 'A'
	}
	if at < 0 || at >= min(len(t.Choices), 26) {
		return ""
	}
	return "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[at : at+1]
}

// checkDocuments returns what is wrong with the documents, or nil.
func (t Task) checkDocuments() error {
	list := slices.Clone(t.Documents)
	for i := range list {
		if list[i].IsPrivate() {
			return fmt.Errorf("documents[%d].text: it is missing, because all read the documents of a task", i)
		}
		list[i] = list[i].WithDefaults(window.Estimate)
	}
	for _, p := range evidence.CheckAll(list, func(string) bool { return false }) {
		return fmt.Errorf("documents%s: %s", p.Field, p.Reason)
	}
	return nil
}
