package inspector

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"log/slog"
	"mime/multipart"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/integrations/debatehttp"
	"github.com/elenchus-go/debate/integrations/launch"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	options "github.com/elenchus-go/debate/judge/decision"
	"github.com/elenchus-go/debate/protocol/arbitration"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/protocol/procon"
	"github.com/elenchus-go/debate/protocol/vote"
	"github.com/elenchus-go/debate/providers/price"
	"github.com/elenchus-go/debate/store"
)

// offered is what the tests may begin.
func offered() *launch.Offer {
	judges := []debate.Participant{{Name: "Jo"}}
	return &launch.Offer{
		Purposes: []launch.Purpose{
			{Name: "decision", Title: "a decision", About: "Two weigh the options.", Config: debate.Config{
				Protocol:     panel.Protocol{Decision: options.Task{Options: []string{"Yes", "No"}}},
				Participants: []debate.Participant{{Name: "Ada"}, {Name: "Bo"}}, Judges: judges, Limits: debate.Limits{MaxRounds: 1},
			}},
			{Name: "answer", Title: "a right answer", Config: debate.Config{
				Protocol: vote.Protocol{}, Participants: []debate.Participant{{Name: "Ada"}, {Name: "Bo"}, {Name: "Cy"}},
			}},
			{Name: "sides", Title: "both sides", Config: debate.Config{
				Protocol:     procon.Protocol{},
				Participants: []debate.Participant{{Name: "Pro", Position: "Yes."}, {Name: "Con", Position: "No."}}, Judges: judges,
			}},
			{Name: "evaluation", Title: "scores checked", Config: debate.Config{
				Protocol:     arbitration.Protocol{Scores: map[string]float64{"problem": 5, "solution": 5, "market": 5}},
				Participants: []debate.Participant{{Name: "Advocate", Role: "advocate"}, {Name: "Challenger", Role: "challenger"}},
				Judges:       judges,
			}},
		},
		Models: []launch.Model{
			{Provider: "model", Title: "Demo model", Price: &price.Price{}},
			{Provider: "model", Name: "gpt-x", Price: &price.Price{Input: 2, Output: 8}},
			{Provider: "model", Name: "llama"},
		},
		Cost: 1, Currency: "USD", Note: "No key is set.",
	}
}

// offering returns options of an inspector with the page for new debates.
func offering() Options {
	return Options{Controls: true, Offer: func(context.Context, string) (*launch.Offer, error) { return offered(), nil }}
}

// An upload is a file of a form.
type upload struct {
	name string
	data []byte
}

// submit sends the form for a new debate. Fields are pairs of a name and a value.
func (w *web) submit(fields []string, files []upload, header ...string) (*http.Response, string) {
	w.t.Helper()
	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	for i := 0; i+1 < len(fields); i += 2 {
		require.NoError(w.t, form.WriteField(fields[i], fields[i+1]))
	}
	for _, f := range files {
		part, err := form.CreateFormFile("files", f.name)
		require.NoError(w.t, err)
		_, err = part.Write(f.data)
		require.NoError(w.t, err)
	}
	require.NoError(w.t, form.Close())
	req, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, w.server.URL+prefix+"/new", &b)
	require.NoError(w.t, err)
	req.Header.Set("Content-Type", form.FormDataContentType())
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(req)
	require.NoError(w.t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	require.NoError(w.t, err)
	return res, string(body)
}

// begun sends the form, and returns the debate that it has begun.
func (w *web) begun(fields []string, files []upload, header ...string) *debate.Debate {
	w.t.Helper()
	res, body := w.submit(fields, files, header...)
	require.Equal(w.t, http.StatusSeeOther, res.StatusCode, body)
	id, ok := strings.CutPrefix(res.Header.Get("Location"), "debates/")
	require.True(w.t, ok, res.Header.Get("Location"))
	return debatetest.Open(w.t, w.engine, id)
}

// ended waits until a debate has ended.
func ended(t testing.TB, d *debate.Debate) *debate.Result {
	t.Helper()
	for ev, err := range d.Watch(t.Context(), 0) {
		require.NoError(t, err)
		if done, ok := ev.(debate.Ended); ok {
			return done.Result
		}
	}
	return debatetest.Result(t, d)
}

// stored returns the configuration of a debate.
func stored(t testing.TB, d *debate.Debate) (cfg debate.Config) {
	t.Helper()
	for past, err := range d.Replay(t.Context()) {
		require.NoError(t, err)
		if first, ok := past.Event.(debate.ConfigChanged); ok {
			require.NoError(t, json.Unmarshal(first.Config, &cfg))
		}
	}
	return cfg
}

// From the form to the answer, without a script.
func TestADebateBeginsInTheForm(t *testing.T) {
	w := open(t, offering())
	page := w.get(http.StatusOK, "/")
	require.Contains(t, page, "There is no debate yet.")
	require.Contains(t, page, `href="./new"`)
	page = w.get(http.StatusOK, "/new")
	for _, text := range []string{
		"a decision", "Two weigh the options.", "No key is set.", "Demo model", "without any: Yes, No",
		"costs nothing", "Cost at most, in USD", `value="1.00"`,
	} {
		require.Contains(t, page, text)
	}
	d := w.begun([]string{
		"topic", "Should cities ban private cars?", "purpose", "decision", "decision.options", "Ban\r\nTax\r\n", "decision.seat1",
		"model/gpt-x",
		"cost", "0.5", "rounds", "1", "labels", "team: roads", "background", "It is a small city.",
		"document-name", "notes.md", "document-text", "Cars take space.", "once", "abc",
	}, []upload{{"report.txt", []byte("Buses are slow.\r\n")}})
	r := ended(t, d)
	require.Equal(t, fsm.Completed, r.State)
	cfg := stored(t, d)
	require.Equal(t, []string{"Ban", "Tax"}, launch.Options(cfg.Protocol))
	require.Equal(t, "gpt-x", cfg.Participants[1].Model)
	require.Empty(t, cfg.Participants[0].Model)
	require.Equal(t, 0.5, cfg.Limits.Cost)
	require.Equal(t, price.Prices{"": {}, "gpt-x": {Input: 2, Output: 8}}, cfg.Prices)
	require.Equal(t, "roads", cfg.Labels["team"])
	require.Equal(t, "It is a small city.", cfg.Background)
	require.Equal(t, []string{"notes.md", "report.txt"}, []string{cfg.Documents[0].Name, cfg.Documents[1].Name})
	require.Equal(t, "Buses are slow.\n", cfg.Documents[1].Text)
	page = w.get(http.StatusOK, "/debates/"+d.ID())
	require.Contains(t, page, `id="template"`)
	list := w.get(http.StatusOK, "/")
	require.Contains(t, list, `<span class="answer" dir="auto">`+html.EscapeString(oneLine(r.Answer.Text))[:20])
}

// What is wrong stands beside its input, and what was entered stays, with the documents.
func TestMistakesStandBesideTheirInputs(t *testing.T) {
	w := open(t, offering())
	for _, tt := range []struct {
		input, text string
		fields      []string
	}{
		{"topic", "it is blank", []string{"topic", " "}},
		{"purpose", "&#34;fun&#34; is unknown", []string{"purpose", "fun"}},
		{"decision.options", "the number of options is 1, use 2 to 16", []string{"decision.options", "Ban"}},
		{"decision.seat0", "is not among the models", []string{"decision.seat0", "gpt-9"}},
		{"rounds", "&#34;many&#34; is no number of rounds", []string{"rounds", "many"}},
		{"rounds", "at most 10", []string{"rounds", "99999"}},
		{"cost", "&#34;1,50&#34; is no amount", []string{"cost", "1,50"}},
		{"cost", "&#34;NaN&#34; is no amount", []string{"cost", "NaN"}},
		{"cost", "the price of model/llama is unknown", []string{"model", "model/llama", "cost", "1"}},
		{"cost", "too small for the first phase", []string{"model", "model/gpt-x", "cost", "0.000001"}},
		{"labels", "&#34;red&#34; is no label", []string{"labels", "red"}},
		{"evaluation.scores", "&#34;problem: 5&#34; is no score", []string{"purpose", "evaluation", "evaluation.scores", "problem: 5"}},
		{"evaluation.scores", "", []string{"purpose", "evaluation", "evaluation.scores", "problem=500, solution=5, market=5"}},
		{"documents", "a.bin: it is no text in UTF-8", nil},
	} {
		base := []string{"document-name", "kept.md", "document-text", "Kept text.", "once", "x"}
		chosen := map[string]string{"topic": "Ban <b>cars</b>?", "purpose": "decision"}
		for i := 0; i+1 < len(tt.fields); i += 2 {
			chosen[tt.fields[i]] = tt.fields[i+1]
		}
		for name, value := range chosen {
			base = append(base, name, value)
		}
		var files []upload
		if tt.input == "documents" {
			files = []upload{{"a.bin", []byte("\xff\x00")}}
		}
		res, body := w.submit(base, files)
		require.Equal(t, http.StatusBadRequest, res.StatusCode, tt.fields)
		beside := regexp.MustCompile(`(?s)<p class="errors" id="wrong-` + regexp.QuoteMeta(tt.input) +
			`"[^>]*>(.*?)</p>`).FindStringSubmatch(body)
		require.NotNil(t, beside, "%v: %s", tt.fields, body)
		require.Contains(t, beside[1], tt.text, tt.fields)
		require.Contains(t, body, `aria-describedby="wrong-`+tt.input+`"`, tt.fields)
		require.Contains(t, body, "Kept text.", "what was entered stays")
		require.Contains(t, body, `value="kept.md"`)
	}
	require.Empty(t, debatetest.List(t, w.engine, store.Query{}))
}

// A form that is sent twice begins one debate. After a change it begins another one.
func TestAFormBeginsOneDebate(t *testing.T) {
	w := open(t, offering())
	fields := []string{"topic", "Ban cars?", "purpose", "answer", "once", "abc"}
	first := w.begun(fields, nil)
	require.Equal(t, first.ID(), w.begun(fields, nil).ID())
	fields[1] = "Ban bikes?"
	require.NotEqual(t, first.ID(), w.begun(fields, nil).ID())
	require.Len(t, debatetest.List(t, w.engine, store.Query{}), 2)
}

// The costs and the configuration are shown without beginning anything.
func TestCostsAndConfigurationOfAForm(t *testing.T) {
	o := offering()
	o.Command = func(c launch.Choice, cfg debate.Config) (string, string) {
		return "debate --for " + c.Purpose + " '" + cfg.Topic + "'", ""
	}
	w := open(t, o)
	fields := []string{"topic", "Ban <i>cars</i>?", "purpose", "answer", "model", "model/gpt-x", "cost", "2"}
	res, body := w.submit(append(fields, "do", "check"), nil)
	require.Equal(t, http.StatusOK, res.StatusCode)
	require.Regexp(t, `<span id="costs" role="status">6 calls, likely 0\.\d+ USD, at most 0\.\d+ USD\.`, body)

	_, body = w.submit(append(fields, "do", "check"), nil, "Accept", "application/json")
	var answer struct {
		Costs    costs
		Mistakes map[string][]string
	}
	require.NoError(t, json.Unmarshal([]byte(body), &answer))
	require.Equal(t, "6", answer.Costs.Calls)
	_, body = w.submit([]string{"topic", "", "purpose", "answer", "do", "check"}, nil, "Accept", "application/json")
	require.NoError(t, json.Unmarshal([]byte(body), &answer))
	require.NotEmpty(t, answer.Mistakes["topic"])

	_, body = w.submit(append(fields, "do", "show"), nil)
	shown := regexp.MustCompile(`(?s)id="shown-json">(.*?)</pre>`).FindStringSubmatch(body)
	require.NotNil(t, shown, body)
	cfg, err := w.engine.ParseConfig([]byte(html.UnescapeString(shown[1])))
	require.NoError(t, err)
	require.Contains(t, body, "debate --for answer &#39;Ban &lt;i&gt;cars&lt;/i&gt;?&#39;")
	require.Empty(t, debatetest.List(t, w.engine, store.Query{}))

	d := w.begun(append(fields, "once", "x"), nil)
	began := stored(t, d)
	full, err := launch.Complete(cfg)
	require.NoError(t, err)
	began.ID = ""
	began.Seed = ""
	began.Labels = nil
	full.ID = ""
	full.Seed = ""
	for _, c := range []*debate.Config{&began, &full} {
		for _, list := range [][]debate.Participant{c.Participants, c.Judges} {
			for i := range list {
				list[i].Window = 0 // the engine knows that of its models
			}
		}
		c.PersonaAssigner.Window, c.Summarizer.Window = 0, 0
	}
	require.Equal(t, full, began, "the JSON is the debate that the form begins")
}

// A debate is the template of another one, whether it is of a purpose of the offer or not.
func TestADebateIsATemplate(t *testing.T) {
	w := open(t, offering())
	d := w.begun([]string{
		"topic", "Ban cars?", "purpose", "sides", "sides.position0", "Cars must go.", "sides.seat1", "person", "labels", "team: red",
		"once", "x",
		"document-name", "a.md", "document-text", "Some text.", "rounds", "2", "model", "model/gpt-x", "cost", "1.5",
	}, nil)
	page := w.get(http.StatusOK, "/new?from="+d.ID())
	for _, text := range []string{
		`value="sides" checked`, `value="Cars must go."`, `value="person" selected`, "team: red", "Some text.", `value="1.5"`,
		"Filled in from", `name="from" value="` + d.ID() + `"`,
	} {
		require.Contains(t, page, text)
	}
	require.NotContains(t, page, "as-before")

	other := pair("other")
	other.OnFailure, other.Labels = debate.Ask, map[string]string{"debate.documents": "/somewhere"}
	w.run(other)
	page = w.get(http.StatusOK, "/new?from=other")
	require.Contains(t, page, `value="as-before" checked`)
	require.NotContains(t, page, "/somewhere")
	again := w.begun([]string{"topic", "Ban trams?", "purpose", "as-before", "from", "other", "once", "y"}, nil)
	cfg := stored(t, again)
	require.Equal(t, debate.Ask, cfg.OnFailure)
	require.Equal(t, "Ban trams?", cfg.Topic)
	require.Equal(t, "for", cfg.Participants[0].Side)
	w.get(http.StatusNotFound, "/new?from=nobody")
}

// A browser's last choices are offered, without any text that was entered.
func TestLastChoicesAreOffered(t *testing.T) {
	w := open(t, offering())
	res, _ := w.submit([]string{
		"topic", "SECRET-TOPIC", "purpose", "answer", "answer.seat1", "person", "model", "model/gpt-x", "rounds", "1", "cost", "0.7",
		"once", "x",
		"document-name", "SECRET-NAME", "document-text", "SECRET-TEXT",
	}, nil)
	require.Equal(t, http.StatusSeeOther, res.StatusCode)
	require.Len(t, res.Cookies(), 1)
	cookie := res.Cookies()[0]
	require.True(t, cookie.HttpOnly)
	require.Equal(t, http.SameSiteStrictMode, cookie.SameSite)
	page := w.get(http.StatusOK, "/new", "Cookie", cookie.Name+"="+cookie.Value)
	for _, text := range []string{
		"Filled in as you chose last time.", `value="answer" checked`, `value="model/gpt-x" selected`,
		`value="0.7"`, `value="person" selected`,
	} {
		require.Contains(t, page, text)
	}
	require.NotContains(t, page, "SECRET")
	require.NotContains(t, w.get(http.StatusOK, "/new?fresh=1", "Cookie", cookie.Name+"="+cookie.Value), "last time")
	for _, forged := range []string{
		"", "x", "e30", "eyJwIjoiZGVjaXNpb24iLCJtIjoiPGI-IiwiciI6IjxiPiIsInMiOlsiPGI-Il19",
		strings.Repeat("A", 4000),
	} {
		require.NotContains(t, w.get(http.StatusOK, "/new", "Cookie", cookie.Name+"="+forged), "&lt;b&gt;", forged)
	}
}

// Fifty forms at once begin fifty debates, which all end.
func TestFiftyDebatesAtOnce(t *testing.T) {
	w := open(t, offering())
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			res, body := w.submit([]string{"topic", fmt.Sprintf("Question %d?", i), "purpose", "decision", "once", fmt.Sprint("n", i)}, nil)
			if res.StatusCode != http.StatusSeeOther {
				t.Error(res.StatusCode, body)
			}
		})
	}
	all.Wait()
	list := debatetest.List(t, w.engine, store.Query{})
	require.Len(t, list, 50)
	topics := map[string]bool{}
	for _, s := range list {
		require.Equal(t, fsm.Completed, ended(t, debatetest.Open(t, w.engine, s.ID)).State)
		topics[s.Topic] = true
	}
	require.Len(t, topics, 50)
}

// Another site can send none of the forms, and nothing happens without the rights to it.
func TestNewDebatesAreProtected(t *testing.T) {
	w := open(t, offering())
	d := w.run(pair("cars"))
	fields := []string{"topic", "Ban cars?", "purpose", "decision", "once", "x"}
	for _, header := range [][]string{
		{"Sec-Fetch-Site", "cross-site"},
		{"Sec-Fetch-Site", "same-site"},
		{"Origin", "https://evil.example"},
		{"Origin", "null"},
	} {
		for _, do := range []string{"begin", "check", "show"} {
			res, body := w.submit(append(fields, "do", do), nil, header...)
			require.Equal(t, http.StatusForbidden, res.StatusCode, header)
			require.NotContains(t, body, "Ban cars?")
		}
		w.post(http.StatusForbidden, "/debates/cars/delete", map[string][]string{"confirm": {"cars"}}, header...)
	}
	require.Len(t, debatetest.List(t, w.engine, store.Query{}), 1)

	for name, o := range map[string]Options{
		"read-only": {Offer: offering().Offer},
		"refused": {Controls: true, Offer: offering().Offer, Authorize: func(_ context.Context, a *debatehttp.Access) error {
			if a.Action == debatehttp.Launch || a.Action == debatehttp.Delete {
				return store.ErrNotFound
			}
			return nil
		}},
		"no offer": {Controls: true},
		"tenant": {Controls: true, Offer: func(context.Context, string) (*launch.Offer, error) {
			return nil,
				fmt.Errorf("SECRET-REASON")
		}},
	} {
		other := serve(t, debatetest.Engine(t, debate.Options{}), o)
		res, body := other.do(http.MethodGet, "/new", nil)
		require.Contains(t, []int{http.StatusForbidden, http.StatusNotFound}, res.StatusCode, name)
		require.NotContains(t, body, "SECRET")
		res, _ = other.submit(fields, nil)
		require.Contains(t, []int{http.StatusForbidden, http.StatusNotFound}, res.StatusCode, name)
		require.Empty(t, debatetest.List(t, other.engine, store.Query{}), name)
	}
	require.NotNil(t, d)
}

// A debate is deleted only after a confirmation.
func TestADebateIsDeletedAfterAConfirmation(t *testing.T) {
	w := open(t, offering())
	w.run(pair("cars"))
	require.Contains(t, w.get(http.StatusOK, "/"), `href="./debates/cars/delete"`)
	require.Contains(t, w.get(http.StatusOK, "/debates/cars"), `href="../debates/cars/delete"`)
	page := w.get(http.StatusOK, "/debates/cars/delete")
	require.Contains(t, page, "This cannot be undone.")
	require.Contains(t, page, "Ban &lt;b&gt;cars&lt;/b&gt;?")
	w.post(http.StatusOK, "/debates/cars/delete", nil)
	w.post(http.StatusOK, "/debates/cars/delete", map[string][]string{"confirm": {"other"}})
	require.Len(t, debatetest.List(t, w.engine, store.Query{}), 1)
	res, _ := w.do(http.MethodPost, "/debates/cars/delete", map[string][]string{"confirm": {"cars"}})
	require.Equal(t, http.StatusSeeOther, res.StatusCode)
	require.Equal(t, "../../", res.Header.Get("Location"))
	require.Empty(t, debatetest.List(t, w.engine, store.Query{}))
	w.get(http.StatusNotFound, "/debates/cars/delete")
	readOnly := open(t, Options{})
	readOnly.create(pair("cars"))
	readOnly.get(http.StatusForbidden, "/debates/cars/delete")
	require.NotContains(t, readOnly.get(http.StatusOK, "/"), "/delete")
}

// Tenants see, and can begin, only what they are offered: in the form and over the API.
func TestTenantsBeginOnlyWhatTheyAreOffered(t *testing.T) {
	o := Options{Controls: true, Authorize: debatehttp.OwnersOnly("owner"), Principal: signedIn}
	o.Offer = func(_ context.Context, principal string) (*launch.Offer, error) {
		own := offered()
		own.Only = true
		own.Limits = debate.Limits{MaxRounds: 2, Cost: 0.5}
		own.Models = own.Models[:2]
		if principal == "ann" {
			own.Purposes = own.Purposes[:1]
		}
		return own, nil
	}
	w := open(t, o)
	page := w.get(http.StatusOK, "/new", "X-User", "ann")
	require.Contains(t, page, "a decision")
	require.NotContains(t, page, "both sides")
	require.Contains(t, w.get(http.StatusOK, "/new", "X-User", "eve"), "both sides")
	w.get(http.StatusUnauthorized, "/new")

	d := w.begun([]string{"topic", "Ban cars?", "purpose", "decision", "model", "model/gpt-x", "once", "x"}, nil, "X-User", "ann")
	cfg := stored(t, d)
	require.Equal(t, "ann", cfg.Labels["owner"])
	require.Equal(t, 0.5, cfg.Limits.Cost, "the largest limit applies to a form without one")
	for _, fields := range [][]string{
		{"purpose", "sides"},
		{"purpose", "decision", "cost", "0.6", "model", "model/gpt-x"},
		{"purpose", "decision", "rounds", "3"},
		{"purpose", "decision", "model", "model/llama"},
	} {
		res, body := w.submit(append([]string{"topic", "Ban cars?"}, fields...), nil, "X-User", "ann")
		require.Equal(t, http.StatusBadRequest, res.StatusCode, fields)
		require.Contains(t, body, `class="errors"`)
	}
	res, _ := w.submit([]string{"topic", "Ban?", "purpose", "decision", "from", d.ID()}, nil, "X-User", "eve")
	require.Equal(t, http.StatusNotFound, res.StatusCode, "the template is somebody else's")
	res2, body := w.do(http.MethodPost, "/api/debates", nil, "X-User", "ann")
	require.Equal(t, http.StatusBadRequest, res2.StatusCode, body)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.server.URL+prefix+"/api/debates",
		strings.NewReader(`{"topic": "T", "protocol": {"name": "vote/1"}, "participants": [{"name": "A"}, {"name": "B"}, {"name": "C"}]}`))
	require.NoError(t, err)
	req.Header.Set("X-User", "ann")
	got, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer got.Body.Close()
	b, err := io.ReadAll(got.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusBadRequest, got.StatusCode)
	require.Contains(t, string(b), "debates of vote/1 are not offered here")
}

// Hostile files and names become harmless documents or mistakes, and nothing of a document is in a URL, a log or a cookie.
func TestHostileUploads(t *testing.T) {
	var logged bytes.Buffer
	o := offering()
	o.Logger = slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug}))
	w := open(t, o)
	const secret = "SECRETSECRET"
	many := strings.Repeat("n", 500)
	files := []upload{
		{"../../etc/passwd", []byte(secret + " root")},
		{`C:\Users\me\a.txt`, []byte("a")},
		{"a.txt", []byte("again")},
		{"\u202egnp.exe", []byte("b")},
		{"<script>alert(1)</script>.md", []byte("<script>alert(1)</script>")},
		{many + ".md", []byte("long")},
		{"..", []byte("dots")},
		{"red.txt", []byte("\x1b[31mred")},
		{`quote".txt`, []byte("q")},
		{"bom.txt", []byte("\ufeffmarked")},
	}
	d := w.begun([]string{"topic", "Ban cars?", "purpose", "answer", "once", "x"}, files)
	cfg := stored(t, d)
	var names []string
	for _, x := range cfg.Documents {
		names = append(names, x.Name)
		require.LessOrEqual(t, len(x.Name), 128)
		require.NotContains(t, x.Name, "/")
	}
	require.Equal(t, []string{
		"passwd", "a.txt", "a.txt (2)", "gnp.exe", "script>.md", strings.Repeat("n", maxFileName), "document 7",
		"red.txt", `quote".txt`, "bom.txt",
	}, names)
	require.Equal(t, "marked", cfg.Documents[9].Text)
	ended(t, d)
	page := w.get(http.StatusOK, "/debates/"+d.ID()+"?seat=Ada")
	require.NotContains(t, page, "<script>alert")
	require.NotContains(t, page, "\x1b")

	for _, bad := range [][]upload{
		{{"image.png", []byte("\x89PNG\r\n\x1a\n\x00\x00")}},
		{{"latin1.txt", []byte("caf\xe9")}},
		{{"empty.txt", nil}},
		{{"blank.txt", []byte(" \n")}},
		{{"utf16.txt", []byte("\xff\xfeh\x00i\x00")}},
		{{"zip.zip", []byte("PK\x03\x04\x00\x00" + secret)}},
	} {
		res, body := w.submit([]string{"topic", "Ban cars?", "purpose", "answer", "once", "y"}, bad)
		require.Equal(t, http.StatusBadRequest, res.StatusCode, bad[0].name)
		require.Contains(t, body, `id="wrong-documents"`, bad[0].name)
	}
	res, _ := w.submit([]string{"topic", "Ban cars?", "purpose", "answer"}, []upload{{"bell\a.txt", []byte("x")}})
	require.Equal(t, http.StatusBadRequest, res.StatusCode, "a header with a control character")
	var crowd []upload
	for i := range maxDocuments + 1 {
		crowd = append(crowd, upload{fmt.Sprint(i, ".txt"), []byte("x")})
	}
	res, body := w.submit([]string{"topic", "Ban cars?", "purpose", "answer"}, crowd)
	require.Equal(t, http.StatusBadRequest, res.StatusCode)
	require.Contains(t, body, "There are 21 documents, use at most 20.")
	res, _ = w.submit([]string{"topic", "Ban cars?", "purpose", "answer"}, []upload{{"large.txt", bytes.Repeat([]byte("large "), 5<<20)}})
	require.Equal(t, http.StatusRequestEntityTooLarge, res.StatusCode)
	res, body = w.submit([]string{"topic", "Ban cars?", "purpose", "answer"},
		[]upload{{"large.txt", bytes.Repeat([]byte("large "), 1<<20)}})
	require.Equal(t, http.StatusBadRequest, res.StatusCode, "more than a debate stores")
	require.Contains(t, body, `id="wrong-documents"`)
	w.post(http.StatusBadRequest, "/new", map[string][]string{"topic": {"T"}})
	require.Len(t, debatetest.List(t, w.engine, store.Query{}), 1)
	require.NotContains(t, logged.String(), secret)
	require.NotContains(t, logged.String(), "passwd")
}
