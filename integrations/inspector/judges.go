package inspector

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/outcome"
	"github.com/elenchus-go/debate/internal/readmodel"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/judge/detect"
	"github.com/elenchus-go/debate/transcript"
)

// judgesView is what the page about the judges shows.
type judgesView struct {
	Seq, Last int64
	Scores    *scoreTable
	Agreement string // how far several judges agree on the scores; empty if there are not several
	Rounds    []judgedRound
	Earlier   int       // the first round that is shown, if there are earlier ones
	Later     bool      // whether there are later rounds than those shown
	Verdicts  *verdicts // nil if there are none
}

const (
	maxJudged = 10       // rounds on a page
	maxJudges = 40 << 10 // bytes about these rounds, unless one round has more
)

// judgedRound is everything that was found about a round.
type judgedRound struct {
	Round        int
	Criteria     []string    // the columns of the scores; the last one is empty, for the total
	Scores       []scoreRow  // of each participant: of the jury, or of the only judge
	Whole        [][2]string // what the jury, or the only judge, says about the round as a whole
	Opinions     []opinion
	Each         []scoreRow // of each participant by each judge; empty if there is only one opinion
	Dissent      []string
	Disagreement []string
	Abstentions  []string
	Findings     []detect.Finding
	Replies      []structured // other structured replies
	assessments  []judge.Opinion[judge.Assessment]
	size         int // about the bytes on the page
}

// opinion is one reply of a judge. A judge who was asked in both orders has two, next to each other.
type opinion struct {
	Judge   string
	Swapped bool
	Failed  bool
	Seq     int64 // of the turn
	Reason  string
}

// scoreRow is a row of scores: what one opinion gives one participant.
type scoreRow struct {
	opinion
	Participant string
	First       bool        // whether it is the first row of the participant
	Cells       []scoreCell // one for each column
}

// scoreCell is a score.
type scoreCell struct {
	Text  string // empty if there is none
	Level int    // for its colour: from 0, for a score below 1, to 10
	Apart bool   // whether opinions of which it is made differ by more than 3 points
}

// structured is a structured reply, field by field.
type structured struct {
	Title  string
	Seq    int64
	Fields [][2]string
}

// verdicts are the verdicts of all judges.
type verdicts struct {
	Rows         []verdictRow
	Winner       string
	Dissent      []string
	Disagreement []string
}

type verdictRow struct {
	opinion
	Winner  string
	Quality string
	Text    string
}

// judges shows what the judges said until the entry in the parameter at, and of that the last rounds before the
// round in the parameter before.
func (v *visit) judges() error {
	m, before, err := v.askedMoment()
	if err != nil {
		return err
	}
	return v.show("judges", page{Title: v.status.Topic, Tab: "judges", Main: m.judging(int(before))})
}

// judging returns what the judges said by then in the last rounds before the given one, or in the last ones if it is 0.
func (m *moment) judging(before int) *judgesView {
	j := &judgesView{Seq: m.status.Seq, Last: m.last, Scores: scoresOf(m.result, &m.config)}
	if a := m.result.Agreement; a != nil {
		j.Agreement = a.String()
	}
	jury := juryOf(&m.config)
	rounds := map[int]*judgedRound{}
	at := func(n int) *judgedRound {
		if rounds[n] == nil {
			rounds[n] = &judgedRound{Round: n}
		}
		return rounds[n]
	}
	for _, t := range byJudge(m.result.Assessments) {
		if t.Contract == judge.AssessmentContract.Name() {
			at(t.Round).add(t)
		}
	}
	for _, f := range m.result.Findings {
		at(f.Round).Findings = append(at(f.Round).Findings, f)
	}
	var verdicts, replies []transcript.Turn
	for i := range m.result.Turns {
		t := &m.result.Turns[i]
		switch t.Contract {
		case "", judge.AssessmentContract.Name():
		case judge.VerdictContract.Name():
			verdicts = append(verdicts, *t)
		default:
			if t.Kind == transcript.Speech || t.Kind == transcript.Assessment || t.Kind == transcript.Conclusion {
				at(t.Round).size += len(t.Data)
				replies = append(replies, *t)
			}
		}
	}
	for _, n := range j.choose(rounds, before) {
		r := rounds[n]
		r.assess(jury, m.config.Participants)
		for i := range replies {
			if replies[i].Round == n {
				r.Replies = append(r.Replies, structuredOf(&replies[i]))
			}
		}
		j.Rounds = append(j.Rounds, *r)
	}
	j.Verdicts = verdictsOf(jury, verdicts)
	return j
}

// choose returns the rounds that the page shows.
func (j *judgesView) choose(rounds map[int]*judgedRound, before int) []int {
	all := slices.Sorted(maps.Keys(rounds))
	if i := slices.IndexFunc(all, func(n int) bool { return n >= before }); before > 0 && i >= 0 {
		all, j.Later = all[:i], true
	}
	first, size := len(all), 0
	for first > 0 && len(all)-first < maxJudged {
		size += rounds[all[first-1]].size
		if size > maxJudges && first < len(all) {
			break
		}
		first--
	}
	if first > 0 {
		j.Earlier = all[first]
	}
	return all[first:]
}

// add adds an assessment to the round.
func (r *judgedRound) add(t transcript.Turn) {
	if len(r.assessments) == 0 {
		r.size += 1200
	}
	o := judge.Opinions[judge.Assessment](t)[0]
	r.assessments = append(r.assessments, o)
	r.Opinions = append(r.Opinions, opinion{o.Judge, o.Swapped, o.Failed, t.Seq, o.Value.Reasoning})
	r.size += 350 + len(o.Value.Reasoning)
	for _, p := range o.Value.Participants {
		r.size += 40 + 12*len(p.Criteria)
	}
}

// assess fills in what the assessments of a round say together, in the order of the participants.
func (r *judgedRound) assess(jury judge.Jury, order []debate.Participant) {
	opinions := r.assessments
	joint, ok := jury.CombineAssessments(opinions)
	if !ok {
		return
	}
	r.Dissent, r.Disagreement = joint.Dissent, joint.Disagreement
	place := func(a judge.ParticipantAssessment) int {
		return slices.IndexFunc(order, func(p debate.Participant) bool { return p.Name == a.Name })
	}
	slices.SortStableFunc(joint.Value.Participants, func(a, b judge.ParticipantAssessment) int { return place(a) - place(b) })
	r.Criteria = append(criteriaOf(opinions), "")
	for _, p := range joint.Value.Participants {
		all := scoreRow{Participant: p.Name}
		rows := make([]scoreRow, len(opinions))
		for _, criterion := range r.Criteria {
			all.add(joint, criterion, farApart(opinions, p.Name, criterion))
			for i, o := range opinions {
				rows[i].opinion, rows[i].Participant = r.Opinions[i], p.Name
				rows[i].add(o, criterion, false)
			}
		}
		rows[0].First = true
		r.Scores, r.Each = append(r.Scores, all), append(r.Each, rows...)
	}
	if len(opinions) == 1 {
		r.Each = nil
	}
	r.addFlags(opinions, joint)
}

// add adds the score of the row's participant by a criterion, or an empty cell if there is none.
func (r *scoreRow) add(o judge.Opinion[judge.Assessment], criterion string, apart bool) {
	cell := scoreCell{}
	if score, ok := readmodel.ScoreIn(&o.Value, r.Participant, criterion); ok && !o.Failed {
		cell = scoreCell{outcome.Number(score), int(min(max(score, 0), 10)), apart}
	}
	r.Cells = append(r.Cells, cell)
}

// farApart reports whether two opinions about a participant differ by more than 3 points.
func farApart(opinions []judge.Opinion[judge.Assessment], name, criterion string) bool {
	var scores []float64
	for _, o := range opinions {
		if score, ok := readmodel.ScoreIn(&o.Value, name, criterion); ok && !o.Failed {
			scores = append(scores, score)
		}
	}
	return len(scores) > 1 && slices.Max(scores)-slices.Min(scores) > 3
}

// byJudge returns turns so that those of a judge are next to each other.
func byJudge(turns []transcript.Turn) []transcript.Turn {
	first := func(t transcript.Turn) int {
		return slices.IndexFunc(turns, func(o transcript.Turn) bool { return o.Actor == t.Actor })
	}
	sorted := slices.Clone(turns)
	slices.SortStableFunc(sorted, func(a, b transcript.Turn) int { return first(a) - first(b) })
	return sorted
}

// criteriaOf returns the criteria by which participants were scored, in order.
func criteriaOf(opinions []judge.Opinion[judge.Assessment]) (list []string) {
	for _, o := range opinions {
		for _, p := range o.Value.Participants {
			for _, c := range p.Criteria {
				if !slices.Contains(list, c.Criterion) {
					list = append(list, c.Criterion)
				}
			}
		}
	}
	return list
}

// judgedFlags lists the questions to which a judge says yes or no.
var judgedFlags = []struct {
	name string
	of   func(*judge.Assessment) bool
}{
	{"another round is worthwhile", func(a *judge.Assessment) bool { return a.ShouldContinue }},
	{"converged", func(a *judge.Assessment) bool { return a.Converged }},
	{"repetitive", func(a *judge.Assessment) bool { return a.Repetitive }},
	{"drifting", func(a *judge.Assessment) bool { return a.Drifting }},
	{"diminishing returns", func(a *judge.Assessment) bool { return a.DiminishingReturns }},
}

// addFlags adds what the jury says about the round as a whole. A judge whose answers differ between the orders abstains.
func (r *judgedRound) addFlags(opinions []judge.Opinion[judge.Assessment], joint judge.Opinion[judge.Assessment]) {
	for _, f := range judgedFlags {
		r.Whole = append(r.Whole, [2]string{f.name, yesOrNo(f.of(&joint.Value))})
		said := map[string]bool{}
		for _, o := range opinions {
			if o.Failed {
				continue
			}
			now := f.of(&o.Value)
			if before, twice := said[o.Judge]; twice && before != now {
				r.Abstentions = append(r.Abstentions, fmt.Sprintf("%s, %s: the answers differ between the orders", o.Judge, f.name))
			}
			said[o.Judge] = now
		}
	}
	r.Whole = append(r.Whole, [2]string{"quality of the round", outcome.Number(joint.Value.Quality)})
}

func yesOrNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// verdictsOf returns the verdicts in turns, or nil if there are none.
func verdictsOf(jury judge.Jury, turns []transcript.Turn) *verdicts {
	turns = byJudge(turns)
	opinions := judge.Opinions[judge.Verdict](turns...)
	joint, ok := jury.CombineVerdicts(opinions)
	if !ok {
		return nil
	}
	v := &verdicts{Winner: joint.Value.Winner, Dissent: joint.Dissent, Disagreement: joint.Disagreement}
	for i, o := range opinions {
		row := verdictRow{opinion: opinion{o.Judge, o.Swapped, o.Failed, turns[i].Seq, ""}}
		if !o.Failed {
			row.Winner = o.Value.Winner
			row.Quality = outcome.Number(o.Value.Quality)
			row.Text = o.Value.Summary
		}
		v.Rows = append(v.Rows, row)
	}
	return v
}

// structuredOf returns a structured reply field by field, in the order of its names.
func structuredOf(t *transcript.Turn) structured {
	s := structured{Title: turnTitle(t), Seq: t.Seq}
	var object map[string]json.RawMessage
	if json.Unmarshal(t.Data, &object) != nil {
		s.Fields = [][2]string{{"reply", t.Text}}
		return s
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		s.Fields = append(s.Fields, [2]string{words(name), fieldText(object[name])})
	}
	return s
}

// fieldText returns a JSON value as text: a string as it is, a list of strings with semicolons, anything else as JSON.
func fieldText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var list []string
	if json.Unmarshal(raw, &list) == nil {
		return strings.Join(list, "; ")
	}
	return string(raw)
}
