// Package audit measures judges before they are trusted. A judge is a model together with its prompts. It compares pairs of
// answers of which the better one is known, in both orders, with the protocol of package pairwise.
//
//	pairs, err := audit.Format{}.Read(file) // JSON Lines with question, a, b and gold
//	if err != nil {
//		log.Fatal(err)
//	}
//	a := audit.Audit{Name: "judges", Pairs: pairs, Judges: []audit.Judge{{Name: "small", Config: small}}, Plants: audit.Plants}
//	report, err := a.Run(ctx, options)
//	if err != nil {
//		log.Fatal(err)
//	}
//	options.Audits = report.Records() // debates with a biased judge warn
//
// Each pair is a debate with the labels of an evaluation, in any store. So audits resume, and have limits, as evaluations
// have; see package eval.
//
// # Figures
//
// Accuracy counts a tie ½, and a decision that cannot be read 0. Biases are 0 for a judge without them, and have these signs:
//
//   - position: the share of decisions for the answer shown first, minus that for the answer shown second.
//   - length: the accuracy where the better answer is the longer one, minus that where it is the shorter one. Pairs are
//     matched by the ratio of their lengths, so that they differ as much.
//   - family: the accuracy where the better answer is by a model of the judge's family, minus that where the worse one is.
//     Pairs count of which one answer is by that family, and the other is not.
//   - verbosity, formatting and instruction: by how much the share of decisions for an answer rises if it is planted there. A
//     hash of the pair's id chooses the answer.
//
// Consistency is the share of decisions that are equal when the judge is asked again. Turned is the share of decisions that
// change when a follow-up objects to them.
package audit
