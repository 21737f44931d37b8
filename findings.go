package debate

import (
	"math"
	"slices"

	"github.com/elenchus-go/debate/detect"
	"github.com/elenchus-go/debate/internal/embedding"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// findingsOf returns the findings of a round whose speeches (or assessments, if judged is set) are complete. It returns
// them only once.
func findingsOf(r *record, judged bool) []detect.Finding {
	round := r.Cursor.Round
	if len(r.config.Detect) == 0 || judged && r.findings.reported.judged >= round || !judged && r.findings.reported.spoken >= round {
		return nil
	}
	if r.findings.detector == nil {
		r.findings.detector = &detector{Detector: detect.Detector{
			Rules: r.config.Detect, Topic: r.config.Topic, Seats: r.profiles, Answer: r.env.extractAnswer,
		}}
	}
	for k := min(r.findings.detector.spoken, r.findings.detector.judged) + 1; k < round; k++ { // rounds that an earlier process has checked
		speechFindings(r, k)
		assessmentFindings(r, k)
	}
	found := speechFindings(r, round)
	if judged {
		found = assessmentFindings(r, round)
	}
	for i := range found {
		found[i].Round = round // also in a round without speeches
	}
	return found
}

// speechFindings checks the speeches of a round, once.
func speechFindings(r *record, round int) []detect.Finding {
	if r.findings.detector.spoken >= round {
		return nil
	}
	r.findings.detector.spoken = round
	turns := r.TurnsOf(round)
	return r.findings.detector.CheckSpeeches(turns, embedding.Vectors(&r.Record, round))
}

// juryOf returns how the assessments of a debate are combined. A protocol that combines them in its own way has the
// method AssessmentJury.
func juryOf(p protocol.Protocol) judge.Jury {
	if own, ok := p.(interface{ AssessmentJury() judge.Jury }); ok {
		return own.AssessmentJury()
	}
	return judge.Jury{}
}

// assessmentFindings checks the assessments of a round, once, if there are any.
func assessmentFindings(r *record, round int) []detect.Finding {
	if r.findings.detector.judged >= round {
		return nil
	}
	r.findings.detector.judged = round
	turns := slices.DeleteFunc(slices.Clone(r.TurnsOf(round)), func(t transcript.Turn) bool { return t.Contract != judge.AssessmentContract.Name() })
	jury := juryOf(r.config.Protocol)
	joint, ok := jury.CombineAssessments(judge.Opinions[judge.Assessment](turns...))
	switch {
	case !ok: // there are no assessments
		return nil
	case joint.Failed:
		return r.findings.detector.CheckScores(detect.Scores{Round: round, Quality: math.NaN(), Novelty: math.NaN()}, math.NaN())
	}
	a := &joint.Value
	s := detect.Scores{Round: round, Quality: a.Quality, Novelty: a.MeanScore(judge.Novelty), Repetitive: a.Repetitive}
	return r.findings.detector.CheckScores(s, a.MeanScore(judge.Relevance), jury.ConvergedVotes(joint.Opinions)...)
}

// stoppingFinding returns the ending that a finding of the current round, or one of the given new findings, causes.
// It returns the zero Ending if none does.
func stoppingFinding(r *record, found ...detect.Finding) transcript.Ending {
	for _, f := range append(slices.Clip(r.findings.since(r.Cursor.Round)), found...) {
		if f.Found && f.Effect == detect.Stop {
			return f.Ending()
		}
	}
	return transcript.Ending{}
}

// since returns the findings of a round and of all later rounds.
func (f *findings) since(round int) []detect.Finding {
	from := len(f.list)
	for from > 0 && f.list[from-1].Round >= round {
		from--
	}
	return f.list[from:]
}
