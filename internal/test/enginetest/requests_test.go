package enginetest_test

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol/arbitration"
	"github.com/elenchus-go/debate/protocol/council"
	"github.com/elenchus-go/debate/protocol/mad"
	"github.com/elenchus-go/debate/protocol/oversight"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/protocol/procon"
	"github.com/elenchus-go/debate/protocol/refine"
	"github.com/elenchus-go/debate/protocol/skeptic"
	"github.com/elenchus-go/debate/protocol/vote"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
)

// requestsOf runs a debate and returns all its requests. fails selects requests that fail for good.
func requestsOf(t *testing.T, c debate.Config, fails func(providers.Request) bool) (all []providers.Request, result *debate.Result) {
	t.Helper()
	var names []string
	for i := range c.Participants {
		c.Participants[i].Model = c.Participants[i].Name
		names = append(names, c.Participants[i].Name)
	}
	var mu sync.Mutex
	d := runWith(t, c, scriptedModel(names, func(n int, r providers.Request, reply *scripted.Reply) {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, r)
		if fails != nil && fails(r) {
			reply.Text, reply.Err = "", &providers.Error{Kind: providers.ServerError, Err: fmt.Errorf("call %d fails", n)}
		}
	}))
	debatetest.Finish(t, d)
	return all, debatetest.Result(t, d)
}

// schemasOf returns the different schemas of the requests, by contract.
func schemasOf(requests []providers.Request) map[string][]string {
	different := map[string][]string{}
	for _, r := range requests {
		list := different[r.SchemaName]
		if r.SchemaName != "" && (len(list) == 0 || list[len(list)-1] != string(r.Schema)) {
			different[r.SchemaName] = append(list, string(r.Schema))
		}
	}
	return different
}

// A blind judge's schemas have a property for each pseudonym and each criterion. They are the same in each debate of that size,
// and change only if a participant drops out: then the property of that participant is gone.
func TestABlindJudgesSchemasAreTheSameInDebatesOfOneSize(t *testing.T) {
	const people = `"enum":["Debater A","Debater B","Debater C"]`
	const criteria = `"required":["engagement","evidence","logical_consistency","novelty","persuasiveness","relevance"]`
	var first string
	for i, names := range [][]string{{"Zoe", "Bo", "Ann"}, {"Kim", "Lee", "Max"}} {
		c := configOf(panel.Protocol{Format: panel.RoundLimited, Jury: judge.Jury{Swap: true}}, 2, debate.Limits{MaxRounds: 3}, names...)
		c.ID = fmt.Sprint("d", i)
		calls := 0
		var requests []providers.Request
		synctest.Test(t, func(t *testing.T) {
			var result *debate.Result
			requests, result = requestsOf(t, c, func(r providers.Request) bool {
				if r.Model == names[1] {
					calls++
				}
				return r.Model == names[1] && calls > 1
			})
			require.Equal(t, "dropped", result.Participants[1].State, "%+v", result.Participants)
		})
		schemas := schemasOf(requests)
		before := schemas["assessment/1"][0]
		require.Contains(t, before, `"required":["Debater_A","Debater_B","Debater_C"]`)
		require.Equal(t, 3, strings.Count(before, criteria), "one score for each criterion")
		for _, after := range schemas["assessment/1"][1:] { // the judges know the participant who is gone by different names
			require.Regexp(t, `"required":\["Debater_[ABC]","Debater_[ABC]"\]`, after, "one entry for each participant who is left")
			require.Equal(t, 2, strings.Count(after, criteria))
		}
		for _, verdict := range schemas["verdict/1"] {
			require.Regexp(t, `"required":\["Debater_[ABC]","Debater_[ABC]"\]`, verdict)
			require.Equal(t, 1, strings.Count(verdict, people), "the winner may be any of them")
		}
		require.NotEmpty(t, schemas["verdict/1"])
		require.NotEmpty(t, schemas["assessment/1"][1:])
		if first == "" {
			first = before
		}
		require.Equal(t, first, before)
	}
}

// Who sees the real names gets them in the schema, sorted. Criteria that contain a name hide it from a blind judge.
func TestSchemasListTheNamesThatTheReaderSees(t *testing.T) {
	requests, _ := requestsOf(t, configOf(refine.Protocol{}, 1, debate.Limits{MaxRounds: 1}, "Zoe", "Bo", "Ann"), nil)
	require.Len(t, schemasOf(requests)["peer-critique/1"], 1)
	require.Contains(t, schemasOf(requests)["peer-critique/1"][0], `"enum":["Ann","Bo","Zoe"]`)

	c := configOf(panel.Protocol{Personas: panel.Spectrum}, 1, debate.Limits{MaxRounds: 1}, "Zoe", "Bo", "Ann")
	c.Rubric = judge.Rubric{{Name: "fair to Zoe", Weight: 1}}
	requests, _ = requestsOf(t, c, nil)
	schemas := schemasOf(requests)
	require.Contains(t, schemas["personas/1"][0], `"required":["Ann","Bo","Zoe"]`)
	require.Len(t, schemas["assessment/1"], 1)
	require.Regexp(t, `"required":\["fair_to_Debater_[ABC]"\]`, schemas["assessment/1"][0])
	require.NotContains(t, schemas["assessment/1"][0], "Zoe")
}

// A participant who reads blind sees pseudonyms of the others, and is no stranger to itself: its own name has no pseudonym,
// is not in the schema, and keeps its place in the texts about itself.
func TestABlindParticipantIsNoStrangerToItself(t *testing.T) {
	c := configOf(council.Protocol{Families: [][]string{{"Zoe", "Ann"}}}, 1, debate.Limits{}, "Zoe", "Bo", "Ann", "Kim")
	c.Participants[0].Position, c.Participants[0].Instructions = "Zoe against Bo", "Zoe, be fair to Ann."
	requests, result := requestsOf(t, c, nil)
	seen := map[string]string{} // the order in which each member sees the answers
	for _, r := range requests {
		if r.SchemaName != council.RankingContract.Name() {
			continue
		}
		var prompt strings.Builder
		for _, m := range r.Messages {
			require.NotEqual(t, providers.Assistant, m.Role, "its own answer is not shown")
			prompt.WriteString(m.Text + "\n")
			if _, who, shown := strings.Cut(m.Text, " begin: "); shown && m.Role == providers.User {
				seen[r.Model] += m.Text[strings.Index(m.Text, "\n"):strings.LastIndex(m.Text, "\n")]
				require.Regexp(t, "^Debater [ABC], round 1>>>", who)
			}
		}
		for _, name := range []string{"Zoe", "Bo", "Ann", "Kim"} {
			require.Equal(t, name == r.Model, strings.Contains(prompt.String(), name), "%s in the prompt of %s: %s", name, r.Model, prompt.String())
			require.NotContains(t, string(r.Schema), name)
		}
		people, pattern := 3, `"required":\["Debater_A","Debater_B","Debater_C"\]`
		if r.Model == "Zoe" || r.Model == "Ann" { // they do not rank each other
			people, pattern = 2, `"required":\["Debater_[ABC]","Debater_[ABC]"\]`
			require.NotRegexp(t, `(?s)Rank .*Zoe|Rank .*Ann`, prompt.String())
		}
		require.Regexp(t, pattern, string(r.Schema))
		require.Equal(t, people, strings.Count(seen[r.Model], "\nWords"), prompt.String())
		if r.Model == "Zoe" {
			require.Regexp(t, `begin: your position>>>\nZoe against Debater [ABC]\n`, prompt.String())
			require.Regexp(t, `Zoe, be fair to Debater [ABC]\.`, prompt.String())
		}
	}
	require.Len(t, seen, 4)
	answer, err := council.DecodeAnswer(result.Answer)
	require.NoError(t, err)
	require.Empty(t, answer.Notes)
	for _, k := range answer.Rankings {
		require.NotContains(t, k.Best, k.Member)
		require.Len(t, k.Best, map[bool]int{true: 2, false: 3}[k.Member == "Zoe" || k.Member == "Ann"], "names are mapped back")
	}
}

var internalName = regexp.MustCompile(`Phase:|\w+/1\b|\b(summarizer|retriever|embedder)\b|Style:`)

// Names that only the library knows, such as those of phases and system actors, do not reach models.
func TestInternalNamesDoNotReachModels(t *testing.T) {
	sums := refine.Protocol{SummaryPolicy: refine.SummaryPolicy{Threshold: 10}, FinalSummaryPolicy: refine.SummaryPolicy{Threshold: 10}}
	for name, c := range map[string]debate.Config{
		"panel":             configOf(panel.Protocol{Personas: panel.Binary}, 1, debate.Limits{MaxRounds: 2}, "Ann", "Bo"),
		"structured rounds": configOf(panel.Protocol{Format: panel.StructuredRounds, Personas: panel.MultiPerspective}, 1, debate.Limits{MaxRounds: 3}, "Ann", "Bo"),
		"skeptic":           configOf(skeptic.Protocol{}, 1, debate.Limits{MaxRounds: 2}, "Ann", "Bo"),
		"refine":            configOf(sums, 1, debate.Limits{MaxRounds: 2}, "Ann", "Bo", "Cy"),
		"arbitration":       configOf(arbitration.Protocol{Scores: map[string]float64{"problem": 7, "solution": 5, "market": 6}}, 1, debate.Limits{}, "Ann", "Bo"),
		"procon":            configOf(procon.Protocol{}, 1, debate.Limits{MaxRounds: 3}, "Ann", "Bo"),
		"council":           configOf(council.Protocol{}, 1, debate.Limits{}, "Ann", "Bo", "Cy"),
		"mad":               configOf(mad.Protocol{}, 1, debate.Limits{}, "Ann", "Bo"),
		"oversight":         configOf(oversight.Protocol{Mode: oversight.Interactive, A: "Yes", B: "No", MinWords: 1}, 1, debate.Limits{}, "Ann", "Bo"),
		"vote":              configOf(vote.Protocol{Decision: vote.Judge}, 1, debate.Limits{MaxRounds: 2}, "Ann", "Bo"),
	} {
		t.Run(name, func(t *testing.T) {
			c.Retriever.Provider = "m"
			requests, _ := requestsOf(t, c, nil)
			for _, r := range requests {
				for _, m := range r.Messages {
					if m.Role == providers.Assistant {
						continue
					}
					require.Empty(t, internalName.FindAllString(withoutFieldNames(m.Text), -1), m.Text)
				}
			}
		})
	}
}

// withoutFieldNames removes the lines that describe the fields of a reply.
func withoutFieldNames(text string) string {
	return regexp.MustCompile(`(?m)^ *- \w+ \((text|list|number|whole number|true|one of).*$`).ReplaceAllString(text, "")
}
