package report

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/transcript"
)

// document builds the document and leaves out empty sections.
func (r *Report) document() document {
	d := document{Title: r.Result.Topic}
	if singleLine(d.Title) == "" {
		d.Title = "Debate " + r.Result.ID
	}
	for _, s := range []section{
		{"outcome", "Outcome", r.outcome()},
		{"answer", "Answer", r.answer()},
		{"dissent", "Dissent", r.dissent()},
		{"scores", "Scores", r.scores()},
		{"findings", "Findings", r.findings()},
		{"participants", "Participants", r.participants()},
		{"usage", "Tokens and cost", r.usage()},
		{"path", "State transitions", r.transitionBlocks()},
		{"times", "Timeline", r.turnTimes()},
		{"transcript", "Transcript", r.transcript()},
		{"failures", "Failures and warnings", r.failureBlocks()},
		{"annotations", "Annotations", r.annotations()},
	} {
		if len(s.Blocks) > 0 {
			d.Sections = append(d.Sections, s)
		}
	}
	return d
}

// outcome returns the state of the debate and the reason for it.
func (r *Report) outcome() []block {
	res := &r.Result
	facts := [][]string{{"State", string(res.State)}}
	add := func(name, value string) {
		if value != "" {
			facts = append(facts, []string{name, value})
		}
	}
	if e := res.Ending; e.Outcome != "" {
		add("Outcome", fmt.Sprintf("%s in round %d", humanize(e.Outcome), e.Round))
		add("Evidence", e.Evidence)
	}
	add("Debate ID", res.ID)
	if seed := r.shownConfig().Seed; seed != res.ID {
		add("Seed", seed)
	}
	add("Protocol", res.Protocol)
	add("Rounds", fmt.Sprint(res.Round))
	add("Created", formatTime(res.Created))
	add("Started", formatTime(res.Started))
	add("Ended", formatTime(res.Completed))
	add("Running time", fmt.Sprintf("%s, excluding pauses", formatDuration(res.RunningTime)))
	add("Turns", formatCount(res.Total.Turns))
	add("Tokens", fmt.Sprintf("%s input, %s output", formatTokens(res.Total.Usage, res.Total.Usage.Input), formatTokens(res.Total.Usage, res.Total.Usage.Output)))
	add("Cost", r.shownConfig().formatCost(res.Total.Usage))
	blocks := tableBlock("", []string{"Field", "Value"}, facts)
	if !res.State.Final() && res.State != fsm.Error {
		blocks = append(blocks, block{Note: "The debate has not ended yet. This report shows its progress so far."})
	}
	blocks = append(blocks, listBlock("Before you rely on the answer:", r.Notices())...)
	if q := res.Question; q != nil {
		blocks = append(blocks, block{Note: "The debate waits for a person's decision:"}, block{Quote: q.Cause})
		var choices []string
		for _, c := range q.Choices {
			choices = append(choices, c.Action+": "+c.Description)
		}
		blocks = append(blocks, listBlock("", choices)...)
	}
	if f := res.Failure; f != nil {
		blocks = append(blocks, block{Note: "The debate stopped with an error:"}, block{Quote: f.Error()}, block{Note: "Hint: " + f.Hint() + "."})
	}
	if res.Background != "" {
		blocks = append(blocks, block{Note: "Background:"}, block{Quote: res.Background})
	}
	if r.Redacted {
		blocks = append(blocks, block{Note: "This report omits the text of prompts and errors."})
	}
	return blocks
}

// findings returns what the detectors found in each round.
func (r *Report) findings() []block {
	var found [][]string
	for _, f := range r.Result.Findings {
		yes := "no"
		if f.Found {
			yes = "yes"
		}
		found = append(found, []string{humanize(f.Signal), fmt.Sprint(f.Round), yes, formatScore(f.Value), f.Evidence, f.Effect})
	}
	return tableBlock("Findings of the detectors", []string{"Signal", "Round", "Found", "Value", "Evidence", "Effect"}, found)
}

// participants returns the participants and the judges.
func (r *Report) participants() []block {
	var seats [][]string
	s := r.shownConfig()
	for _, p := range slices.Concat(s.Participants, s.Judges) {
		state := "judge"
		if i := slices.IndexFunc(r.Result.Participants, hasName(p.Name)); i >= 0 {
			state = humanize(r.Result.Participants[i].State)
		} else if p.Disabled {
			state = "disabled"
		} else if slices.ContainsFunc(r.Dropped, func(d debate.Dropped) bool { return d.Name == p.Name }) {
			state = "judge, dropped"
		}
		model := slices.DeleteFunc([]string{p.Provider, p.Model}, func(s string) bool { return s == "" })
		seats = append(seats, []string{p.Name, p.Role, p.Side, p.Position, strings.Join(model, ", "), state})
	}
	return tableBlock("Participants and judges", []string{"Name", "Role", "Side", "Position", "Model", "State"}, seats)
}

func hasName(name string) func(debate.ParticipantStatus) bool {
	return func(s debate.ParticipantStatus) bool { return s.Name == name }
}

// annotations returns the annotations of the debate, sorted by name.
func (r *Report) annotations() []block {
	var notes [][]string
	for _, name := range slices.Sorted(maps.Keys(r.Result.Annotations)) {
		value := string(r.Result.Annotations[name])
		var text string
		if err := json.Unmarshal(r.Result.Annotations[name], &text); err == nil && value != "null" {
			value = text
		}
		notes = append(notes, []string{name, value})
	}
	return tableBlock("Annotations of the debate", []string{"Name", "Value"}, notes)
}

// transcript returns the turns by round, without embedding vectors.
func (r *Report) transcript() []block {
	var folds []collapsible
	for i := range r.Result.Turns {
		t := &r.Result.Turns[i]
		if t.Kind == transcript.Embeddings {
			continue
		}
		title, n := roundTitle(t), len(folds)
		if n == 0 || folds[n-1].Title != title && t.Kind != transcript.Remark { // a remark belongs to no round
			folds = append(folds, collapsible{Title: title})
		}
		last := &folds[len(folds)-1]
		last.Entries = append(last.Entries, entry{turnLabel(t), turnDetails(t), t.Text})
	}
	if len(folds) == 0 {
		return []block{{Note: "There are no turns yet."}}
	}
	return []block{{Collapsibles: folds}}
}

// turnDetails returns the duration, output tokens, model and notes of a turn.
func turnDetails(t *transcript.Turn) string {
	if t.Kind == transcript.Remark {
		return "remark by a person"
	}
	notes := []string{formatDuration(t.Ended.Sub(t.Started)), formatTokens(t.Usage, t.Usage.Output) + " tokens"}
	if n := len(t.Attempts); n > 0 && t.Attempts[n-1].Model != "" {
		notes = append(notes, t.Attempts[n-1].Model)
	}
	return strings.Join(append(notes, turnNotes(t)...), " · ")
}
