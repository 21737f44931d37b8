package sqlite

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/eval/tournament"
	"github.com/elenchus-go/debate/protocol/procon"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// tournamentChild names the variable with the folder of a tournament that will be killed.
const tournamentChild = "DEBATE_KILLED_TOURNAMENT"

// scorer speaks and judges as a guesser does: what it says depends on the step.
type scorer struct{ guesser }

func (s scorer) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	resp, err := s.guesser.Generate(ctx, r)
	if err != nil || r.SchemaName == "" {
		return resp, err
	}
	sum := 0
	for _, c := range resp.Text + r.Messages[len(r.Messages)-2].Text {
		sum = sum*31 + int(c)
	}
	text, err := json.Marshal(procon.Judgment{Summary: "It was close.", Winner: "Debater A", Participants: []procon.ParticipantScore{
		{Name: "Debater A", Score: 4 + float64(sum&3)}, {Name: "Debater B", Score: 4},
	}})
	return providers.Response{Text: string(text), Usage: transcript.Usage{Input: 100, Output: 10}, FinishReason: "stop"}, err
}

// league returns a tournament of four players on six motions: 72 games of six calls.
func league() tournament.Tournament {
	t := tournament.Tournament{Name: "league", Concurrency: 4}
	t.Config.Limits.MaxRounds = 2
	for i := range 6 {
		t.Motions = append(t.Motions, tournament.Motion{Topic: fmt.Sprintf("Is claim %d right?", i)})
	}
	for _, name := range []string{"Ann", "Ben", "Cem", "Dee"} {
		t.Players = append(t.Players, tournament.Player{Participant: debate.Participant{Name: name}})
	}
	for _, name := range []string{"Jo", "Kim"} {
		t.Judges = append(t.Judges, tournament.Player{Participant: debate.Participant{Name: name}})
	}
	return t
}

// playTournament plays the tournament in a folder until it is complete or killed.
func playTournament(folder string) error {
	s, n, err := noted(folder)
	if err != nil {
		return err
	}
	_, err = league().Run(context.Background(), debate.Options{Store: s, Providers: map[string]providers.Provider{"m": scorer{guesser{n, 2 * time.Millisecond}}}})
	return err
}

// Tournaments that are killed at random times ask for each committed reply once, and come to the same report. A kill repeats
// at most the calls in flight: those of two judges in each of four games.
func TestTournamentsSurviveKills(t *testing.T) {
	folder := t.TempDir()
	kills := killed(t, tournamentChild, folder)
	calls := checkNotes(t, filepath.Join(folder, "notes"))
	s, err := Open(filepath.Join(folder, "e.db"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	models := map[string]providers.Provider{"m": scorer{}}
	got, err := league().Report(t.Context(), debate.Options{Store: s, Providers: models})
	require.NoError(t, err)
	want, err := league().Run(t.Context(), debate.Options{Providers: models})
	require.NoError(t, err)
	require.Equal(t, want, got)
	require.Empty(t, got.Incomplete)
	require.Equal(t, []int{36, 144}, []int{got.Pairs, got.Judgments})
	const turns, inFlight = 72 * 6, 4 * 2
	require.GreaterOrEqual(t, calls, turns)
	require.LessOrEqual(t, calls, turns+kills*inFlight)
	t.Logf("%d kills, %d calls for %d turns", kills, calls, turns)
}
