// Package fsm defines the lifecycle of a debate: its states, its events, and one table of transitions.
//
//	at := fsm.Position{State: fsm.Judging}
//	next, err := fsm.Next(at, fsm.Assessed, fsm.Facts{HasOutcome: true})
//	if err != nil {
//		return err // a *fsm.Refused
//	}
//	fmt.Println(next.State) // completing
//
// The table in table.go is the only source. [Next] reads it, [Machine] executes it, [Mermaid] draws it, and [Arrows]
// returns it for other drawings. docs/reference/lifecycle.md is generated from it, and the tests check each of its rows.
//
// # Rules
//
//   - [Next] is pure: it does no I/O, reads no clock, starts no goroutine and keeps no state. The same [Position],
//     [Event] and [Facts] give the same answer in every process at any time, so a journal can be replayed.
//   - For one state and event, the first row whose guard holds applies. Guards read only [Facts].
//   - An event that has no matching row is refused with [*Refused]. A refusal changes nothing.
//   - Only the position records a pause. When the pause ends, the record of it is gone.
//
// # Execution
//
// Next decides, the caller commits the decision, and then [Machine.Execute] has looplab/fsm execute the same
// transition. This checks each decision with independent code. The use of looplab/fsm avoids its hazards:
//
//   - It allows one target for each event and source. Each row of the table is therefore one transition there for
//     each position that it leaves, with a unique name. A pause is a separate state for each state that can be
//     paused.
//   - It stays locked forever after a canceled context or a panic in a callback, and it deadlocks or races if
//     callbacks use it. Machine therefore registers no callbacks, passes a context that never ends, and has its own
//     mutex.
package fsm
