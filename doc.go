// Package debate runs structured debates between language models.
//
// A debate has a topic, participants who respond to one another, usually a judge, and a protocol that says who speaks
// when. [New] makes one, [Debate.Run] drives it and yields what happens, and its last event carries the [Result]. An
// [Engine] serves many debates over one store. A [Config] is data and can be stored; the live things, such as models,
// are in [Options].
//
// # Code tour
//
// The packages stand on floors, and each imports only from floors below its own. Bottom-up:
//
// Floor 0. Package fsm is the lifecycle: twelve states, seventeen events, one table, and a pure function that says what
// an event leads to. Package transcript is what was said, as plain data: a Turn is one committed step, its Key names the
// step.
//
// Floor 1. Package providers is how a model is called: one method, and one taxonomy of errors. Beside it stand
// providers/langchain, which wraps langchaingo's models, providers/scripted, which needs none, and providers/retrieval,
// which finds documents instead of writing.
//
// Floor 2, all pure but the store. Package prompts renders templates. Package context/window chooses which turns a
// prompt has room for. Package detect measures what can be measured without a model. Package judge/reply makes a schema of
// a Go struct, and reads replies by it. Package store keeps journals.
//
// Floor 3. Package judge is what judges say, and how they are kept fair: assessments and verdicts, rubric, labels, benches.
// Package protocol is who speaks when: a Protocol gives the phases of a round, and protocol.Next compares them with the
// Record of what is committed.
//
// Floor 4. Six protocols: protocol/panel is the classic debate; beside it stand skeptic, refine, arbitration, procon and
// vote.
//
// Floor 5 is this package. It reads in the order in which a debate lives:
//
//   - config.go, defaults.go, check.go: what a debate is, and what is wrong with it
//   - engine.go, debate.go: engines and handles; reading the journal and writing to it
//   - record.go: the fold of the journal, all that is known of a debate
//   - steps.go, summary.go, measure.go: what may run now; what comes before it; what is measured of a round
//   - change.go: a write in the making, with all that follows from it without work
//   - control.go: what people do to a debate
//   - drive.go, start.go, perform.go, fence.go, show.go: the driver: plan, perform, commit, also in the background; what it
//     no longer wants; what its viewer sees
//   - brief.go, mask.go, call.go, retry.go, clock.go: one step: its prompt, who is seen in it, its attempts, its time
//   - overflow.go, degrade.go: prompts that are too long; what becomes of a debate whose step has failed for good
//   - feed.go, watch.go, replay.go: viewers, now and afterwards
//   - event.go, result.go, preview.go, errors.go: what comes out
//
// Floor 6. Package report writes a debate down for people, package progress tells how far it has come, and package
// archive exports a stored debate and imports it into another store.
//
// Beside the floors stand modules of their own: store/sqlite and store/postgres keep debates, debateriver has workers on
// many machines drive them, and context/vocabulary counts tokens exactly.
//
// # Rules
//
// The journal is the truth. A step's turn is committed together with every transition that follows from it, and only
// then does the next step begin. A turn is accepted only if its step is among those that may run now; this one fence
// covers duplicates, late replies, stops, cancels and resets. A step of a parallel phase sees nothing that was committed
// after its phase began, and turns are ordered by their step's place, not by their arrival: so a debate that was
// interrupted, resumed or driven twice says what an undisturbed one says.
//
// What models say is untrusted. Nothing unvalidated reaches a decision; who prints a text strips its control characters
// or escapes its HTML.
package debate
