package inspector

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/integrations/debatehttp"
	"github.com/elenchus-go/debate/internal/sources"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// turnView is what the page about a turn shows.
type turnView struct {
	transcript.Turn
	Title    string
	Tone     string
	HTML     template.HTML
	Previous int64 // the turn before it; 0 if there is none
	Next     int64 // the turn after it; 0 if there is none
	Meanings []string
	Valid    string    // the validated reply: JSON or text
	Raw      []rawPart // what the service replied, where it is kept
	Thought  string    // the reasoning, if it is kept
	Calls    []string  // calls of tools before the reply
	Looked   []string  // what the model has looked at by itself
	Cited    []string  // what the check of citations has found
	Prompt   *promptView
	Failed   string            // why there is no prompt
	Sums     []transcript.Turn // the summaries until then, if the prompt has one
}

// rawPart is what the service replied in one attempt.
type rawPart struct {
	Number int
	Text   string
	Error  string
}

// promptView is what the model was asked.
type promptView struct {
	Briefing *debate.Briefing // of a person
	Messages []message
	Schema   string
	Notes    []string // what the prompt lacks
	// The turns that the window left out, and those in place of which the prompt has a summary.
	Omitted, Summarized seqs
	Facts               [][2]string
	Address             string // where the API has the whole prompt, below its root
}

// seqs holds the last entries of a list.
type seqs struct {
	Last    []int64
	Earlier int // how many there are before them
}

const maxLeftOut = 40 // entries that the window left out or summarized, on a page

func lastSeqs(all []int64) seqs {
	earlier := max(len(all)-maxLeftOut, 0)
	return seqs{all[earlier:], earlier}
}

// message is a message of a prompt.
type message struct {
	Role    providers.Role
	Text    string
	More    int // bytes that are left out
	Skipped int // messages that are left out in place of this one
}

const (
	maxPrompt  = 16 << 10 // bytes of a prompt on a page
	maxMessage = 6 << 10  // bytes of one of its messages
)

// flagMeanings says what the flags of turns mean.
var flagMeanings = map[transcript.Flag]string{
	transcript.Truncated: "the reply was cut off at the token limit", transcript.Defaulted: "there was no valid reply, so a default value stands in",
	transcript.Reasked:  "the first reply was invalid, cut off or no speech, and was requested again",
	transcript.Repaired: "the reply's syntax was corrected",
	transcript.Partial:  "the model failed, and the turn is the part that was received", transcript.Substituted: "another model replied in place of the judge's own",
	transcript.Edited: "a person has given the reply, in a fork", transcript.Filtered: "a content filter of the service cut off the reply",
	transcript.SpecialToken:   "the text has what looks like a special token of a model",
	transcript.Refused:        "the model declined to speak, and the text is what it said instead",
	transcript.SpokeForOthers: "the model wrote lines for others too: the text is the speaker's part, and the raw reply has the whole",
}

// turn shows how a turn came about. The parameter seq is its entry.
func (v *visit) turn() error {
	if err := v.open(debatehttp.Watch); err != nil {
		return err
	}
	seq, err := v.number("seq")
	if err != nil {
		return err
	}
	m, err := v.momentAt(seq)
	if err != nil {
		return err
	}
	done, ok := m.event.(debate.TurnDone)
	if !ok || done.Seq != seq {
		return notFound("There is no such turn", fmt.Sprintf("entry %d is no turn, or this seat may not see it yet", seq))
	}
	t := m.turnView(&done.Turn)
	if err := v.addPrompt(t); err != nil {
		return err
	}
	return v.show("turn", page{Title: t.Title, Tab: "past", Main: t})
}

// turnView returns what the page shows without the prompt.
func (m *moment) turnView(turn *transcript.Turn) *turnView {
	said := saidOf(*turn, actorsOf(&m.history), len(turn.Text))
	t := &turnView{Turn: *turn, Title: turnTitle(turn), Tone: said.Tone, HTML: said.HTML, Valid: cut(turn.Text, maxReply)}
	for _, other := range shownTurns(m) {
		if other.Seq >= t.Seq {
			continue
		}
		t.Previous = max(t.Previous, other.Seq)
		if other.Kind == transcript.Summary && t.Window != nil && t.Window.Summarized > 0 {
			t.Sums = append(t.Sums, other)
		}
	}
	t.Next = m.nextTurn
	for _, f := range t.Flags {
		text := flagMeanings[f]
		if text == "" {
			text = words(f)
		}
		t.Meanings = append(t.Meanings, text)
	}
	if t.Contract != "" {
		t.Valid = cut(indent(t.Data), maxReply)
	}
	for i, a := range t.Attempts {
		if a.Reply != "" {
			t.Raw = append(t.Raw, rawPart{i + 1, a.Reply, a.ErrorKind})
		}
	}
	for i := range t.Raw {
		t.Raw[i].Text = cut(t.Raw[i].Text, maxReply/len(t.Raw))
	}
	for i := range m.called {
		t.Calls = append(t.Calls, callLines(&m.called[i])...)
	}
	t.Calls = firstLines(t.Calls, "calls")
	t.Looked = sources.Read(turn)
	t.Cited = firstLines(sources.Describe(t.Citations, m.result.Sources), "citations")
	if t.Reasoning != nil {
		t.Thought = cut(t.Reasoning.Text, maxReply)
	}
	return t
}

// addPrompt adds what only the model was told and said, if the visitor may see it: a visitor who speaks for a seat sees
// only that of the seat.
func (v *visit) addPrompt(t *turnView) error {
	err := v.allow(&debatehttp.Access{Action: debatehttp.Prompt, Debate: v.status, Seat: v.seat})
	if v.seat != "" && v.seat != t.Actor {
		err = &debatehttp.Problem{Title: "You speak for " + v.seat}
	}
	if err != nil {
		t.Raw, t.Thought = nil, ""
		t.Failed = "You may not see what was asked here."
		return nil
	}
	if t.Kind == transcript.Remark || t.Kind == transcript.Embeddings || t.Kind == transcript.Silence {
		return nil
	}
	p, err := v.debate.PromptOf(v.r.Context(), t.Key)
	wrong, missing := errors.AsType[*debate.Problems](err)
	switch {
	case missing:
		t.Failed = "The prompt cannot be rebuilt: " + wrong.Error()
	case errors.Is(err, debate.ErrUnsupported):
		t.Failed = "The prompt cannot be rebuilt: " + err.Error()
	case err != nil:
		return err
	default:
		t.Prompt = newPromptView(p, v.seat)
	}
	return nil
}

// newPromptView returns what the page shows of a prompt to a seat.
func newPromptView(p *debate.Prompt, seat string) *promptView {
	shown := &promptView{Briefing: p.Briefing, Schema: indent(p.Request.Schema), Notes: p.Missing, Messages: shortMessages(p.Request.Messages)}
	shown.Omitted, shown.Summarized = lastSeqs(p.Omitted), lastSeqs(p.Summarized)
	q := url.Values{"phase": {p.Key.Phase}, "actor": {p.Key.Actor}, "run": {strconv.Itoa(p.Key.Run)}, "round": {strconv.Itoa(p.Key.Round)}}
	if p.Key.Target != "" {
		q.Set("target", p.Key.Target)
	}
	if seat != "" {
		q.Set("seat", seat)
	}
	shown.Address = "prompts?" + q.Encode()
	if p.OtherTemplates {
		shown.Notes = append([]string{fmt.Sprintf("the templates are not those of that time (%s), so the words may differ", p.Templates)}, shown.Notes...)
	}
	if p.OtherCounter {
		shown.Notes = append([]string{"tokens are not counted as at that time: what the window left out is taken from the turn"}, shown.Notes...)
	}
	fact := func(name string, value any) {
		if text := fmt.Sprint(value); text != "" && text != "0" {
			shown.Facts = append(shown.Facts, [2]string{name, text})
		}
	}
	r := &p.Request
	fact("Model", r.Model)
	if r.Temperature != nil {
		fact("Temperature", formatScore(*r.Temperature))
	}
	fact("Top p", r.TopP)
	if r.Seed != nil {
		fact("Seed", *r.Seed)
	}
	fact("Reasoning", r.Reasoning)
	fact("Tokens of the reply at most", r.MaxTokens)
	fact("Tokens of the prompt, estimated", p.Tokens)
	fact("Contract of the reply", r.SchemaName)
	fact("Version of the templates", p.Templates)
	return shown
}

// shortMessages returns messages as far as a page shows them: of a long prompt, the first message and the last ones.
func shortMessages(list []providers.Message) (shown []message) {
	room := maxPrompt
	add := func(m providers.Message) {
		text := textOf(m)
		part := message{Role: m.Role, Text: cut(text, min(maxMessage, room))}
		part.More = max(len(text)-min(maxMessage, room), 0)
		room -= len(part.Text) + 150 // with the HTML around it
		shown = append(shown, part)
	}
	if len(list) == 0 {
		return nil
	}
	add(list[0])
	last := len(list) - 1
	for ; last > 0 && room > 200; last-- {
		add(list[last])
	}
	if last > 0 {
		shown = append(shown, message{Skipped: last})
	}
	slices.Reverse(shown[1:])
	return shown
}

// textOf returns the text of a message, without reasoning that only a service can read.
func textOf(m providers.Message) string {
	var b strings.Builder
	b.WriteString(m.Text)
	for _, p := range m.Parts {
		b.WriteString(p.Text)
		switch {
		case p.Attachment != nil:
			b.WriteString("\n" + p.Attachment.String() + "\n")
		case p.ToolCall != nil:
			b.WriteString("\n" + p.ToolCall.Name + " " + string(p.ToolCall.Arguments) + "\n")
		case p.ToolResult != nil:
			b.WriteString(p.ToolResult.Text + "\n")
		}
	}
	return b.String()
}

// indent returns JSON with line breaks, or the text as it is if it is not JSON.
func indent(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return string(raw)
	}
	return b.String()
}
