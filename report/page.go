package report

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/markup"
	"github.com/elenchus-go/debate/internal/naming"
)

// summarize derives the summary from the other fields.
func (r *Report) summarize() Summary {
	o := &r.Result.Outcome
	s := Summary{
		Topic: r.Result.Topic, Notices: append(r.Notices(), o.Notes...), Answer: o.String(), Text: strings.TrimSpace(o.Text),
		Reasons: r.reasons(),
	}
	if progress := r.progress(); progress != "" {
		s.Answer = strings.TrimSpace(progress + " " + s.Answer)
	}
	if s.Answer == "" {
		s.Answer = "The debate has ended" + r.endedBy() + "."
	}
	return s
}

// endedBy says why and when the debate ended.
func (r *Report) endedBy() string {
	if e := r.Result.Ending; e.Outcome != "" {
		return fmt.Sprintf(" by %s in round %d", humanize(e.Outcome), e.Round)
	}
	return ""
}

// progress says how far a debate has come that has not ended with an answer, and returns "" for others.
func (r *Report) progress() string {
	at := "before round 1"
	if r.Result.Round > 0 {
		at = fmt.Sprintf("in round %d", r.Result.Round)
	}
	switch state := r.Result.State; {
	case state == fsm.Completed, state == "":
		return ""
	case state == fsm.Error:
		return "The debate stopped with an error " + at + "."
	case state.Final():
		return "The debate was " + string(state) + " " + at + "."
	case len(r.Waiting) > 0:
		return fmt.Sprintf("There is no answer yet: the debate waits %s for a reply of %s.", at, naming.Enumerate(r.Waiting, 4))
	case r.Result.Question != nil:
		return "There is no answer yet: the debate waits " + at + " for a person's decision."
	case state == fsm.Paused:
		return "There is no answer yet: the debate is paused " + at + "."
	}
	return "There is no answer yet: the debate is " + at + "."
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
		d.Result = append([]block{{Text: readable(r, s.Text)}}, d.Result...)
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
	if title = singleLine(topic); len([]rune(title)) <= length && !strings.Contains(topic, "\n") {
		return title, ""
	}
	for l := range strings.Lines(topic) {
		if strings.Trim(l, "#=-*_`~> \t\n") != "" {
			title = singleLine(strings.NewReplacer("**", "", "__", "", "`", "").Replace(strings.Trim(l, "#> \t\n")))
			break
		}
	}
	if len([]rune(title)) > length {
		title = truncateText(title, 120)
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
	return joinWords(kind, plural(r.Result.Round, "round", "rounds"), plural(len(r.Result.Turns), "turn", "turns"), formatDate(r.Result.Created), parent)
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
