// Package council lets several members answer one question, rank one another's answers under pseudonyms, and a chair
// write the final answer.
//
//	d, err := debate.New(ctx, debate.Config{
//		Topic:        "How should a small team back up its database?",
//		Protocol:     council.Protocol{},
//		Participants: []debate.Participant{{Name: "Ada"}, {Name: "Bo"}, {Name: "Cy"}, {Name: "Di"}},
//		Judges:       []debate.Participant{{Name: "Chair"}},
//	}, options)
//
// In a JSON configuration the protocol's name is "council/1", and the fields of [Protocol] stand next to it:
//
//	"protocol": {"name": "council/1", "families": [["Ada", "Bo"]]}
//
// A council takes 3 to 16 participants, its members, and one judge, its chair. It has one round with two phases. First
// all members answer at the same time, and none sees another's answer. Then each member ranks the answers of the others,
// whom it knows only by pseudonyms; its own answer is not among them. At the end, the chair reads the answers and the
// rankings, also under pseudonyms, and writes the final answer. If a member drops out, the others continue.
//
// # Borda count
//
// A member that ranks m answers gives its first choice 1 point and its last 0, in equal steps: the answer in place k, from
// 1, gets (m-k)/(m-1) points. If there is only one answer to rank, it gets half a point. The score of an answer is the
// mean of the points from all members that ranked it, rounded to four digits. Answers that a member puts in one place share
// the points of their places. So the number of answers that each member
// ranks, and the number of members that rank an answer, do not matter. An answer that nobody ranked has the neutral score
// 0.5. Answers with the same score share a place.
//
// # Prompts
//
// The prompts are "council-answer", "council-rank" and, for the chair, "council-conclude".
//
// # Answer
//
// The data of the answer decodes to a [Result]. Its text is the chair's answer. If the chair failed, the best-ranked answer
// stands in. If something is missing, such as a member's ranking or the chair's answer, the text begins with a sentence for
// each such thing, and Result.Notes holds these sentences.
//
// # Source
//
// The protocol follows llm-council by Andrej Karpathy (https://github.com/karpathy/llm-council). Its defaults are four
// models, one round, no token limits of its own, and the services' own temperatures. This package differs in the following:
//
//   - Nobody ranks its own answer, and you can exclude answers of the same family; see [Protocol]. In the source, each
//     model also ranks its own answer.
//   - Each member knows the others by pseudonyms that are drawn for that member, and sees the answers in their order. In
//     the source, all models see the same letters, in the order of the configuration.
//   - A ranking is a structured reply that must rank each answer once. The source reads a list from free text.
//   - Normalized Borda points replace the average position. Both order the answers alike if all members rank the same
//     number of answers.
//   - The chair sees pseudonyms instead of models' names, and also the scores.
//   - If the chair fails, the best-ranked answer stands in, and the answer says so. In the source, an error message is the
//     answer.
//   - Prompts are written anew. Temperatures and token limits have the library's defaults.
package council

import (
	"fmt"
	"slices"

	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// Protocol holds the parameters of a council.
type Protocol struct {
	// Families lists groups of members whose models are related, by name, such as [["Ada", "Bo"]]. No member ranks an
	// answer of its own family. A protocol does not know the members' models, so list members with the same model here too.
	// If empty, each member ranks all answers but its own.
	Families [][]string `json:"families,omitempty"`
}

// Name returns "council/1".
func (Protocol) Name() string { return "council/1" }

// Defaults returns one round. A council has no more.
func (Protocol) Defaults() protocol.Defaults { return protocol.Defaults{MaxRounds: 1} }

// Check requires three to sixteen participants, a judge, and one round. Members of a family must be participants, and a
// family must not include all of them. After the start, one remaining participant is enough.
func (p Protocol) Check(r *protocol.Record) []protocol.Problem {
	var problems protocol.Problems
	switch n, begun := len(r.Participants), r.Cursor.Round > 0; {
	case begun && n < 1:
		problems.Add("participants", "%d enabled, a council that has begun needs 1", n)
	case !begun && n < 3 || n > 16:
		problems.Add("participants", "%d enabled, a council takes 3 to 16", n)
	}
	if len(r.Judges) == 0 {
		problems.Add("judges", "none, a council needs a chair")
	}
	problems = append(problems, r.FurtherJudges()...)
	if r.MaxRounds > 1 {
		problems.Add("limits.max_rounds", "%d, a council has 1 round", r.MaxRounds)
	}
	if r.Cursor.Round == 0 { // participants may drop out later
		p.checkFamilies(r, &problems)
	}
	return problems
}

// checkFamilies adds the problems of Families.
func (p Protocol) checkFamilies(r *protocol.Record, problems *protocol.Problems) {
	members := r.ParticipantNames()
	var seen []string
	for i, family := range p.Families {
		field := fmt.Sprintf("protocol.families[%d]", i)
		for _, name := range family {
			switch unknown := r.UnknownNames(field, name); {
			case len(unknown) > 0:
				*problems = append(*problems, unknown...)
			case slices.Contains(seen, name):
				problems.Add(field, "%q is listed twice, list each participant once", name)
			default:
				seen = append(seen, name)
			}
		}
		if !slices.ContainsFunc(members, func(name string) bool { return !slices.Contains(family, name) }) {
			problems.Add(field, "it has all participants, so nobody would rank an answer; leave one out")
		}
	}
}

// related reports whether a member does not rank the answer of another, because it is its own or of its family.
func (p Protocol) related(a, b string) bool {
	return a == b || slices.ContainsFunc(p.Families, func(family []string) bool {
		return slices.Contains(family, a) && slices.Contains(family, b)
	})
}

// End returns the zero Ending: the debate ends after its only round.
func (Protocol) End(*protocol.Record) transcript.Ending { return transcript.Ending{} }
