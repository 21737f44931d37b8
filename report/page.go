package report

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/markup"
	"github.com/elenchus-go/debate/internal/naming"
	"github.com/elenchus-go/debate/judge/decision"
	"github.com/elenchus-go/debate/protocol/arbitration"
	"github.com/elenchus-go/debate/protocol/council"
	"github.com/elenchus-go/debate/protocol/mad"
	"github.com/elenchus-go/debate/protocol/oversight"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/protocol/procon"
	"github.com/elenchus-go/debate/protocol/refine"
	"github.com/elenchus-go/debate/protocol/review"
	"github.com/elenchus-go/debate/protocol/skeptic"
	"github.com/elenchus-go/debate/protocol/vote"
)

// outcomes maps the library's protocols to the functions that return their outcomes.
var outcomes = map[string]func(*Report, json.RawMessage) outcome{
	arbitration.Protocol{}.Name(): arbitrationOutcome,
	council.Protocol{}.Name():     councilOutcome,
	mad.Protocol{}.Name():         madOutcome,
	oversight.Protocol{}.Name():   oversightOutcome,
	panel.Protocol{}.Name():       panelOutcome,
	procon.Protocol{}.Name():      proconOutcome,
	refine.Protocol{}.Name():      refineOutcome,
	skeptic.Protocol{}.Name():     skepticOutcome,
	vote.Protocol{}.Name():        voteOutcome,
}

// protocolTitles maps the library's protocols to what readers may call them.
var protocolTitles = map[string]string{
	arbitration.Protocol{}.Name(): "Arbitration",
	council.Protocol{}.Name():     "Council",
	mad.Protocol{}.Name():         "Debate with a moderator",
	oversight.Protocol{}.Name():   "Oversight",
	panel.Protocol{}.Name():       "Panel",
	procon.Protocol{}.Name():      "Pro and con",
	refine.Protocol{}.Name():      "Critique and refinement",
	review.Protocol{}.Name():      "Review",
	skeptic.Protocol{}.Name():     "Proposer and skeptic",
	vote.Protocol{}.Name():        "Vote",
}

// outcome returns the outcome of the debate. A protocol that is not one of the library's has that of a verdict, if its
// answer is one, or only a text.
func (r *Report) outcome() outcome {
	of := outcomes[r.Result.Protocol]
	if r.Result.Answer.Type == decision.Type {
		of = jointOutcome
	}
	if of == nil {
		of = verdictOutcome
	}
	o := of(r, r.Result.Answer.Data)
	if o.text == "" && o.decision == "" {
		o.text = r.Result.Answer.Text
	}
	if len(o.picture) == 0 {
		o.picture = scoreChart(r.roundAssessments()).blocks(r.cast())
	}
	return o
}

// summarize derives the summary from the other fields.
func (r *Report) summarize() Summary { return r.summaryOf(r.outcome()) }

func (r *Report) summaryOf(o outcome) Summary {
	s := Summary{Topic: r.Result.Topic, Notices: append(r.Notices(), o.notes...), Answer: o.sentence(), Text: strings.TrimSpace(o.text), Reasons: o.reasons}
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
	o := r.outcome()
	s, speakers := r.summaryOf(o), r.cast()
	d := document{About: r.about(), Notices: s.Notices, Answer: s.Answer, Result: o.picture}
	d.Title, d.Topic = headline(s.Topic)
	if d.Title == "" {
		d.Title = "Debate " + r.Result.ID
	}
	if s.Text != "" {
		d.Result = append([]block{{Text: readable(r, s.Text)}}, d.Result...)
	}
	d.Result = append(r.openQuestion(), d.Result...)
	if reasons := slices.Concat(reasonBlocks(readableReasons(r, s.Reasons), speakers), o.evidence); len(reasons) > 0 {
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
	d.Rounds, d.Details = r.rounds(speakers), r.details(o)
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
	kind := protocolTitles[r.Result.Protocol]
	switch {
	case isOxford(r):
		kind = "Panel before an audience"
	case r.Result.Protocol == vote.Protocol{}.Name() && decodeOrZero[vote.Tally](r.Result.Answer.Data).Single:
		kind = "One answer"
	}
	if kind == "" {
		kind, _, _ = strings.Cut(r.Result.Protocol, "/")
	}
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
