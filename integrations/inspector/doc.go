// Package inspector serves web pages that show debates: a list of them, what people are asked, each debate live, its past
// entry by entry, how each turn came about, what the judges said, and its forks.
//
//	handler, err := inspector.Handler(engine, inspector.Options{Authorize: debatehttp.OwnersOnly("owner"), Principal: signedIn})
//	mux.Handle("/inspector/", http.StripPrefix("/inspector", handler))
//
// The pages are read-only unless Options.Controls is set. docs/serving.md describes them.
//
// # Authorization
//
// Options.Authorize is the function that package debatehttp takes. It is asked for each page and for everything that a page
// reads or sends. A page of a debate needs the action debatehttp.Watch, and a prompt needs debatehttp.Prompt. With
// ?seat=Bo, a page shows what the person who speaks for Bo may see; see debate.Debate.WatchAs.
//
// # Untrusted text
//
// Topics, remarks and replies are untrusted. Pages escape them, and their content security policy allows only the
// handler's own script and style sheet. Pages load nothing from elsewhere.
package inspector
