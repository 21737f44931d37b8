package skeptic_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/skeptic"
	"github.com/elenchus-go/debate/transcript"
)

const (
	critical = `{"severity":"critical","text":"It fails."}`
	major    = `{"severity":"major","text":"It is dear."}`
	minor    = `{"severity":"minor","text":"A comma."}`
)

func block(issues, ready, score string) string {
	return `{"issues":[` + issues + `],"ready":` + ready + `,"score":` + score + `}`
}

func TestWhatEndsADebateEarly(t *testing.T) {
	for _, tt := range []struct {
		name     string
		critique string
		evidence string // empty if the debate continues
	}{
		{"ready at the score", "Fine.\n" + block(critical, "true", "8"), "S: ready for synthesis at 8 of 10; critical issues: 1, major: 0, minor: 0"},
		{"ready above the score", block("", "true", "9.5"), "S: ready for synthesis at 9.5 of 10; critical issues: 0, major: 0, minor: 0"},
		{"ready below the score", block(critical, "true", "7.9"), ""},
		{"ready below the score, but nothing critical is left", block(minor, "true", "7.9"), "S: no critical issue is left; critical issues: 0, major: 0, minor: 1"},
		{"not ready, but nothing critical is left", block(major+","+minor+","+major, "false", "4"), "S: no critical issue is left; critical issues: 0, major: 2, minor: 1"},
		{"not ready, and no issue at all", block("", "false", "2"), "S: no critical issue is left; critical issues: 0, major: 0, minor: 0"},
		{"a critical issue", block(minor+","+critical, "false", "9"), ""},
		{"severities in another case", block(strings.ToUpper(`{"`)+`severity":" Critical ","text":"x"}`, "false", "9"), ""},
		{"an unknown severity makes it unreadable", block(`{"severity":"fatal","text":"x"}`, "false", "9"), ""},
		{"a block without a score is none", `{"issues":[],"ready":true}`, ""},
		{"a score out of bounds makes it unreadable", block("", "true", "11"), ""},
		{"a block in a fence after prose with braces", "In {x} it holds.\n\n```json\n" + block("", "true", "9") + "\n```\n", "S: ready for synthesis at 9 of 10; critical issues: 0, major: 0, minor: 0"},
		{"the last of two blocks counts", block("", "true", "9") + "\nNo, wait.\n" + block(critical, "false", "3"), ""},
		{"a block counts more than a marker", "🔴 was answered.\n" + block("", "true", "9"), "S: ready for synthesis at 9 of 10; critical issues: 0, major: 0, minor: 0"},
		{"a block that was not closed", "Fine.\n" + `{"issues":[],"ready":true,"score":9`, ""},
		{"a block within reasoning", "<think>" + block("", "true", "9") + "</think>Hm.", ""},

		{"the marker", "Ready for Synthesis ✅", "S: ready for synthesis"},
		{"the marker after prose", "I have no more to say.\n\nReady for Synthesis ✅\n", "S: ready for synthesis"},
		{"the marker in a sentence of its own", "It holds. Ready for Synthesis ✅", "S: ready for synthesis"},
		{"the marker in bold", "- **Ready for Synthesis** ✅", "S: ready for synthesis"},
		{"the marker in another case", "verdict: ready for synthesis ✅.", "S: ready for synthesis"},
		{"the marker after a block that is invalid", `{"issues":[],"ready":true}` + "\nReady for Synthesis ✅", "S: ready for synthesis"},
		{"the marker within reasoning", "<think>Ready for Synthesis ✅</think>Not at all.", ""},
		{"the marker taken back", "This is not Ready for Synthesis ✅", ""},
		{"the marker quoted", "I cannot write \"Ready for Synthesis ✅\" yet.", ""},
		{"the marker without its sign", "Ready for Synthesis", ""},
		{"a red sign", "🔴 It fails.", ""},
		{"both signs", "🔴 It fails.\nReady for Synthesis ✅", ""},
		{"neither sign", "Well.", ""},
		{"nothing", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			want := transcript.Ending{}
			if tt.evidence != "" {
				want = transcript.Ending{Outcome: transcript.EarlyStop, Evidence: tt.evidence}
			}
			require.Equal(t, want, skeptic.Protocol{}.End(attacked(t, tt.critique)))
			for _, flag := range []transcript.Flag{transcript.Truncated, transcript.Partial, transcript.Filtered} {
				require.Zero(t, skeptic.Protocol{}.End(attacked(t, tt.critique, flag)), "it was cut: %s", flag)
			}
			require.Equal(t, want, skeptic.Protocol{}.End(attacked(t, tt.critique, transcript.Substituted)))
		})
	}
}

// attacked returns the record of the second of five rounds after the skeptic's turn.
func attacked(t *testing.T, text string, flags ...transcript.Flag) *protocol.Record {
	t.Helper()
	r := &protocol.Record{Participants: []transcript.Profile{{Name: "P"}, {Name: "S"}}, Judges: []string{"J"}, MinRounds: 1, MaxRounds: 5}
	r.Cursor = transcript.Cursor{Run: 1, Round: 2, Stage: transcript.Speech}
	for round, said := range []string{1: "Before. Ready for Synthesis ✅", 2: text} {
		require.True(t, r.Apply(transcript.Turn{
			Key:  transcript.Key{Run: 1, Round: round, Phase: "attack", Actor: "S"},
			Kind: transcript.Speech, Seq: r.Seq + 1, Text: said, Flags: flags,
		}))
	}
	return r
}

func TestTheScoreThatIsEnoughCanBeSet(t *testing.T) {
	r := attacked(t, block(critical, "true", "6"))
	require.Empty(t, skeptic.Protocol{}.End(r).Outcome)
	require.Empty(t, skeptic.Protocol{ReadyScore: 6.5}.End(r).Outcome)
	require.Equal(t, transcript.EarlyStop, skeptic.Protocol{ReadyScore: 6}.End(r).Outcome)
}

func TestWithoutACritiqueNothingEnds(t *testing.T) {
	r := &protocol.Record{MaxRounds: 5, Cursor: transcript.Cursor{Run: 1, Round: 2, Stage: transcript.Speech}}
	require.Zero(t, skeptic.Protocol{}.End(r))
	r = attacked(t, "Ready for Synthesis ✅")
	r.Cursor.Round = 3
	require.Zero(t, skeptic.Protocol{}.End(r), "that of an earlier round is no reason")
}

func TestReadingACritique(t *testing.T) {
	nine := 9.0
	for _, tt := range []struct {
		name string
		text string
		want skeptic.Critique
		ok   bool
	}{
		{
			"a block", "Well.\n```json\n" + block(`{"severity":"MAJOR","text":"Dear."}`, "true", "9") + "\n```",
			skeptic.Critique{Issues: []skeptic.Issue{{Severity: skeptic.Major, Text: "Dear."}}, Ready: true, Score: &nine},
			true,
		},
		{"a marker", "Ready for Synthesis ✅", skeptic.Critique{Issues: []skeptic.Issue{}, Ready: true}, true},
		{
			"a red sign", "🔴",
			skeptic.Critique{Issues: []skeptic.Issue{{Severity: skeptic.Critical, Text: "The critique marks a critical issue with 🔴."}}},
			true,
		},
		{
			"neither", "Hm.",
			skeptic.Critique{Issues: []skeptic.Issue{{Severity: skeptic.Critical, Text: "The critique could not be read. This counts as a critical issue."}}},
			false,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, ok := skeptic.ParseCritique(tt.text)
			require.Equal(t, tt.want, c)
			require.Equal(t, tt.ok, ok)
		})
	}
}

func FuzzReadCritique(f *testing.F) {
	for _, text := range []string{
		accepts, sinks, mutters, "🔴", "x. Ready for Synthesis ✅", "<think>Ready for Synthesis ✅", block(critical, "true", "8"), block(major, "false", "0") + "}",
		"{\"issues\":[],\"ready\":true,\"score\":9", "<thinking>" + accepts + "</thinking>" + sinks, "{'issues':[],'ready':true,'score':9}",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, ok := skeptic.ParseCritique(text)
		count := 0
		for _, x := range c.Issues {
			require.Contains(t, []skeptic.Severity{skeptic.Critical, skeptic.Major, skeptic.Minor}, x.Severity)
			require.NotEmpty(t, x.Text)
			if x.Severity == skeptic.Critical {
				count++
			}
		}
		require.NotNil(t, c.Issues)
		if c.Score != nil {
			require.True(t, *c.Score >= 0 && *c.Score <= 10)
		}
		if !ok || c.Score == nil && !c.Ready {
			require.Equal(t, 1, count, "what cannot be read has a critical issue")
			require.False(t, c.Ready)
		}
		if c.Score == nil && c.Ready {
			require.Contains(t, strings.ToLower(text), "ready for synthesis")
		}
		b, err := json.Marshal(c)
		require.NoError(t, err)
		if c.Score != nil {
			again, ok := skeptic.ParseCritique("Once more:\n" + string(b))
			require.True(t, ok)
			require.Equal(t, c, again, "what was read is read again")
		}
	})
}
