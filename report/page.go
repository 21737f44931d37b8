package report

import (
	"cmp"
	"strings"

	"github.com/elenchus-go/debate/internal/markup"
	"github.com/elenchus-go/debate/internal/outcome"
	"github.com/elenchus-go/debate/internal/readmodel"
)

// summarize derives the summary from the other fields.
func (r *Report) summarize() Summary {
	o := &r.Result.Outcome
	return Summary{
		Topic: r.Result.Topic, Notices: append(r.Notices(), o.Notes...), Answer: readmodel.Sentence(&r.Result, r.Waiting),
		Text: strings.TrimSpace(o.Text), Reasons: r.reasons(),
	}
}

// document builds the document.
func (r *Report) document() document {
	s := r.summarize()
	speakers := r.cast()
	d := document{About: r.about(), Notices: s.Notices, Answer: s.Answer, Result: r.picture()}
	d.Title, d.Topic = headline(s.Topic)
	if d.Title == "" {
		d.Title = "Debate " + r.Result.ID
	}
	if s.Text != "" {
		d.Result = append([]block{{Text: readmodel.Readable(&r.Result, s.Text)}}, d.Result...)
	}
	d.Result = append(r.openQuestion(), d.Result...)
	reasons := append(reasonBlocks(readableReasons(r, s.Reasons), speakers), r.exhibits("evidence", r.Result.Outcome.Evidence)...)
	if len(reasons) > 0 {
		d.Sections = append(d.Sections, section{"reasons", "Reasons", reasons})
	}
	if len(r.Attachments) > 0 {
		d.Sections = append(d.Sections, section{"attachments", "Attachments", []block{{Text: strings.Join(r.Attachments, "\n\n")}}})
	}
	if r.Result.Background != "" {
		d.Sections = append(d.Sections, section{"background", "Background", []block{{Text: r.Result.Background}}})
	}
	if list := sourcesOf(r); list != nil {
		d.Sections = append(d.Sections, section{"sources", "Sources", list})
	}
	d.Rounds, d.Details = r.rounds(speakers), r.details()
	return d
}

// headline returns a title for a topic, and the topic itself if it says more than the title. A topic may be a
// whole document in Markdown.
func headline(topic string) (title, whole string) {
	const length = 200 // of a title that is the whole topic
	topic = strings.TrimSpace(markup.Clean(topic))
	title = readmodel.Line(topic)
	if len([]rune(title)) <= length && !strings.Contains(topic, "\n") {
		return title, ""
	}
	for l := range strings.Lines(topic) {
		if strings.Trim(l, "#=-*_`~> \t\n") != "" {
			title = readmodel.Line(strings.NewReplacer("**", "", "__", "", "`", "").Replace(strings.Trim(l, "#> \t\n")))
			break
		}
	}
	if len([]rune(title)) > length {
		title = readmodel.Shorten(title, 120)
	}
	return title, topic
}

// about returns the kind of debate, its size and its date.
func (r *Report) about() string {
	kind, _, _ := strings.Cut(r.Result.Protocol, "/")
	kind = cmp.Or(r.Result.Outcome.Kind, kind)
	parent := ""
	if p := r.Result.Parent; p.ID != "" {
		parent = "fork of " + p.ID
	}
	return readmodel.JoinWords(kind, outcome.Count(r.Result.Round, "round", "rounds"),
		outcome.Count(len(r.Result.Turns), "turn", "turns"), formatDate(r.Result.Created), parent)
}

// openQuestion returns the question that waits for a person, or the error that stopped the debate.
func (r *Report) openQuestion() (blocks []block) {
	if q := r.Result.Question; q != nil {
		cause, arguments, _ := strings.Cut(q.String(), "\n")
		blocks = append(blocks, block{Note: "The question: " + cause, Code: arguments})
		var choices []string
		for _, c := range q.Choices {
			choices = append(choices, c.Action+": "+c.Description)
		}
		blocks = append(blocks, listBlock("", choices)...)
	}
	if f := r.Result.Failure; f != nil {
		blocks = append(blocks, block{Note: "The debate stopped with an error: " + f.Error()}, block{Note: "Hint: " + f.Hint() + "."})
	}
	return blocks
}

// reasonBlocks returns the reasons, with those of the same title below one heading.
func reasonBlocks(reasons []Reason, speakers cast) (blocks []block) {
	for _, x := range reasons {
		p := points{Items: x.Points}
		if x.Name != "" {
			p.Speaker = speakers.of(x.Name)
		}
		if n := len(blocks); n == 0 || blocks[n-1].Heading != x.Title {
			blocks = append(blocks, block{Heading: x.Title})
		}
		last := &blocks[len(blocks)-1]
		last.Points = append(last.Points, p)
	}
	return blocks
}
