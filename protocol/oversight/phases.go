package oversight

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/internal/outcome"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// The prompts.
const (
	promptChoose = "oversight-choose"
	promptSpeak  = "oversight-speak"
	promptAsk    = "oversight-ask"
	promptJudge  = "oversight-judge"
)

// Phases returns the speeches of a round, the questions after it, and at the end the decisions of the judges.
func (p Protocol) Phases(r *protocol.Record) []protocol.Phase {
	switch r.Cursor.Stage {
	case transcript.Speech:
		return p.speeches(r)
	case transcript.Assessment:
		if p.asks() && r.Cursor.Round < r.MaxRounds && len(r.Judges) > 0 {
			step := p.judging(r, transcript.Key{Actor: r.Judges[0]})
			step.Prompt = promptAsk
			return []protocol.Phase{{Name: phaseAsk, Steps: []protocol.Step{step}}}
		}
	case transcript.Conclusion:
		return []protocol.Phase{p.judgments(r)}
	default:
	}
	return nil
}

// Steps returns the speeches of the modes with a choice, which Phases returns only after the choice.
func (p Protocol) Steps(r *protocol.Record) (steps []protocol.Step) {
	if p.chooses() {
		for _, name := range r.ParticipantNames() {
			steps = append(steps, p.speech(name, answerA))
			steps[len(steps)-1].Phase = phaseSpeak
		}
	}
	return steps
}

// speeches returns the choice of an answer, if there is one, and the speeches of a round.
func (p Protocol) speeches(r *protocol.Record) (phases []protocol.Phase) {
	if p.speakers() == 0 || len(r.Participants) == 0 {
		return nil
	}
	if p.chooses() && r.Cursor.Round <= 1 {
		a := firstChoice(r)
		step := protocol.Step{Prompt: promptChoose, Contract: ChoiceContract.Name(), Show: protocol.Remarks, Vars: map[string]string{
			"first": p.text(a), "second": p.text(a.other()),
		}}
		step.Actor = r.Participants[0].Name
		if turn, chosen := chosenIn(r); chosen { // by one who may have dropped out
			step.Actor = turn.Actor
		}
		phases = append(phases, protocol.Phase{Name: phaseChoose, Steps: []protocol.Step{step}})
	}
	defended := p.defended(r)
	if len(defended) == 0 {
		return phases
	}
	speak := protocol.Phase{Name: phaseSpeak, Parallel: true}
	for _, name := range r.ParticipantNames() {
		speak.Steps = append(speak.Steps, p.speech(name, defended[name]))
	}
	return append(phases, speak)
}

// speech returns the step of a participant who defends an answer.
func (p Protocol) speech(name string, a answer) protocol.Step {
	least, most := p.words()
	step := protocol.Step{Prompt: promptSpeak, Show: public, Doubt: length(least, most), Vars: map[string]string{
		"own": p.text(a), "other": p.text(a.other()), "words": fmt.Sprintf("%d to %d", least, most),
	}}
	if p.asks() {
		step.Vars["asked"] = "yes"
	}
	step.Actor = name
	return step
}

// judgments returns the phase in which each judge decides, in both orders of the answers.
func (p Protocol) judgments(r *protocol.Record) protocol.Phase {
	phase := protocol.Phase{Name: phaseJudge, Parallel: true}
	keys := protocol.Judges(r)
	if !p.Once {
		keys = outcome.InBothOrders(keys)
	}
	for _, k := range keys {
		step := p.judging(r, k)
		step.Prompt = promptJudge
		step.Contract = CredenceContract.Name()
		phase.Steps = append(phase.Steps, step)
	}
	return phase
}

// judging returns a step of a judge.
func (p Protocol) judging(r *protocol.Record, k transcript.Key) protocol.Step {
	swapped := k.Target == judge.Swapped
	a := first(r, swapped)
	step := protocol.Step{Key: k, Blind: true, Swap: swapped, Show: public, Vars: map[string]string{
		"first": p.text(a), "second": p.text(a.other()), "speakers": fmt.Sprint(p.speakers()),
	}}
	if p.chooses() {
		step.Vars["chosen"] = "yes"
	}
	if p.asks() {
		step.Vars["asked"] = "yes"
	}
	for who, defends := range p.defended(r) {
		field := "for-second"
		if defends == a {
			field = "for-first"
		}
		step.Vars[field] = who
	}
	return step
}

// public reports whether participants and judges see a turn.
func public(t *transcript.Turn) bool {
	return t.Kind == transcript.Remark || t.Phase == phaseSpeak || t.Phase == phaseAsk
}

// quoteTag matches the tags around a quote.
var quoteTag = regexp.MustCompile(`</?quote[^<>]*>`)

// length returns a Doubt about the length of a speech.
func length(least, most int) func(any) []string {
	return func(v any) []string {
		text, _ := v.(string)
		n := len(strings.Fields(quoteTag.ReplaceAllString(text, " ")))
		if n >= least && n <= most {
			return nil
		}
		return []string{fmt.Sprintf("It has %d words, and should have %d to %d.", n, least, most)}
	}
}

// turnsOf returns the decisions of the judges, those in the first order first.
func turnsOf(r *protocol.Record) []transcript.Turn {
	turns := r.Said(transcript.Conclusion, phaseJudge)
	slices.SortStableFunc(turns, func(a, b transcript.Turn) int { return strings.Compare(a.Target, b.Target) })
	return turns
}

// Deciding returns the phase in which the judges decide. Their questions decide nothing.
func (Protocol) Deciding() []string { return []string{phaseJudge} }
