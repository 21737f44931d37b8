package crashtest

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/test/enginetest"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/protocol/vote"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
)

// kinds lists the names of the kinds of debates.
var kinds = slices.Sorted(maps.Keys(enginetest.PresetConfigs()))

// NewID returns a random ID. It begins with the number of a kind.
func NewID() string { return fmt.Sprintf("%d-%016x", rand.IntN(len(kinds)), rand.Uint64()) }

// stepTimeout limits a step. A step takes milliseconds, but the machine may be busy.
const stepTimeout = 3 * time.Minute

// kindOf returns the index in kinds of the debate with this ID.
func kindOf(id string) int {
	number, _, _ := strings.Cut(id, "-")
	kind, _ := strconv.Atoi(number) // NewID writes a number
	return kind
}

// NewConfig returns the configuration of the debate with this ID. It has three rounds at most, and half of the debates
// ask a person about failures. In a quarter of them, a participant and a judge are people, and there are gates.
func NewConfig(id string) debate.Config {
	c := enginetest.PresetConfigs()[kinds[kindOf(id)]]
	c.ID = id
	c.Limits.StepTimeout = stepTimeout
	c.Limits.RunningTime = 1000 * time.Hour // or the load of the machine would end steps
	if hasPeople(id) {
		c.AskBeforeRounds, c.AskBeforeVerdict = true, len(c.Judges) > 0
		c.Participants[1].Human, c.Participants[1].Window = true, 0
		if len(c.Judges) > 0 {
			c.Judges[0].Human = true
		}
	}
	for _, list := range [][]debate.Participant{c.Participants, c.Judges} {
		for i := range list {
			if list[i].Human {
				continue
			}
			list[i].Provider, list[i].Model = "m", id+"/"+list[i].Name
		}
	}
	c.Retriever.Model = id + "/retriever"
	c.Summarizer = debate.Participant{Provider: "m", Model: id + "/summarizer"}
	if p, ok := c.Protocol.(panel.Protocol); ok && p.Personas != "" {
		c.PersonaAssigner = debate.Participant{Provider: "m", Model: id + "/personas"}
	}
	if c.Embedder.Provider != "" {
		c.Embedder.Model = id + "/embedder"
	}
	if p, ok := c.Protocol.(panel.Protocol); ok {
		p.Jury = judge.Jury{} // one call for each step
		if s := &p.Selection.Calibration; s.Decisions > 0 {
			s.Decisions, s.Margin = len(s.Judges), len(s.Judges)
		}
		c.Protocol = p
	}
	if hasTools(id) {
		c.Limits.OutputTokens = 10_000_000 // or failed calls would leave less for the rounds of tools
		for _, list := range [][]debate.Participant{c.Participants, c.Judges} {
			for i := range list {
				if !list[i].Human {
					list[i].Tools = []string{lookUp}
				}
			}
		}
	}
	if last := id[len(id)-1]; last >= '0' && last <= '7' {
		c.OnFailure = debate.Ask
		c.OnJudgeFailure = debate.Ask
		c.OnRetrievalFailure = debate.Ask
	}
	return c
}

// isSteered reports whether children change the course of the debate with this ID: they inject remarks, stop it, cancel it,
// and reset it with another topic. No undisturbed debate is the same, so the trial checks these debates otherwise. Only
// long trials have them.
func isSteered(id string) bool { return Soak() && id[len(id)-3] >= 'c' }

// Soak reports whether DEBATE_KILLS_EACH is set, which asks for a long trial.
func Soak() bool { return os.Getenv("DEBATE_KILLS_EACH") != "" }

// hasTools reports whether the models of the debate with this ID call tools.
func hasTools(id string) bool { return id[len(id)-4] >= '8' }

// hasPeople reports whether people take part in the debate with this ID.
func hasPeople(id string) bool { return id[len(id)-2] >= 'c' }

// callsAtOnce returns the number of calls that an actor of the debate with this ID may have in progress.
func callsAtOnce(id string) int {
	p, _ := NewConfig(id).Protocol.(vote.Protocol)
	return max(p.Samples, 1)
}

// DigestModel returns a model that answers each request with a digest of the whole request.
func DigestModel(latency time.Duration) providers.Provider {
	return &scripted.Provider{DiscardCalls: true, Func: func(r providers.Request) scripted.Reply {
		id, _, _ := strings.Cut(r.Model, "/")
		text := enginetest.PresetReply(NewConfig(id), r)
		if calls := toolCalls(r, text); calls != nil {
			return scripted.Reply{ToolCalls: calls, Latency: latency}
		}
		return scripted.Reply{Text: text, Chunks: 3, Latency: latency}
	}}
}
