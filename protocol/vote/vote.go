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
// A vote takes 2 to 16 agents; [Protocol.Samples] also allows one. With one sample of one agent, the model answers once and
// nothing is decided: compare debates with that, too. It needs a judge only if the judge decides; with another
// decision, the judges are asked only if the vote is a tie or if the last round is incomplete. Several judges decide by
// majority; if more than half of them do not agree on an answer, the vote decides.
//
// In round 1 no agent sees another. In each later round all agents revise at the same time. Each sees its own answer of
// the previous round and those answers of that round that the [Topology] shows it. So the length of a prompt depends on
// the number of agents seen, not on the number of rounds.
//
// Agreement does not prove that an answer is right. A vote after round 1 is often as good as the whole debate;
// docs/measured/voting.md has figures.
//
// # Variants of the literature
//
// Self-consistency (Wang et al. 2022, arXiv 2203.11171): one model answers several times, and the majority decides. It is
// the baseline to compare debates with.
//
//	debate.Config{Participants: []debate.Participant{{Name: "Ann"}}, Protocol: vote.Protocol{Samples: 5}, ...}
//
// Changed: the prompt is that of round 1 of a debate, so that both can be compared, and equal votes are decided by the
// total confidence. The source samples 40 answers at temperatures from 0.5 to 0.7; the default temperature here is 0.7.
//
// ReConcile (Chen et al. 2023, arXiv 2309.13007; code: dinobby/ReConcile): different models answer with confidences, read
// the answers in groups, and decide by rescaled confidence.
//
//	vote.Protocol{Decision: vote.Confidence, Rescale: true, Grouped: true, Convincing: samples, Unanimity: vote.Stop}
//
// The source has three agents, one answer and two rounds of discussion: set Limits.MaxRounds to 3. Changed: each answer
// stays a message of its own between delimiters, and the task lists the groups by name, because answers are not to be
// trusted as instructions; all groups are listed and not only the two largest; a tie is a tie and not decided by order; an
// invalid answer counts as none and not as a random one.
//
// S²-MAD (Zeng et al. 2025, arXiv 2502.04790): groups of agents, without redundant statements, and without agents who see
// nothing new.
//
//	vote.Protocol{Topology: vote.Groups, Filter: new(0.0), Conditional: true}
//
// Changed: statements are compared by their answers and their words. The source also compares embeddings, which need calls
// of their own.
//
// # Prompts
//
// The prompts are "vote-answer" in round 1, "vote-revise" in later rounds, and "vote-decide" for the judges.
//
// # Answer
//
// The data of the answer decodes to a [Tally]. Its text lists the answers with their votes.
package vote

import (
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// DecisionRule determines how the last answers are combined into one. With any rule, a judge, if there is one, decides if
// the vote is a tie or if a round is incomplete, so that the answers are from different rounds.
type DecisionRule string

// The decisions.
const (
	Majority   DecisionRule = "majority"   // most votes, even if fewer than half; then highest total confidence; else a tie
	Confidence DecisionRule = "confidence" // highest total confidence; then most votes; else a tie
	Judge      DecisionRule = "judge"      // the judges decide for an answer; they are not asked if all agree
)

// Unanimity determines what happens if all agents give the same answer.
type Unanimity string

// The settings of unanimity.
const (
	Stop    Unanimity = "stop"    // ends the debate in any round
	Prevent Unanimity = "prevent" // ends the debate in round 1, and has no effect in later rounds
)

// Topology determines whose answers each agent sees from round 2 on. If an agent drops out, the remaining agents form the
// ring, and the next agent becomes the center of the star. Groups do not change.
type Topology string

// The topologies.
const (
	Full   Topology = "full"   // each sees all others
	Ring   Topology = "ring"   // each sees the previous and the next agent; the last and the first are neighbors
	Star   Topology = "star"   // the first is the center and sees all others; the others see only the center
	Groups Topology = "groups" // each sees its own group in even rounds and all others in odd rounds
	Graph  Topology = "graph"  // each sees the agents listed in Protocol.Graph
)

// Protocol holds the parameters of a vote. The zero value decides by majority, compares answers as text, and shows every
// agent the answers of all others.
type Protocol struct {
	Decision  DecisionRule `json:"decision,omitempty"`  // defaults to majority
	Unanimity Unanimity    `json:"unanimity,omitempty"` // empty has no effect: all rounds take place
	Topology  Topology     `json:"topology,omitempty"`  // defaults to full
	// Groups is the number of groups of the topology "groups". Defaults to 2.
	Groups int `json:"groups,omitempty"`
	// Graph lists the names of the agents that each agent sees in the topology "graph". An agent that is not a key sees
	// nobody.
	Graph map[string][]string `json:"graph,omitempty"`
	// Agreement is the level of agreement that the prompts ask for, from 0 (keep your own answer unless it is refuted) to 1
	// (adopt the others' answer unless it is refuted). The prompts state the level in percent and give one of three
	// instructions. Up to 0.25: keep your answer unless you find an error in it. From 0.75: adopt the others' answer unless
	// you find an error in it. In between: give both answers the same scrutiny. If nil, the prompts say nothing about
	// agreement. Tuning it gained published runs about 15 % in accuracy (DebateLLM, Multi-Persona on USMLE).
	Agreement *float64 `json:"agreement,omitempty"`
	// Samples is the number of times that each agent answers in the only round, from 1 to 100. 0 means that each answers once
	// in each round. Each answer is a vote. One sample of one agent is a plain answer, the baseline of everything else. There
	// are no revisions and no judges. If you set the seed of an agent's model, its answers may all be the same. If the model of
	// an agent fails in one sample, the agent drops out, and none of its samples counts.
	Samples int `json:"samples,omitempty"`
	// Rescale counts each confidence as in ReConcile, because models are too confident: up to 60 % as 10, below 80 % as 30,
	// below 90 % as 50, below 100 % as 80, and 100 % as 100. Prompts and agents' results show the confidence as given.
	Rescale bool `json:"rescale,omitempty"`
	// Grouped adds to the prompts of revisions who of those seen gives the same answer, with their confidences.
	Grouped bool `json:"grouped,omitempty"`
	// Convincing holds explanations that convinced an agent of an answer to a similar question, by the agent's name. Each is
	// a text with the question, the explanation and the answer. System prompts show each agent those of all other agents.
	Convincing map[string][]string `json:"convincing,omitempty"`
	// Filter leaves redundant statements out of the prompts of revisions, from 0 to 1. An agent does not see a statement with
	// the same answer as its own or as an earlier one that it sees, if the two texts have at least this share of their words
	// in common. 0 compares only the answers. If nil, nothing is left out.
	Filter *float64 `json:"filter,omitempty"`
	// Conditional lets an agent take part in a revision only if it has no answer or sees a different one. The answer of an
	// agent that does not take part stands. If all answers are equal, the debate ends, as with the unanimity "stop".
	Conditional bool `json:"conditional,omitempty"`
	// Options closes the ballots: an agent's answer is one of these two to sixteen lines, which it names by the number, from
	// 1. Prompts list them. If it is empty, agents may answer what they like.
	Options []string `json:"options,omitempty"`
	// Extract is the name of the extractor that brings answers into a canonical form for comparison: "text" (the default)
	// ignores case and punctuation, "number" takes the last number, "letter" the letter of a choice, or its text if the
	// topic lists the choices with their letters, and "boxed" the content of the last \boxed{}. If you set Extractor, Extract is its
	// name, which is stored with the debate.
	Extract string `json:"extract,omitempty"`
	// Extractor returns the answer of a turn in canonical form, or "" if there is none. It must be a pure function. It is not
	// stored: pass it by Options.Protocols to an engine that reads stored debates.
	Extractor func(transcript.Turn) string `json:"-"`
}

// Name returns "vote/1".
func (Protocol) Name() string { return "vote/1" }

// Defaults returns two rounds, an answer and one revision, as in the runs of Du et al. that docs/measured/voting.md measures. The
// topology "groups" has three rounds, because agents first see other groups in round 3. With Samples there is one round.
func (p Protocol) Defaults() protocol.Defaults {
	switch {
	case p.Samples > 0:
		return protocol.Defaults{MaxRounds: 1}
	case p.Topology == Groups:
		return protocol.Defaults{MaxRounds: 3}
	}
	return protocol.Defaults{MaxRounds: 2}
}
