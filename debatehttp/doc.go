// Package debatehttp serves the debates of an engine over HTTP, and provides a client for it.
//
// From an empty folder, run
//
//	go mod init example.com/debates && go get github.com/elenchus-go/debate
//
// write this as main.go, with a model of yours, and run go run .
//
//	engine, err := debate.NewEngine(debate.Options{Providers: map[string]providers.Provider{"model": model}})
//	handler, err := debatehttp.New(engine, debatehttp.Options{Authorize: debatehttp.AllowEveryone})
//	err = http.ListenAndServe("127.0.0.1:8080", handler)
//
// The handler launches, lists, follows, controls and deletes debates, takes people's replies, and serves reports. GET
// /openapi.json describes every request. docs/http.md explains them.
//
// # Authorization
//
// Options.Authorize is required. It receives who asks, for what, about which debate and as whom, and can restrict lists.
// [OwnersOnly] gives each principal its own debates. [AllowEveryone] allows everything to everyone.
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
