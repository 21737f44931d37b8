package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"strconv"
	"strings"
	"unicode"

	"github.com/elenchus-go/debate/eval"
	rundebates "github.com/elenchus-go/debate/internal/runs"
	"github.com/elenchus-go/debate/judge/agreement"
)

// Pair is a question with two answers, of which one is better.
type Pair struct {
	// ID identifies the pair in its audit. Use at most 100 bytes without control characters and '+'. Read sets it to the number
	// of the line if the file has no id.
	ID       string             `json:"id"`
	Question string             `json:"question"`
	A        string             `json:"a"`
	B        string             `json:"b"`
	Gold     agreement.Decision `json:"gold,omitempty"` // the better answer, "a" or "b"; empty if it is not known
	// Group names the pairs that depend on one another, such as those of one question. Defaults to a group of its own.
	Group string `json:"group,omitempty"`
	// AuthorA and AuthorB are the models that wrote the answers, if they are known.
	AuthorA string `json:"author_a,omitempty"`
	AuthorB string `json:"author_b,omitempty"`
	// Reference is what a right answer says, if it is known. Judges read it.
	Reference string `json:"reference,omitempty"`
}

// maxID limits the bytes of a pair's id, which is a part of the id of a task.
const maxID = 100

// check returns what is wrong with the pair, or nil.
func (p Pair) check() error {
	switch {
	case strings.TrimSpace(p.ID) == "" || len(p.ID) > maxID || strings.ContainsFunc(p.ID, func(r rune) bool { return r == '+' || unicode.IsControl(r) }):
		return fmt.Errorf("id: %q, use 1 to %d bytes without control characters and '+'", p.ID, maxID)
	case strings.TrimSpace(p.Question) == "":
		return errors.New("question: it is missing or blank")
	case strings.TrimSpace(p.A) == "":
		return errors.New("a: it is missing or blank, give the first answer")
	case strings.TrimSpace(p.B) == "":
		return errors.New("b: it is missing or blank, give the second answer")
	case p.A == p.B:
		return errors.New("b: it is the same text as a")
	case p.Gold != agreement.None && p.Gold != agreement.A && p.Gold != agreement.B:
		return fmt.Errorf("gold: %q, want \"a\" or \"b\", the better answer", p.Gold)
	}
	return nil
}

// longer returns the longer answer, or None if both have as many characters.
func (p Pair) longer() agreement.Decision {
	switch a, b := p.lengths(); {
	case a > b:
		return agreement.A
	case a < b:
		return agreement.B
	}
	return agreement.None
}

func (p Pair) lengths() (a, b int) { return len([]rune(p.A)), len([]rune(p.B)) }

// Format says how pairs are written in a file. The zero Format is JSON Lines with the fields of [Pair]; "topic" is another name
// of the question.
type Format struct {
	Name string // "jsonl" (the default), or "llmbar": an array of pairs as its authors publish them
}

// Read reads all pairs. If a part of the file cannot be used, the error has a line for each such part, with its number, and
// there are no pairs.
func (f Format) Read(r io.Reader) ([]Pair, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("read pairs: %w", err)
	}
	switch f.Name {
	case "", "jsonl":
		return readLines(bytes.TrimPrefix(text, []byte("\ufeff")))
	case "llmbar":
		return readLLMBar(text)
	}
	return nil, fmt.Errorf("read pairs: format %q is unknown, use jsonl or llmbar", f.Name)
}

// readLines reads JSON Lines.
func readLines(text []byte) ([]Pair, error) {
	var list rundebates.Items[Pair]
	rundebates.EachLine(text, func(n int, line []byte) {
		p, err := readLine(line, n)
		if err == nil {
			err = p.check()
		}
		list.Add(n, p.ID, p, err)
	})
	return list.Read("pairs")
}

// readLine reads a pair.
func readLine(line []byte, n int) (Pair, error) {
	var p struct {
		Pair
		ID    json.RawMessage `json:"id"` // a text or a number
		Topic string          `json:"topic"`
	}
	if err := json.Unmarshal(line, &p); err != nil {
		return Pair{}, fmt.Errorf("decode JSON: %w", err)
	}
	if p.Question == "" {
		p.Question = p.Topic
	}
	switch id := string(bytes.TrimSpace(p.ID)); {
	case id == "", id == "null", id == `""`:
		p.Pair.ID = strconv.Itoa(n)
	case id[0] != '"':
		p.Pair.ID = id
	default:
		if err := json.Unmarshal(p.ID, &p.Pair.ID); err != nil {
			return Pair{}, fmt.Errorf("id: %w", err)
		}
	}
	p.Gold = agreement.Decision(strings.ToLower(strings.TrimSpace(string(p.Gold))))
	return p.Pair, nil
}

// llmbarTopic is what package eval puts before an instruction of LLMBar.
const llmbarTopic = "Which of two answers follows this instruction better?\n\n"

// readLLMBar reads pairs as package eval reads them as tasks.
func readLLMBar(text []byte) (pairs []Pair, err error) {
	tasks, err := eval.Format{Name: "llmbar"}.Read(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	var wrong []error
	for _, t := range tasks {
		p := Pair{ID: t.ID, Question: strings.TrimPrefix(t.Topic, llmbarTopic), A: t.Choices[0], B: t.Choices[1], Group: t.Group, Gold: agreement.A}
		if t.Gold[0] == p.B {
			p.Gold = agreement.B
		}
		if err := p.check(); err != nil {
			wrong = append(wrong, fmt.Errorf("pair %s: %w", t.ID, err))
		}
		pairs = append(pairs, p)
	}
	if len(wrong) > 0 {
		return nil, fmt.Errorf("read pairs: %w", errors.Join(wrong...))
	}
	return pairs, nil
}

// Family returns the family of a model: the letters with which its name begins, after the names of services. That of
// "meta-llama/Llama-3.1-8B" is "llama", and that of "gpt-4o" is "gpt".
func Family(model string) string {
	name := strings.ToLower(model[strings.LastIndexByte(model, '/')+1:])
	if end := strings.IndexFunc(name, func(r rune) bool { return !unicode.IsLetter(r) }); end >= 0 {
		name = name[:end]
	}
	return name
}

// digest returns a hash of a text.
func digest(text string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(text))
	return h.Sum64()
}

// checkPairs returns everything that is wrong with pairs. labeled says that each needs a gold label.
func checkPairs(pairs []Pair, labeled bool) (wrong []error) {
	if len(pairs) == 0 {
		return []error{errors.New("pairs: there are none")}
	}
	seen := map[string]bool{}
	for i, p := range pairs {
		if err := p.check(); err != nil {
			wrong = append(wrong, fmt.Errorf("pairs[%d]: %w", i, err))
		} else if labeled && p.Gold == agreement.None {
			wrong = append(wrong, fmt.Errorf("pairs[%d]: gold: it is missing, want \"a\" or \"b\": an audit needs gold labels", i))
		}
		if seen[p.ID] {
			wrong = append(wrong, fmt.Errorf("pairs[%d]: id: %q is the id of another pair", i, p.ID))
		}
		seen[p.ID] = true
	}
	return wrong
}
