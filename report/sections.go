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

// doc builds the document and leaves out empty sections.
func (r *Report) doc() doc {
	d := doc{Title: r.Result.Topic}
	if line(d.Title) == "" {
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
		{"path", "Path through the states", r.path()},
		{"times", "Times", r.times()},
		{"transcript", "Transcript", r.transcript()},
		{"failures", "Failures and warnings", r.troubles()},
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
		add("Outcome", fmt.Sprintf("%s, in round %d", words(e.Outcome), e.Round))
		add("Evidence", e.Evidence)
	}
	add("Debate", res.ID)
	add("Protocol", res.Protocol)
	add("Rounds", fmt.Sprint(res.Round))
	add("Created", moment(res.Created))
	add("Started", moment(res.Started))
	add("Ended", moment(res.Completed))
	add("Running", fmt.Sprintf("%s, without pauses", took(res.Running)))
	add("Turns", number(res.Total.Turns))
	add("Tokens", fmt.Sprintf("%s read, %s written", tokens(res.Total.Usage, res.Total.Usage.Input), tokens(res.Total.Usage, res.Total.Usage.Output)))
	add("Cost", r.settings().cost(res.Total.Usage))
	blocks := rows("", []string{"What", "Value"}, facts)
	if !res.State.Final() && res.State != fsm.Error {
		blocks = append(blocks, block{Note: "The debate is not over. This is as far as it has come."})
	}
	if q := res.Question; q != nil {
		blocks = append(blocks, block{Note: "It waits for a person to decide:"}, block{Quote: q.Cause})
		var choices []string
		for _, c := range q.Choices {
			choices = append(choices, c.Action+": "+c.Description)
		}
		blocks = append(blocks, list("", choices)...)
	}
	if f := res.Failure; f != nil {
		blocks = append(blocks, block{Note: "It is in error:"}, block{Quote: f.Error()}, block{Note: "What can be done: " + f.Hint() + "."})
	}
	if res.Background != "" {
		blocks = append(blocks, block{Note: "Background:"}, block{Quote: res.Background})
	}
	if r.Redacted {
		blocks = append(blocks, block{Note: "The words of prompts and errors are left out of this report."})
	}
	return blocks
}

// findings returns the measurements of the rounds.
func (r *Report) findings() []block {
	var found [][]string
	for _, f := range r.Result.Findings {
		yes := "no"
		if f.Found {
			yes = "yes"
		}
		found = append(found, []string{words(f.Sign), fmt.Sprint(f.Round), yes, score(f.Value), f.Evidence, f.Use})
	}
	return rows("What was measured of the rounds", []string{"Sign", "Round", "Found", "Value", "Evidence", "Use"}, found)
}

// participants returns the participants and the judges.
func (r *Report) participants() []block {
	var seats [][]string
	s := r.settings()
	for _, p := range slices.Concat(s.Participants, s.Judges) {
		state := "judge"
		if i := slices.IndexFunc(r.Result.Participants, byName(p.Name)); i >= 0 {
			state = words(r.Result.Participants[i].State)
		} else if p.Disabled {
			state = "disabled"
		}
		model := slices.DeleteFunc([]string{p.Provider, p.Model}, func(s string) bool { return s == "" })
		seats = append(seats, []string{p.Name, p.Role, p.Side, p.Position, strings.Join(model, ", "), state})
	}
	return rows("Who takes part", []string{"Name", "Role", "Side", "Position", "Model", "State"}, seats)
}

func byName(name string) func(debate.Status) bool {
	return func(s debate.Status) bool { return s.Name == name }
}

// annotations returns the notes on the debate.
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
	return rows("Notes on the debate", []string{"Name", "Value"}, notes)
}

// transcript returns the turns by round, without embedding vectors.
func (r *Report) transcript() []block {
	var folds []fold
	for i := range r.Result.Turns {
		t := &r.Result.Turns[i]
		if t.Kind == transcript.Vectors {
			continue
		}
		title, n := chapter(t), len(folds)
		if n == 0 || folds[n-1].Title != title && t.Kind != transcript.Remark { // a remark belongs to no round
			folds = append(folds, fold{Title: title})
		}
		last := &folds[len(folds)-1]
		last.Parts = append(last.Parts, part{who(t), about(t), t.Text})
	}
	if len(folds) == 0 {
		return []block{{Note: "Nothing was said yet."}}
	}
	return []block{{Folds: folds}}
}

// chapter returns the title of the part of the debate that contains a turn.
func chapter(t *transcript.Turn) string {
	switch {
	case t.Kind == transcript.Conclusion:
		return "Conclusion"
	case t.Round == 0:
		return "Before the first round"
	}
	return fmt.Sprintf("Round %d", t.Round)
}

// about returns details about a turn: duration, tokens, model and how the turn came about.
func about(t *transcript.Turn) string {
	if t.Kind == transcript.Remark {
		return "a person's remark"
	}
	notes := []string{took(t.Ended.Sub(t.Began)), tokens(t.Usage, t.Usage.Output) + " tokens"}
	if n := len(t.Attempts); n > 0 && t.Attempts[n-1].Model != "" {
		notes = append(notes, t.Attempts[n-1].Model)
	}
	return strings.Join(append(notes, marks(t)...), " · ")
}
