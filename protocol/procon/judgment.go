package procon

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/elenchus-go/debate/internal/naming"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/judge/reply"
)

// JudgmentContract is the contract of the judge's reply.
var JudgmentContract = reply.New[Judgment]("judgment/1")

// Judgment is a judge's reply at the end. The answer of the debate is the joint judgment of all judges.
type Judgment struct {
	Summary        string             `json:"summary" jsonschema:"minLength=1,maxLength=1200" jsonschema_description:"the debate and its result, in at most 100 words"`
	NoNewArguments bool               `json:"no_new_arguments" jsonschema_description:"whether the last round of arguments brought no new argument"`
	Participants   []ParticipantScore `json:"participants" each:"active" jsonschema:"maxItems=64" jsonschema_description:"the score of each participant"`
	Winner         string             `json:"winner,omitempty" names:"participants" jsonschema:"maxLength=200" jsonschema_description:"the winner's name, exactly as given; leave it out if nobody won"`
	Dissent        []string           `json:"dissent,omitempty" jsonschema:"-"` // judges who named another winner, with their summaries; computed, and never read from a reply
}

// ParticipantScore is the score of one participant.
type ParticipantScore struct {
	Name  string  `json:"name" names:"participants" jsonschema:"minLength=1,maxLength=200" jsonschema_description:"the participant's name, exactly as given"`
	Score float64 `json:"score" jsonschema:"minimum=0,maximum=10" jsonschema_description:"how well the participant argued, from 0 (worst) to 10 (best)"`
}

// Check corrects the spelling of names. It returns a violation for each participant that is not scored exactly once, and for
// each unknown name.
func (j *Judgment) Check(names []string) []string {
	var spoken []*string
	for i := range j.Participants {
		spoken = append(spoken, &j.Participants[i].Name)
	}
	findings := naming.Participant.CheckEach(spoken, names, "/participants/%d/name")
	findings = append(findings, naming.Participant.CheckOptional(&j.Winner, names, "/winner")...)
	for _, name := range names {
		if !slices.ContainsFunc(j.Participants, func(s ParticipantScore) bool { return s.Name == name }) {
			findings = append(findings, fmt.Sprintf("/participants: %q has no score", name))
		}
	}
	return findings
}

// scores returns the scores of the participants.
func (j *Judgment) scores() (s judge.Scores) {
	for _, p := range j.Participants {
		s.Set(p.Name, p.Score)
	}
	return s
}

// doubt says how a judgment contradicts itself. It is the Doubt of a step. A protocol that embeds this one may have changed
// the contract of the reply.
func doubt(v any) []string {
	j, ok := v.(*Judgment)
	if !ok {
		return nil
	}
	if against := j.scores().Against(j.Winner); against != "" {
		return []string{"/winner: it contradicts the scores, in which " + against + "; correct it, or say in the summary why the scores do not decide"}
	}
	return nil
}

// Default sets a judgment without a winner, in which each participant scores 5 of 10. The summary says that there is no
// valid judgment.
func (j *Judgment) Default(names []string) {
	*j = Judgment{
		Summary:      "The judge gave no valid judgment. The debate ends without a winner, and the scores are neutral.",
		Participants: []ParticipantScore{},
	}
	for _, name := range names {
		j.Participants = append(j.Participants, ParticipantScore{Name: name, Score: 5})
	}
}

// Text returns the judgment for readers.
func (j *Judgment) Text() string {
	lines := []string{j.Summary}
	for _, s := range j.Participants {
		lines = append(lines, s.Name+": "+strconv.FormatFloat(s.Score, 'f', -1, 64)+" of 10")
	}
	if j.NoNewArguments {
		lines = append(lines, "The last round of arguments brought no new argument.")
	}
	if j.Winner != "" {
		lines = append(lines, "Winner: "+j.Winner)
	} else {
		lines = append(lines, "Nobody won.")
	}
	for _, d := range j.Dissent {
		lines = append(lines, "Dissent: "+d)
	}
	return strings.Join(lines, "\n")
}
