// Package oversight lets judges who have not read a text decide between two answers to a question about it. Participants who
// have read the text argue for the answers, and some of them argue for the wrong one. The package measures whether such
// arguments lead the judges to the right answer.
//
//	d, err := debate.New(ctx, debate.Config{
//		Topic:        "What did the stork drink?",
//		Protocol:     oversight.Protocol{A: "Nothing.", B: "The soup."},
//		Participants: []debate.Participant{{Name: "Ada"}, {Name: "Bo"}},
//		Judges:       []debate.Participant{{Name: "Cy"}},
//		Documents:    []evidence.Document{evidence.Private("fable", text, "Ada", "Bo")},
//	}, options) // Options.Documents gives the text
//
// In a JSON configuration the protocol's name is "oversight/1", and the fields of [Protocol] stand next to it:
//
//	"protocol": {"name": "oversight/1", "mode": "consultancy", "a": "Nothing.", "b": "The soup."}
//
// The text is a private document, which the participants read and the judges do not; see docs/evidence.md. The engine compares
// the quotes of each speech with the text, and the judges read the verdicts. In the mode [Direct] nobody speaks, and judges
// decide from the question alone, or from the text if they read it.
//
// # What is drawn
//
// The seed of the debate decides which participant defends which answer, in a consultancy without choice whether that is the
// right one, and which answer a reader sees first. Nobody sees the letters A and B. A judge sees answers 1 and 2, in
// one order and then, without its first decision, in the other, unless [Protocol.Once] is set.
//
// # Speeches
//
// Rounds are three by default. The participants of a debate speak at the same time. In [Interactive] and in consultancies, the
// first judge asks all of them after each round but the last. A speech should have 70 to 150 words, and that of a consultant 140 to 300.
// Another length is no failure: the model is asked once more, and what it then says stands. Participants have a temperature of 0.4, and
// judges of 0.
//
// # Prompts
//
// The prompts are "oversight-speak" for the participants, "oversight-choose" for one that chooses its answer, and
// "oversight-ask" and "oversight-judge" for judges.
//
// # Answer
//
// The data of the answer decodes to a [Result].
//
// # Sources
//
// The protocol follows Khan et al., "Debating with More Persuasive LLMs Leads to More Truthful Answers" (2024,
// arXiv:2402.06782), and for the modes with a choice Kenton et al., "On scalable oversight with weak LLMs judging strong
// LLMs" (2024, arXiv:2407.04622). Its prompts are written anew, and it takes one sample of each speech. docs/evaluation.md
// has the results of these papers.
package oversight

import (
	"cmp"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/internal/settings"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// Mode says who argues for which answer.
type Mode string

// The modes.
const (
	Debate          Mode = "debate"           // two participants argue for one answer each; the default
	Interactive     Mode = "interactive"      // a debate in which the first judge asks both after each round
	Consultancy     Mode = "consultancy"      // one participant argues for an answer that is drawn, and the first judge asks
	OpenDebate      Mode = "open-debate"      // the first participant chooses its answer, and the other one argues against it
	OpenConsultancy Mode = "open-consultancy" // one participant chooses the answer that it argues for, and the first judge asks
	Direct          Mode = "direct"           // nobody argues
)

// Modes lists the modes, those without arguments last.
func Modes() []Mode {
	return []Mode{Debate, Interactive, Consultancy, OpenDebate, OpenConsultancy, Direct}
}

// Protocol holds the two answers and the parameters. A debate takes two participants, a consultancy one, and [Direct] none. Each
// mode takes at least one judge.
type Protocol struct {
	Mode Mode   `json:"mode,omitempty"` // defaults to Debate
	A    string `json:"a"`              // one answer
	B    string `json:"b"`              // the other one
	// Once asks each judge only once, in an order that is drawn. By default, each judge also sees the answers in the opposite
	// order.
	Once bool `json:"once,omitempty"`
	// MinWords and MaxWords are the lengths of a speech, in words. A model whose speech is shorter or longer is asked once more.
	// Default to 70 and 150, and to 140 and 300 in consultancies.
	MinWords int `json:"min_words,omitempty"`
	MaxWords int `json:"max_words,omitempty"`
}

// Name returns "oversight/1".
func (Protocol) Name() string { return "oversight/1" }

// Defaults returns three rounds, or one if nobody argues, and temperatures of 0.4 for participants and 0 for judges.
func (p Protocol) Defaults() protocol.Defaults {
	d := protocol.Defaults{MaxRounds: 3, Temperatures: []float64{0.4}, JudgeTemperature: new(float64)}
	if p.mode() == Direct {
		d.MaxRounds = 1
	}
	return d
}

// Check requires two different answers, as many participants as the mode has, a judge, and lengths that a speech can have.
func (p Protocol) Check(r *protocol.Record) []protocol.Problem {
	var problems protocol.Problems
	settings.NotBlank(&problems, "protocol.a", p.A, "set an answer")
	settings.NotBlank(&problems, "protocol.b", p.B, "set an answer")
	if a := strings.TrimSpace(p.A); a != "" && a == strings.TrimSpace(p.B) {
		problems.Add("protocol.b", "it is the same as a, set another answer")
	}
	settings.OneOf(&problems, "protocol.mode", p.Mode, Modes()...)
	if n := len(r.Participants); slices.Contains(Modes(), p.mode()) && n != p.speakers() {
		problems.Add("participants", "%d enabled, the mode %s takes %d", n, p.mode(), p.speakers())
	}
	if len(r.Judges) == 0 {
		problems.Add("judges", "none, oversight needs one")
	}
	if p.mode() == Direct && r.MaxRounds > 1 {
		problems.Add("limits.max_rounds", "%d, a direct answer has 1 round", r.MaxRounds)
	}
	if least, most := p.words(); p.MinWords < 0 || p.MaxWords < 0 || least > most {
		problems.Add("protocol.max_words", "speeches of %d to %d words, set 1 or more, and at least as many as min_words", least, most)
	}
	return problems
}

// mode returns the mode.
func (p Protocol) mode() Mode { return cmp.Or(p.Mode, Debate) }

// speakers returns the number of participants.
func (p Protocol) speakers() int {
	switch p.mode() {
	case Direct:
		return 0
	case Consultancy, OpenConsultancy:
		return 1
	default:
		return 2
	}
}

// chooses reports whether the first participant chooses its answer.
func (p Protocol) chooses() bool { return p.mode() == OpenDebate || p.mode() == OpenConsultancy }

// asks reports whether the first judge asks between the rounds.
func (p Protocol) asks() bool { return p.mode() == Interactive || p.speakers() == 1 }

// words returns the least and the largest number of words of a speech.
func (p Protocol) words() (least, most int) {
	least, most = 70, 150
	if p.speakers() == 1 {
		least, most = 140, 300
	}
	return cmp.Or(p.MinWords, least), cmp.Or(p.MaxWords, most)
}

// End returns the zero Ending: only the limits end the debate.
func (Protocol) End(*protocol.Record) transcript.Ending { return transcript.Ending{} }

// The phases.
const (
	phaseChoose = "choose"
	phaseSpeak  = "speak"
	phaseAsk    = "ask"
	phaseJudge  = "judge"
)
