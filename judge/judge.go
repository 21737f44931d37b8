// Package judge holds what a judge goes by, what it is shown and what it says: the [Rubric], the [Labels] under which
// it sees the participants, the [Assessment] of a round and the [Verdict] on a debate; and the [Bench], which makes
// one word of several judges'.
//
// Assessment and verdict are plain data. A judge's reply becomes one by way of its contract only, and the law of that
// way is that nothing unvalidated reaches a guard: a reply is held against the schema of its struct, then against the
// debate itself. Each participant is assessed exactly once, nobody else is, and a winner is a participant. Where no
// valid reply comes, the contract's fallback stands in: it lets the debate go on within its limits, puts everyone in
// the middle, names no winner, and says so in its text.
//
// In the structs the evidence stands before the decision that rests on it, since models write fields in that order.
package judge

import "github.com/elenchus-go/debate/judge/reply"

// The contracts of a judge's replies. That of assessments goes by the default [Rubric].
var (
	AssessmentContract = Rubric(nil).Contract()
	VerdictContract    = reply.New[Verdict]("verdict/1")
)
