package progress

import "time"

// Tasks says how far an evaluation, a tournament, an audit or an analysis of influence has come. A task is a question of an
// evaluation, a pair of games of a tournament, a pair of answers of an audit, or a sample of an analysis.
type Tasks struct {
	Tasks, TotalTasks int           // tasks of which all runs have ended, or failed
	Runs              int           // runs of this call that have ended
	Failed            int           // of these, runs that failed
	Tokens            int           // of all runs that are stored, also of earlier calls
	Cost              float64       // the same, in the currency of the prices
	Elapsed           time.Duration // since this call began
	// RemainingTime and RemainingCost are estimates from the tasks that this call has completed; 0 before the first.
	RemainingTime time.Duration
	RemainingCost float64
}
