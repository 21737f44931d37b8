// Package influence finds out what decided a debate: the judges who decided it are asked again without each of its turns, or
// without each seat, and about the whole debate as often. With Analysis.Continued, the debate goes on without each turn, and as
// often with it.
//
// Options are those of the engine that ran the debate, with its store.
//
//	a := influence.Analysis{ID: "cars"}
//	plan, err := a.Plan(ctx, options) // how many calls it takes, and what they cost
//	if err != nil {
//		log.Fatal(err)
//	}
//	fmt.Println(plan)
//	report, err := a.Run(ctx, options)
//	if err != nil {
//		log.Fatal(err)
//	}
//	fmt.Println(strings.Join(report.Summary, "\n"))
//
// # Samples
//
// Each sample is a debate that [debate.Engine.Rejudge] makes, in both orders of the participants in turn, or that
// [debate.Engine.Fork] makes if debates go on. It has the label influence, which holds the id of the debate. So an analysis that is started again goes on, and no call whose turn is committed
// is made again. Everything that is stored with the label counts in its limits.
//
// # Figures
//
// The change of the winner's share is the share of samples without the item that have the winner of the debate, minus that of
// samples of the whole debate, or of debates that go on with the item. The change of the score is the same difference of mean scores; Report.Score says what scores are. Both are
// negative for what helped the winner.
//
// The intervals are only about these judges: they say what the same judges would say if they were asked more often, and nothing about other
// judges. All intervals of a report hold together with a confidence of 95 %: each has one of 1-.05/n, if there are n. Intervals
// of shares are exact, and those of scores are Welch's, with the variance within each order.
package influence
