package eval

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/internal/runs"
)

// formats maps the names of data sets to the functions that add the tasks of their files.
var formats = map[string]func(*taskList, []byte){
	"gsm8k": readGSM8K, "mmlu": readMMLU, "truthfulqa": readTruthfulQA, "quality": readQuality, "llmbar": readLLMBar,
}

// readGSM8K reads lines with question and answer. The right answer follows #### at the end of the answer.
func readGSM8K(l *taskList, text []byte) {
	runs.EachLine(text, func(line int, text []byte) {
		var q struct{ Question, Answer string }
		if err := json.Unmarshal(text, &q); err != nil {
			l.Refuse(line, decodeError(err))
			return
		}
		at := strings.LastIndex(q.Answer, "####")
		if at < 0 {
			l.Refuse(line, errors.New("answer: it has no #### before the right answer"))
			return
		}
		l.add(line, Task{Topic: q.Question, Gold: []string{strings.TrimSpace(q.Answer[at+len("####"):])}})
	})
}

// eachRecord calls use with each record of a CSV file, and with the number of its first line.
func eachRecord(l *taskList, text []byte, use func(line int, record []string)) {
	r := csv.NewReader(bytes.NewReader(text))
	r.FieldsPerRecord = -1
	for {
		record, err := r.Read()
		switch wrong, malformed := errors.AsType[*csv.ParseError](err); {
		case errors.Is(err, io.EOF):
			return
		case malformed:
			l.Refuse(wrong.StartLine, fmt.Errorf("decode CSV: %w", wrong.Err))
			continue
		}
		line, _ := r.FieldPos(0)
		use(line, record)
	}
}

// readMMLU reads records of a question, four choices and the letter of the right one, without a header.
func readMMLU(l *taskList, text []byte) {
	eachRecord(l, text, func(line int, record []string) {
		if len(record) != 6 {
			l.Refuse(line, fmt.Errorf("it has %d fields, want 6: the question, four choices and the letter of the right one", len(record)))
			return
		}
		letter := strings.ToUpper(strings.TrimSpace(record[5]))
		if len(letter) != 1 || letter < "A" || letter > "D" {
			l.Refuse(line, fmt.Errorf("the right choice is %q, want A, B, C or D", record[5]))
			return
		}
		l.add(line, Task{Topic: record[0], Choices: record[1:5], Gold: []string{record[1+letter[0]-'A']}})
	})
}

// readTruthfulQA reads records with a header. Where there is a best incorrect answer, the choice is between it and the best
// answer, as its authors advise; a hash of the question determines the order. Otherwise, the question is open, and all
// correct answers are right.
func readTruthfulQA(l *taskList, text []byte) {
	var header []string
	eachRecord(l, text, func(line int, record []string) {
		if header == nil {
			header = record
			for _, name := range []string{"Question", "Best Answer", "Correct Answers"} {
				if !slices.Contains(header, name) {
					l.Refuse(line, fmt.Errorf("the header has no field %q", name))
				}
			}
			return
		}
		field := func(name string) string {
			if at := slices.Index(header, name); at >= 0 && at < len(record) {
				return strings.TrimSpace(record[at])
			}
			return ""
		}
		best, wrong := field("Best Answer"), field("Best Incorrect Answer")
		t := Task{Topic: field("Question"), Gold: []string{best}}
		if wrong != "" {
			t.Choices = []string{best, wrong}
			if digest(t.Topic)%2 == 1 {
				slices.Reverse(t.Choices)
			}
		} else {
			for answer := range strings.SplitSeq(field("Correct Answers"), ";") {
				answer = strings.TrimSpace(answer)
				if answer != "" && !slices.Contains(t.Gold, answer) {
					t.Gold = append(t.Gold, answer)
				}
			}
		}
		l.add(line, t)
	})
}

// readQuality reads lines of an article with its questions. The questions about an article are one group.
func readQuality(l *taskList, text []byte) {
	runs.EachLine(text, func(line int, text []byte) {
		var a struct {
			ID        string `json:"article_id"`
			Article   string `json:"article"`
			Questions []struct {
				Question string   `json:"question"`
				ID       string   `json:"question_unique_id"`
				Options  []string `json:"options"`
				Gold     int      `json:"gold_label"` // from 1; 0 if it is not published
				Checked  []struct {
					Distractor int `json:"untimed_best_distractor"` // from 1
				} `json:"validation"`
			} `json:"questions"`
		}
		if err := json.Unmarshal(text, &a); err != nil {
			l.Refuse(line, decodeError(err))
			return
		}
		if strings.TrimSpace(a.Article) == "" || len(a.Questions) == 0 {
			l.Refuse(line, errors.New("it has no article or no questions"))
			return
		}
		for i, q := range a.Questions {
			if q.Gold < 1 || q.Gold > len(q.Options) {
				l.Refuse(line, fmt.Errorf("question %d: gold_label is %d of %d options; the test set has none", i+1, q.Gold,
					len(q.Options)))
				continue
			}
			id := q.ID
			if id == "" {
				id = fmt.Sprintf("%d.%d", line, i+1)
			}
			votes := make([]int, len(q.Options)+1)
			for _, c := range q.Checked {
				if c.Distractor >= 1 && c.Distractor <= len(q.Options) && c.Distractor != q.Gold {
					votes[c.Distractor]++
				}
			}
			l.add(line, Task{ID: id, Distractors: mostNamed(q.Options, votes), Topic: q.Question, Documents: []evidence.Document{evidence.Shared("article", a.Article)}, Choices: q.Options, Gold: []string{q.Options[q.Gold-1]}, Group: a.ID})
		}
	})
}

// mostNamed returns the options with the most votes, or none without votes. Options are numbered from 1.
func mostNamed(options []string, votes []int) (list []string) {
	most := slices.Max(votes)
	for i, option := range options {
		if most > 0 && votes[i+1] == most {
			list = append(list, option)
		}
	}
	return list
}

// readLLMBar reads an array of instructions with two outputs, of which one is better.
func readLLMBar(l *taskList, text []byte) {
	d := json.NewDecoder(bytes.NewReader(text))
	lineAt := func(offset int64) int { return 1 + bytes.Count(text[:offset], []byte("\n")) }
	if start, err := d.Token(); err != nil || start != json.Delim('[') {
		l.Refuse(1, errors.New("decode JSON: want an array of pairs"))
		return
	}
	for d.More() {
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			l.Refuse(lineAt(d.InputOffset()), decodeError(err))
			return
		}
		line := lineAt(d.InputOffset() - int64(len(raw)))
		var p struct {
			Input, Output1, Output2 string
			Label                   int
		}
		fields := map[string]any{"input": &p.Input, "output_1": &p.Output1, "output_2": &p.Output2, "label": &p.Label}
		if err := decodeFields(raw, fields); err != nil {
			l.Refuse(line, err)
			continue
		}
		if p.Label != 1 && p.Label != 2 {
			l.Refuse(line, fmt.Errorf("label: %d, want 1 or 2", p.Label))
			continue
		}
		l.add(line, Task{
			ID: fmt.Sprint(l.Len() + 1), Topic: "Which of two answers follows this instruction better?\n\n" + p.Input,
			Group:   fmt.Sprintf("%016x", digest(p.Input)),
			Choices: []string{p.Output1, p.Output2}, Gold: []string{[]string{p.Output1, p.Output2}[p.Label-1]},
		})
	}
	if _, err := d.Token(); err != nil {
		l.Refuse(lineAt(d.InputOffset()), decodeError(err))
	}
}

// decodeFields decodes the fields of an object. All must be there.
func decodeFields(raw json.RawMessage, to map[string]any) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return decodeError(err)
	}
	for name, v := range to {
		if fields[name] == nil {
			return fmt.Errorf("%s: it is missing", name)
		}
		if err := json.Unmarshal(fields[name], v); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// decodeError returns an error of decoding JSON without the types of this program.
func decodeError(err error) error {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		if wrong.Field == "" {
			return fmt.Errorf("decode JSON: it is a JSON %s, want an object", wrong.Value)
		}
		return fmt.Errorf("decode JSON: %s: it is a JSON %s, want another type", wrong.Field, wrong.Value)
	}
	return fmt.Errorf("decode JSON: %w", err)
}

// digest returns a hash of a text.
func digest(text string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(text))
	return h.Sum64()
}
