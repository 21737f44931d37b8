// Package debatemcp serves debates over the Model Context Protocol, for clients such as Claude, editors and agents. [Tools] is
// for the other direction: it lets participants and judges of debates call the tools of a server.
//
//	server, err := debatemcp.NewServer(engine, debatemcp.Options{})
//	if err != nil {
//		return err
//	}
//	return server.Run(ctx, &mcp.StdioTransport{})
//
// [NewHandler] serves over HTTP: a client whose connection breaks gets the rest of an answer when it connects again.
//
// The command cmd/debate of this repository has such a server: debate mcp. It keeps its debates in a file.
//
// The server has the tools of package debatetool. Most clients give up a call after 60 seconds, so debate returns after 45
// seconds at most: with the answer, or with the debate's id, the turns so far and what to call next. The debate goes on
// meanwhile. If the client listens, it gets a notification for each turn, and at least every 20 seconds. The notifications
// name the debate's id, so a client whose call is interrupted can continue by it.
//
// If the client has elicitation, debate shows people forms for their replies and decisions. A form outlives the call: the
// reply counts even if the client has given up the call. Without elicitation, the model passes replies on with
// debate_answer.
//
// With a [Sampler], debates use the model of the client, without a key. The client is asked only while it waits in a call.
//
// The resources debate://{id}/report and debate://{id}/transcript are Markdown and text. Clients can subscribe to them. The
// report contains every turn, also those of a round in which a person has not spoken yet; the transcript does not.
package debatemcp
