package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/protocol/vote"
)

const prime = "Is 2027 a prime number? Answer yes or no."

// majorityVote ends when all agree. The judge decides a tie.
var majorityVote = kind{
	about: "agents answer, read one another's answers, revise and vote",
	topic: prime,
	config: debate.Config{
		Protocol:     vote.Protocol{Unanimity: vote.Stop},
		Participants: people("Ada", "Bo", "Cy"), Judges: people("Judge"), Limits: debate.Limits{MaxRounds: 2},
	},
	show: showTally,
}

// ringVote shows each agent only the answers of its neighbors.
var ringVote = kind{
	about: "as vote, in a ring: an agent reads the answers of its two neighbors",
	topic: prime,
	config: debate.Config{
		Protocol:     vote.Protocol{Topology: vote.Ring},
		Participants: people("Ada", "Bo", "Cy", "Di", "Eva"), Judges: people("Judge"), Limits: debate.Limits{MaxRounds: 2},
	},
	show: showTally,
}

// The following are variants of the literature, without a judge. The documentation of package vote describes them.

// reconcileVote is ReConcile without convincing explanations.
var reconcileVote = kind{
	about: "ReConcile: votes weigh as much as the agents are sure",
	topic: prime,
	config: debate.Config{
		Protocol:     vote.Protocol{Decision: vote.Confidence, Rescale: true, Grouped: true, Unanimity: vote.Stop},
		Participants: people("Ada", "Bo", "Cy"), Limits: debate.Limits{MaxRounds: 3},
	},
	show: showTally,
}

// groupVote is S²-MAD: agents debate in groups, and read only answers that differ from their own.
var groupVote = kind{
	about: "S²-MAD: groups of agents, who read only answers that differ from their own",
	topic: prime,
	config: debate.Config{
		Protocol:     vote.Protocol{Topology: vote.Groups, Filter: new(0.0), Conditional: true},
		Participants: people("Ada", "Bo", "Cy", "Di", "Eva"),
	},
	show: showTally,
}

// sampledVote asks one agent five times, and there is no debate. Compare debates with it.
var sampledVote = kind{
	about:  "self-consistency: one agent answers five times, without a debate",
	topic:  prime,
	config: debate.Config{Protocol: vote.Protocol{Samples: 5}, Participants: people("Ada")},
	show:   showTally,
}

// showTally prints the answer of the debate, and the answers of each agent by round.
func showTally(w io.Writer, r *debate.Result) error {
	t, err := vote.DecodeAnswer(r.Answer)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%s\n\n", r.Answer.Text)
	for _, a := range t.Agents {
		fmt.Fprintf(w, "%s: %s\n", a.Name, strings.Join(a.Answers, " -> "))
	}
	return nil
}
