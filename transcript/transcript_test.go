package transcript_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/elenchus-go/debate/internal/contract"
	"github.com/elenchus-go/debate/transcript"
)

func ExampleDecode() {
	type vote struct{ Answer string }
	turn := transcript.Turn{Contract: "vote/1", Data: []byte(`{"answer":"yes"}`)}
	v, err := transcript.Decode[vote](turn)
	fmt.Println(v.Answer, err)
	// Output: yes <nil>
}

func ExampleKey_String() {
	fmt.Println(transcript.Key{Run: 1, Round: 2, Phase: "critique", Actor: "Ann", Target: "Bob"})
	fmt.Println(transcript.Key{Run: 1, Round: 2, Phase: "respond", Actor: "Ann"})
	// Output:
	// 1/2/critique/Ann/Bob
	// 1/2/respond/Ann/
}

// Only the target may contain slashes.
func TestKeysHaveDifferentNames(t *testing.T) {
	word := rapid.StringMatching(`[a-z0-9 .-]{0,4}`)
	rapid.Check(t, func(t *rapid.T) {
		want := transcript.Key{
			Run: rapid.IntRange(0, 12).Draw(t, "run"), Round: rapid.IntRange(0, 12).Draw(t, "round"),
			Phase: word.Draw(t, "phase"), Actor: word.Draw(t, "actor"), Target: rapid.StringMatching(`[a/]{0,4}`).Draw(t, "target"),
		}
		parts := strings.SplitN(want.String(), "/", 5)
		require.Len(t, parts, 5)
		got := transcript.Key{Phase: parts[2], Actor: parts[3], Target: parts[4]}
		var err error
		got.Run, err = strconv.Atoi(parts[0])
		require.NoError(t, err)
		got.Round, err = strconv.Atoi(parts[1])
		require.NoError(t, err)
		require.Equal(t, want, got)
	})
}

func TestDecodeNamesTheTurnThatItCannotRead(t *testing.T) {
	type vote struct {
		Answer string `json:"answer"`
	}
	key := transcript.Key{Run: 1, Round: 2, Phase: "answer", Actor: "Ann"}
	for _, tt := range []struct {
		name, data, fault string
	}{
		{"no reply was structured", ``, "decode vote/1 of turn 1/2/answer/Ann/: unexpected end of JSON input"},
		{"the reply is broken", `{"answer":`, "decode vote/1 of turn 1/2/answer/Ann/: unexpected end of JSON input"},
		{
			"the reply is of another contract", `{"answer":3}`,
			"decode vote/1 of turn 1/2/answer/Ann/: json: cannot unmarshal number into Go struct field vote.answer of type string",
		},
		{"the reply is as expected", `{"answer":"yes"}`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v, err := transcript.Decode[vote](transcript.Turn{Key: key, Contract: "vote/1", Data: json.RawMessage(tt.data)})
			if tt.fault != "" {
				require.EqualError(t, err, tt.fault)
				return
			}
			require.NoError(t, err)
			require.Equal(t, vote{"yes"}, v)
		})
	}
}

func TestDecodeIntoTheTypeOfAnotherContract(t *testing.T) {
	type poll struct{ Answer string }
	type view struct{ Answer string }
	contract.Register("poll/1", reflect.TypeFor[poll]())
	contract.Register("poll/2", reflect.TypeFor[poll]())
	contract.Register("poll/2", reflect.TypeFor[poll]())
	turn := func(contract, data string) transcript.Turn {
		return transcript.Turn{Key: transcript.Key{Run: 1, Round: 2, Phase: "answer", Actor: "Ann"}, Contract: contract, Data: json.RawMessage(data)}
	}
	const yes = `{"answer":"yes"}`
	for _, contract := range []string{"poll/1", "poll/2"} {
		v, err := transcript.Decode[poll](turn(contract, yes))
		require.NoError(t, err)
		require.Equal(t, poll{"yes"}, v)
	}
	_, err := transcript.Decode[poll](turn("survey/1", yes))
	require.EqualError(t, err, `decode turn 1/2/answer/Ann/ as transcript_test.poll: the turn's contract is "survey/1", want poll/1 or poll/2`)
	_, err = transcript.Decode[*poll](turn("survey/1", yes))
	require.ErrorContains(t, err, `the turn's contract is "survey/1"`)
	_, err = transcript.Decode[poll](turn("", yes))
	require.ErrorContains(t, err, `the turn's contract is ""`)
	v, err := transcript.Decode[view](turn("survey/1", yes))
	require.NoError(t, err, "a type without a contract decodes every reply")
	require.Equal(t, view{"yes"}, v)
	_, err = transcript.Decode[view](turn("", ""))
	require.EqualError(t, err, "decode turn 1/2/answer/Ann/ as transcript_test.view: the turn is free text")
}

func TestUsagesAddUp(t *testing.T) {
	u := transcript.Usage{Input: 100, Cached: 40, Written: 30, Output: 20, Reasoning: 5}
	v := transcript.Usage{Input: 1, Cached: 2, Written: 6, Output: 3, Reasoning: 4, Estimated: true}
	want := transcript.Usage{Input: 101, Cached: 42, Written: 36, Output: 23, Reasoning: 9, Estimated: true}
	require.Equal(t, want, u.Add(v))
	require.Equal(t, want, v.Add(u), "Add is commutative")
	require.Equal(t, u, u.Add(transcript.Usage{}), "adding zero changes nothing")
	require.False(t, u.Add(u).Estimated, "a sum of exact counts is exact")
}

// full returns a turn with every field set.
func full() transcript.Turn {
	began := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	return transcript.Turn{
		Key:  transcript.Key{Run: 2, Round: 3, Phase: "critique", Actor: "Ann", Target: "Bob"},
		Kind: transcript.Speech, Order: 1, Seq: 40, VisibleSeq: 38, Text: "Well.", Contract: "critique/1",
		Data: json.RawMessage(`{"grade":1}`), Flags: []transcript.Flag{transcript.Reasked, transcript.Truncated}, Tokens: 2,
		Usage: transcript.Usage{Input: 100, Cached: 80, Output: 9, Reasoning: 4, Estimated: true}, Window: &transcript.Window{Limit: 90, Used: 60, Kept: 3, Omitted: 7},
		Attempts: []transcript.Attempt{
			{Provider: "p", Model: "m", ErrorKind: "timeout", ErrorMessage: "generate: timeout", Usage: transcript.Usage{Input: 50}, Duration: time.Second},
			{Provider: "p", Model: "m", Requested: "n", FinishReason: "stop", Usage: transcript.Usage{Input: 50, Output: 9}, Began: began.Add(time.Second), Waited: 5, FirstChunk: 7, Duration: 2 * time.Second, Reply: "{}"},
		},
		Started: began, Ended: began.Add(3 * time.Second),
	}
}

// Journals store turns as this JSON.
func TestTurnsAreStoredInThisForm(t *testing.T) {
	for _, tt := range []struct {
		name string
		turn transcript.Turn
		want string
	}{
		{"every field set", full(), `{
			"run":2,"round":3,"phase":"critique","actor":"Ann","target":"Bob","kind":"speech","order":1,"seq":40,"visible_seq":38,
			"text":"Well.","contract":"critique/1","data":{"grade":1},"flags":["reasked","truncated"],"tokens":2,
			"usage":{"input":100,"cached":80,"output":9,"reasoning":4,"estimated":true},"window":{"limit":90,"used":60,"kept":3,"omitted":7},
			"attempts":[
				{"provider":"p","model":"m","error_kind":"timeout","error_message":"generate: timeout","usage":{"input":50,"output":0},"duration":1000000000},
				{"provider":"p","model":"m","requested":"n","finish_reason":"stop","usage":{"input":50,"output":9},
				"began":"2026-03-01T12:00:01Z","waited":5,"first_chunk":7,"duration":2000000000,"reply":"{}"}],
			"started":"2026-03-01T12:00:00Z","ended":"2026-03-01T12:00:03Z"}`},
		{"zero turn", transcript.Turn{}, `{
			"run":0,"round":0,"phase":"","actor":"","kind":"","order":0,"seq":0,"visible_seq":0,"text":"","tokens":0,
			"usage":{"input":0,"output":0},"attempts":null,"started":"0001-01-01T00:00:00Z","ended":"0001-01-01T00:00:00Z"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b, err := json.Marshal(tt.turn)
			require.NoError(t, err)
			require.JSONEq(t, tt.want, string(b))
			var back transcript.Turn
			require.NoError(t, json.Unmarshal(b, &back))
			require.Equal(t, tt.turn, back)
		})
	}
}

func TestPlainDataIsStoredInThisForm(t *testing.T) {
	for _, tt := range []struct {
		name  string
		value any
		want  string
	}{
		{"a profile with only a name", transcript.Profile{Name: "Ann"}, `{"name":"Ann"}`},
		{
			"a profile",
			transcript.Profile{Name: "Ann", Role: "r", Side: "s", Position: "p", Persona: "q", Instructions: "i", KeyArguments: []string{"k"}},
			`{"name":"Ann","role":"r","side":"s","position":"p","persona":"q","instructions":"i","key_arguments":["k"]}`,
		},
		{"a cursor before the first round", transcript.Cursor{Run: 1}, `{"run":1,"round":0,"phase_seq":0}`},
		{
			"a cursor",
			transcript.Cursor{Run: 1, Round: 2, Stage: transcript.Assessment, Phase: "assess", PhaseSeq: 9},
			`{"run":1,"round":2,"stage":"assessment","phase":"assess","phase_seq":9}`,
		},
		{"a debate that continues", transcript.Ending{}, `{}`},
		{
			"a debate that ended",
			transcript.Ending{Outcome: transcript.Converged, Round: 3, Evidence: "they agree"},
			`{"outcome":"converged","round":3,"evidence":"they agree"}`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b, err := json.Marshal(tt.value)
			require.NoError(t, err)
			require.JSONEq(t, tt.want, string(b))
		})
	}
}

// Stored debates contain these strings, and programs that read them depend on them.
func TestStoredWordsNeverChange(t *testing.T) {
	require.Equal(t, []transcript.Kind{"setup", "speech", "assessment", "conclusion", "remark"}, []transcript.Kind{
		transcript.Setup, transcript.Speech, transcript.Assessment, transcript.Conclusion, transcript.Remark,
	})
	require.Equal(t, []transcript.Flag{"truncated", "defaulted", "reasked"}, []transcript.Flag{
		transcript.Truncated, transcript.Defaulted, transcript.Reasked,
	})
	require.Equal(t, []transcript.Outcome{
		"judge_decided", "converged", "diminishing_returns", "unanimous", "early_stop", "round_limit", "token_budget",
		"time_budget", "quorum_lost", "stopped", "canceled",
	}, []transcript.Outcome{
		transcript.JudgeDecided, transcript.Converged, transcript.DiminishingReturns, transcript.Unanimous, transcript.EarlyStop,
		transcript.RoundLimit, transcript.TokenBudget, transcript.TimeBudget, transcript.QuorumLost, transcript.Stopped, transcript.Canceled,
	})
}

func TestATurnTellsWhyNoReplyWasValid(t *testing.T) {
	for want, list := range map[string][]transcript.Attempt{
		"":                                   nil,
		"/winner: … is not a participant; b": {{ErrorKind: "timeout"}, {ErrorKind: "invalid_response", Violations: []string{"/winner: … is not a participant", "b"}}},
		"it was cut off at its token limit":  {{ErrorKind: "invalid_response", FinishReason: "length"}},
		"the last error was server_error":    {{ErrorKind: "invalid_response", Violations: []string{"a"}}, {ErrorKind: "server_error"}},
	} {
		require.Equal(t, want, (&transcript.Turn{Attempts: list}).Refusal())
	}
}
