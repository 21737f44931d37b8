// Package judge defines what judges score by, what they see and what they return.
//
//	r, err := judge.VerdictContract.Parse(answer, []string{"Alice", "Bob"})
//	if err != nil {
//		return err // a *reply.Invalid, which lists the violations
//	}
//	var v judge.Verdict
//	err = json.Unmarshal(r.Data, &v)
//	fmt.Println(v.Winner, v.Quality)
//
// A [Rubric] lists the criteria. [Pseudonyms] replace the names of the participants in everything that a judge sees.
// An [Assessment] is a judge's reply after a round, and a [Verdict] is the reply at the end of the debate. A [Jury]
// combines the replies of several judges into one.
//
// Assessments and verdicts are plain data. A judge's reply becomes one only through its contract, so nothing
// unvalidated reaches a guard of the lifecycle. The contract first validates a reply against the JSON Schema of its
// struct, and then against the debate: each participant is assessed exactly once, nobody else is assessed, and a
// winner is a participant. If there is no valid reply, the contract supplies a default. It lets the debate continue
// within its limits, gives everybody the middle score, names no winner, and says in its text that it is a default.
//
// In the structs, the fields for the evidence come before the fields for the decision, because models write fields in
// that order.
package judge

import "github.com/elenchus-go/debate/judge/reply"

// The contracts of a judge's replies. AssessmentContract uses the default [Rubric].
var (
	AssessmentContract = Rubric(nil).Contract()
	VerdictContract    = reply.New[Verdict]("verdict/1")
)
