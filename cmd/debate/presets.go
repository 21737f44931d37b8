package main

import (
	"maps"
	"slices"
	"strings"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/arbitration"
	"github.com/elenchus-go/debate/protocol/council"
	"github.com/elenchus-go/debate/protocol/mad"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/protocol/procon"
	"github.com/elenchus-go/debate/protocol/refine"
	"github.com/elenchus-go/debate/protocol/review"
	"github.com/elenchus-go/debate/protocol/skeptic"
	"github.com/elenchus-go/debate/protocol/vote"
)

// preset is a protocol with its default participants and judge.
type preset struct {
	protocol.Protocol
	agents []debate.Participant
	judge  string // name of the judge; empty if the protocol needs none
}

// presets maps the names of the protocols, without a version, to the presets.
var presets = map[string]preset{
	"panel":   {panel.Protocol{}, []debate.Participant{{Name: "Ada", Side: "for"}, {Name: "Bo", Side: "against"}}, "Judge"},
	"skeptic": {skeptic.Protocol{}, []debate.Participant{{Name: "Proposer", Role: "proposer"}, {Name: "Skeptic", Role: "skeptic"}}, "Synthesizer"},
	"refine": {refine.Protocol{}, []debate.Participant{
		{Name: "architect", Role: "architect"}, {Name: "performance", Role: "performance"}, {Name: "security", Role: "security"},
	}, "Judge"},
	"arbitration": {arbitration.Protocol{}, []debate.Participant{
		{Name: "Advocate", Role: arbitration.Advocate}, {Name: "Challenger", Role: arbitration.Challenger},
	}, "Arbiter"},
	"procon": {procon.Protocol{}, []debate.Participant{
		{Name: "Pro", Position: "The answer to the topic is yes."}, {Name: "Con", Position: "The answer to the topic is no."},
	}, "Judge"},
	"council": {council.Protocol{}, []debate.Participant{{Name: "Ada"}, {Name: "Bo"}, {Name: "Cy"}, {Name: "Di"}}, "Chair"},
	"mad":     {mad.Protocol{}, []debate.Participant{{Name: "Ada", Role: mad.Affirmative}, {Name: "Bo", Role: mad.Negative}}, "Judge"},
	"review":  {review.Protocol{}, []debate.Participant{{Name: "Ada"}, {Name: "Bo"}, {Name: "Cy"}}, "Judge"},
	"vote":    {vote.Protocol{}, []debate.Participant{{Name: "Ada"}, {Name: "Bo"}, {Name: "Cy"}}, ""},
}

// participant returns the nth default participant under another name.
func (k preset) participant(n int, name string) (a debate.Participant) {
	if n < len(k.agents) {
		a = k.agents[n]
	}
	a.Name = name
	return a
}

// roles returns the roles that a participant may have, or nil if the protocol does not restrict them.
func (k preset) roles(c debate.Config) []string {
	own, ok := c.Protocol.(refine.Protocol)
	if !ok {
		return nil
	}
	return slices.Concat([]string{"architect", "generalist", "performance", "security", "testing"}, sortedKeys(own.Roles))
}

func sortedKeys[K ~string, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// withoutVersion returns the name of a protocol without its version.
func withoutVersion(name string) string {
	name, _, _ = strings.Cut(name, "/")
	return name
}
