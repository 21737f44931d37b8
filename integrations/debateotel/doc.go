// Package debateotel records debates as spans and metrics of OpenTelemetry. It imports only OpenTelemetry's API.
//
//	telemetry := debateotel.New(debateotel.Options{})
//	engine, err := debate.NewEngine(debate.Options{Observer: telemetry.Observer(), Providers: ...})
//
// # Spans
//
// A drive is the time in which one engine drives a debate without a pause. Each drive is a tree:
//
//	invoke_workflow panel/1
//	  debate.round 1
//	    debate.phase responses
//	      invoke_agent Ada          a step
//	        chat gpt-x              an attempt, which failed
//	        chat gpt-x              and was repeated
//	      invoke_agent Bo
//	        chat gpt-y
//	        execute_tool search   a call of a tool, between the attempts
//	        chat gpt-y
//	    debate.phase judging
//	      invoke_agent Judge        with an event gen_ai.evaluation.result for each score
//	        chat gpt-z
//	  debate.phase verdict
//
// The span of a drive is a child of the span in the context of Run or RunOnce, if there is one. No span stays open during
// a pause: each drive has a span of its own, and each call of RunOnce is a drive. All spans of a debate have the same
// gen_ai.conversation.id. A drive is linked to the previous one if this Telemetry has observed it. A drive that finds
// nothing to do has a span too.
//
// A round begins with its first step and ends with its last, and so does a phase. The phases before the first round and
// after the last one stand directly below the drive. A summary of the history is a phase of the round that it interrupts.
// Vectors and documents are operations "embeddings" and "retrieval" instead of "chat".
//
// The span of a drive has an event debate.state for each transition that its engine has committed, debate.dropped for each
// participant who dropped out, and debate.warning for each warning. A transition between two drives, such as a resume,
// is an event of the next one. SDKs keep the last 128 events of a span by default. Set OTEL_SPAN_EVENT_COUNT_LIMIT for
// debates of many rounds, and for judges of many participants.
//
// # Names
//
// Names follow the GenAI conventions, version 1.42.0, which are in development. What only debates have begins with
// "debate.". Costs are in the currency of the debate's prices. error.type holds the kind of the error, as in
// providers.ErrorKind, or "canceled", "closed", "rejected" or "_OTHER". A call is canceled if a control, such as Cancel, or
// another process cuts it off.
//
// # Texts
//
// A call of a tool has its name, its id, the size of its result and the kind of its error. With Options.Texts it has the arguments
// and the result, too, unless the step reads a private document.
//
// Without Options.Texts, spans have no text that a model or a service wrote, and neither the topic nor prompts. They have
// the names of participants, phases, providers and models, and the warnings of the library and of providers. All of them
// are bounded.
//
// # Metrics
//
// Calls have gen_ai.client.inference.duration and .time_to_first_chunk, and counters of tokens below
// gen_ai.client.inference.usage. Calls of tools have gen_ai.execute_tool.duration. Calls for vectors and documents have gen_ai.client.operation.duration. Steps have
// gen_ai.invoke_agent.duration and .inference_calls, and drives gen_ai.invoke_workflow.duration. Tokens that no service
// has reported are not counted.
//
// debate.cost counts what calls cost, by model. It adds up to the cost in the usage of the debates, except for calls in
// flight when a process dies, and leaves out models without a price. debate.outcomes counts debates by debate.outcome, when
// the outcome is decided: before the conclusion. A debate that stops in an error counts with the outcome "error" and with
// error.type, each time that it stops.
//
// # Replay
//
// [Telemetry.Replay] records the spans of a stored debate after the fact, with the times of its journal.
package debateotel
