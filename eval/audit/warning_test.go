package audit

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/judge/measured"
	"github.com/elenchus-go/debate/protocol/procon"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
)

// The record of an audit warns of debates whose judge uses a model that was found biased, and says if its prompts are others.
func TestADebateWarnsOfABiasedJudge(t *testing.T) {
	o, _ := options(map[string]simulated{"fair": {accuracy: .8}, "hasty": {accuracy: .8, position: .5}})
	hasty, fair := judgeOf("hasty"), judgeOf("fair")
	hasty.Config.Judges[0].Model, fair.Config.Judges[0].Model = "hasty-1", "fair-1"
	hasty.Config.Judges[0].Instructions = "Decide fast."
	r, err := (&Audit{Name: "judges", Pairs: pairsOf(64), Judges: []Judge{fair, hasty}}).Run(t.Context(), o)
	require.NoError(t, err)
	records := r.Records()
	require.Empty(t, records[0].Biased())
	found := records[1].Biased()
	require.Contains(t, found, "position +0.")

	for name, tt := range map[string]struct {
		judge   debate.Participant
		records []measured.Record
		want    []string
	}{
		"the same":           {debate.Participant{Model: "hasty-1", Instructions: "Decide fast."}, records, []string{"judge Judge: an audit found its model hasty-1 biased: " + found}},
		"other instructions": {debate.Participant{Model: "hasty-1"}, records, []string{"judge Judge: an audit found its model hasty-1 biased: " + found + "; it was measured with other prompts"}},
		"a persona":          {debate.Participant{Model: "hasty-1", Instructions: "Decide fast.", Persona: "A sage."}, records, []string{"judge Judge: an audit found its model hasty-1 biased: " + found + "; it was measured with other prompts"}},
		"a fair model":       {debate.Participant{Model: "fair-1"}, records, nil},
		"another model":      {debate.Participant{Model: "hasty-2"}, records, nil},
		"no records":         {debate.Participant{Model: "hasty-1"}, nil, nil},
		"a person":           {debate.Participant{Human: true}, records, nil},
	} {
		t.Run(name, func(t *testing.T) {
			tt.judge.Name = "Judge"
			d, err := debate.New(t.Context(), debate.Config{
				Topic: "Ban cars?", Protocol: procon.Protocol{}, Judges: []debate.Participant{tt.judge}, Limits: debate.Limits{MaxRounds: 1},
				Participants: []debate.Participant{{Name: "Ada", Side: "pro", Model: "a"}, {Name: "Bo", Side: "con", Model: "b"}},
			}, debate.Options{Audits: tt.records, Providers: map[string]providers.Provider{"m": scripted.Text("I say so.")}})
			require.NoError(t, err)
			var warned []string
			for event, err := range d.Run(t.Context()) {
				require.NoError(t, err)
				if w, ok := event.(debate.Warning); ok && w.Key.Phase == "configuration" {
					warned = append(warned, w.Text)
				}
				if _, begins := event.(debate.PhaseStarted); begins {
					break
				}
			}
			require.Equal(t, tt.want, warned)
		})
	}
}
