package debatehttp

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/png"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/enginetest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// completed starts a server on which the debate "cars" has ended, and returns its turns.
func completed(t *testing.T, o Options) (*site, []transcript.Turn) {
	t.Helper()
	s := open(t, store.Memory(), o)
	s.letAllSpeak()
	s.begin()
	return s, result(s.watch("").until("ended")).Turns
}

// forked makes a fork of the debate "cars" and returns its id.
func (s *site) forked(body string, header ...string) string {
	s.t.Helper()
	code, h, text := s.do(http.MethodPost, "/debates/cars/forks", body, header...)
	require.Equal(s.t, http.StatusCreated, code, text)
	id := parsed[launched](s.t, text).ID
	require.Equal(s.t, "../"+id, h.Get("Location"))
	return id
}

func TestForkOverHTTP(t *testing.T) {
	s, turns := completed(t, allowing())
	id := s.forked(`{"seq": ` + strconv.FormatInt(turns[1].Seq, 10) + `, "id": "bikes", "labels": {"team": "red"}}`)
	require.Equal(t, "bikes", id)
	is := parsed[store.Status](t, s.wants(http.StatusOK, http.MethodGet, "/debates/bikes", ""))
	require.Equal(t, transcript.Parent{ID: "cars", Seq: turns[1].Seq}, is.Parent)
	require.Equal(t, fsm.Paused, is.State, "a fork does not run when it is made")
	require.Equal(t, map[string]string{"team": "red"}, is.Labels)
	list := parsed[page](t, s.wants(http.StatusOK, http.MethodGet, "/debates?parent=cars", ""))
	require.Len(t, list.Items, 1)
	require.Equal(t, "bikes", list.Items[0].ID)
	require.Empty(t, parsed[page](t, s.wants(http.StatusOK, http.MethodGet, "/debates?parent=bikes", "")).Items)
	s.posts(http.StatusNoContent, "/debates/bikes/start", "")
	r := result(s.stream("/debates/bikes/events", "").until("ended"))
	require.Equal(t, fsm.Completed, r.State)
	require.Len(t, r.Turns, len(turns))
	require.Equal(t, is.Parent, r.Parent)
}

func TestEditsOverHTTP(t *testing.T) {
	s, turns := completed(t, allowing())
	first := turns[0]
	edited := strings.Replace(posted, "Ban ", "Allow ", 1)
	key := `{"run": 1, "round": 1, "phase": "` + first.Phase + `", "actor": "Ada"}`
	id := s.forked(`{"config": ` + edited + `, "turn": ` + key + `, "reply": "Cars kill <b>people</b>."}`)
	d := debatetest.Open(t, s.engine, id)
	r := debatetest.Result(t, d)
	require.Equal(t, "Allow <b>cars</b>?", r.Topic)
	require.Len(t, r.Turns, 1)
	require.Equal(t, "Cars kill <b>people</b>.", r.Turns[0].Text)
	require.Equal(t, []transcript.Flag{transcript.Edited}, r.Turns[0].Flags)

	id = s.forked(`{"silent": {"turns": [` + key + `]}}`)
	s.posts(http.StatusNoContent, "/debates/"+id+"/start", "")
	silent := result(s.stream("/debates/"+id+"/events", "").until("ended"))
	require.Equal(t, transcript.Silence, silent.Turns[0].Kind)

	for _, tt := range []struct{ body, field string }{
		{`{"silent": {"seats": ["Ada"]}, "seq": 4}`, "silent.seats"},
		{`{"rejudge": {}, "silent": {"seats": ["Ada"]}}`, "rejudge"},
		{`{"seq": 999}`, "seq"},
		{`{"id": "no id"}`, "id"},
		{`{"id": "key-1"}`, "id"},
		{`{"seq": 1, "config": {"topic": ""}}`, "config.topic"},
		{`{"seq": 1, "config": {"theme": ""}}`, "config.theme"},
		{`{"turn": ` + key + `, "reply": " "}`, "reply"},
		{`{"seq": 2, "turn": ` + key + `, "reply": "x"}`, "turn"},
		{`{"reply": "x"}`, "turn"},
		{`{"config": ` + edited + `}`, "seq"},
		{`{"sequence": 1}`, "sequence"},
	} {
		p := s.refuses("invalid", http.MethodPost, "/debates/cars/forks", tt.body)
		require.NotEmpty(t, p.Problems, "%s: %s", tt.body, p.Detail)
		require.Equal(t, tt.field, p.Problems[0].Field, "%s: %s", tt.body, p.Detail)
	}
	s.refuses("not-found", http.MethodPost, "/debates/none/forks", `{}`)
	s.refuses("taken", http.MethodPost, "/debates/cars/forks", `{"id": "cars"}`)
}

// The same key gives the same fork. The labels of the server's own are not those of the parent.
func TestAForkIsMadeOnce(t *testing.T) {
	s, _ := completed(t, allowing())
	one := s.forked(`{"seq": 2}`, "Idempotency-Key", "k")
	require.Equal(t, one, s.forked(`{"seq": 2}`, "Idempotency-Key", "k"))
	require.NotEqual(t, one, s.forked(`{"seq": 2}`))
	s.refuses("key-reused", http.MethodPost, "/debates/cars/forks", `{"seq": 3}`, "Idempotency-Key", "k")
	s.refuses("invalid", http.MethodPost, "/debates/cars/forks", `{"id": "x"}`, "Idempotency-Key", "k")
	_, _, text := s.do(http.MethodPost, "/debates/"+one+"/forks", `{}`)
	two := parsed[launched](t, text).ID
	is := parsed[store.Status](t, s.wants(http.StatusOK, http.MethodGet, "/debates/"+two, ""))
	require.Empty(t, is.Labels)
	require.Equal(t, one, is.Parent.ID)
}

// A fork belongs to whoever made it, and only of debates that they may see.
func TestOwnersOfForks(t *testing.T) {
	o := allowing()
	o.Authorize = OwnersOnly("owner")
	o.Principal = func(r *http.Request) (string, error) { return r.Header.Get("X-User"), nil }
	s := open(t, store.Memory(), o)
	ann, bob := []string{"X-User", "ann"}, []string{"X-User", "bob"}
	id := parsed[launched](t, s.wants(http.StatusCreated, http.MethodPost, "/debates", strings.Replace(posted, `"id": "cars",`, "", 1), ann...)).ID
	s.refuses("not-found", http.MethodPost, "/debates/"+id+"/forks", `{"seq": 1}`, bob...)
	p := s.refuses("invalid", http.MethodPost, "/debates/"+id+"/forks", `{"seq": 1, "id": "x"}`, ann...)
	require.Equal(t, "id", p.Problems[0].Field)
	edited := `{"seq": 1, "config": ` + strings.Replace(posted, `"id": "cars"`, `"labels": {"owner": "bob"}`, 1) + `}`
	for _, body := range []string{`{"seq": 1}`, `{"seq": 1, "labels": {"owner": "bob"}}`, edited} {
		fork := parsed[launched](t, s.wants(http.StatusCreated, http.MethodPost, "/debates/"+id+"/forks", body, ann...)).ID
		is := parsed[store.Status](t, s.wants(http.StatusOK, http.MethodGet, "/debates/"+fork, "", ann...))
		require.Equal(t, map[string]string{"owner": "ann"}, is.Labels, body)
		s.refuses("not-found", http.MethodGet, "/debates/"+fork, "", bob...)
	}
}

func TestPromptsOverHTTP(t *testing.T) {
	s, turns := completed(t, allowing())
	d := debatetest.Open(t, s.engine, "cars")
	client := Client{URL: s.URL}
	for _, turn := range turns {
		want := debatetest.PromptOf(t, d, turn.Key)
		require.NotEmpty(t, want.Request.Messages)
		got, err := client.Prompt(t.Context(), "cars", turn.Key)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	first := "/debates/cars/prompts?round=1&phase=" + turns[0].Phase
	s.wants(http.StatusOK, http.MethodGet, first+"&actor=Ada&seat=Ada", "")
	for query, field := range map[string]string{
		"&actor=Ada&seat=Bo": "actor", "&actor=Ada&run=x": "run", "&actor=Ada&seat=Ada&run=2": "key", "&actor=Cleo": "key",
	} {
		p := s.refuses("invalid", http.MethodGet, first+query, "")
		require.Equal(t, field, p.Problems[0].Field, p.Detail)
	}
}

// A seat gets the bytes of an attachment only if it may read it, at any address that it may get.
func TestASeatGetsOnlyTheAttachmentsThatItReads(t *testing.T) {
	s := open(t, store.Memory(), allowing())
	s.gate.Provider = &scripted.Provider{Func: func(r providers.Request) scripted.Reply {
		return scripted.Reply{Text: enginetest.PresetReply(parsed[debate.Config](t, posted), r)}
	}}
	s.letAllSpeak()
	var photo bytes.Buffer
	require.NoError(t, png.Encode(&photo, image.NewGray(image.Rect(0, 0, 9, 9))))
	encoded := base64.StdEncoding.EncodeToString(photo.Bytes())
	s.posts(http.StatusCreated, "/debates", strings.Replace(posted, "{", `{"attachments": [{"name": "a.png", "media_type": "image/png", "data": "`+encoded+`", "readers": ["Ada"]}],`, 1))
	turns := result(s.watch("").until("ended")).Turns
	require.Equal(t, "Bo", turns[1].Actor)
	of := func(turn transcript.Turn) string {
		return "/debates/cars/prompts?" + url.Values{"round": {strconv.Itoa(turn.Round)}, "phase": {turn.Phase}, "actor": {turn.Actor}}.Encode()
	}
	require.Contains(t, s.wants(http.StatusOK, http.MethodGet, of(turns[0])+"&seat=Ada", ""), encoded)
	require.NotContains(t, s.wants(http.StatusOK, http.MethodGet, of(turns[1])+"&seat=Bo", ""), encoded)
	for _, turn := range turns {
		if turn.Actor != "Bo" {
			s.refuses("invalid", http.MethodGet, of(turn)+"&seat=Bo", "")
		}
	}
	require.Contains(t, s.wants(http.StatusOK, http.MethodGet, "/debates/cars/events?seat=Ada", ""), encoded)
	for _, path := range []string{"/debates", "/debates/cars/events?seat=Bo", "/debates/cars/result", "/debates/cars/report", "/debates/cars/report?full=true&format=html", "/debates/cars/waiting", "/debates/cars/waiting?seat=Bo", "/debates/cars"} {
		require.NotContains(t, s.wants(http.StatusOK, http.MethodGet, path, ""), encoded, path)
	}
}

func TestAClientForks(t *testing.T) {
	s, turns := completed(t, allowing())
	client := Client{URL: s.URL}
	cfg := parsed[debate.Config](t, posted)
	cfg.Topic = "Ban bikes?"
	edits := debate.Edits{Labels: map[string]string{"team": "red"}, Config: &cfg, Turn: turns[1].Key, Reply: "No."}
	id, err := client.Fork(t.Context(), "cars", 0, edits, "key")
	require.NoError(t, err)
	again, err := client.Fork(t.Context(), "cars", 0, edits, "key")
	require.NoError(t, err)
	require.Equal(t, id, again)
	r := debatetest.Call(t, client.Result, id)
	require.Equal(t, "Ban bikes?", r.Topic)
	require.Equal(t, "No.", r.Turns[1].Text)
	require.Equal(t, transcript.Parent{ID: "cars", Seq: turns[1].Seq - 1}, r.Parent)
	var forks []string
	for _, is := range debatetest.List(t, &client, store.Query{Parent: "cars"}) {
		forks = append(forks, is.ID)
		require.Equal(t, "red", is.Labels["team"])
	}
	require.Equal(t, []string{id}, forks)
}

// A second request finds the fork of the first one, even if the debate no longer permits the edits.
func TestAForkIsFoundAfterTheEnd(t *testing.T) {
	s := open(t, store.Memory(), allowing())
	s.begin()
	body := `{"config": ` + strings.Replace(posted, "Ban ", "Allow ", 1) + `}`
	id := s.forked(body, "Idempotency-Key", "k")
	s.letAllSpeak()
	s.watch("").until("ended")
	require.Equal(t, id, s.forked(body, "Idempotency-Key", "k"))
	s.refuses("invalid", http.MethodPost, "/debates/cars/forks", body)
	s.refuses("invalid", http.MethodPost, "/debates/cars/forks", body, "Idempotency-Key", "other")
}

func TestAClientRemovesLabels(t *testing.T) {
	s := open(t, store.Memory(), allowing())
	cfg := parsed[debate.Config](t, posted)
	cfg.Labels = map[string]string{"team": "red"}
	debatetest.Create(t, s.engine, cfg)
	client := Client{URL: s.URL}
	for _, tt := range []struct{ labels, want map[string]string }{
		{nil, cfg.Labels},
		{map[string]string{}, nil},
	} {
		id, err := client.Fork(t.Context(), "cars", 0, debate.Edits{Labels: tt.labels}, "")
		require.NoError(t, err)
		is := debatetest.Call(t, client.Status, id)
		require.Equal(t, len(tt.want), len(is.Labels), is.Labels)
	}
}

func TestRejudgeOverHTTP(t *testing.T) {
	s, turns := completed(t, allowing())
	key := `{"run": 1, "round": 1, "phase": "` + turns[0].Phase + `", "actor": "` + turns[0].Actor + `"}`
	id := s.forked(`{"id": "again", "labels": {"team": "red"}, "rejudge": {"omit": {"turns": [` + key + `]}, "swap": true}}`)
	is := parsed[store.Status](t, s.wants(http.StatusOK, http.MethodGet, "/debates/"+id, ""))
	require.Equal(t, "cars", is.Parent.ID)
	require.Equal(t, map[string]string{"team": "red"}, is.Labels)
	s.posts(http.StatusNoContent, "/debates/again/start", "")
	r := result(s.stream("/debates/again/events", "").until("ended"))
	require.Equal(t, fsm.Completed, r.State)
	require.Len(t, r.Turns, len(turns))
	require.Equal(t, []transcript.Key{turns[0].Key}, r.Rejudged.Omit.Turns)
	require.True(t, r.Rejudged.Swap)

	first := s.forked(`{"rejudge": {}}`, "Idempotency-Key", "k")
	require.Equal(t, first, s.forked(`{"rejudge": {}}`, "Idempotency-Key", "k"))
	for _, body := range []string{`{"seq": 3, "rejudge": {}}`, `{"rejudge": {}, "reply": "x", "turn": ` + key + `}`, `{"rejudge": {}, "config": {}}`} {
		require.Equal(t, "rejudge", s.refuses("invalid", http.MethodPost, "/debates/cars/forks", body).Problems[0].Field, body)
	}
	p := s.refuses("invalid", http.MethodPost, "/debates/cars/forks", `{"rejudge": {"omit": {"seats": ["Zoe"]}}}`)
	require.Equal(t, "omit.seats[0]", p.Problems[0].Field)
	s.refuses("invalid", http.MethodPost, "/debates/cars/forks", `{"rejudge": {"judge": 1}}`)
}
