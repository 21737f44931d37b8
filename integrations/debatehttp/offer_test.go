package debatehttp

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/integrations/launch"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/protocol/vote"
)

// tenants returns an offer for each principal: everybody may begin votes, and nobody else may begin anything.
func tenants(_ context.Context, principal string) (*launch.Offer, error) {
	if principal != "ann" {
		return nil, &Problem{Title: "You may begin no debates", Status: http.StatusForbidden}
	}
	return &launch.Offer{
		Only: true,
		Purposes: []launch.Purpose{{Name: "answer", Config: debate.Config{
			Protocol: vote.Protocol{}, Participants: []debate.Participant{{Name: "A"}, {Name: "B"}, {Name: "C"}},
		}}},
		Models: []launch.Model{{Provider: "model"}},
		Limits: debate.Limits{MaxRounds: 2},
	}, nil
}

// An installation that restricts what debates are for restricts requests too, whichever way a configuration comes in.
func TestOffersRestrictRequests(t *testing.T) {
	const voting = `{"topic": "2+2?", "protocol": {"name": "vote/1"}, "participants": [{"name": "X"}, {"name": "Y"}, {"name": "Z"}]`
	o := allowing()
	o.Principal = func(r *http.Request) (string, error) { return r.Header.Get("X-User"), nil }
	o.Offer = tenants
	o.Presets = map[string]debate.Config{
		"panel": {Participants: []debate.Participant{{Name: "A"}, {Name: "B"}}, Judges: []debate.Participant{{Name: "J"}}},
	}
	s := open(t, nil, o)
	s.letAllSpeak()

	body := s.wants(http.StatusCreated, http.MethodPost, "/debates", voting+`}`, "X-User", "ann")
	id := parsed[launched](t, body).ID
	d := debatetest.Open(t, s.engine, id)
	require.Equal(t, 2, debatetest.Status(t, d).MaxRounds, "the offer limits rounds")
	s.wants(http.StatusForbidden, http.MethodPost, "/debates", voting+`}`, "X-User", "eve")

	refused := func(method, path, body, field string) {
		t.Helper()
		p := s.refuses("invalid", method, path, body, "X-User", "ann")
		require.Equal(t, field, p.Problems[0].Field, "%s %s: %s", method, path, p.Detail)
	}
	refused(http.MethodPost, "/debates", posted, "protocol")
	refused(http.MethodPost, "/debates", voting+`, "limits": {"max_rounds": 3}}`, "limits.max_rounds")
	refused(http.MethodPost, "/debates", voting+`, "on_failure": "ask"}`, "on_failure")
	refused(http.MethodPost, "/debates/"+id+"/forks", `{"config": `+posted+`}`, "protocol")
	refused(http.MethodPost, "/debates/"+id+"/forks", `{"rejudge": {"judges": [{"name": "J", "provider": "model", "model": "large"}]}}`,
		"judges[0].model")
	s.refuses("invalid", http.MethodPost, "/v1/chat/completions", `{"model": "panel", "messages": [{"role": "user", "content": "Ban?"}]}`,
		"X-User", "ann")

	fresh := debatetest.Create(t, s.engine, debate.Config{
		ID: "fresh", Topic: "2+2?", Protocol: vote.Protocol{}, Participants: []debate.Participant{{Name: "A"}, {Name: "B"}, {Name: "C"}},
	})
	refused(http.MethodPut, "/debates/fresh/config",
		`{"topic": "T", "participants": [{"name": "A"}, {"name": "B"}], "judges": [{"name": "J"}]}`, "protocol")
	s.wants(http.StatusNoContent, http.MethodPut, "/debates/fresh/config", voting+`}`, "X-User", "ann")
	require.Equal(t, 2, debatetest.Status(t, fresh).MaxRounds)
	for _, err := range d.Watch(t.Context(), 0) { // until the debate has ended, so that it has the entry
		require.NoError(t, err)
	}
	s.wants(http.StatusCreated, http.MethodPost, "/debates/"+id+"/forks", `{"seq": 3}`, "X-User", "ann")
}
