// Package debate runs structured debates between language models.
//
//	d, err := debate.New(ctx, debate.Config{
//		Topic:        "Should cities ban private cars?",
//		Participants: []debate.Participant{{Name: "Ada", Side: "for"}, {Name: "Bo", Side: "against"}},
//		Judges:       []debate.Participant{{Name: "Judge"}},
//	}, debate.Options{Providers: map[string]providers.Provider{"openai": model}})
//	if err != nil {
//		log.Fatal(err)
//	}
//	for event, err := range d.Run(ctx) {
//		if err != nil {
//			log.Fatal(err)
//		} else if done, ok := event.(debate.TurnDone); ok {
//			fmt.Printf("%s: %s\n\n", done.Turn.Actor, done.Turn.Text)
//		}
//	}
//
// A debate has a topic, participants who respond to each other, usually a judge, and a protocol that decides who speaks
// when. [New] creates a debate. [Debate.Run] runs it and yields its events; the last event, [Ended], carries the
// [Result]. An [Engine] runs many debates over one store. A [Config] is plain data and is stored with its debate.
// [Options] holds everything that cannot be stored, such as providers. Without Options.Store, debates are in memory and end
// with the process. Events are values, so write case debate.TurnDone in a type switch, without an asterisk.
//
// # Terms
//
// A debate has rounds. A round has phases, and a phase has steps: one for each actor that speaks or judges in it. The
// steps of a parallel phase run at the same time. A step that is done gives a turn. The turns, and the transitions from one
// state to another, are entries of the journal, which the store keeps. The number of an entry is its seq. To commit is to
// store entries.
//
// # Guarantees
//
// The journal of a debate is authoritative. A turn is committed together with every transition that follows from it, and
// the next step begins only after that commit. A turn is accepted only if its step is among those that may run at that
// moment. This single rule handles duplicates, late replies, stops, cancellations and resets.
//
// A step of a parallel phase sees nothing that was committed after its phase began. Turns are ordered by the place of
// their step in the phase, not by arrival. The prompts of a debate are therefore the same whether or not it was
// interrupted, resumed or run by two processes.
//
// Replies of models are untrusted. The library validates structured replies before it acts on them. Before you print a
// text, remove its control characters or escape its HTML; package report does both.
//
// # Code tour: packages
//
// The packages form layers. Each imports only packages of lower layers. From the bottom up:
//
//   - Layer 0: package fsm holds the lifecycle, as one table of states and events and a pure function that looks up
//     transitions. Package transcript defines turns, keys and usage as plain data.
//   - Layer 1: package providers defines how a debate calls a model, with one method and one set of error kinds. Its
//     subpackages call model services: among them are providers/openai, providers/langchain for any model of langchaingo,
//     providers/scripted for tests, and providers/retrieval for documents and vectors. Package evidence defines the documents
//     of a debate, and providers/tool what models may call.
//   - Layer 2: package prompts renders templates. Package context/window chooses which turns fit into a prompt. Package
//     judge/detect finds repetition and agreement without a model. Package judge/reply derives schemas from Go structs and
//     validates replies. Package store keeps journals.
//   - Layer 3: package judge defines rubrics, assessments, verdicts, pseudonyms and juries. Package protocol defines what a
//     protocol is: it returns the phases of a round, and protocol.Next compares them with the committed turns.
//   - Layer 4: the protocols. protocol/panel is the default; the others are skeptic, refine, arbitration, procon, vote,
//     council, mad, review, pairwise and oversight. internal/step executes one step: its calls, retries, shortened prompts and replies.
//   - Layer 5: internal/protocols lists these protocols. Package journal holds the data of a debate: its configuration, its events
//     and its result, with their JSON, defaults and checks. This package has names of its own for them, such as [Config].
//   - Layer 6: this package, over internal/core, which decides what happens in a debate: it computes the state from the entries of
//     the journal, and says which events follow from an act of a person, a model or an engine. It has no context, store or goroutine.
//   - Layer 7: package report renders a debate for readers, report/printer prints it while it runs, report/progress reports how
//     far it has come, and report/archive exports, imports and verifies stored debates.
//   - Layer 8: package eval compares ways to answer on tasks with right answers, eval/tournament ranks models, and
//     eval/influence finds out which turns decided a debate. integrations/launch says which debates people may begin,
//     integrations/debatehttp serves debates over HTTP, and integrations/debatetool offers them as tools for models.
//   - Layer 9: integrations/inspector serves web pages that show debates.
//
// Some packages are modules of their own: store/sqlite and store/postgres keep debates in databases,
// integrations/debateriver runs them as jobs on many machines, integrations/debateotel records them with OpenTelemetry,
// integrations/debatemcp and integrations/debatea2a serve them over the Model Context Protocol and A2A,
// integrations/debateeino and integrations/debateadk connect them with Eino and ADK, providers/clouds calls models of two
// clouds, providers/acp calls coding agents, context/vocabulary counts tokens exactly, evidence/extract reads files, and cmd/debate is
// the command debate.
//
// # Code tour: files of this package
//
// Each file refers only to files listed before it:
//
//   - Data: data.go names the types of package journal, and has the errors of an engine.
//   - Engine: options.go holds what an engine is given and what it knows by name, and tells the log and an observer what the
//     engine does.
//   - Journal: journal.go reads entries, and commits the events of a change.
//   - Steps: step.go plans a step with its request, and turns what happens in it into events. Package internal/live shows
//     events to the caller of Run, and passes replies to other viewers while they stream.
//   - Gate: gate.go says what is wrong with a configuration, and what the engine lacks to drive a debate with it.
//   - Driving: driver.go drives one debate: it plans, runs the steps of a plan, commits their turns, and begins again.
//   - API: debate.go has what you do with one debate, engine.go makes, finds and recovers debates, and fork.go makes debates
//     from others; package internal/forks decides which entries a debate repeats whose judges are asked again. verify.go has
//     what is done with a journal afterwards: Replay, PromptOf, which makes the prompt of a step again, and Verify and
//     VerifyEntries, which derives the entries again.
package debate
