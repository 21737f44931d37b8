// Package offline is a script that stands in for a model in the examples. It reads the topic and what was said, but
// understands nothing of it: it quotes, and it counts words. It knows the replies of all protocols of the library.
package offline

import (
	"encoding/json"
	"time"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
)

// Notice says that a script speaks, and what to do about it.
const Notice = "offline: a script speaks, no model"

// Model is the script. When it is slow it takes a second for each reply.
func Model(slow bool) providers.Provider {
	return &scripted.Provider{DiscardCalls: true, Func: func(r providers.Request) scripted.Reply {
		reply := scripted.Reply{Text: replyTo(read(r), r.SchemaName), Chunks: 40}
		if slow {
			reply.Latency = time.Second
		}
		return reply
	}}
}

// replyTo is the reply of a contract, or where none is wanted what the system prompt makes the script say.
func replyTo(p prompt, contract string) string {
	if contract == "" {
		return p.prose()
	}
	reply, known := replies[contract]
	if !known {
		return "I am a script, and know no reply of the kind " + contract + "."
	}
	b, _ := json.Marshal(reply(p)) // plain structs always encode
	return string(b)
}
