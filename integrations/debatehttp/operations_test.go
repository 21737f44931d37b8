package debatehttp

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/report"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// state returns the state of the debate "cars".
func (s *site) state() store.Status {
	s.t.Helper()
	return parsed[store.Status](s.t, s.wants(http.StatusOK, http.MethodGet, "/debates/cars", ""))
}

// named returns the usual configuration with another id and a label.
func named(id, label string) string {
	return strings.Replace(posted, `"id": "cars"`, `"id": "`+id+`", "labels": {"team": "`+label+`"}`, 1)
}

func TestOneDebateThroughAllReads(t *testing.T) {
	s := open(t, store.Memory(), allowing())
	s.letAllSpeak()
	s.begin()
	s.watch("").until("ended")

	status := s.state()
	require.Equal(t, fsm.Completed, status.State)
	require.Equal(t, "Ban <b>cars</b>?", status.Topic)
	r := parsed[debate.Result](t, s.wants(http.StatusOK, http.MethodGet, "/debates/cars/result", ""))
	require.Len(t, r.Turns, 7)

	short := parsed[report.Report](t, s.wants(http.StatusOK, http.MethodGet, "/debates/cars/report", ""))
	require.True(t, short.Redacted)
	full := parsed[report.Report](t, s.wants(http.StatusOK, http.MethodGet, "/debates/cars/report?full=true", ""))
	require.False(t, full.Redacted)
	require.Contains(t, string(full.Config), `"step_tokens"`)
	code, header, page := s.do(http.MethodGet, "/debates/cars/report?format=html", "")
	require.Equal(t, http.StatusOK, code)
	require.Contains(t, header.Get("Content-Security-Policy"), "default-src 'none'")
	require.Contains(t, header.Get("Content-Security-Policy"), "sandbox")
	require.Equal(t, "text/html; charset=utf-8", header.Get("Content-Type"))
	require.Contains(t, page, "Ban &lt;b&gt;cars&lt;/b&gt;?")
	require.NotContains(t, page, "<b>cars")
	code, header, page = s.do(http.MethodGet, "/debates/cars/report?format=markdown", "")
	require.Equal(t, http.StatusOK, code)
	require.Equal(t, "text/markdown; charset=utf-8", header.Get("Content-Type"))
	require.True(t, strings.HasPrefix(page, "# "), page)
	p := s.refuses("invalid", http.MethodGet, "/debates/cars/report?format=pdf", "")
	require.Equal(t, "format", p.Problems[0].Field)
	p = s.refuses("invalid", http.MethodGet, "/debates/cars/report?full=x", "")
	require.Equal(t, "full", p.Problems[0].Field)
}

func TestControls(t *testing.T) {
	s := open(t, store.Memory(), allowing())
	s.begin()
	<-s.gate.called
	s.posts(http.StatusNoContent, "/debates/cars/pause", "")
	require.Equal(t, fsm.Paused, s.state().State)
	p := s.refuses("refused", http.MethodPost, "/debates/cars/retry", "")
	require.Equal(t, fsm.Paused, p.State)
	require.Contains(t, p.Possible, "Resume")
	s.posts(http.StatusNoContent, "/debates/cars/remarks", `{"id": "r1", "from": "Cleo", "text": "Think of <i>buses</i>."}`)
	s.posts(http.StatusNoContent, "/debates/cars/remarks", `{"id": "r1", "from": "Cleo", "text": "Think of <i>buses</i>."}`)
	s.wants(http.StatusNoContent, http.MethodPut, "/debates/cars/annotations/rating", `{"stars": 4}`)
	s.posts(http.StatusNoContent, "/debates/cars/resume", "")
	s.posts(http.StatusNoContent, "/debates/cars/stop", "")
	s.letAllSpeak()
	r := result(s.watch("").until("ended"))
	require.Equal(t, fsm.Completed, r.State)
	require.Equal(t, "stopped", string(r.Ending.Outcome))
	require.JSONEq(t, `{"stars": 4}`, string(r.Annotations["rating"]))
	remarks := 0
	for _, turn := range r.Turns {
		if turn.Text == "Think of <i>buses</i>." {
			remarks++
		}
	}
	require.Equal(t, 1, remarks)
	s.wants(http.StatusNoContent, http.MethodDelete, "/debates/cars", "")
	s.refuses("not-found", http.MethodGet, "/debates/cars", "")
	s.refuses("not-found", http.MethodDelete, "/debates/cars", "")
	s.begin() // the id is free again
}

// A debate in error is edited, and continues after retry or begins again after reset.
func TestRetryResetAndEdit(t *testing.T) {
	s := open(t, store.Memory(), allowing())
	good := s.gate.Provider
	s.gate.Provider = &scripted.Provider{Func: func(providers.Request) scripted.Reply {
		return scripted.Reply{Err: &providers.Error{Kind: providers.Authentication, Err: errors.New("the key is refused")}}
	}}
	s.letAllSpeak()
	s.begin()
	untilState(t, s.watch(""), fsm.Error)
	require.Equal(t, "authentication", s.state().FailureKind)
	s.posts(http.StatusNoContent, "/debates/cars/reset", "")
	require.Equal(t, fsm.Configuring, s.state().State)
	p := s.refuses("invalid", http.MethodPut, "/debates/cars/config", strings.Replace(posted, `"cars"`, `"bikes"`, 1))
	require.Equal(t, "id", p.Problems[0].Field)
	s.wants(http.StatusNoContent, http.MethodPut, "/debates/cars/config", strings.Replace(posted, "Ban ", "Allow ", 1))
	require.Equal(t, "Allow <b>cars</b>?", s.state().Topic)
	s.posts(http.StatusNoContent, "/debates/cars/start", "")
	v := s.watch("")
	untilState(t, v, fsm.Error)
	untilState(t, v, fsm.Error)
	s.gate.Provider = good
	s.posts(http.StatusNoContent, "/debates/cars/retry", "")
	require.Equal(t, fsm.Completed, result(v.until("ended")).State)
}

// untilState reads events until the debate is in a state.
func untilState(t *testing.T, v *viewer, want fsm.State) (last message) {
	t.Helper()
	for {
		seen := v.until("state")
		last = seen[len(seen)-1]
		if last.event.(debate.StateChanged).To == want {
			return last
		}
	}
}

func TestGatesAreDecided(t *testing.T) {
	s := open(t, store.Memory(), allowing())
	s.letAllSpeak()
	s.posts(http.StatusCreated, "/debates", strings.Replace(posted, `"topic"`, `"ask_before_rounds": true, "topic"`, 1))
	v := s.watch("")
	for round, body := range []string{`{"question": %q, "action": "edit", "remark": {"from": "Cleo", "text": "Mind the costs."}}`, `{"question": %q, "action": "approve"}`} {
		asked := untilState(t, v, fsm.Paused).event.(debate.StateChanged).Question
		require.Equal(t, "round "+strconv.Itoa(round+1), asked.Gate)
		p := s.refuses("invalid", http.MethodPost, "/debates/cars/decisions", `{"question": "none", "action": "approve"}`)
		require.Equal(t, "id", p.Problems[0].Field)
		s.posts(http.StatusNoContent, "/debates/cars/decisions", strings.Replace(body, "%q", strconv.Quote(asked.ID), 1))
	}
	require.Equal(t, fsm.Completed, result(v.until("ended")).State)
}

// A person lists what is asked, replies in the principal's name, and hears nobody too early.
func TestAPersonTakesPart(t *testing.T) {
	o := allowing()
	o.Principal = func(r *http.Request) (string, error) { return r.Header.Get("X-User"), nil }
	s := open(t, store.Memory(), o)
	s.letAllSpeak()
	person := strings.Replace(posted, `"Bo",`, `"Bo", "human": true,`, 1)
	person = strings.Replace(person, `"round-limited"`, `"round-limited", "mode": "simultaneous"`, 1)
	s.posts(http.StatusCreated, "/debates", person)
	v := s.stream("/debates/cars/events?seat=Bo", "")
	for round := range 2 {
		v.until("asked")
		asked := parsed[askedPage](t, s.wants(http.StatusOK, http.MethodGet, "/debates/cars/waiting?seat=Bo", "")).Items
		require.Len(t, asked, 1)
		require.Equal(t, round+1, asked[0].Key.Round)
		require.Equal(t, `{"items":[]}`+"\n", s.wants(http.StatusOK, http.MethodGet, "/debates/cars/waiting?seat=Ada", ""))
		items := parsed[inboxPage](t, s.wants(http.StatusOK, http.MethodGet, "/inbox?seat=Bo", "")).Items
		require.Equal(t, []InboxItem{{"cars", "Ban <b>cars</b>?", asked[0]}}, items)
		require.Equal(t, `{"items":[]}`+"\n", s.wants(http.StatusOK, http.MethodGet, "/inbox?seat=Ada", ""))
		given := func(name, text string) string {
			return debatetest.Encode(t, map[string]any{"key": asked[0].Key, name: text})
		}
		p := s.refuses("invalid", http.MethodPost, "/debates/cars/answers", given("text", " "))
		require.Equal(t, "reply", p.Problems[0].Field)
		if round == 1 {
			s.wants(http.StatusNoContent, http.MethodPost, "/debates/cars/declines", given("reason", "I have to leave."), "X-User", "bo@example.com")
			s.refuses("not-asked", http.MethodPost, "/debates/cars/answers", given("text", "No."))
			break
		}
		s.wants(http.StatusNoContent, http.MethodPost, "/debates/cars/answers", given("text", "No."), "X-User", "bo@example.com")
		s.refuses("answered", http.MethodPost, "/debates/cars/answers", given("text", "Yes."))
	}
	read := v.until("ended")
	declined := slices.IndexFunc(read, func(m message) bool { return m.kind == "decided" })
	require.Equal(t, "bo@example.com", read[declined].event.(debate.Decided).By)
	r := result(read)
	require.Equal(t, fsm.Completed, r.State)
	i := slices.IndexFunc(r.Turns, func(t transcript.Turn) bool { return t.Actor == "Bo" })
	require.Equal(t, "bo@example.com", r.Turns[i].By)
	require.Contains(t, s.refuses("invalid", http.MethodGet, "/debates/cars/events?seat=Zoe", "").Problems[0].Reason, "Zoe")
	s.refuses("invalid", http.MethodGet, "/inbox", "")
	s.refuses("invalid", http.MethodPost, "/debates/cars/answers", `{"key": {"run": 1}, "text": "No."}`)
	s.refuses("invalid", http.MethodPost, "/debates/cars/declines", `{}`)
}

// Who speaks for a seat reads what is asked of that seat only.
func TestTwoPeopleHaveTheirOwnInbox(t *testing.T) {
	s := open(t, store.Memory(), allowing())
	people := strings.ReplaceAll(posted, `, "side"`, `, "human": true, "side"`)
	s.posts(http.StatusCreated, "/debates", strings.Replace(people, `"round-limited"`, `"round-limited", "mode": "simultaneous"`, 1))
	v := s.watch("")
	v.until("asked")
	v.until("asked")
	for _, seat := range []string{"Ada", "Bo"} {
		items := parsed[inboxPage](t, s.wants(http.StatusOK, http.MethodGet, "/inbox?seat="+seat, "")).Items
		require.Len(t, items, 1)
		require.Equal(t, seat, items[0].Asked.Key.Actor)
	}
}

func TestListsAndTheirFilters(t *testing.T) {
	s := open(t, store.Memory(), allowing())
	s.letAllSpeak()
	for i := range 5 {
		s.posts(http.StatusCreated, "/debates", named("d"+strconv.Itoa(i), []string{"red", "blue"}[i%2]))
		s.stream("/debates/d"+strconv.Itoa(i)+"/events", "").until("ended")
	}
	list := func(query string) (ids []string, next string) {
		p := parsed[page](t, s.wants(http.StatusOK, http.MethodGet, "/debates"+query, ""))
		for _, d := range p.Items {
			ids = append(ids, d.ID)
		}
		return ids, p.Next
	}
	all, next := list("")
	require.Equal(t, []string{"d4", "d3", "d2", "d1", "d0"}, all)
	require.Empty(t, next)
	red, _ := list("?label=team:red")
	require.Equal(t, []string{"d4", "d2", "d0"}, red)
	none, _ := list("?label=team:red&label=team2:x")
	require.Empty(t, none)
	done, _ := list("?state=completed&state=canceled&outcome=round_limit")
	require.Equal(t, all, done)
	for _, query := range []string{
		"?state=error", "?outcome=canceled", "?failure_kind=network", "?waiting=Bo", "?created_before=2001-01-01T00:00:00Z", "?updated_before=2001-01-01T00:00:00Z",
		"?created_since=2999-01-01T00:00:00Z", "?updated_since=2999-01-01T00:00:00Z",
	} {
		none, _ = list(query)
		require.Empty(t, none, query)
	}
	since, _ := list("?created_since=2001-01-01T00:00:00Z&updated_since=" + url.QueryEscape(time.Now().AddDate(0, 0, -1).Format(time.RFC3339)))
	require.Equal(t, all, since)
	var paged []string
	for query, pages := "?limit=2", 0; ; pages++ {
		require.Less(t, pages, 4)
		ids, next := list(query)
		paged = append(paged, ids...)
		if next == "" {
			break
		}
		query = "?limit=2&cursor=" + next
	}
	require.Equal(t, all, paged)

	p := s.refuses("invalid", http.MethodGet, "/debates?limit=0&label=red&created_since=today&cursor=x", "")
	var fields []string
	for _, one := range p.Problems {
		fields = append(fields, one.Field)
	}
	require.ElementsMatch(t, []string{"limit", "label", "created_since", "cursor"}, fields)
	require.Contains(t, s.refuses("invalid", http.MethodGet, "/debates?states=error", "").Detail, "states: it is unknown")
}

func TestInvalidRequests(t *testing.T) {
	o := allowing()
	o.MaxBody = 2000
	s := open(t, store.Memory(), o)
	s.letAllSpeak()
	s.begin()
	s.watch("").until("ended")
	for name, test := range map[string]struct{ kind, method, path, body string }{
		"unknown debate":        {"not-found", "GET", "/debates/none", ""},
		"unknown debate's end":  {"not-found", "POST", "/debates/none/cancel", ""},
		"unknown debate's view": {"not-found", "GET", "/debates/none/events", ""},
		"unknown address":       {"no-route", "GET", "/nothing", ""},
		"wrong method":          {"method-not-allowed", "PATCH", "/debates/cars", ""},
		"no JSON":               {"invalid", "POST", "/debates", "{"},
		"nothing":               {"invalid", "POST", "/debates", ""},
		"two values":            {"invalid", "POST", "/debates", posted + posted},
		"no object":             {"invalid", "POST", "/debates/cars/remarks", "[]"},
		"no remark":             {"invalid", "POST", "/debates/cars/remarks", ""},
		"unknown field":         {"invalid", "POST", "/debates/cars/remarks", `{"txt": "x"}`},
		"wrong type":            {"invalid", "POST", "/debates/cars/decisions", `{"question": 1}`},
		"no note":               {"invalid", "PUT", "/debates/cars/annotations/x", "{"},
		"too large":             {"too-large", "POST", "/debates", `{"topic": "` + strings.Repeat("x", 2000) + `"}`},
		"too large a remark":    {"too-large", "POST", "/debates/cars/remarks", `{"text": "` + strings.Repeat("x", 2000) + `"}`},
		"id taken":              {"taken", "POST", "/debates", posted},
		"ended":                 {"refused", "POST", "/debates/cars/pause", ""},
		"no question":           {"refused", "POST", "/debates/cars/decisions", `{"question": "1", "action": "retry"}`},
		"unknown provider":      {"invalid", "POST", "/debates", strings.Replace(named("new", "x"), `"side": "for"`, `"provider": "x"`, 1)},
	} {
		t.Run(name, func(t *testing.T) { s.refuses(test.kind, test.method, test.path, test.body) })
	}
	_, header, _ := s.do(http.MethodPatch, "/debates/cars", "")
	require.Equal(t, "DELETE, GET, HEAD", header.Get("Allow"))
	s.posts(http.StatusCreated, "/debates", named("new", "x")) // the id of the debate that could not start is free
}

// A configuration's problems are all listed.
func TestAllFieldsOfAConfiguration(t *testing.T) {
	s := open(t, store.Memory(), allowing())
	for _, test := range []struct {
		body   string
		fields []string
	}{
		{`{"topc": "x", "participants": [{"name": 1}]}`, []string{"topc", "participants[0].name"}},
		{`{"topic": " ", "participants": [{"name": "Ada"}, {"name": "Ada", "temperature": 9}]}`, []string{"topic", "participants[1].name", "participants[1].temperature"}},
	} {
		p := s.refuses("invalid", http.MethodPost, "/debates", test.body)
		var fields []string
		for _, one := range p.Problems {
			fields = append(fields, one.Field)
			require.NotEmpty(t, one.Reason)
		}
		require.Subset(t, fields, test.fields)
		require.GreaterOrEqual(t, len(fields), len(test.fields))
	}
}

func TestAnIDOfNoEvent(t *testing.T) {
	s := open(t, store.Memory(), allowing())
	s.begin()
	for _, id := range []string{"first", "-1", "1.5", "99999999999999999999", "1\t"} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/debates/cars/events", nil)
		r.Header.Set("Last-Event-ID", id)
		w := httptest.NewRecorder()
		s.Config.Handler.ServeHTTP(w, r)
		require.Equal(t, http.StatusBadRequest, w.Code)
		require.Equal(t, "Last-Event-ID", parsed[Problem](t, w.Body.String()).Problems[0].Field)
	}
}

// A request with the same key is the same request. With another body it is refused, and other principals have other keys.
func TestIdempotencyKeys(t *testing.T) {
	o := allowing()
	o.Principal = func(r *http.Request) (string, error) { return r.Header.Get("X-User"), nil }
	s := open(t, store.Memory(), o)
	s.letAllSpeak()
	body := strings.Replace(posted, `"id": "cars", `, "", 1)
	launch := func(body, user, key string) string {
		t.Helper()
		text := s.wants(http.StatusCreated, http.MethodPost, "/debates", body, "X-User", user, "Idempotency-Key", key)
		return parsed[launched](t, text).ID
	}
	id := launch(body, "ann", "k1")
	require.Equal(t, id, launch(body, "ann", "k1"))
	require.Equal(t, id, launch(strings.ReplaceAll(body, "\n", " "), "ann", "k1"), "the same configuration")
	s.stream("/debates/"+id+"/events", "").until("ended")
	require.Equal(t, id, launch(body, "ann", "k1"), "after its end")
	require.NotEqual(t, id, launch(body, "bob", "k1"))
	require.NotEqual(t, id, launch(body, "ann", "k2"))
	require.NotEqual(t, launch(body, "a", "bk"), launch(body, "ab", "k"))

	code, _, _ := s.do(http.MethodPost, "/debates", strings.Replace(body, "Ban", "Allow", 1), "X-User", "ann", "Idempotency-Key", "k1")
	require.Equal(t, http.StatusUnprocessableEntity, code)
	s.refuses("key-reused", http.MethodPost, "/debates", strings.Replace(body, "Ban", "Allow", 1), "X-User", "ann", "Idempotency-Key", "k1")
	s.refuses("invalid", http.MethodPost, "/debates", posted, "Idempotency-Key", "k3")
	s.refuses("invalid", http.MethodPost, "/debates", body, "Idempotency-Key", strings.Repeat("k", 256))
	taken := strings.Replace(posted, `"cars"`, strconv.Quote(idOf("ann", "k3")), 1)
	require.Equal(t, "id", s.refuses("invalid", http.MethodPost, "/debates", taken).Problems[0].Field, "nobody takes the id of another's key")
}

// Nothing of the program's code is in a response, even if a provider panics.
func TestNoStackIsShown(t *testing.T) {
	s := open(t, store.Memory(), allowing())
	s.gate.Provider = &scripted.Provider{Func: func(providers.Request) scripted.Reply { panic("secret") }}
	s.letAllSpeak()
	s.begin()
	v := s.watch("")
	last := untilState(t, v, fsm.Error)
	require.NotNil(t, last.event.(debate.StateChanged).Failure)
	require.Empty(t, last.event.(debate.StateChanged).Failure.Stack)
	for _, path := range []string{"", "/result", "/report", "/report?full=true", "/report?format=html&full=true"} {
		require.NotContains(t, s.wants(http.StatusOK, http.MethodGet, "/debates/cars"+path, ""), ".go:", path)
	}
	d := debatetest.Open(t, s.engine, "cars")
	r := debatetest.Result(t, d)
	require.Contains(t, r.Failure.Stack, ".go:", "the journal has it")
}

// Lists of a result are never null, not even before the first turn.
func TestAResultHasLists(t *testing.T) {
	s := open(t, store.Memory(), allowing())
	s.begin()
	text := s.wants(http.StatusOK, http.MethodGet, "/debates/cars/result", "")
	require.Contains(t, text, `"turns":[]`)
	require.NotContains(t, text, "null")
}

// People read the documents of the seat for which they speak, and no others.
func TestASeatReadsItsDocuments(t *testing.T) {
	o := signedIn()
	allow := o.Authorize
	o.Authorize = func(ctx context.Context, a *Access) error {
		if a.Action == Waiting && a.Seat == "Jo" {
			return errors.New("ann does not speak for Jo")
		}
		return allow(ctx, a)
	}
	s := open(t, store.Memory(), o)
	c := clientOf(s)
	id, err := c.Launch(t.Context(), debate.Config{
		Topic: "Ban cars?", Protocol: panel.Protocol{}, Participants: []debate.Participant{{Name: "Bo", Human: true}, {Name: "Ada", Human: true}}, Judges: []debate.Participant{{Name: "Jo", Human: true}},
		Documents: []evidence.Document{evidence.Shared("law 1.md", "The law."), evidence.Private("contract.md", "The private text.", "Bo", "Jo")},
	}, "")
	require.NoError(t, err)
	for ev, err := range c.Watch(t.Context(), id, "Bo", 0) {
		require.NoError(t, err)
		if _, waits := ev.(debate.Asked); waits {
			break
		}
	}
	asked, err := c.Waiting(t.Context(), id, "Bo")
	require.NoError(t, err)
	require.Equal(t, []string{"law 1.md (8 bytes)", "contract.md (17 bytes)"}, asked[0].Documents)
	for _, name := range []string{"law 1.md", "contract.md"} {
		text, err := c.Document(t.Context(), id, "Bo", name)
		require.NoError(t, err)
		require.Equal(t, map[string]string{"law 1.md": "The law.", "contract.md": "The private text."}[name], text)
	}
	for _, tt := range []struct{ seat, name, says string }{
		{"Ada", "contract.md", `"contract.md" is no document that "Ada" reads`},
		{"Bo", "none.md", `"none.md" is no document that "Bo" reads`},
		{"", "contract.md", "seat: it is empty, use the name of a participant or judge"},
		{"Jo", "contract.md", "the action waiting is not allowed"},
	} {
		_, err := c.Document(t.Context(), id, tt.seat, tt.name)
		require.ErrorContains(t, err, tt.says)
		require.NotContains(t, err.Error(), "private text")
	}
}

// A human judge and a human participant read what they must know, and nobody else's. An inbox cuts a large background.
func TestPeopleAreBriefed(t *testing.T) {
	o := allowing()
	o.Principal = func(r *http.Request) (string, error) { return r.Header.Get("X-User"), nil }
	s := open(t, store.Memory(), o)
	s.letAllSpeak()
	large := "BACKGROUND-TEXT " + strings.Repeat("é", 4000)
	config := `{"id": "b", "topic": "Ban cars?", "protocol": {"name": "panel/1", "format": "round-limited"}, "limits": {"max_rounds": 1}, "background": "` + large + `",
		"participants": [{"name": "Ada", "position": "POSITION-TEXT", "persona": "SECRET"}, {"name": "Bo", "human": true}], "judges": [{"name": "Jo", "human": true}],
		"rubric": [{"name": "policy_fit", "weight": 70, "description": "DESCRIPTION-TEXT", "zero": "ZERO-TEXT"}, {"name": "cost", "weight": 30}]}`
	s.posts(http.StatusCreated, "/debates", config)
	s.stream("/debates/b/events?seat=Bo", "").until("asked")
	body := s.wants(http.StatusOK, http.MethodGet, "/debates/b/waiting?seat=Bo", "")
	require.Contains(t, body, large)
	require.Contains(t, body, "POSITION-TEXT")
	require.NotContains(t, body, "DESCRIPTION-TEXT")
	require.NotContains(t, body, "SECRET")
	inbox := s.wants(http.StatusOK, http.MethodGet, "/inbox?seat=Bo", "")
	require.Contains(t, inbox, "BACKGROUND-TEXT")
	require.NotContains(t, inbox, large)
	asked := parsed[askedPage](t, body).Items
	s.posts(http.StatusNoContent, "/debates/b/answers", debatetest.Encode(t, map[string]any{"key": asked[0].Key, "text": "No."}))
	s.stream("/debates/b/events?seat=Jo", "").until("asked")
	judged := parsed[askedPage](t, s.wants(http.StatusOK, http.MethodGet, "/debates/b/waiting?seat=Jo", "")).Items
	require.Contains(t, judged[0].Briefing.Text(), "- policy_fit (70 %): DESCRIPTION-TEXT\n  - 0 means: ZERO-TEXT\n- cost (30 %)")
}
