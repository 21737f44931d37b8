package panel_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/transcript"
)

var (
	formats = []panel.Format{panel.FreeForm, panel.StructuredRounds, panel.RoundLimited, panel.ConvergenceSeeking}
	modes   = []panel.Mode{panel.Sequential, panel.Simultaneous}
	styles  = []panel.PersonaStyle{panel.Binary, panel.Spectrum, panel.MultiPerspective}
)

func ExampleProtocol() {
	p := panel.Protocol{Format: panel.StructuredRounds, Mode: panel.Simultaneous}
	r := &protocol.Record{Participants: []transcript.Profile{{Name: "Ann"}, {Name: "Bob"}}, Judges: []string{"Judge"}, MaxRounds: 3}
	r.Cursor.Run, r.Cursor.Stage = 1, transcript.Speech
	for r.Cursor.Round = 1; r.Cursor.Round <= r.MaxRounds; r.Cursor.Round++ {
		for _, s := range protocol.Next(p, r) {
			fmt.Println(s.Key, s.Prompt)
		}
	}
	// Output:
	// 1/1/opening/Ann/ opening
	// 1/1/opening/Bob/ opening
	// 1/2/rebuttal/Ann/ rebuttal
	// 1/2/rebuttal/Bob/ rebuttal
	// 1/3/closing/Ann/ closing
	// 1/3/closing/Bob/ closing
}

// record returns a debate with the given numbers of participants and judges and without turns.
func record(participants, judges int) *protocol.Record {
	r := &protocol.Record{MinRounds: 1, MaxRounds: 5, Cursor: transcript.Cursor{Run: 1}}
	for i := range participants {
		r.Participants = append(r.Participants, transcript.Profile{Name: fmt.Sprintf("p%d", i+1)})
	}
	for i := range judges {
		r.Judges = append(r.Judges, fmt.Sprintf("j%d", i+1))
	}
	return r
}

func TestCheckSaysAllThatIsWrong(t *testing.T) {
	const (
		noFormat = `protocol.format: "duel" is unknown, use one of ["free-form" "structured-rounds" "round-limited" "convergence-seeking" "oxford"]`
		noMode   = `protocol.mode: "chaos" is unknown, use one of ["sequential" "simultaneous"]`
		noStyle  = `protocol.personas: "clowns" is unknown, use one of ["binary" "spectrum" "multi-perspective"]`
	)
	for _, tt := range []struct {
		name                         string
		protocol                     panel.Protocol
		participants, judges, rounds int
		want                         []string
	}{
		{"the zero panel of two", panel.Protocol{}, 2, 1, 5, nil},
		{"three participants, three judges", panel.Protocol{}, 3, 3, 5, nil},
		{"four participants", panel.Protocol{}, 4, 1, 1, nil},
		{"nobody", panel.Protocol{}, 0, 1, 5, []string{"participants: 0 enabled, a panel takes 2 to 4"}},
		{"one participant", panel.Protocol{}, 1, 1, 5, []string{"participants: 1 enabled, a panel takes 2 to 4"}},
		{"five participants", panel.Protocol{}, 5, 1, 5, []string{"participants: 5 enabled, a panel takes 2 to 4"}},
		{"no judge", panel.Protocol{}, 2, 0, 5, []string{"judges: none, a panel needs one"}},
		{"an unknown format", panel.Protocol{Format: "duel"}, 2, 1, 5, []string{noFormat}},
		{"an unknown mode", panel.Protocol{Mode: "chaos"}, 2, 1, 5, []string{noMode}},
		{"an unknown style", panel.Protocol{Personas: "clowns"}, 2, 1, 5, []string{noStyle}},
		{"structured rounds with room for opening and closing", panel.Protocol{Format: panel.StructuredRounds}, 2, 1, 2, nil},
		{
			"structured rounds without room for a closing",
			panel.Protocol{Format: panel.StructuredRounds},
			2, 1, 1,
			[]string{"limits.max_rounds: 1, structured rounds need at least 2: an opening and a closing"},
		},
		{"Oxford style without sides", panel.Protocol{Format: panel.Oxford}, 2, 1, 3, []string{
			`participants: "p1" has the side "", use "for" or "against" in the format "oxford"`, `participants: "p2" has the side "", use "for" or "against" in the format "oxford"`,
			`participants: nobody has the side "for"`, `participants: nobody has the side "against"`,
		}},
		{"rotating judges", panel.Protocol{RotateJudges: true}, 2, 2, 5, nil},
		{"one judge cannot rotate", panel.Protocol{RotateJudges: true}, 2, 1, 5, []string{"protocol.rotate_judges: there is 1 judge, use at least 2"}},
		{"a devil's advocate", panel.Protocol{DevilsAdvocate: true, Format: panel.ConvergenceSeeking}, 2, 1, 2, nil},
		{"no round for a devil's advocate", panel.Protocol{DevilsAdvocate: true}, 2, 1, 1, []string{"limits.max_rounds: 1, a devil's advocate speaks in round 2 at the earliest"}},
		{
			"a devil's advocate with another task",
			panel.Protocol{DevilsAdvocate: true, Format: panel.StructuredRounds},
			2, 1, 5,
			[]string{`protocol.devils_advocate: the rounds of the format "structured-rounds" have fixed tasks, use another format`},
		},
		{"another format with one round", panel.Protocol{Format: panel.RoundLimited}, 2, 1, 1, nil},
		{
			"everything unknown, nobody there",
			panel.Protocol{Format: "duel", Mode: "chaos", Personas: "clowns"},
			0, 0, 5,
			[]string{"participants: 0 enabled, a panel takes 2 to 4", "judges: none, a panel needs one", noFormat, noMode, noStyle},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := record(tt.participants, tt.judges)
			r.MaxRounds = tt.rounds
			var got []string
			for _, p := range tt.protocol.Check(r) {
				got = append(got, p.String())
			}
			require.Equal(t, tt.want, got)
		})
	}
	for _, f := range formats {
		for _, m := range modes {
			for _, s := range styles {
				require.Empty(t, panel.Protocol{Format: f, Mode: m, Personas: s}.Check(record(2, 1)), "%s %s %s", f, m, s)
			}
		}
	}
}

// Parameters are stored with the debate, and stored parameters are checked like new ones.
func TestParametersAreStoredInThisForm(t *testing.T) {
	for _, tt := range []struct {
		name     string
		protocol panel.Protocol
		json     string
		problems int
	}{
		{"defaults", panel.Protocol{}, `{}`, 0},
		{
			"all given",
			panel.Protocol{Format: panel.ConvergenceSeeking, Mode: panel.Simultaneous, Personas: panel.MultiPerspective},
			`{"format":"convergence-seeking","mode":"simultaneous","personas":"multi-perspective"}`, 0,
		},
		{"a format that there is not", panel.Protocol{Format: "duel"}, `{"format":"duel"}`, 1},
		{"nothing that there is", panel.Protocol{Format: "duel", Mode: "chaos", Personas: "clowns"}, `{"format":"duel","mode":"chaos","personas":"clowns"}`, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b, err := json.Marshal(tt.protocol)
			require.NoError(t, err)
			require.JSONEq(t, tt.json, string(b))
			var back panel.Protocol
			require.NoError(t, json.Unmarshal(b, &back))
			require.Equal(t, tt.protocol, back)
			require.Len(t, back.Check(record(2, 1)), tt.problems)
		})
	}
	require.Equal(t, "panel/1", panel.Protocol{}.Name())
	require.Implements(t, (*protocol.Protocol)(nil), panel.Protocol{})
}

// outline describes phases without the fields that all steps of a panel share.
func outline(phases []protocol.Phase) []string {
	list := []string{}
	for _, p := range phases {
		how := "in turn"
		if p.Parallel {
			how = "at once"
		}
		for _, s := range p.Steps {
			list = append(list, fmt.Sprintf("%s %s: %s %s %s", p.Name, how, s.Actor, s.Prompt, s.Contract))
		}
	}
	return list
}

func TestStagesOfAPanel(t *testing.T) {
	for _, tt := range []struct {
		name     string
		protocol panel.Protocol
		stage    transcript.Kind
		want     []string
	}{
		{"no setup without personas", panel.Protocol{}, transcript.Setup, []string{}},
		{"personas are assigned at once for all", panel.Protocol{Personas: panel.Binary}, transcript.Setup, []string{"personas in turn: personas personas personas/1"}},
		{"each responds in turn", panel.Protocol{}, transcript.Speech, []string{"respond in turn: p1 free-form ", "respond in turn: p2 free-form ", "respond in turn: p3 free-form "}},
		{
			"all respond at once",
			panel.Protocol{Mode: panel.Simultaneous},
			transcript.Speech,
			[]string{"respond at once: p1 free-form ", "respond at once: p2 free-form ", "respond at once: p3 free-form "},
		},
		{"the judges assess, none hears another", panel.Protocol{}, transcript.Assessment, []string{"assess at once: j1 assess assessment/1", "assess at once: j2 assess assessment/1"}},
		{"the judges give verdicts, none hears another", panel.Protocol{}, transcript.Conclusion, []string{"verdict at once: j1 verdict verdict/1", "verdict at once: j2 verdict verdict/1"}},
		{"nothing else", panel.Protocol{}, "", []string{}},
		{"nothing for remarks", panel.Protocol{}, transcript.Remark, []string{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := record(3, 2)
			r.Cursor.Round, r.Cursor.Stage = 2, tt.stage
			require.Equal(t, tt.want, outline(tt.protocol.Phases(r)))
		})
	}
}

func TestJudgesAndPersonasAreTheSameInAllFormats(t *testing.T) {
	for _, stage := range []transcript.Kind{transcript.Setup, transcript.Assessment, transcript.Conclusion} {
		for _, f := range formats {
			for _, m := range modes {
				r := record(2, 3)
				r.Cursor.Round, r.Cursor.Stage = 2, stage
				want := panel.Protocol{Personas: panel.Spectrum}.Phases(r)
				require.Equal(t, outline(want), outline(panel.Protocol{Format: f, Mode: m, Personas: panel.Spectrum}.Phases(r)), "%s %s", f, m)
			}
		}
	}
}

func TestSpeechesOfEachFormat(t *testing.T) {
	for _, tt := range []struct {
		name          string
		format        panel.Format
		round, rounds int
		phase, prompt string
	}{
		{"free-form is what there is without a word", "", 1, 5, "respond", "free-form"},
		{"free-form, first round", panel.FreeForm, 1, 5, "respond", "free-form"},
		{"free-form, last round", panel.FreeForm, 5, 5, "respond", "free-form"},
		{"round-limited, first round", panel.RoundLimited, 1, 5, "respond", "round-limited"},
		{"round-limited, last round", panel.RoundLimited, 5, 5, "respond", "round-limited"},
		{"convergence-seeking", panel.ConvergenceSeeking, 3, 5, "respond", "convergence-seeking"},
		{"structured, first of two", panel.StructuredRounds, 1, 2, "opening", "opening"},
		{"structured, last of two", panel.StructuredRounds, 2, 2, "closing", "closing"},
		{"structured, first of five", panel.StructuredRounds, 1, 5, "opening", "opening"},
		{"structured, second of five", panel.StructuredRounds, 2, 5, "rebuttal", "rebuttal"},
		{"structured, fourth of five", panel.StructuredRounds, 4, 5, "rebuttal", "rebuttal"},
		{"structured, last of five", panel.StructuredRounds, 5, 5, "closing", "closing"},
		{"structured, the limit was lowered meanwhile", panel.StructuredRounds, 4, 3, "closing", "closing"},
	} {
		for _, m := range append(modes, "") {
			t.Run(fmt.Sprintf("%s, %s", tt.name, m), func(t *testing.T) {
				r := record(2, 1)
				r.Cursor.Round = tt.round
				r.Cursor.Stage = transcript.Speech
				r.MaxRounds = tt.rounds
				got := panel.Protocol{Format: tt.format, Mode: m}.Phases(r)
				require.Len(t, got, 1)
				require.Equal(t, tt.phase, got[0].Name)
				require.Equal(t, m == panel.Simultaneous, got[0].Parallel)
				for i, s := range got[0].Steps {
					require.Equal(t, r.Participants[i].Name, s.Actor)
					require.Equal(t, tt.prompt, s.Prompt)
					require.Empty(t, s.Contract, "a speech is free text")
					require.Nil(t, s.Show, "all that was said may be shown")
				}
			})
		}
	}
}

func TestWhoDroppedOutDoesNotSpeak(t *testing.T) {
	r := record(4, 1)
	r.Cursor.Round, r.Cursor.Stage = 1, transcript.Speech
	r.Drop("p2")
	require.Equal(t, []string{"respond in turn: p1 free-form ", "respond in turn: p3 free-form ", "respond in turn: p4 free-form "}, outline(panel.Protocol{}.Phases(r)))
}

func TestPromptsReadTheParameters(t *testing.T) {
	for _, f := range append(formats, "") {
		for _, s := range append(styles, "") {
			want := map[string]string{"format": string(f), "style": string(s)}
			if f == "" {
				want["format"] = "free-form"
			}
			for _, stage := range []transcript.Kind{transcript.Setup, transcript.Speech, transcript.Assessment, transcript.Conclusion} {
				r := record(2, 2)
				r.Cursor.Round, r.Cursor.Stage = 1, stage
				for _, p := range (panel.Protocol{Format: f, Mode: panel.Simultaneous, Personas: s}).Phases(r) {
					for _, step := range p.Steps {
						require.Equal(t, want, step.Vars, "%s %s %s", f, s, stage)
					}
				}
			}
		}
	}
}

// What no check has seen leads to phases with steps.
func TestUnknownParametersAreNoPanic(t *testing.T) {
	for _, stage := range []transcript.Kind{transcript.Setup, transcript.Speech, transcript.Assessment, transcript.Conclusion} {
		r := record(2, 1)
		r.Cursor.Round, r.Cursor.Stage = 1, stage
		for _, p := range (panel.Protocol{Format: "duel", Mode: "chaos", Personas: "clowns"}).Phases(r) {
			require.NotEmpty(t, p.Steps)
		}
	}
}

// Raising the limit during a closing round does not repeat the turns of those who have spoken.
func TestARoundThatHasBegunKeepsItsPart(t *testing.T) {
	p := panel.Protocol{Format: panel.StructuredRounds}
	r := &protocol.Record{Participants: []transcript.Profile{{Name: "A"}, {Name: "B"}}, Judges: []string{"J"}, MaxRounds: 2}
	r.Cursor = transcript.Cursor{Run: 1, Round: 2, Stage: transcript.Speech}
	steps := protocol.Next(p, r)
	require.Equal(t, "closing", steps[0].Phase)
	require.True(t, r.Apply(transcript.Turn{Key: steps[0].Key, Kind: transcript.Speech, Seq: 1}))
	r.MaxRounds = 5
	steps = protocol.Next(p, r)
	require.Equal(t, transcript.Key{Run: 1, Round: 2, Phase: "closing", Actor: "B"}, steps[0].Key)
	require.Equal(t, "closing", steps[0].Prompt)
}

func TestJudgesDoNotKnowWhoIsWho(t *testing.T) {
	for _, stage := range []transcript.Kind{transcript.Assessment, transcript.Conclusion} {
		r := record(2, 2)
		r.Cursor.Round, r.Cursor.Stage = 1, stage
		for _, s := range (panel.Protocol{}).Phases(r)[0].Steps {
			require.True(t, s.Blind)
			require.False(t, s.Swap)
		}
	}
}

func TestEachJudgeJudgesInBothOrders(t *testing.T) {
	r := record(2, 2)
	r.Cursor.Round, r.Cursor.Stage = 1, transcript.Assessment
	phases := panel.Protocol{Jury: judge.Jury{Swap: true}}.Phases(r)
	require.Len(t, phases, 1)
	require.True(t, phases[0].Parallel)
	var got []string
	for _, s := range phases[0].Steps {
		require.True(t, s.Blind)
		require.Equal(t, s.Swap, s.Target == judge.Swapped)
		got = append(got, s.Actor+" "+s.Target)
	}
	require.Equal(t, []string{"j1 ", "j2 ", "j1 swapped order", "j2 swapped order"}, got)
}

func TestTheAnswerIsTheJudgesVerdict(t *testing.T) {
	verdicts := func(winners ...string) *protocol.Record {
		r := record(2, len(winners))
		r.Cursor.Round, r.Cursor.Stage = 1, transcript.Conclusion
		r.StartPhase("verdict", 1)
		for i, winner := range winners {
			v := judge.Verdict{Summary: "So it is.", Winner: winner, Quality: 60}
			data, err := json.Marshal(v)
			require.NoError(t, err)
			require.True(t, r.Apply(transcript.Turn{
				Key:  transcript.Key{Run: 1, Round: 1, Phase: "verdict", Actor: r.Judges[i]},
				Kind: transcript.Conclusion, Order: i, Seq: r.Seq + 1, Contract: "verdict/1", Text: v.Text(), Data: data,
			}))
		}
		return r
	}
	require.Zero(t, panel.Protocol{}.Answer(verdicts()))

	one := panel.Protocol{}.Answer(verdicts("p1"))
	require.Equal(t, "So it is.\nWinner: p1\nQuality of the debate: 60 of 100", one.Text)
	var alone judge.Opinion[judge.Verdict]
	require.NoError(t, json.Unmarshal(one.Data, &alone))
	require.Equal(t, "p1", alone.Value.Winner)

	several := panel.Protocol{}.Answer(verdicts("p1", "p2", "p2"))
	var joint judge.Opinion[judge.Verdict]
	require.NoError(t, json.Unmarshal(several.Data, &joint))
	require.Equal(t, "p2", joint.Value.Winner)
	require.Len(t, joint.Opinions, 3)
	require.Contains(t, several.Text, "Winner: p2")
	require.Contains(t, several.Text, joint.Dissent[0])
}
