package oversight

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/elenchus-go/debate/internal/outcome"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// promptSpeak is the prompt of a speech.
const promptSpeak = "oversight-speak"

// flow returns the choice of an answer, the speeches of a round, the question after it, and at the end the decisions of the judges.
func (p Protocol) flow() protocol.Flow {
	return protocol.Flow{Stages: []protocol.Stage{
		{
			Kind: transcript.Speech, Name: phaseChoose, Prompt: "oversight-choose", Contract: ChoiceContract, Show: protocol.Remarks,
			Who: p.chooser, Each: p.showChoice,
		},
		{
			Kind: transcript.Speech, Name: phaseSpeak, Prompt: promptSpeak, Show: public, Parallel: true,
			Who: p.speakersIn, Each: func(r *protocol.Record, s *protocol.Step) { p.argue(s, p.defended(r)[s.Actor]) },
		},
		{
			Kind: transcript.Assessment, Name: phaseAsk, Prompt: "oversight-ask", Show: public, Blind: true,
			If:   func(r *protocol.Record) bool { return p.asks() && r.Cursor.Round < r.MaxRounds },
			Each: p.showAnswers,
		},
		{
			Kind: transcript.Conclusion, Name: phaseJudge, Prompt: "oversight-judge", Contract: CredenceContract, Show: public,
			Parallel: true, Blind: true, Decides: true,
			Who: p.judges, Each: p.showAnswers,
		},
	}}
}

// Phases returns the phases of the stage and round.
func (p Protocol) Phases(r *protocol.Record) []protocol.Phase { return p.flow().Phases(r) }

// Deciding returns the phase in which the judges decide. Their questions decide nothing.
func (p Protocol) Deciding() []string { return p.flow().Deciding() }

// Steps returns the speeches of the modes with a choice, which Phases returns only after the choice.
func (p Protocol) Steps(r *protocol.Record) (steps []protocol.Step) {
	if !p.chooses() {
		return nil
	}
	for _, k := range protocol.Participants(r) {
		k.Phase = phaseSpeak
		step := protocol.Step{Key: k, Prompt: promptSpeak, Show: public}
		p.argue(&step, answerA)
		steps = append(steps, step)
	}
	return steps
}

// chooser returns the first participant in the first round, if it chooses its answer. One who has chosen may have dropped out.
func (p Protocol) chooser(r *protocol.Record) []transcript.Key {
	if !p.chooses() || r.Cursor.Round > 1 || len(r.Participants) == 0 {
		return nil
	}
	turn, chosen := chosenIn(r)
	if chosen {
		return protocol.Actors(turn.Actor)
	}
	return protocol.Actors(r.Participants[0].Name)
}

// showChoice shows the answers to a participant who chooses one.
func (p Protocol) showChoice(r *protocol.Record, s *protocol.Step) {
	a := firstChoice(r)
	s.Vars = map[string]string{"first": p.text(a), "second": p.text(a.other())}
}

// speakersIn returns the participants, once it is known who defends which answer.
func (p Protocol) speakersIn(r *protocol.Record) []transcript.Key {
	if len(p.defended(r)) == 0 {
		return nil
	}
	return protocol.Participants(r)
}

// argue lets a participant defend an answer.
func (p Protocol) argue(s *protocol.Step, a answer) {
	least, most := p.words()
	s.Doubt = length(least, most)
	s.Vars = map[string]string{"own": p.text(a), "other": p.text(a.other()), "words": fmt.Sprintf("%d to %d", least, most)}
	if p.asks() {
		s.Vars["asked"] = "yes"
	}
}

// judges returns the judges, who decide in both orders of the answers, or once.
func (p Protocol) judges(r *protocol.Record) []transcript.Key {
	if p.Once {
		return protocol.Judges(r)
	}
	return outcome.InBothOrders(protocol.Judges(r))
}

// showAnswers shows a judge the answers in the order of its step, and who defends which.
func (p Protocol) showAnswers(r *protocol.Record, s *protocol.Step) {
	s.Swap = s.Target == judge.Swapped
	a := first(r, s.Swap)
	s.Vars = map[string]string{"first": p.text(a), "second": p.text(a.other()), "speakers": fmt.Sprint(p.speakers())}
	if p.chooses() {
		s.Vars["chosen"] = "yes"
	}
	if p.asks() {
		s.Vars["asked"] = "yes"
	}
	for who, defends := range p.defended(r) {
		field := "for-second"
		if defends == a {
			field = "for-first"
		}
		s.Vars[field] = who
	}
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
