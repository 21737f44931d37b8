package panel

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/internal/outcome"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/judge/reply"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// The sides of an Oxford-style debate, and the vote for neither.
const (
	sideFor     = "for"
	sideAgainst = "against"
	undecided   = "undecided"
)

// AudienceContract describes the votes of an audience.
var AudienceContract = reply.New[AudienceVote]("audience/1")

// AudienceVote is the reply of a member of the audience.
type AudienceVote struct {
	Reasoning string `json:"reasoning" jsonschema:"maxLength=1900" jsonschema_description:"the reasons for your vote, in a few sentences"`
	Vote      string `json:"vote" jsonschema:"enum=for,enum=against,enum=undecided" jsonschema_description:"whether you are for the motion, against it, or undecided"`
}

// Default sets a vote that says that it is a default. It does not count.
func (v *AudienceVote) Default([]string) {
	*v = AudienceVote{Reasoning: "There is no valid vote. This one does not count.", Vote: undecided}
}

// Text returns the vote for readers.
func (v *AudienceVote) Text() string {
	return strings.TrimSpace("Vote: " + v.Vote + ". " + v.Reasoning)
}

// Audience is the result of an Oxford-style debate. It counts the members of the audience with two valid votes.
type Audience struct {
	// Winner is the side that gained more votes, "for" or "against". It is empty if both gained the same.
	Winner  string           `json:"winner,omitempty"`
	Before  Votes            `json:"before"`
	After   Votes            `json:"after"`
	Members []AudienceMember `json:"members"` // in order
}

// Votes are numbers of votes.
type Votes struct {
	For       int `json:"for"`
	Against   int `json:"against"`
	Undecided int `json:"undecided"`
}

// AudienceMember holds the votes of one member of the audience: "for", "against" or "undecided".
type AudienceMember struct {
	Name   string `json:"name"`
	Before string `json:"before"`
	After  string `json:"after"`
}

// DecodeAudience returns the data of the answer of an Oxford-style debate. It returns an error if there is no answer yet,
// or if another protocol or format gave it.
func DecodeAudience(a protocol.Answer) (Audience, error) {
	data, err := outcome.Decode[audienceData](a, Protocol{})
	switch {
	case err != nil:
		return Audience{}, err
	case data.Audience == nil:
		return Audience{}, errors.New("decode answer: it is a verdict, use DecodeAnswer")
	}
	return *data.Audience, nil
}

// audienceData is the data of the answer of an Oxford-style debate.
type audienceData struct {
	Audience *Audience `json:"audience"`
}

// votes returns a phase in which the audience votes. After the debate, each member sees its earlier vote too.
func (p Protocol) votes(kind transcript.Kind, phase string) protocol.Stage {
	vars := p.vars()
	return protocol.Stage{
		Kind: kind, Name: phase, Prompt: phase, Contract: AudienceContract, Who: protocol.Judges, Parallel: true, Blind: true,
		Each: func(_ *protocol.Record, s *protocol.Step) {
			name := s.Actor
			s.Vars = vars
			s.Show = func(t *transcript.Turn) bool {
				return t.Kind == transcript.Speech || t.Kind == transcript.Remark || t.Phase == phaseBefore && t.Actor == name
			}
		},
	}
}

// audienceOf returns the members of the audience: the judges, and those who voted before the debate and dropped out later.
func audienceOf(r *protocol.Record) []string {
	list := slices.Clone(r.Judges)
	for _, t := range r.TurnsOf(0) {
		if t.Phase == phaseBefore && !slices.Contains(list, t.Actor) {
			list = append(list, t.Actor)
		}
	}
	return list
}

// countVotes returns the result of the votes of an audience, and whether there are votes after the debate.
func countVotes(r *protocol.Record, members []string) (a Audience, voted bool) {
	a.Members = []AudienceMember{}
	valid := func(t transcript.Turn, ok bool) string {
		o := judge.Opinions[AudienceVote](t)[0]
		if !ok || o.Failed {
			return ""
		}
		return o.Value.Vote
	}
	for _, name := range members {
		last, after := r.Find(transcript.Key{Run: r.Cursor.Run, Round: r.Cursor.Round, Phase: phaseAfter, Actor: name})
		first, before := r.Find(transcript.Key{Run: r.Cursor.Run, Phase: phaseBefore, Actor: name})
		voted = voted || after
		m := AudienceMember{name, valid(first, before), valid(last, after)}
		if m.Before != "" && m.After != "" {
			a.Members = append(a.Members, m)
			a.Before.add(m.Before)
			a.After.add(m.After)
		}
	}
	switch forGain, againstGain := a.After.For-a.Before.For, a.After.Against-a.Before.Against; {
	case forGain > againstGain:
		a.Winner = sideFor
	case forGain < againstGain:
		a.Winner = sideAgainst
	}
	return a, voted
}

// A change counts how often the audience cast a vote before and after the debate.
type change struct {
	vote          string
	before, after int
}

// changes returns how often the audience cast each vote.
func (a Audience) changes() []change {
	return []change{
		{sideFor, a.Before.For, a.After.For},
		{sideAgainst, a.Before.Against, a.After.Against},
		{undecided, a.Before.Undecided, a.After.Undecided},
	}
}

// add counts a vote.
func (v *Votes) add(vote string) {
	switch vote {
	case sideFor:
		v.For++
	case sideAgainst:
		v.Against++
	case undecided:
		v.Undecided++
	}
}

// audienceAnswer returns the result of the votes. It is zero before the first vote after the debate.
func audienceAnswer(r *protocol.Record) protocol.Answer {
	members := audienceOf(r)
	a, voted := countVotes(r, members)
	if !voted {
		return protocol.Answer{}
	}
	lines := []string{"Nobody wins: both sides gained the same number of votes."}
	if a.Winner != "" {
		lines[0] = fmt.Sprintf("The side %s the motion wins: it gained more votes.", a.Winner)
	}
	for _, x := range a.changes() {
		name := strings.ToUpper(x.vote[:1]) + x.vote[1:]
		lines = append(lines, fmt.Sprintf("%s: %d before, %d after (%+d)", name, x.before, x.after, x.after-x.before))
	}
	if missing := len(members) - len(a.Members); missing > 0 {
		lines = append(lines, fmt.Sprintf("Not counted, because a valid vote is missing: %d of %d members of the audience.", missing, len(members)))
	}
	return outcome.Answer(strings.Join(lines, "\n"), audienceData{&a})
}
