// Package vote lets several agents answer one question. Each agent answers alone, then sees other answers and revises
// its own, and a vote or a judge decides.
//
//	d, err := debate.New(ctx, debate.Config{
//		Topic:        "What is the capital of Australia?",
//		Protocol:     vote.Protocol{Decision: vote.Majority},
//		Participants: []debate.Participant{{Name: "Ann"}, {Name: "Ben"}, {Name: "Cem"}},
//	}, options)
//
// In a JSON configuration the protocol's name is "vote/1", and the fields of [Protocol] stand next to it:
//
//	"protocol": {"name": "vote/1", "decision": "confidence", "topology": "ring", "extract": "number"}
//
// A vote takes 2 to 16 agents. It needs a judge only if the judge decides; with another decision, a judge is asked only
// if the vote is a tie or if the last round is incomplete.
//
// In round 1 no agent sees another. In each later round all agents revise at the same time. Each sees its own answer of
// the previous round and those answers of that round that the [Topology] shows it. So the length of a prompt depends on
// the number of agents seen, not on the number of rounds.
//
// Agreement does not prove that an answer is right. A vote after round 1 is often as good as the whole debate;
// docs/voting.md has figures.
//
// # Prompts
//
// The prompts are "vote-answer" in round 1, "vote-revise" in later rounds, and "vote-decide" for the judge.
//
// # Answer
//
// The data of the answer decodes to a [Tally]. Its text lists the answers with their votes.
package vote

import (
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// DecisionRule is how the last answers make one. A judge that is there decides, whatever the DecisionRule, where the vote is a
// tie and where a round was cut short, so that the answers are not of one round.
type DecisionRule string

// The decisions.
const (
	Majority   DecisionRule = "majority"   // most votes, even fewer than half; of equals more confidence in sum, else a tie
	Confidence DecisionRule = "confidence" // the highest sum of confidence; of equals most votes, else a tie
	Judge      DecisionRule = "judge"      // the first judge names whose answer it is; it is not asked where all agree
)

// Unanimity is what follows where all give the same answer.
type Unanimity string

// The settings of unanimity.
const (
	Stop    Unanimity = "stop"    // it ends the debate, in any round
	Prevent Unanimity = "prevent" // in round 1 it prevents the debate; later on it changes nothing
)

// Topology is who sees whom from round 2 on. Where an agent drops out, the others close ranks: a ring stays a ring, and
// the next one becomes the centre of a star. Groups stay as they were.
type Topology string

// The topologies.
const (
	Full   Topology = "full"   // everyone sees everyone
	Ring   Topology = "ring"   // each sees the one before and the one after, in order; the last is next to the first
	Star   Topology = "star"   // the first is the centre and sees everyone; the others see only the centre
	Groups Topology = "groups" // each sees its own group in even rounds, and everyone in odd ones
	Graph  Topology = "graph"  // as Protocol.Graph says
)

// Protocol holds a vote's parameters; its zero value is a majority of texts among agents who all see each other.
type Protocol struct {
	Decision  DecisionRule `json:"decision,omitempty"`  // defaults to majority
	Unanimity Unanimity    `json:"unanimity,omitempty"` // empty: all rounds are held
	Topology  Topology     `json:"topology,omitempty"`  // defaults to full
	// Groups is how many groups the topology "groups" has. Defaults to 2.
	Groups int `json:"groups,omitempty"`
	// Graph says whom each agent sees, by their names, in the topology "graph". Who is not in it sees nobody.
	Graph map[string][]string `json:"graph,omitempty"`
	// Agreement is how much the prompts urge agents to agree, from 0, not at all and rather the opposite, to 1. Nil: they
	// say nothing about it. Tuning it gained published runs about 15 % in accuracy (DebateLLM, Multi-Persona on USMLE).
	Agreement *float64 `json:"agreement,omitempty"`
	// Extract is how answers are read, so that equal ones are seen as equal: "text" (the default) takes the words without
	// case and sentence marks, "number" the last number, "letter" the letter of an option, "boxed" the last \boxed{}. With
	// an Extractor of your own it is that function's name, under which it is stored.
	Extract string `json:"extract,omitempty"`
	// Extractor gives a turn's answer in a canonical form, "" for none. It must be pure. It is no data: an engine that
	// reads stored debates gets it by Options.Protocols.
	Extractor func(transcript.Turn) string `json:"-"`
}

// Name is "vote/1".
func (Protocol) Name() string { return "vote/1" }

// Defaults are two rounds, an answer and one revision, as in the runs of Du et al. that docs/voting.md measures; groups
// take three, of which the third is the first between them.
func (p Protocol) Defaults() protocol.Defaults {
	if p.Topology == Groups {
		return protocol.Defaults{MaxRounds: 3}
	}
	return protocol.Defaults{MaxRounds: 2}
}
