// Package findings applies a debate's rules of package detect to its rounds, and keeps what they have found. It also adds the phase
// that computes the vectors which some rules compare.
package findings

import (
	"fmt"
	"math"
	"slices"

	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/judge/detect"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// Findings are what the rules of a debate have found. The zero value has none.
type Findings struct {
	List []detect.Finding // in order

	reported struct{ spoken, judged int } // the rounds whose findings are in the list
	detector *detector                    // created when first needed
}

// detector is a debate's detect.Detector, with the last rounds that it has checked.
type detector struct {
	detect.Detector

	spoken, judged int
}

// Source is what the rules read.
type Source struct {
	Record   *protocol.Record
	Protocol protocol.Protocol
	Rules    []detect.Rule
	Answer   func(transcript.Turn) string                               // returns the answer of a turn; may be nil
	Vectors  func(r *protocol.Record, round int) (list []detect.Vector) // returns the vectors of the speeches of a round
}

// New returns the findings of the current round, whose speeches (or assessments, if judged is set) are complete. Once they
// are reported, it returns none.
func (f *Findings) New(s Source, judged bool) []detect.Finding {
	round := s.Record.Cursor.Round
	if len(s.Rules) == 0 || judged && f.reported.judged >= round || !judged && f.reported.spoken >= round {
		return nil
	}
	if f.detector == nil {
		f.detector = &detector{Detector: detect.Detector{Rules: s.Rules, Topic: s.Record.Topic, Answer: s.Answer}}
	}
	d := f.detector
	for k := min(d.spoken, d.judged) + 1; k < round; k++ { // rounds that an earlier process has checked
		d.checkSpeeches(s, k)
		d.checkAssessments(s, k)
	}
	found := d.checkSpeeches(s, round)
	if judged {
		found = d.checkAssessments(s, round)
	}
	for i := range found {
		found[i].Round = round // also in a round without speeches
	}
	return found
}

// checkSpeeches checks the speeches of a round, once.
func (d *detector) checkSpeeches(s Source, round int) []detect.Finding {
	if d.spoken >= round {
		return nil
	}
	d.spoken = round
	return d.CheckSpeeches(s.Record.TurnsOf(round), s.Vectors(s.Record, round))
}

// checkAssessments checks the assessments of a round, once, if there are any.
func (d *detector) checkAssessments(s Source, round int) []detect.Finding {
	if d.judged >= round {
		return nil
	}
	d.judged = round
	turns := slices.DeleteFunc(slices.Clone(s.Record.TurnsOf(round)), func(t transcript.Turn) bool {
		return t.Contract != judge.AssessmentContract.Name()
	})
	jury := juryOf(s.Protocol)
	joint, ok := jury.CombineAssessments(judge.Opinions[judge.Assessment](turns...))
	switch {
	case !ok: // there are no assessments
		return nil
	case joint.Failed:
		return d.CheckScores(detect.Scores{Round: round, Quality: math.NaN(), Novelty: math.NaN()}, math.NaN())
	}
	a := &joint.Value
	scores := detect.Scores{Round: round, Quality: a.Quality, Novelty: a.MeanScore(judge.Novelty), Repetitive: a.Repetitive}
	return d.CheckScores(scores, a.MeanScore(judge.Relevance), jury.ConvergedVotes(joint.Opinions)...)
}

// juryOf returns how the assessments of a debate are combined. A protocol that combines them in its own way has the
// method AssessmentJury.
func juryOf(p protocol.Protocol) judge.Jury {
	if own, ok := p.(interface{ AssessmentJury() judge.Jury }); ok {
		return own.AssessmentJury()
	}
	return judge.Jury{}
}

// Reported notes that the findings of a round are in the list: those about its speeches or, if judged is set, those about
// its assessments.
func (f *Findings) Reported(round int, judged bool) {
	if judged {
		f.reported.judged = round
	} else {
		f.reported.spoken = round
	}
}

// ChangeRules says that the next Source may have other rules.
func (f *Findings) ChangeRules() { f.detector = nil }

// since returns the findings of a round and of all later rounds.
func (f *Findings) since(round int) []detect.Finding {
	from := len(f.List)
	for from > 0 && f.List[from-1].Round >= round {
		from--
	}
	return f.List[from:]
}

// stopping returns the ending that a finding of a round, or one of the given new findings, causes. It returns the zero
// Ending if none does.
func (f *Findings) stopping(round int, found ...detect.Finding) transcript.Ending {
	for _, x := range append(slices.Clip(f.since(round)), found...) {
		if x.Found && x.Effect == detect.Stop {
			return x.Ending()
		}
	}
	return transcript.Ending{}
}

// Advice returns the advice that findings give to the judges of a round.
func (f *Findings) Advice(round int) (list []string) {
	for _, x := range f.since(round - 1) {
		if x.Found && x.Effect != detect.Report {
			list = append(list, x.Advice())
		}
	}
	return list
}

// Ending returns why a debate ends after this round, or the zero Ending if it continues or its ending is already decided. found
// are findings that are not in the list yet. The protocol has precedence over findings, and both over the round limit. Endings by
// a person, a budget or a lost quorum have stopped the debate before.
func (f *Findings) Ending(r *protocol.Record, p protocol.Protocol, found ...detect.Finding) (e transcript.Ending) {
	if r.Ending.Outcome != "" {
		return transcript.Ending{}
	}
	if r.Cursor.Round >= r.MinRounds {
		e = p.End(r)
		if e.Outcome == "" {
			e = f.stopping(r.Cursor.Round, found...)
		}
	}
	if e.Outcome == "" && r.Cursor.Round >= r.MaxRounds {
		e = transcript.Ending{Outcome: transcript.RoundLimit, Evidence: fmt.Sprintf("%d rounds were held", r.Cursor.Round)}
	}
	return e
}

// Check returns a problem for each rule that is invalid, or that needs something that the debate does not have. judged reports
// whether a judge assesses each round of the protocol with the given name, embeds whether the debate has vectors.
func Check(rules []detect.Rule, name string, judged, embeds bool) (list []protocol.Problem) {
	add := func(field, format string, args ...any) {
		list = append(list, protocol.Problemf(field, format, args...))
	}
	for i, rule := range rules {
		field := fmt.Sprintf("detect[%d]", i)
		found := rule.Check()
		for _, problem := range found {
			add(field, "%s", problem)
		}
		switch {
		case len(found) > 0:
		case rule.EffectiveMethod() == "scores" && !judged:
			add(field, "%s needs the scores of judges, but no judge assesses the rounds of %s", rule.Signal, name)
		case rule.Effect == detect.Advise && !judged:
			add(field, "effect %q needs a judge, but no judge assesses the rounds of %s", rule.Effect, name)
		case rule.EffectiveMethod() == "vectors" && !embeds:
			add("embedder.provider", "it is empty, but detect[%d] needs vectors", i)
		}
	}
	return list
}
