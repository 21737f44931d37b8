package report_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/price"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/providers/tool"
	"github.com/elenchus-go/debate/transcript"
)

// articleScene returns a panel of three sides as it could take place, with long turns in Markdown, one of them in Arabic.
func articleScene(t *testing.T) *scene {
	opening := "A city centre is the most valuable land that a city has, and **we give a third of it to parked cars**. Three facts stand out:\n\n" +
		"1. A parked car takes 12 m², which is more than a child's bedroom.\n2. Private cars stand still for 95 % of the day.\n3. Emergency services lose most of their time in traffic, " +
		"[as the fire brigade reports](https://example.org/fire-brigade/2025).\n\n## What a ban changes\n\n" +
		"| City | Year | Trips by car before | after |\n|---|---:|---:|---:|\n| Ghent | 2017 | 55 % | 39 % |\n| Oslo | 2019 | 45 % | 34 % |\n| Pontevedra | 1999 | 66 % | 25 % |\n\n" +
		strings.Repeat("None of these cities has lost trade; the shops that closed were replaced within a year. ", 6) +
		"\n\n> Streets are for people first, and for vehicles where people need them.\n\nThe rule fits in one line: `private && !disabled && !delivery`."
	night := "My opponent describes noon on a Saturday. " + strings.Repeat("Nurses, bakers and cleaners start before the first tram, and they live where rents are low, not where trams run. ", 8) +
		"\n\n- A ban without night buses is a ban for those who earn least.\n- *Nobody* has said what the buses cost.\n\n```text\n4:10  bakery, first shift\n5:02  first tram\n```"
	arabic := "المدن التي تمنع السيارات تحتاج إلى **بدائل** قبل المنع، وليس بعده.\n\n- حافلات ليلية\n- مواقف عند أطراف المدينة"
	score := func(round float64) judge.Assessment {
		a := roundAssessment(round < 3, 6+round/2, 7-round/4)
		a.Participants = append(a.Participants, judge.ParticipantAssessment{Name: "ليلى", Criteria: judge.Rubric(nil).UniformScores(5.5 + round/2)})
		a.Reasoning = "Ada has the better evidence, and Bo the better question: who pays for the night buses?"
		a.Participants[0].Strengths, a.Participants[0].Weaknesses = []string{"names three cities with figures"}, []string{"does not weigh night work"}
		a.Participants[1].Strengths = []string{"speaks for those whom a ban hits first"}
		a.Recommendations = []string{"Say what night buses cost."}
		return a
	}
	verdict := func(winner string) judge.Verdict {
		return judge.Verdict{
			Summary: "All three agree that cars should leave the centre. They differ on the order: Ada wants the ban first, and Bo and ليلى want the buses first.",
			Winner:  winner, Quality: 78, WinnerReasoning: winner + " answered the question that was asked, with figures that others can check.",
			Participants: []judge.KeyPoints{
				{Name: "Ada", Points: []string{"Parked cars take a third of the most valuable land.", "Ghent, Oslo and Pontevedra lost **no** trade."}},
				{Name: "Bo", Points: []string{"Night workers have no other way to work.", "The costs of buses are unknown."}},
				{Name: "ليلى", Points: []string{"البدائل أولاً ثم المنع"}},
			},
			Agreement: []string{"Buses come too rarely at night.", "Deliveries before ten must remain."}, Disagreement: []string{"Whether the ban or the buses come first", "Who pays for the buses"},
			Insights: []string{"The dispute is about the order and not about the aim."}, Dissent: "A ban that is announced creates the pressure to pay for buses; a plan for buses creates none.",
		}
	}
	s := duel(panel.Protocol{}, says(t, opening, "Night buses cost less than car parks: one space costs 3,000 a year.", "I accept a transition of one year."),
		says(t, night, "Then name the year and the budget.", "A year is enough if the budget is decided first."),
		says(t, score(1), score(2), score(3), verdict("Ada")))
	s.config.ID, s.config.Topic = "cars-2026", "Should cities ban private cars from their centres within the next five years?"
	s.models["layla"] = says(t, arabic, "الحافلات قبل المنع.", "سنة واحدة تكفي.")
	s.models["jay"], s.models["kim"] = says(t, score(1), score(2), score(3), verdict("Ada")), says(t, score(2), score(1), score(3), verdict("Bo"), verdict("Bo"))
	s.config.Participants[0].Side, s.config.Participants[1].Side = "for", "against"
	s.config.Participants = append(s.config.Participants, debate.Participant{Name: "ليلى", Provider: "layla", Model: "medium"})
	s.config.Judges = append(s.config.Judges, debate.Participant{Name: "Jay", Provider: "jay", Model: "wise"}, debate.Participant{Name: "Kim", Provider: "kim", Model: "wise"})
	s.config.Limits = debate.Limits{MinRounds: 3, MaxRounds: 3}
	s.config.Prices = price.Prices{"large": {Input: 2, Cached: 0.5, Output: 8}, "small": {Input: 0.2, Output: 0.8}, "medium": {Input: 1, Output: 4}, "wise": {Input: 10, Output: 30}}
	s.open(t)
	s.run(t, nil)
	require.Equal(t, fsm.Completed, s.collect(t).Result.State)
	return s
}

// waitingScene returns a debate that waits for the reply of a person.
func waitingScene(t *testing.T) *scene {
	s := duel(panel.Protocol{}, says(t, "Cars take the space that people need."), says(t), says(t))
	s.config.Participants[1] = debate.Participant{Name: "Bo", Human: true}
	s.open(t)
	s.run(t, nil)
	return s
}

// gateScene returns a debate that waits for a person's permission to begin the first round.
func gateScene(t *testing.T) *scene {
	s := duel(panel.Protocol{}, says(t, "One."), says(t, "Two."), says(t))
	s.config.AskBeforeRounds = true
	s.open(t)
	s.run(t, nil)
	return s
}

// failedScene returns a debate that has stopped with an error in its second turn.
func failedScene(t *testing.T) *scene {
	s := duel(panel.Protocol{}, says(t, "Cars take the space that people need."), says(t, &providers.Error{Kind: providers.Authentication, Err: errors.New("unknown key")}), says(t))
	s.open(t)
	s.run(t, nil)
	return s
}

// canceledScene returns a debate that a person has canceled after the first turn.
func canceledScene(t *testing.T) *scene {
	s := duel(panel.Protocol{}, says(t, "Cars take the space that people need."), says(t), says(t))
	s.open(t)
	for ev, err := range s.debate.Run(t.Context()) {
		require.NoError(t, err)
		if _, ok := ev.(debate.TurnDone); ok {
			break
		}
	}
	require.NoError(t, s.debate.Cancel(t.Context()))
	return s
}

// forkScene returns a fork of a debate with an edited turn.
func forkScene(t *testing.T) *scene {
	s := duel(panel.Protocol{}, says(t, "One."), says(t, "Two.", "Three."), says(t, roundAssessment(false, 6, 6), `{"summary": "A draw.", "quality": 50}`,
		roundAssessment(false, 8, 6), `{"summary": "Ada has figures.", "winner": "Ada", "quality": 60}`))
	d := s.open(t)
	s.run(t, nil)
	first := s.collect(t).Result.Turns[0]
	fork, err := s.engine.Fork(t.Context(), d.ID(), first.Seq, debate.Edits{ID: "fork", Turn: first.Key, Reply: "A parked car takes 12 m²."})
	require.NoError(t, err)
	s.debate = fork
	s.run(t, nil)
	require.Contains(t, s.collect(t).Result.Turns[0].Flags, transcript.Edited)
	return s
}

// evidenceScene returns a debate with documents and a tool. Its speakers cite and quote them, some of them wrongly.
func evidenceScene(t *testing.T) *scene {
	const law = "Any rent above 800 euros is void. The landlord pays the difference back, with interest, within one month."
	const deal = "The rent is 900 euros. It is due on the first day of each month."
	verdict := judge.Verdict{Summary: "Ada quotes the law as it is [1], and nobody has answered the figures [3].", Winner: "Ada", WinnerReasoning: "Bo's quote of the law is altered.", Quality: 60}
	look := scripted.Reply{ToolCalls: []providers.ToolCall{{ID: "1", Name: "search", Arguments: json.RawMessage(`{"words": "rents"}`)}}}
	s := duel(panel.Protocol{}, says(t, look, "Rents rise faster than wages [3], and the law is clear: <quote source=\"law.md\">any rent above 800 euros is void … with interest, within one month</quote>."),
		says(t, "The law says <quote source=\"1\">any rent above 900 euros is void</quote>, and our contract <quote source=\"2\">the rent is 900 euros</quote>. "+
			"Everybody knows: <quote source=\"7\">tenants like to pay</quote> [8]. The law adds <quote source=\"1\">no tenant may ever complain about it</quote> and <quote source=\"1\">one month</quote>."),
		says(t, roundAssessment(false, 8, 5), verdict))
	s.config.ID, s.config.Topic = "rent-2026", "Is the rent too high?"
	s.config.Limits.MaxRounds = 1
	s.config.Participants[0].Tools = []string{"search"}
	s.config.Documents = []evidence.Document{evidence.Shared("law.md", law), evidence.Private("deal <b>.md", deal, "Bo")}
	s.more = func(o *debate.Options) {
		o.Documents = func(context.Context, string, map[string]string, evidence.Document) (string, error) { return deal, nil }
		o.Tools = []tool.Tool{tool.Func(tool.Spec{Name: "search", Description: "Searches statistics."}, func(context.Context, struct {
			Words string `json:"words"`
		},
		) (tool.Result, error) {
			return tool.Result{Sources: []tool.Source{
				{URI: "https://example.org/rents.csv", Title: "Rents, 2015 to 2025", Text: "Rents rose by 41 %."},
				{URI: "https://example.org/wages.csv", Title: "https://example.org/wages.csv", Text: "Wages rose by 23 %."},
			}}, nil
		})}
	}
	s.open(t)
	s.run(t, nil)
	require.Equal(t, fsm.Completed, s.collect(t).Result.State)
	return s
}
