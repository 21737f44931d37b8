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

const (
	minReviewers = 2
	maxReviewers = 8
)

// Check requires two to eight participants, a judge, and one round. After the start, one remaining participant is enough.
func (Protocol) Check(r *protocol.Record) (problems []protocol.Problem) {
	wrong := func(field, format string, args ...any) {
		problems = append(problems, protocol.Problemf(field, format, args...))
	}
	n := len(r.Participants)
	switch begun := r.Cursor.Round > 0; {
	case begun && n < 1:
		wrong("participants", "%d enabled, a review that has begun needs 1", n)
	case !begun && n < minReviewers || n > maxReviewers:
		wrong("participants", "%d enabled, a review takes %d to %d", n, minReviewers, maxReviewers)
	}
	if len(r.Judges) == 0 {
		wrong("judges", "none, a review needs one")
	}
	if r.MaxRounds > 1 {
		wrong("limits.max_rounds", "%d, a review has 1 round", r.MaxRounds)
	}
	return problems
}

// End returns the zero Ending: the debate ends after its only round.
func (Protocol) End(*protocol.Record) transcript.Ending { return transcript.Ending{} }
