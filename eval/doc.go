// Package eval finds out whether a debate helps: it answers tasks with right answers by several arms, such as one call of a
// model and a debate, and compares them.
//
//	tasks, err := eval.Format{}.Read(file) // JSON Lines with topic and gold
//	if err != nil {
//		log.Fatal(err)
//	}
//	single, err := eval.Template(eval.Samples(debate.Participant{Name: "Ann"}, 1))
//	debaters, err := eval.Template(debate.Config{Protocol: vote.Protocol{Extract: "{{extract}}"}, Participants: agents})
//	e := eval.Evaluation{Name: "first", Tasks: tasks, Arms: []eval.Arm{{Name: "single", Config: single}, {Name: "debate", Config: debaters}}}
//	report, err := e.Run(ctx, options)
//	if err != nil {
//		log.Fatal(err)
//	}
//	fmt.Println(strings.Join(report.Summary, "\n"))
//
// # Runs
//
// Each run is a debate with the labels eval, arm, task and sample, in any store. Its id derives from these and from its
// configuration. So an evaluation that is started again goes on: it makes the runs that are missing, continues those that
// were interrupted, and retries those that ended in error. No call whose turn is committed is made again. If the store has
// workers run debates, they run those of an evaluation, too. Do not run one evaluation in two processes at the same time:
// both would pay for the same calls.
//
// # Baselines
//
// The first arm is the baseline, unless you choose another one. A report compares each arm with it twice: with the baseline
// as it is, and with the baseline on the same budget, which answers each question as often as the arm's tokens or money
// pay for. A debate that is better than one call, but not better than as many single calls, does not help.
//
// # Failures
//
// A run that fails counts neither as right nor as wrong. A debate that ends without an answer, such as a tie, is wrong.
package eval
