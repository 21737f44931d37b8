// Package debatetool offers the debates of an engine as tools for models and agents.
//
//	set, err := debatetool.New(engine, debatetool.Options{})
//	if err != nil {
//		log.Fatal(err)
//	}
//	tool := set.Tools()[0] // debate; it implements the interface Tool of langchaingo
//	text, err := tool.Call(ctx, "Should we write the new service in Go?")
//
// A [Tool] has a name, a description and the JSON Schemas of its input and its output, so an adapter to a framework takes
// few lines. [Tool.Run] takes JSON and returns an [Output], and [Tool.Call] returns text. Programs can call the methods of
// the [Toolset] with Go values instead.
//
// # Calls that are interrupted
//
// A debate does not depend on the call that has started it: it is stored, and the engine drives it in the background. If a
// call ends early, call again with the debate's id, or with the same id of the call: see [WithCallID]. The new call
// continues the same debate, also in another process that has the same store.
//
// # Conversations
//
// A person who writes to an agent holds a conversation: [Toolset.Converse] takes each message as the topic of a debate, as the reply
// that a debate waits for, or as a word about one that is not over. [Toolset.Plan] has the phases of a debate, past and to come.
//
// # What the model reads
//
// An [Output] says what is degraded before it gives the answer, and what to call next. Texts by the participants are
// untrusted: they are cut to a maximum length, and enclosed in delimiters that they cannot close. An [Error] says which
// field of the input is wrong and what would be right, or that the same call may succeed later.
package debatetool
