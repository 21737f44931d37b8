package main

import (
	"bytes"
	"context"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/eval"
	"github.com/elenchus-go/debate/eval/tournament"
	"github.com/elenchus-go/debate/integrations/debatehttp"
	"github.com/elenchus-go/debate/integrations/debatetool"
	"github.com/elenchus-go/debate/integrations/inspector"
	"github.com/elenchus-go/debate/integrations/launch"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/store"
)

// Everything around a debate takes a protocol that it does not know: an evaluation, a tournament, tools for models, a server and the
// browser. No package but this one has a line for it.

func TestAnEvaluationMeasuresTheProtocol(t *testing.T) {
	tasks, err := eval.Format{}.Read(strings.NewReader(`{"topic": "How many bicycles are there?", "gold": 400}` + "\n" +
		`{"topic": "How many bicycles are there now?", "gold": 500}` + "\n"))
	require.NoError(t, err)
	arm, err := eval.Template(config(""))
	require.NoError(t, err)
	e := eval.Evaluation{Name: "estimates", Tasks: tasks, Arms: []eval.Arm{{Name: "delphi", Config: arm}}}
	o := options(speaker())
	o.Store = store.Memory()
	r, err := e.Run(t.Context(), o)
	require.NoError(t, err)
	require.Empty(t, r.Incomplete)
	require.Equal(t, 2, r.Arms[0].Runs)
	require.Equal(t, 0.5, r.Arms[0].Accuracy.Value, "the median is 400")
	var page, text bytes.Buffer
	require.NoError(t, r.HTML(&page))
	require.NoError(t, r.Markdown(&text))
	require.Contains(t, text.String(), "delphi")
}

// estimators speak for two models with estimates of their own. For all others they write a summary.
type estimators struct{}

func (estimators) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	said := map[string]string{
		"small": `{"value": 200, "reason": "I guess so."}`,
		"large": `{"value": 400, "reason": "I counted them."}`,
		"":      "One says 200, and one says 400.",
	}
	return scripted.Text(said[r.Model]).Generate(ctx, r)
}

// contest returns the protocol for two players. The closer a first estimate is to the median of the last ones, the higher its score.
func contest() protocol.Flow {
	two := delphi
	two.Seats.Participants.Least = 2
	two.Finds = func(r *protocol.Record, a protocol.Answer) protocol.Outcome {
		o := finds(r, a)
		median, _ := strconv.ParseFloat(o.Answer, 64) // 0 before the first estimate
		for _, row := range o.Chart.Rows[:min(1, len(o.Chart.Rows))] {
			for name, first := range row.Values {
				o.SetScore(name, 10*min(first, median)/max(first, median))
			}
		}
		return o
	}
	return two
}

// The scores of an outcome rate the players.
func TestATournamentComparesPlayers(t *testing.T) {
	c := config("")
	c.Protocol = contest()
	c.Participants = nil
	c.Judges = nil
	experts := tournament.Tournament{
		Name: "experts",
		Players: []tournament.Player{
			{Participant: debate.Participant{Name: "Small", Model: "small"}},
			{Participant: debate.Participant{Name: "Large", Model: "large"}},
		},
		Judges:  []tournament.Player{{Participant: debate.Participant{Name: "Facilitator"}}},
		Motions: []tournament.Motion{{Topic: "How many bicycles are there?"}},
		Config:  c,
	}
	o := options(estimators{})
	o.Protocols = []protocol.Protocol{contest()}
	r, err := experts.Run(t.Context(), o)
	require.NoError(t, err)
	require.Empty(t, r.Incomplete)
	require.Empty(t, r.Failures)
	require.Equal(t, 1, r.Pairs)
	require.Equal(t, 2, r.Judgments)
	require.Equal(t, tournament.Margins, r.By)
	require.Equal(t, "Large", r.Players[0].Name)
	var page bytes.Buffer
	require.NoError(t, r.HTML(&page))
	require.Contains(t, page.String(), "Large")

	experts.Config.Protocol = delphi
	experts.Name = "experts without a winner"
	_, err = experts.Run(t.Context(), options(estimators{}))
	require.ErrorContains(t, err, "participants: 2 enabled, the protocol takes 3 to 16")
}

func TestModelsHoldSuchDebatesWithTools(t *testing.T) {
	tools, err := debatetool.New(engine(t, nil, speaker()), debatetool.Options{
		Presets: map[string]debatetool.Preset{"delphi": {Description: "Experts estimate a number.", Config: config("")}},
	})
	require.NoError(t, err)
	text, err := tools.Tools()[0].Call(t.Context(), `{"id": "d", "topic": "How many bicycles are there?"}`)
	require.NoError(t, err)
	require.Contains(t, text, "The median of the last estimates is 400, and they are from 390 to 415.")
}

func TestVisitorsBeginSuchDebatesInTheBrowser(t *testing.T) {
	e := engine(t, nil, speaker())
	offer := &launch.Offer{
		Only:     true,
		Purposes: []launch.Purpose{{Name: "estimate", Title: "an estimate", About: "Experts estimate a number.", Config: config("")}},
		Models:   []launch.Model{{Provider: "model", Title: "Demo model"}},
	}
	h, err := inspector.Handler(e, inspector.Options{
		Authorize: debatehttp.AllowEveryone, Controls: true,
		Offer: func(context.Context, string) (*launch.Offer, error) { return offer, nil },
	})
	require.NoError(t, err)
	server := httptest.NewServer(h)
	defer server.Close()
	require.Contains(t, get(t, server.URL+"/new"), "an estimate")
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	require.NoError(t, w.WriteField("purpose", "estimate"))
	require.NoError(t, w.WriteField("topic", "How many bicycles are there?"))
	require.NoError(t, w.WriteField("action", "begin"))
	require.NoError(t, w.Close())
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/new", &form)
	require.NoError(t, err)
	req.Header.Set("Content-Type", w.FormDataContentType())
	res, err := server.Client().Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, res.StatusCode, string(b))
	id, found := strings.CutPrefix(res.Request.URL.Path, "/debates/")
	require.True(t, found, string(b))
	d, err := e.Open(t.Context(), id)
	require.NoError(t, err)
	for _, err := range d.Watch(t.Context(), 0) {
		require.NoError(t, err)
	}
	page := get(t, server.URL+"/debates/"+id)
	require.Contains(t, page, "The median of the last estimates is 400, and they are from 390 to 415")
	require.Contains(t, page, "estimate")
}

// get returns a page.
func get(t *testing.T, address string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	require.NoError(t, err)
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, res.StatusCode, string(b))
	return string(b)
}
