// Package fsm is the lifecycle of a debate: its states, its events, and one table of what leads where.
//
// The table in table.go is the only source. [Next] reads it, [Machine] executes it, [Mermaid] draws it,
// docs/lifecycle.md is generated from it, and the tests prove it cell by cell.
//
// # Laws
//
//   - [Next] is pure: no I/O, no clock, no goroutine, no memory. The same [Snapshot], [Event] and [Facts] give the
//     same answer in every process and at every time, so that a journal can be replayed.
//   - For one state and event the first row whose guard holds is taken. Guards read [Facts] and nothing else.
//   - What is not in the table is refused with [*Refused], and a refusal changes nothing.
//   - A pause is remembered in the snapshot alone, and forgotten when it ends.
//
// # Execution
//
// Next decides, the caller commits the decision, and then [Machine.Execute] has looplab/fsm execute the same transition,
// as a second opinion that is independent of the table's reader. That library allows one target per event
// and source, stays locked for ever after a cancelled context or a panic in a callback, and deadlocks or races when
// callbacks use it. So each row and source is a transition of its own there, a pause is one state per state that it
// left, no callback is registered, no context that can end is passed, and the machine has its own mutex.
package fsm
