package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/internal/sources"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// rounds returns the transcript by round, without embedding vectors.
func (r *Report) rounds(speakers cast) (list []round) {
	assessed := map[int]roundAssessment{}
	for _, a := range r.roundAssessments() {
		assessed[a.round] = a
	}
	ids := map[string]int{}
	for i := range r.Result.Turns {
		t := &r.Result.Turns[i]
		if t.Kind == transcript.Embeddings {
			continue
		}
		title, n := roundTitle(t), len(list)
		if n == 0 || list[n-1].Title != title && t.Kind != transcript.Remark { // a remark belongs to no round
			id := strings.ToLower(strings.ReplaceAll(title, " ", "-"))
			if ids[id]++; ids[id] > 1 {
				id += fmt.Sprintf("-%d", ids[id])
			}
			list = append(list, round{ID: id, Title: title})
		}
		last := &list[len(list)-1]
		e := r.turnEntry(t, i, speakers)
		if e.Aside {
			last.Assessments = append(last.Assessments, e)
			if a, ok := assessed[t.Round]; ok && last.Scores == nil {
				last.Scores, last.Differences = a.table(), a.differences()
			}
		} else {
			last.Turns = append(last.Turns, e)
		}
	}
	return list
}

// turnEntry returns the entry of the turn with an index.
func (r *Report) turnEntry(t *transcript.Turn, i int, speakers cast) entry {
	e := entry{
		ID: fmt.Sprintf("turn-%d", i+1), Speaker: speakers.of(t.Actor), Title: t.Actor, Text: readable(r, turnText(t)), Note: turnDetails(t),
		Checked: append(sources.Read(t), sources.Describe(t.Citations, r.Result.Sources)...),
		Quiet:   t.Kind == transcript.Silence || t.Kind == transcript.Setup && isSystem(t.Actor) || t.Kind == transcript.Summary,
		Aside:   t.Kind == transcript.Assessment,
	}
	switch {
	case t.Kind == transcript.Remark: // the target of a remark is its id, which readers do not need
	case t.Target == judge.Swapped:
		e.Title += ", in reversed order"
	case speakers[t.Target] != nil:
		e.Title += " on " + t.Target
	case t.Target != "":
		e.Title += ", " + t.Target
	}
	return e
}

// turnText returns the text of a turn without what the page shows in another form.
func turnText(t *transcript.Turn) string {
	if a, err := transcript.Decode[judge.Assessment](*t); err == nil {
		return assessmentText(a)
	}
	if v, err := transcript.Decode[judge.Verdict](*t); err == nil {
		return verdictText(v)
	}
	return critiqueText(t)
}

// verdictText returns a verdict as Markdown.
func verdictText(v judge.Verdict) string {
	var b strings.Builder
	b.WriteString(v.Summary + "\n\n")
	winner := cmp.Or(v.Winner, "nobody")
	fmt.Fprintf(&b, "The winner is %s. %s\n\n", winner, v.WinnerReasoning)
	list := func(title string, points ...string) {
		points = slices.DeleteFunc(slices.Clone(points), func(s string) bool { return strings.TrimSpace(s) == "" })
		if len(points) == 0 {
			return
		}
		fmt.Fprintf(&b, "%s:\n\n", title)
		for _, p := range points {
			b.WriteString("- " + singleLine(p) + "\n")
		}
		b.WriteString("\n")
	}
	for _, p := range v.Participants {
		list("Key points of "+p.Name, p.Points...)
	}
	list("Agreed", v.Agreement...)
	list("Disputed", v.Disagreement...)
	list("Insights", v.Insights...)
	list("Against this verdict", v.Dissent)
	fmt.Fprintf(&b, "Quality of the debate: %s of 100", formatScore(v.Quality))
	return b.String()
}

// isSystem reports whether an actor is neither a participant nor a judge.
func isSystem(actor string) bool {
	return slices.Contains([]string{protocol.PersonaAssigner, protocol.Summarizer, protocol.Retriever, protocol.Embedder}, actor)
}

// critique is an object at the end of a speech that lists what is wrong with an answer. The protocol skeptic asks for one.
type critique struct {
	Issues []struct{ Severity, Text string }
	Score  *float64
	Ready  bool
}

// critiqueText returns the text of a speech with the critique at its end as a list.
func critiqueText(t *transcript.Turn) string {
	if t.Kind != transcript.Speech || t.Contract != "" {
		return t.Text
	}
	head, c, ok := cutCritique(t.Text)
	if !ok {
		return t.Text
	}
	var b strings.Builder
	b.WriteString(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(head), "```json")) + "\n\n")
	for _, x := range c.Issues {
		fmt.Fprintf(&b, "- %s: %s\n", x.Severity, singleLine(x.Text))
	}
	b.WriteString("\n" + map[bool]string{true: "The answer is ready", false: "The answer is not ready"}[c.Ready])
	if c.Score != nil {
		fmt.Fprintf(&b, ", with a score of %s of 10", formatScore(*c.Score))
	}
	b.WriteString(".")
	return b.String()
}

// cutCritique cuts the JSON object at the end of a text that is a critique.
func cutCritique(text string) (head string, c critique, ok bool) {
	for i, at := 0, 0; i < 64; i++ { // a text with more braces is not searched further
		next := strings.Index(text[at:], "{")
		if next < 0 {
			break
		}
		at += next
		dec := json.NewDecoder(strings.NewReader(strings.TrimRight(text[at:], "` \n")))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&c); err == nil && !dec.More() && (c.Score != nil || c.Issues != nil) {
			return text[:at], c, true
		}
		c, at = critique{}, at+1
	}
	return text, c, false
}

// turnDetails returns the phase, the duration, the output tokens, the model and notes of a turn.
func turnDetails(t *transcript.Turn) string {
	if t.Kind == transcript.Remark {
		return "remark by a person"
	}
	if t.Kind == transcript.Silence {
		return humanize(t.Phase) + " · silent in this fork"
	}
	notes := []string{humanize(t.Phase), formatDuration(t.Ended.Sub(t.Started))}
	if t.Usage.Output > 0 {
		notes = append(notes, formatTokens(t.Usage, t.Usage.Output)+" tokens")
	}
	if n := len(t.Attempts); n > 0 && t.Attempts[n-1].Model != "" {
		notes = append(notes, t.Attempts[n-1].Model)
	}
	return strings.Join(slices.Concat(notes, turnNotes(t)), " · ")
}
