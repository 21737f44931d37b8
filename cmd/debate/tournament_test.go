package main

import (
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/eval/tournament"
)

const tournamentFour = `{
	// four models
	"name": "four",
	"players": [{"name": "A <b>", "model": "m-1"}, {"name": "B", "model": "n-1"}, {"name": "C", "model": "o-1"}, {"name": "D", "model": "p-1", "family": "j"}],
	"judges": [{"name": "Cy", "model": "j-1"}, {"name": "Di", "model": "k-1"}],
	"motions": ["Cities should ban private cars.", {"id": "tea", "topic": "Is tea better than coffee?", "pro": "Tea is better.", "con": "Coffee is."}],
	"limits": {"max_rounds": 1},
}`

func TestTournamentOffline(t *testing.T) {
	folder(t, "tournament.json", tournamentFour)
	code, stdout, stderr := start(t, environment(), "tournament", "tournament.json", "--report", "out/r.html", "--report", "r.md", "--output", "games.jsonl")
	require.Equal(t, 0, code, stderr)
	require.Contains(t, stdout, "# Tournament four")
	require.Contains(t, stdout, "4 players, 12 pairs of games, 36 judgments")
	require.Contains(t, stdout, "Left out: 12 judgments, because the judge is of a player's family.")
	require.Contains(t, stdout, "A &lt;b&gt;")
	require.Contains(t, stderr, "12 of 12 pairs")
	page, err := os.ReadFile("out/r.html")
	require.NoError(t, err)
	require.Contains(t, string(page), "<svg")
	require.NotContains(t, string(page), "<b>")
	text, err := os.ReadFile("r.md")
	require.NoError(t, err)
	require.Equal(t, stdout, string(text))
	games, err := os.ReadFile("games.jsonl")
	require.NoError(t, err)
	require.Equal(t, 24, strings.Count(string(games), "\n"))
	require.Equal(t, 12, strings.Count(string(games), `"motion":"tea"`))
}

// The second run of the same command plays nothing, and a player who is added plays only its games.
func TestTournamentContinues(t *testing.T) {
	folder(t, "t.json", tournamentFour)
	var calls atomic.Int64
	env := server(t, func(n int, _ http.ResponseWriter, prompt string) string {
		if n >= 0 { // no check of the key
			calls.Add(1)
		}
		if !strings.Contains(prompt, "Score Debater A and Debater B") {
			return "Trams are quieter."
		}
		return `{"summary": "It was close.", "no_new_arguments": false, "participants": {"Debater_A": 6, "Debater_B": 5}, "winner": "Debater A"}`
	})
	play := func(args ...string) (code int, r tournament.Report, stderr string) {
		code, stdout, stderr := start(t, env, append([]string{"tournament", "t.json", "--json", "--store", "t.db"}, args...)...)
		require.NoError(t, json.Unmarshal([]byte(stdout), &r), stderr)
		return code, r, stderr
	}
	code, r, stderr := play("--max-tokens", "1", "--concurrency", "1")
	require.Equal(t, exitGeneral, code)
	require.Contains(t, stderr, "tournament four is not complete: the limit of tokens, 1, is reached, and 24 games are missing; the same command continues it")
	require.Equal(t, 24, r.Missing)
	code, r, stderr = play()
	require.Equal(t, 0, code, stderr)
	require.Equal(t, []int{12, 36, 12}, []int{r.Pairs, r.Judgments, r.LeftOut})
	played := calls.Load()
	require.EqualValues(t, 24*2+36, played)
	code, again, stderr := play()
	require.Equal(t, 0, code, stderr)
	require.Equal(t, r, again)
	require.Equal(t, played, calls.Load())
	require.NoError(t, os.WriteFile("t.json", []byte(strings.Replace(tournamentFour, `{"name": "B"`, `{"name": "E", "model": "q-1"}, {"name": "B"`, 1)), 0o600))
	code, r, stderr = play()
	require.Equal(t, 0, code, stderr)
	require.Equal(t, 20, r.Pairs)
	require.Equal(t, played+8*2*2+2*(3*2*2+2), calls.Load(), "eight pairs, of which two have one judge")
	require.NoError(t, os.WriteFile("t.json", []byte(strings.Replace(tournamentFour, "n-1", "n-2", 1)), 0o600))
	code, _, stderr = start(t, env, "tournament", "t.json", "--store", "t.db")
	require.Equal(t, exitGeneral, code)
	require.Contains(t, stderr, `model was "n-1" and is "n-2"`)
}

func TestTournamentWithWrongFiles(t *testing.T) {
	const limits, playerB, judges = `"limits": {"max_rounds": 1}`, `{"name": "B", "model": "n-1"}`, `[{"name": "Cy", "model": "j-1"}, {"name": "Di", "model": "k-1"}]`
	for _, x := range []struct {
		old, now string
		code     int
		says     string
	}{
		{tournamentFour, "[]", exitInput, "t.json"},
		{`"motions"`, `"movements"`, exitInput, "motions: there are none"},
		{`"players"`, `"participants"`, exitInput, "participants: a tournament has players"},
		{`"id": "tea"`, `"name": "tea"`, exitInput, `motions[1]: json: unknown field "name"`},
		{playerB, `"B"`, exitInput, "players[1]: "},
		{playerB, `{"name": "B", "modell": "n-1"}`, exitInput, "modell"},
		{judges, `[{"name": "Cy", "model": "j-1"}]`, exitInput, `judges: each is of the family of "A <b>" or "D"`},
		{limits, limits + `, "by": "luck"`, exitInput, `by: "luck" is unknown`},
		{limits, limits + `, "own_family": 3`, exitInput, "own_family: "},
		{limits, `"protocol": "vote"`, exitInput, "judges of protocol vote/1 name no winner"},
	} {
		folder(t, "t.json", strings.Replace(tournamentFour, x.old, x.now, 1))
		code, _, stderr := start(t, environment(), "tournament", "t.json")
		require.Equal(t, x.code, code, "%s: %s", x.now, stderr)
		require.Contains(t, stderr, x.says)
	}
	code, _, stderr := start(t, environment(), "tournament", "none.json")
	require.Equal(t, exitInput, code)
	require.Contains(t, stderr, "read tournament: ")
}
