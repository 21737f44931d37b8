package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/outcome"
	"github.com/elenchus-go/debate/internal/readmodel"
)

// details returns what few readers need, and leaves out empty sections.
func (r *Report) details() (list []section) {
	for _, s := range []section{
		{"about", "About this debate", append(r.facts(), r.exhibits("details", r.Result.Outcome.Details)...)},
		{"models", "Participants and models", r.participants()},
		{"tools", "Calls of tools", r.toolCalls()},
		{"found", "Sources that nobody cites", otherSources(r)},
		{"usage", "Tokens, time and cost", r.usage()},
		{"findings", "Findings of the detectors", r.detections()},
		{"states", "States", r.transitionBlocks()},
		{"times", "Timeline of the turns", r.turnTimes()},
		{"failures", "Failures and warnings", r.failureBlocks()},
		{"annotations", "Annotations", r.annotations()},
		{"configuration", "Configuration", r.configuration()},
	} {
		if len(s.Blocks) > 0 {
			list = append(list, s)
		}
	}
	return list
}

// facts returns the state of the debate and how it came about.
func (r *Report) facts() []block {
	res := &r.Result
	facts := [][]string{{"State", string(res.State)}}
	add := func(name, value string) {
		if value != "" {
			facts = append(facts, []string{name, value})
		}
	}
	if e := res.Ending; e.Outcome != "" {
		add("Ended by", fmt.Sprintf("%s in round %d", readmodel.Words(e.Outcome), e.Round))
		add("Evidence", e.Evidence)
	}
	add("Debate ID", res.ID)
	if p := res.Parent; p.ID != "" {
		add("Fork of", fmt.Sprintf("%s, with its first %s", p.ID, outcome.Count(int(p.Seq), "entry", "entries")))
	}
	if seed := r.shownConfig().Seed; seed != res.ID {
		add("Seed", seed)
	}
	add("Protocol", res.Protocol)
	add("Rounds", fmt.Sprint(res.Round))
	if a := res.Agreement; a != nil {
		add("Agreement of the judges", a.String())
	}
	add("Created", formatTime(res.Created))
	add("Started", formatTime(res.Started))
	add("Ended", formatTime(res.Completed))
	if s := res.Signature; s != nil {
		add("Signed by", fmt.Sprintf("%s, entries 1 to %d; verify a record to check it", s.Signer, s.Entries))
		add("Head of the entries", s.Head)
	}
	add("Running time", fmt.Sprintf("%s, excluding pauses", formatDuration(res.RunningTime)))
	add("Turns", outcome.Thousands(res.Total.Turns))
	add("Tokens", fmt.Sprintf("%s input, %s output", formatTokens(res.Total.Usage, res.Total.Usage.Input), formatTokens(res.Total.Usage, res.Total.Usage.Output)))
	add("Cost", r.shownConfig().formatCost(res.Total.Usage))
	blocks := tableBlock("", []string{"Field", "Value"}, facts)
	if r.Redacted {
		blocks = append(blocks, block{Note: "This report omits the text of prompts and errors."})
	}
	return blocks
}

// participants returns the participants and the judges with the models that replied for them.
func (r *Report) participants() []block {
	var seats [][]string
	s, models := r.shownConfig(), map[string][]string{}
	for i := range r.Result.Turns {
		t := &r.Result.Turns[i]
		for _, a := range t.Attempts {
			if a.Model != "" && a.ErrorKind == "" && !slices.Contains(models[t.Actor], a.Model) {
				models[t.Actor] = append(models[t.Actor], a.Model)
			}
		}
	}
	for _, p := range slices.Concat(s.Participants, s.Judges) {
		state := "judge"
		if i := slices.IndexFunc(r.Result.Participants, hasName(p.Name)); i >= 0 {
			state = readmodel.Words(r.Result.Participants[i].State)
		} else if p.Disabled {
			state = "disabled"
		} else if slices.ContainsFunc(r.Dropped, func(d debate.Dropped) bool { return d.Name == p.Name }) {
			state = "judge, dropped"
		}
		model := slices.DeleteFunc([]string{p.Provider, p.Model}, func(s string) bool { return s == "" })
		seats = append(seats, []string{
			p.Name, strings.Join(model, ", "), strings.Join(models[p.Name], ", "),
			readmodel.JoinWords(p.Side, p.Role), p.Position, state,
		})
	}
	return tableBlock("Participants and judges", []string{"Name", "Model", "Replies by", "Side and role", "Position", "State"}, seats)
}

func hasName(name string) func(debate.ParticipantStatus) bool {
	return func(s debate.ParticipantStatus) bool { return s.Name == name }
}

// findings returns what the detectors found in each round.
func (r *Report) detections() []block {
	var found [][]string
	for _, f := range r.Result.Findings {
		yes := "no"
		if f.Found {
			yes = "yes"
		}
		found = append(found, []string{readmodel.Words(f.Signal), fmt.Sprint(f.Round), yes, outcome.Number(f.Value), f.Evidence, f.Effect})
	}
	return tableBlock("Findings", []string{"Signal", "Round", "Found", "Value", "Evidence", "Effect"}, found)
}

// failureBlocks returns warnings, participants who dropped out, failed steps, and failed attempts of completed turns.
func (r *Report) failureBlocks() []block {
	var gone [][]string
	for _, d := range r.Dropped {
		gone = append(gone, []string{d.Name, formatTime(d.At), failureText(d.Failure)})
	}
	var steps, attempts [][]string
	for _, f := range r.failures() {
		model := strings.Trim(f.Provider+", "+f.Model, ", ")
		steps = append(steps, []string{
			f.Key.Actor, f.Key.Phase, roundLabel(f.Key), formatTime(f.At), readmodel.Words(f.Kind), model,
			fmt.Sprint(f.Attempts), f.Message,
		})
	}
	for i := range r.Result.Turns {
		t := &r.Result.Turns[i]
		for n, a := range t.Attempts {
			if a.ErrorKind != "" {
				attempts = append(attempts, []string{
					readmodel.TurnLabel(t), fmt.Sprint(t.Round), fmt.Sprint(n + 1), readmodel.Words(a.ErrorKind), a.ErrorMessage,
					readmodel.Words(a.Next),
				})
			}
		}
	}
	return slices.Concat(
		listBlock("Warnings:", r.Result.Warnings),
		tableBlock("Participants who dropped out", []string{"Name", "Time", "Reason"}, gone),
		tableBlock("Steps that failed in all attempts", []string{"Actor", "Phase", "Round", "Time", "Kind", "Model", "Attempts", "Message"}, steps),
		tableBlock("Failed attempts of completed turns", []string{"Turn", "Round", "Attempt", "Kind", "Message", "Then"}, attempts),
	)
}

func failureText(f *debate.Failure) string {
	if f == nil {
		return ""
	}
	return f.Error()
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

// configuration returns the configuration that the report has.
func (r *Report) configuration() []block {
	var b bytes.Buffer
	if len(r.Config) == 0 || json.Indent(&b, r.Config, "", "  ") != nil {
		return nil
	}
	return []block{{Note: "The configuration as JSON:", Code: b.String()}}
}
