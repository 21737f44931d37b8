// Package offline contains the demo model that the examples use if there is no API key. It takes the topic and the
// earlier turns from the prompt, but does not understand them: it only quotes them and counts words. It has a reply for
// each reply contract of the library's protocols.
package offline

import (
	"encoding/json"
	"time"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
)

// Notice tells users that the offline demo model is used.
const Notice = "No API key found; using the offline demo model"

// Model returns the offline demo model. If slow is true, it takes one second for each reply.
func Model(slow bool) providers.Provider {
	return &scripted.Provider{DiscardCalls: true, Func: func(r providers.Request) scripted.Reply {
		reply := scripted.Reply{Text: replyTo(read(r), r.SchemaName), Chunks: 40}
		if slow {
			reply.Latency = time.Second
		}
		return reply
	}}
}

// replyTo returns the reply for a contract, or prose that fits the system prompt if contract is empty.
func replyTo(p prompt, contract string) string {
	if contract == "" {
		return p.prose()
	}
	reply, known := replies[contract]
	if !known {
		return "The offline demo model has no reply for " + contract + "."
	}
	b, _ := json.Marshal(reply(p)) // plain structs always encode
	return string(b)
}
