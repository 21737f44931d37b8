package refine_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/refine"
	"github.com/elenchus-go/debate/transcript"
)

func TestCheckSaysAllThatIsWrong(t *testing.T) {
	seats := func(roles ...string) (list []transcript.Profile) {
		for i, role := range roles {
			list = append(list, transcript.Profile{Name: string(rune('A' + i)), Role: role})
		}
		return list
	}
	poet := map[string]refine.RolePrompt{"poet": {System: "You rhyme."}}
	for _, tt := range []struct {
		name   string
		p      refine.Protocol
		seats  []transcript.Profile
		judges []string
		want   []string
	}{
		{"two without roles", refine.Protocol{}, seats("", ""), []string{"J"}, nil},
		{"all built-in roles", refine.Protocol{}, seats("architect", "performance", "security", "testing", "generalist"), []string{"J"}, nil},
		{"eight", refine.Protocol{}, seats("", "", "", "", "", "", "", ""), []string{"J"}, nil},
		{"nine", refine.Protocol{}, seats("", "", "", "", "", "", "", "", ""), []string{"J"}, []string{"participants: 9 enabled, refine takes 2 to 8"}},
		{"one, and no judge", refine.Protocol{}, seats(""), nil, []string{"participants: 1 enabled, refine takes 2 to 8", "judges: none, refine needs one"}},
		{"a role of one's own", refine.Protocol{Roles: poet}, seats("poet", ""), []string{"J"}, nil},
		{
			"an unknown role",
			refine.Protocol{Roles: poet},
			seats("", "wizard"),
			[]string{"J"},
			[]string{`participants[1].role: "wizard" of B is unknown, the roles are ["architect" "generalist" "performance" "poet" "security" "testing"]`},
		},
		{"role names are case-sensitive", refine.Protocol{}, seats("", "Architect"), []string{"J"}, []string{`participants[1].role: "Architect" of B is unknown, the roles are ["architect" "generalist" "performance" "security" "testing"]`}},
		{"an own role without a system prompt", refine.Protocol{Roles: map[string]refine.RolePrompt{"poet": {System: " ", Critique: "Rhyme."}}}, seats("", ""), []string{"J"}, []string{"protocol.roles.poet.system: it is blank, describe the role and its focus"}},
		{"part of a built-in role", refine.Protocol{Roles: map[string]refine.RolePrompt{"testing": {Critique: "Break it."}}}, seats("testing", ""), []string{"J"}, nil},
		{"a role with a blank name", refine.Protocol{Roles: map[string]refine.RolePrompt{" x": {System: "x"}}}, seats("", ""), []string{"J"}, []string{`protocol.roles: " x": use a name that is not empty, without leading or trailing spaces`}},
		{
			"limits",
			refine.Protocol{
				SummaryPolicy: refine.SummaryPolicy{Threshold: -1, TargetLength: 5}, FinalSummaryPolicy: refine.SummaryPolicy{TargetLength: -2},
				AgentSummaryPolicies: map[string]refine.SummaryPolicy{"A": {TargetLength: 5001}, "B": {Threshold: 1}, "Zoe": {Threshold: 10, TargetLength: 11}},
			},
			seats("", ""),
			[]string{"J"},
			[]string{
				"protocol.summary_policy.threshold: -1, use 1 or more, or leave it out for 5000",
				"protocol.agent_summary_policies.A.target_length: 5001, use 1 to 5000, the threshold",
				"protocol.agent_summary_policies.Zoe.target_length: 11, use 1 to 10, the threshold",
				`protocol.agent_summary_policies: "Zoe" is not a participant, the participants are ["A" "B"]`,
				"protocol.final_summary_policy.target_length: -2, use 1 to 16000, the threshold",
			},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, p := range tt.p.Check(&protocol.Record{Participants: tt.seats, Judges: tt.judges, MaxRounds: 3}) {
				got = append(got, p.String())
			}
			require.Equal(t, tt.want, got)
		})
	}
}

// The policy of a participant who drops out is not an error.
func TestALimitMayOutliveItsAgent(t *testing.T) {
	p := refine.Protocol{AgentSummaryPolicies: map[string]refine.SummaryPolicy{"C": {Disabled: true}}}
	x := sit(t, p, "A", "B", "C")
	require.Empty(t, p.Check(x.r))
	x.begin(transcript.Speech, 1).r.Drop("C")
	require.Empty(t, p.Check(x.r))
}

func TestParametersAreStoredInThisForm(t *testing.T) {
	for _, tt := range []struct {
		p    refine.Protocol
		json string
	}{
		{refine.Protocol{}, `{}`},
		{
			refine.Protocol{
				Roles:       map[string]refine.RolePrompt{"poet": {System: "s", Propose: "p", Critique: "c", Refine: "r", Source: "poet.md"}},
				FullHistory: true, SummaryPolicy: refine.SummaryPolicy{Threshold: 9, TargetLength: 3}, FinalSummaryPolicy: refine.SummaryPolicy{Threshold: 7},
				AgentSummaryPolicies: map[string]refine.SummaryPolicy{"A": {Disabled: true}},
			},
			`{"roles":{"poet":{"system":"s","propose":"p","critique":"c","refine":"r","source":"poet.md"}},"full_history":true,
			"summary_policy":{"threshold":9,"target_length":3},"agent_summary_policies":{"A":{"disabled":true}},"final_summary_policy":{"threshold":7}}`,
		},
	} {
		b, err := json.Marshal(tt.p)
		require.NoError(t, err)
		require.JSONEq(t, tt.json, string(b))
		var back refine.Protocol
		require.NoError(t, json.Unmarshal(b, &back))
		require.Equal(t, tt.p, back)
	}
	require.Equal(t, "refine/1", refine.Protocol{}.Name())
	require.Equal(t, protocol.Defaults{MaxRounds: 3}, refine.Protocol{}.Defaults())
	require.Implements(t, (*protocol.Protocol)(nil), refine.Protocol{})
	require.Implements(t, (*protocol.Answerer)(nil), refine.Protocol{})
	require.Implements(t, (*protocol.Defaulter)(nil), refine.Protocol{})
}

func TestPromptsReadTheRole(t *testing.T) {
	x := sit(t, refine.Protocol{Roles: map[string]refine.RolePrompt{
		"poet":    {System: "You rhyme.", Propose: "P", Critique: "C", Refine: "R"},
		"testing": {Critique: "Break it."},
	}}, "A", "B", "C")
	x.r.Participants[0].Role, x.r.Participants[1].Role = "poet", "testing"
	x.begin(transcript.Speech, 1)
	got := map[string]map[string]string{}
	for _, p := range x.p.Phases(x.r) {
		for _, s := range p.Steps {
			got[s.Phase+p.Name+" "+s.Actor] = s.Vars
		}
	}
	require.Equal(t, map[string]map[string]string{
		"propose A":  {"role": "poet", "system": "You rhyme.", "focus": "P"},
		"critique A": {"role": "poet", "system": "You rhyme.", "focus": "C"},
		"refine A":   {"role": "poet", "system": "You rhyme.", "focus": "R"},
		"propose B":  {"role": "testing", "system": "", "focus": ""},
		"critique B": {"role": "testing", "system": "", "focus": "Break it."},
		"refine B":   {"role": "testing", "system": "", "focus": ""},
		"propose C":  {"role": "generalist", "system": "", "focus": ""},
		"critique C": {"role": "generalist", "system": "", "focus": ""},
		"refine C":   {"role": "generalist", "system": "", "focus": ""},
	}, got)
}

func TestARoleIsMadeOfAText(t *testing.T) {
	for _, tt := range []struct{ name, text, want, err string }{
		{"a text", "You rhyme.", "You rhyme.", ""},
		{"blanks around it go", "\n  You rhyme.\n\nAlways.\r\n", "You rhyme.\n\nAlways.", ""},
		{"a byte order mark is removed", "\ufeff You rhyme.", "You rhyme.", ""},
		{"nothing", "", "", `parse role of "poet.md": the text is blank`},
		{"blanks", " \n\t", "", `parse role of "poet.md": the text is blank`},
		{"no text", "\xff\xfe", "", `parse role of "poet.md": the text is not UTF-8`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := refine.ParseRolePrompt(tt.text, "poet.md")
			if tt.err != "" {
				require.EqualError(t, err, tt.err)
				require.Zero(t, got)
				return
			}
			require.NoError(t, err)
			require.Equal(t, refine.RolePrompt{System: tt.want, Source: "poet.md"}, got)
		})
	}
}

func FuzzParseRole(f *testing.F) {
	for _, seed := range []string{"", " ", "You rhyme.", "\ufeff", "\xff", "\ufeff\ufeffx", "a\x00b"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		role, err := refine.ParseRolePrompt(text, "s")
		if err != nil {
			require.Zero(t, role)
			return
		}
		require.True(t, utf8.ValidString(role.System))
		require.NotEmpty(t, strings.TrimSpace(role.System))
		require.Contains(t, text, role.System)
		p := refine.Protocol{Roles: map[string]refine.RolePrompt{"own": role}}
		require.Empty(t, p.Check(&protocol.Record{Participants: []transcript.Profile{{Name: "A", Role: "own"}, {Name: "B"}}, Judges: []string{"J"}}))
	})
}
