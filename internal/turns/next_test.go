package turns_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/turns"
	"github.com/elenchus-go/debate/transcript"
)

// Each row says what attempts say of what followed them. "-" stands for nothing, and an attempt with "!" has failed.
func TestWhatFollowedAttempts(t *testing.T) {
	for name, x := range map[string]struct {
		attempts []string
		ends     string // what is wrong if the step ends after them; empty if nothing is
		round    string // what is wrong if they end with a round of tool calls
	}{
		"a reply":          {[]string{"-"}, "", `"" cannot have followed attempt 1`},
		"none":             {nil, "", ""},
		"a failure":        {[]string{"!given_up"}, "", `"given_up" cannot have followed attempt 1`},
		"a retry":          {[]string{"!retried", "-"}, "", `"" cannot have followed attempt 2`},
		"a round":          {[]string{"!retried", "tools"}, "", ""},
		"a reply after it": {[]string{"tools", "without_tools", "-"}, "", `"" cannot have followed attempt 3`},
		"a summary":        {[]string{"!summary", "summarized", "-"}, "", `"" cannot have followed attempt 3`},
		"a failed summary": {[]string{"!summary", "!shortened", "!substitute", "!given_up"}, "", `"given_up" cannot have followed attempt 4`},
		"an end too early": {
			[]string{"!given_up", "-"},
			`"given_up" cannot have followed attempt 1`,
			`"given_up" cannot have followed attempt 1`,
		},
		"no end":            {[]string{"!retried"}, `"retried" cannot have followed attempt 1`, `"retried" cannot have followed attempt 1`},
		"nothing":           {[]string{"!-", "-"}, `"" cannot have followed attempt 1`, `"" cannot have followed attempt 1`},
		"two replies":       {[]string{"-", "-"}, `"" cannot have followed attempt 1`, `"" cannot have followed attempt 1`},
		"a retried reply":   {[]string{"retried", "-"}, `"retried" cannot have followed attempt 1`, `"retried" cannot have followed attempt 1`},
		"calls that failed": {[]string{"!tools", "-"}, `"tools" cannot have followed attempt 1`, `"tools" cannot have followed attempt 1`},
		"calls that end":    {[]string{"!tools"}, `"tools" cannot have followed attempt 1`, `"tools" cannot have followed attempt 1`},
		"no summary": {
			[]string{"!summarized", "-"},
			`"summarized" cannot have followed attempt 1`,
			`"summarized" cannot have followed attempt 1`,
		},
		"a reply given up": {[]string{"given_up"}, `"given_up" cannot have followed attempt 1`, `"given_up" cannot have followed attempt 1`},
		"an unknown word":  {[]string{"!slept", "-"}, `"slept" cannot have followed attempt 1`, `"slept" cannot have followed attempt 1`},
	} {
		t.Run(name, func(t *testing.T) {
			var list []transcript.Attempt
			for _, next := range x.attempts {
				a := transcript.Attempt{}
				if next[0] == '!' {
					a.ErrorKind = "server_error"
					next = next[1:]
				}
				if next != "-" {
					a.Next = transcript.Next(next)
				}
				list = append(list, a)
			}
			requireWrong(t, x.ends, turns.CheckNext(list))
			at := transcript.Cursor{Run: 1}
			turn := &transcript.Turn{Key: transcript.Key{Run: 1}, Kind: transcript.Speech, Attempts: list}
			turn.Flags = []transcript.Flag{transcript.Partial}
			requireWrong(t, x.ends, turns.Check(turn, at))
			if list != nil {
				requireWrong(t, x.round, turns.CheckRound(list))
			}
		})
	}
}

// A turn ends with its reply, unless the time was over.
func TestWhatFollowedTheReplyOfATurn(t *testing.T) {
	at := transcript.Cursor{Run: 1}
	turn := &transcript.Turn{
		Key: transcript.Key{Run: 1}, Kind: transcript.Speech,
		Attempts: []transcript.Attempt{{Next: transcript.NextTools}},
	}
	require.EqualError(t, turns.Check(turn, at), `"tools" cannot have followed attempt 1`)
	turn.Flags = []transcript.Flag{transcript.Partial}
	require.NoError(t, turns.Check(turn, at))
	turn.Attempts[0].Next = transcript.NextRetried
	require.EqualError(t, turns.Check(turn, at), `"retried" cannot have followed attempt 1`)
}

func requireWrong(t *testing.T, want string, err error) {
	t.Helper()
	if want == "" {
		require.NoError(t, err)
		return
	}
	require.EqualError(t, err, want)
}
