// Package debatea2a offers debates to other agents over the protocol A2A.
//
//	agent, err := debatea2a.New(engine, debatea2a.Options{})
//	if err != nil {
//		log.Fatal(err)
//	}
//	handler := agent.Handler(agent.Card("http://127.0.0.1:8080"))
//	err = debatehttp.Serve(ctx, listener, engine, debatehttp.CheckHost(handler), time.Minute)
//
// A task is a debate, and has its id. Call Engine.Recover when a server starts. The README of the module describes
// messages, artifacts, states and users.
package debatea2a
