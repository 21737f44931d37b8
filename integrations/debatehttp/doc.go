// Package debatehttp serves the debates of an engine over HTTP, and provides a client for it.
//
// To use it from an empty folder once v0.1.0 is released, run
//
//	go mod init example.com/debates
//	go get github.com/elenchus-go/debate@v0.1.0
//	go run .
//
// with the main.go of docs/serving.md, whose core is
//
//	engine, err := debate.NewEngine(debate.Options{Providers: map[string]providers.Provider{"openai": model}})
//	handler, err := debatehttp.New(engine, debatehttp.Options{Authorize: debatehttp.AllowEveryone})
//	err = debatehttp.Serve(ctx, listener, engine, handler, time.Minute) // listener listens on 127.0.0.1:8080
//
// The handler launches, lists, follows, controls and deletes debates, takes people's replies, and serves reports. It also
// serves debates to OpenAI clients. GET /openapi.json describes every request, and docs/serving.md explains them. [Client]
// calls a handler over the network.
//
// # Authorization
//
// Options.Authorize is required. It receives who asks, for what, about which debate and as whom, and can restrict lists.
// [OwnersOnly] gives each principal its own debates. [AllowEveryone] allows everything to everyone.
//
// # Servers
//
// [Serve] ends gracefully, and limits what clients can hold: bodies, answers that nobody reads, and connections. [CheckHost]
// protects handlers of yours on a loopback address from pages of other sites.
//
// # Viewers
//
// A viewer who leaves stops nothing. All viewers of a debate share one reading of its journal. A viewer who reads too
// slowly is disconnected, and receives what it has missed when it comes back with Last-Event-ID.
//
// # Untrusted text
//
// Topics, remarks and replies are untrusted. JSON escapes <, > and &. The page of a report has a content security policy
// that forbids scripts. No response contains a stack, or the text of an error that is not the client's concern.
package debatehttp
