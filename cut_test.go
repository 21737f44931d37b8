package debate_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/transcript"
)

// A structured reply that was cut is asked for with more room. It is neither repaired nor searched for a draft.
func TestACutReplyIsAskedForWithMoreRoom(t *testing.T) {
	draft := assess(t, false, "A", "B") + "\nBut let me think again: {"
	whole := assess(t, true, "A", "B")
	for _, tt := range []struct {
		name    string
		replies []scripted.Reply // to the assessment of the first round
		room    []int            // that each was asked with
		flags   []transcript.Flag
		judge   debate.Participant
		retries map[providers.Kind]int
	}{
		{
			"a whole one comes then",
			[]scripted.Reply{{Text: draft, Finish: providers.Length}, {Text: whole}},
			[]int{500, 1000},
			[]transcript.Flag{transcript.Reasked},
			debate.Participant{},
			nil,
		},
		{
			"even one that looks whole may be a draft",
			[]scripted.Reply{{Text: whole, Finish: providers.Length}, {Text: whole}},
			[]int{500, 1000},
			[]transcript.Flag{transcript.Reasked},
			debate.Participant{},
			nil,
		},
		{
			"an invalid one comes then, and is asked for with what is wrong",
			[]scripted.Reply{{Text: "{", Finish: providers.Length}, {Text: "{}"}, {Text: whole}},
			[]int{500, 1000, 1000},
			[]transcript.Flag{transcript.Reasked},
			debate.Participant{},
			nil,
		},
		{
			"it is cut again, and is given up",
			[]scripted.Reply{{Text: draft, Finish: providers.Length}, {Text: draft, Finish: providers.Length}},
			[]int{500, 1000},
			[]transcript.Flag{transcript.Reasked, transcript.Truncated, transcript.Fallback},
			debate.Participant{},
			nil,
		},
		{
			"the window has not so much room",
			[]scripted.Reply{{Text: draft, Finish: providers.Length}, {Text: whole}},
			[]int{500, 700},
			[]transcript.Flag{transcript.Reasked},
			debate.Participant{Window: -1},
			nil,
		},
		{
			"nothing is to be asked again",
			[]scripted.Reply{{Text: draft, Finish: providers.Length}},
			[]int{500},
			[]transcript.Flag{transcript.Truncated, transcript.Fallback},
			debate.Participant{},
			map[providers.Kind]int{providers.InvalidResponse: 0},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := pair(panel.Protocol{})
			c.Limits.MaxRounds, c.Retries = 1, tt.retries
			c.Limits.JudgeTokens = 500
			j := &scripted.Provider{Replies: tt.replies, Func: func(providers.Request) scripted.Reply { return scripted.Reply{Text: verdict} }}
			if tt.judge.Window < 0 { // as large as the prompt, a reply and a bit
				c.Judges[0].Window = prompt(t, c) + 700
			}
			d, err := debate.New(t.Context(), c, debate.Options{Providers: models(chatter(), j)})
			require.NoError(t, err)
			_, err = run(t, d)
			require.NoError(t, err)

			var room []int
			for _, r := range j.Calls()[:len(tt.replies)] {
				room = append(room, r.MaxTokens)
			}
			require.Equal(t, tt.room, room)
			turn := result(t, d).Assessments[0]
			require.Equal(t, tt.flags, turn.Flags)
			require.Len(t, turn.Attempts, len(tt.replies))
			if tt.flags[0] == transcript.Reasked && len(tt.flags) == 1 {
				require.Contains(t, turn.Attempts[0].Message, "the reply was cut off at 500 tokens")
			}
		})
	}
}

// prompt is about how many tokens the judge's prompt has after one round.
func prompt(t *testing.T, c debate.Config) int {
	t.Helper()
	d, err := debate.New(t.Context(), c, debate.Options{Providers: models(chatter(), court(t, 1))})
	require.NoError(t, err)
	for range 4 {
		next, err := d.Preview(t.Context())
		require.NoError(t, err)
		if next[0].Kind == transcript.Assessment {
			return next[0].Tokens
		}
		_, err = d.Do(t.Context())
		require.NoError(t, err)
	}
	t.Fatal("nobody judges")
	return 0
}
