// Package core decides what happens in a debate. It has no context, no store and no goroutine, and calls no model.
//
// A [State] is what follows from the entries of a journal: [State.Apply] adds one of them. [State.Next] says which steps may run
// then. Whatever happens in a debate is an [Act]: a person starts or stops it, a model gives a turn, a step fails. A [Change] adds
// the events to which an act leads, until a model or a person is needed again; see [Change.Decide]. Whoever drives a debate commits
// them together. Whoever verifies a journal makes the same change again and compares.
//
// Each file refers only to files listed before it:
//
//   - errors.go has the errors about bad input, and about what an engine lacks.
//   - seats.go says what the actors of a configuration read, see and call.
//   - state.go holds the state, with the steps that may run.
//   - question.go has what a debate asks people, and makes a turn of what they reply.
//   - apply.go checks an entry and adds it to the state, with the time that it took.
//   - budget.go computes what the limits still allow, and what a debate costs before it begins.
//   - result.go says what the state is, for lists and for readers.
//   - decide.go says which events follow from an act, and remark.go makes the turn of a remark.
package core
