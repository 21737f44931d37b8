// Package review lets several reviewers find what is wrong with a text, such as a diff, and lets judges decide which of their
// findings stand.
//
//	d, err := debate.New(ctx, debate.Config{
//		Topic:        "Should this change be merged?",
//		Protocol:     review.Protocol{},
//		Participants: []debate.Participant{{Name: "Ada"}, {Name: "Bo"}, {Name: "Cy"}},
//		Judges:       []debate.Participant{{Name: "Judge"}},
//		Documents:    []evidence.Document{evidence.Shared("change.diff", diff)},
//	}, options)
//
// In a JSON configuration the protocol's name is "review/1". It has no parameters:
//
//	"protocol": {"name": "review/1"}
//
// There is one round. All reviewers read the documents at the same time and propose findings. Each finding quotes what is
// wrong, and the engine looks for the quote in its source. A finding whose quote is not there is dropped and counted: nobody
// reads it, and nobody pays for its discussion. Then each reviewer tries to refute the findings of the others. At the end, each
// judge decides which findings stand, without knowing who said what.
//
// # Prompts
//
// The prompts of the reviewers are "review-find" and "review-attack", and that of the judges is "review-rule".
//
// # Answer
//
// The data of the answer decodes to a [Result]: the findings that stand, and whether to approve.
package review

import (
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// Protocol is a review. It takes 2 to 8 participants, who are the reviewers, and at least one judge.
type Protocol struct{}

// Name returns "review/1".
func (Protocol) Name() string { return "review/1" }

// Defaults returns one round. A review has no more.
func (Protocol) Defaults() protocol.Defaults { return protocol.Defaults{MaxRounds: 1} }

// Check requires two to eight participants, a judge, and one round. After the start, one remaining participant is enough.
func (Protocol) Check(r *protocol.Record) []protocol.Problem {
	problems := protocol.Problems(seats(r).Check(r))
	if r.MaxRounds > 1 {
		problems.Add("limits.max_rounds", "%d, a review has 1 round", r.MaxRounds)
	}
	return problems
}

// seats says who takes part in a review, or continues it.
func seats(r *protocol.Record) protocol.Seats {
	reviewers := protocol.Range{Least: 2, Most: 8, Takes: "a review takes 2 to 8"}
	if r.Cursor.Round > 0 {
		reviewers.Least = 1
	}
	if r.Cursor.Round > 0 && len(r.Participants) == 0 {
		reviewers.Takes = "a review that has begun needs 1"
	}
	return protocol.Seats{Participants: reviewers, Judges: protocol.Range{Least: 1, Takes: "a review needs one"}}
}

// End returns the zero Ending: the debate ends after its only round.
func (Protocol) End(*protocol.Record) transcript.Ending { return transcript.Ending{} }
