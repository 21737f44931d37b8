// Package agreement measures how far judges agree, how far they err together, and when a jury may decide alone.
//
//	items := []agreement.Item{{
//		ID: "q1", Gold: agreement.A,
//		Decisions: map[string][]agreement.Decision{"small": {agreement.A, agreement.B}, "large": {agreement.A, agreement.A}},
//	}}
//	s := agreement.Summarize(items, "small", "large")
//	fmt.Println(s.AlphaDecisions, s.Effective)
//
// An [Item] is a pair of answers, A and B, with the decisions of judges about it. [Summarize] measures agreement: raw, and
// Krippendorff's alpha of decisions and of votes. With gold labels, it also measures the accuracy of the jury and its
// effective number of judges. [Calibrate] finds out where a jury may decide alone. [Alpha] and [Raw] measure the agreement
// of any ratings, such as the scores of one debate.
//
// Agreement is no evidence that judges are right: on pairs made to mislead judges, unanimous weak juries are right in
// fewer than one case in five (docs/measured/juries.md, What a jury is worth).
package agreement
