package eval

import (
	"context"
	"iter"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/protocol/oversight"
)

// Oversight returns the names and the templates of arms that find out whether a judge who has not read the documents of a task finds
// the right answer: "direct" and "direct-text" are a judge alone, without the documents and with them, and the others are the modes of
// protocol/oversight. The participants are Ada and Bo, and the judge is Judge; set their providers and models. Compare the arms with direct, and set
// Evaluation.Against to direct-text. The tasks need choices and documents.
func Oversight() iter.Seq2[string, debate.Config] {
	return func(yield func(string, debate.Config) bool) {
		direct := overseen(oversight.Direct)
		if !yield("direct", direct) {
			return
		}
		direct.Documents = []evidence.Document{{Name: hiddenDocuments, Readers: []string{"Judge"}}}
		if !yield("direct-text", direct) {
			return
		}
		for _, mode := range oversight.Modes() {
			if mode != oversight.Direct && !yield(string(mode), overseen(mode)) {
				return
			}
		}
	}
}

// overseen returns the template of a mode.
func overseen(mode oversight.Mode) debate.Config {
	c := debate.Config{
		Topic: "{{topic}}", Protocol: oversight.Protocol{Mode: mode, A: "{{a}}", B: "{{b}}"}, Judges: []debate.Participant{{Name: "Judge"}},
	}
	names := []string{"Ada", "Bo"}
	switch mode {
	case oversight.Direct:
		return c
	case oversight.Consultancy, oversight.OpenConsultancy:
		names = names[:1]
	case oversight.Debate, oversight.Interactive, oversight.OpenDebate:
	}
	for _, name := range names {
		c.Participants = append(c.Participants, debate.Participant{Name: name})
	}
	c.Documents = []evidence.Document{{Name: hiddenDocuments, Readers: names}}
	return c
}

// texts returns a function for Options.Documents that gives the texts of the documents of tasks. It asks other for those that
// no task has.
func (e *Evaluation) texts(other func(context.Context, string, map[string]string, evidence.Document) (string, error)) func(context.Context, string, map[string]string, evidence.Document) (string, error) {
	texts := map[string]string{}
	for _, t := range e.Tasks {
		for _, d := range t.Documents {
			texts[evidence.Hash(d.Text)] = d.Text
		}
	}
	if len(texts) == 0 {
		return other
	}
	return func(ctx context.Context, id string, labels map[string]string, d evidence.Document) (string, error) {
		if text, known := texts[d.SHA256]; known && labels[labelEval] == e.Name || other == nil {
			return text, nil
		}
		return other(ctx, id, labels, d)
	}
}
