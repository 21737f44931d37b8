package livetest

import (
	"strings"
	"testing"
	"time"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/transcript"
)

const marks = `[{"criterion": "logical_consistency", "score": 7}, {"criterion": "evidence", "score": 7},
	{"criterion": "engagement", "score": 7}, {"criterion": "novelty", "score": 7}, {"criterion": "persuasiveness", "score": 7},
	{"criterion": "relevance", "score": 7}]`

// TestRun runs the tests against a scripted provider, to show that a service can pass them.
func TestRun(t *testing.T) {
	Run(t, &scripted.Provider{Models: []string{"m"}, Func: func(r providers.Request) scripted.Reply {
		reply := scripted.Reply{Text: "Because of it all, and more.", Chunks: 5, Latency: 5 * time.Millisecond, Usage: transcript.Usage{Input: 9, Output: 8}}
		switch {
		case r.Model != "":
			reply.Err = &providers.Error{Kind: providers.InvalidRequest}
		case r.MaxTokens == 8:
			reply.FinishReason = providers.Length
		case strings.HasPrefix(r.SchemaName, "assessment"):
			reply.Text = `{"participants": [{"name": "Ada", "criteria": ` + marks + `}, {"name": "Bo", "criteria": ` + marks + `}], "quality": 7, "should_continue": true}`
		case strings.HasPrefix(r.SchemaName, "verdict"):
			reply.Text = `{"summary": "Both said something.", "winner": "Ada", "quality": 70}`
		}
		return reply
	}})
}
