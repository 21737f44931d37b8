package inspector

import (
	"context"
	"errors"
	"fmt"
	"html"
	"iter"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/integrations/debatehttp"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/protocol/vote"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/store"
)

var (
	rowID    = regexp.MustCompile(`<tr data-debate="([^"]*)"`)
	nextPage = regexp.MustCompile(`<a id="next" rel="next" href="\./([^"]*)"`)
	grouped  = regexp.MustCompile(`data-group="(\w*)"[^>]*>[^<]* <span class="count">([\d,]+)</span>`)
)

// ids returns the debates on a page of the list.
func ids(body string) (list []string) {
	for _, m := range rowID.FindAllStringSubmatch(body, -1) {
		list = append(list, m[1])
	}
	return list
}

// all returns the debates of a list, page by page.
func (w *web) all(path string, header ...string) (list []string, pages int) {
	w.t.Helper()
	for pages = 1; ; pages++ {
		body := w.get(http.StatusOK, path, header...)
		require.LessOrEqual(w.t, len(ids(body)), pageSize)
		list = append(list, ids(body)...)
		m := nextPage.FindStringSubmatch(body)
		if m == nil {
			return list, pages
		}
		path = "/" + html.UnescapeString(m[1])
	}
}

func TestTheListHasEachDebateOnce(t *testing.T) {
	w := open(t, Options{})
	var want []string
	for i := range 2*pageSize + 7 {
		id := fmt.Sprintf("d%03d", i)
		cfg := pair(id)
		cfg.Topic = "Ban cars?"
		if i%10 == 0 {
			cfg.Topic = "Ban BIKES?"
		}
		w.create(cfg)
		want = append([]string{id}, want...)
	}
	got, pages := w.all("/")
	require.Equal(t, want, got, "newest first")
	require.Equal(t, 3, pages)
	some, _ := w.all("/?text=bikes")
	require.Len(t, some, (2*pageSize+7+9)/10)
	require.True(t, slices.IsSortedFunc(some, func(a, b string) int { return strings.Compare(b, a) }))
}

// The debates of a run are one row, with the number of all of them, until the visitor wants each.
func TestTheDebatesOfARunAreOneRow(t *testing.T) {
	w := open(t, Options{})
	create := func(id string, labels map[string]string) {
		t.Helper()
		debatetest.Create(t, w.engine, debate.Config{
			ID: id, Topic: "T", Protocol: vote.Protocol{},
			Participants: []debate.Participant{{Name: "A"}, {Name: "B"}}, Labels: labels,
		})
	}
	create("own", nil)
	for i := range pageSize + 5 {
		create(fmt.Sprintf("influence-%02d", i), map[string]string{"influence": "own"})
	}
	body := w.get(http.StatusOK, "/")
	require.Equal(t, []string{"own"}, ids(body))
	require.Contains(t, body, `data-run="influence:own"`)
	require.Contains(t, body, fmt.Sprintf("%d debates: configuring %d", pageSize+5, pageSize+5))
	require.Less(t, strings.Index(body, `data-debate="own"`), strings.Index(body, "data-run="), "below its debate")
	require.Regexp(t, `<a id="fold" href="\./\?all=yes">All debates of runs</a>`, body)
	list, pages := w.all("/?all=yes")
	require.Len(t, list, pageSize+6)
	require.Equal(t, 2, pages)
	list, _ = w.all("/?label=influence%3Aown")
	require.Len(t, list, pageSize+5)
}

func TestTheListFilters(t *testing.T) {
	w := open(t, Options{})
	w.run(pair("done"))
	voted := pair("voted")
	voted.Protocol, voted.Judges = vote.Protocol{}, nil
	voted.Labels = map[string]string{"team": "red"}
	w.run(voted)
	person := pair("person")
	person.Participants[1].Human = true
	w.run(person)
	w.create(pair("fresh"))
	canceled := w.create(pair("over"))
	require.NoError(t, canceled.Cancel(t.Context()))

	for path, want := range map[string][]string{
		"/":                                {"over", "fresh", "person", "voted", "done"},
		"/?state=completed":                {"voted", "done"},
		"/?state=paused":                   {"person"},
		"/?state=new":                      {"fresh"},
		"/?state=canceled":                 {"over"},
		"/?state=error":                    nil,
		"/?waiting=Bo":                     {"person"},
		"/?waiting=Ada":                    nil,
		"/?label=team:red":                 {"voted"},
		"/?protocol=vote":                  {"voted"},
		"/?protocol=panel%2F1&state=new":   {"fresh"},
		"/?outcome=canceled":               {"over"},
		"/?text=CARS&protocol=vote":        {"voted"},
		"/?text=bikes":                     nil,
		"/?state=completed&label=team:red": {"voted"},
	} {
		require.Equal(t, want, ids(w.get(http.StatusOK, path)), path)
	}
	counts := map[string]string{}
	for _, m := range grouped.FindAllStringSubmatch(w.get(http.StatusOK, "/?state=paused"), -1) {
		counts[m[1]] = m[2]
	}
	require.Equal(t, map[string]string{"": "5", "running": "0", "paused": "1", "completed": "2", "canceled": "1", "error": "0", "new": "1"}, counts)

	for path, want := range map[string]string{
		"/?state=nosuch": "state: there is no group of states &#34;nosuch&#34;", "/?label=team": "label: &#34;team&#34; has no colon, use name:value",
		"/?before=nothing": "before: &#34;nothing&#34; is not the cursor of a page", "/inbox?before=x": "before: &#34;x&#34; is not the cursor of a page",
	} {
		require.Contains(t, w.get(http.StatusBadRequest, path), want)
	}
}

func TestTheInboxHasWhatWaitsForPeople(t *testing.T) {
	w := open(t, Options{})
	person := pair("person")
	person.Participants[1].Human = true
	w.run(person)
	gate := pair("gate")
	gate.AskBeforeRounds = true
	w.run(gate)
	w.run(pair("done"))
	var d *debate.Debate
	halted := open(t, Options{}, debatetest.ProviderFunc(func(ctx context.Context, _ providers.Request) (providers.Response, error) {
		return providers.Response{Text: "Yes."}, d.Pause(ctx)
	}))
	d = halted.create(pair("paused"))
	debatetest.Finish(t, d)
	require.Contains(t, halted.get(http.StatusOK, "/?state=paused"), "paused")
	require.Contains(t, halted.get(http.StatusOK, "/inbox"), "Nothing waits.", "a person has paused it")
	waiting := func(body string) (list []string) {
		for _, m := range inboxRow.FindAllStringSubmatch(body, -1) {
			list = append(list, m[1])
		}
		return list
	}
	body := w.get(http.StatusOK, "/inbox")
	require.Equal(t, []string{"gate", "person"}, waiting(body))
	require.Contains(t, body, "A decision is needed: round 1 of 2 is next.")
	require.Contains(t, body, `<b>Bo</b>: speech in round 1. <a href="./debates/person?seat=Bo#asked">Reply</a>`)
	require.Equal(t, []string{"person"}, waiting(w.get(http.StatusOK, "/inbox?seat=Bo")))
	require.Contains(t, w.get(http.StatusOK, "/inbox?seat=Ada"), "Nothing waits for Ada.")
}

var (
	inboxRow  = regexp.MustCompile(`<li data-debate="([^"]*)"`)
	olderPage = regexp.MustCompile(`<a rel="next" href="([^"]*)"`)
)

// A long inbox has each debate that waits on one of its pages.
func TestTheInboxIsPaged(t *testing.T) {
	w := open(t, Options{})
	var want []string
	for i := range pageSize + 3 {
		cfg := pair(fmt.Sprint("d", i))
		cfg.Participants[i%2].Human = true
		w.run(cfg)
		if i%10 == 0 {
			w.create(pair(fmt.Sprint("fresh", i)))
		}
		want = append([]string{cfg.ID}, want...)
	}
	for seat, pages := range map[string]int{"": 2, "Bo": 1} {
		var got []string
		path := "/inbox?seat=" + seat
		for range pages {
			body := w.get(http.StatusOK, path)
			for _, m := range inboxRow.FindAllStringSubmatch(body, -1) {
				got = append(got, m[1])
			}
			path = ""
			if m := olderPage.FindStringSubmatch(body); m != nil {
				path = "/inbox" + html.UnescapeString(m[1])
			}
		}
		require.Empty(t, path, "there are no more pages")
		expected := want
		if seat == "Bo" {
			expected = slices.DeleteFunc(slices.Clone(want), func(id string) bool { return (id[len(id)-1]-'0')%2 == 0 })
		}
		require.Equal(t, expected, got)
	}
}

// signedIn returns the name in a request's header.
func signedIn(r *http.Request) (string, error) {
	if name := r.Header.Get("X-User"); name != "" {
		return name, nil
	}
	return "", errors.New("no header")
}

func TestOwnersSeeOnlyTheirDebates(t *testing.T) {
	w := open(t, Options{Authorize: debatehttp.OwnersOnly("owner"), Principal: signedIn, Controls: true})
	for _, owner := range []string{"ann", "eve"} {
		cfg := pair("of-" + owner)
		cfg.Labels = map[string]string{"owner": owner}
		cfg.AskBeforeRounds = true
		w.run(cfg)
	}
	for _, path := range []string{"/", "/?label=owner:eve", "/inbox"} {
		body := w.get(http.StatusOK, path, "X-User", "ann")
		require.Contains(t, body, "of-ann", path)
		require.NotContains(t, body, "of-eve", path)
		require.NotContains(t, body, `<span class="count">2</span>`, path)
	}
	w.get(http.StatusOK, "/debates/of-ann", "X-User", "ann")
	foreign := w.get(http.StatusNotFound, "/debates/of-eve", "X-User", "ann")
	require.Equal(t, strings.ReplaceAll(w.get(http.StatusNotFound, "/debates/no-eve", "X-User", "ann"), "no-eve", "of-eve"), foreign, "nothing tells that it exists")
	w.post(http.StatusNotFound, "/debates/of-eve/cancel", nil, "X-User", "ann")
	w.get(http.StatusNotFound, "/debates/of-eve/events", "X-User", "ann")
	w.get(http.StatusUnauthorized, "/")
	w.get(http.StatusUnauthorized, "/debates/of-ann")
	require.Contains(t, w.get(http.StatusOK, "/", "X-User", "eve"), "of-eve")
}

// Authorize is asked for each page and each form, with the seat, before anything is shown or changed.
func TestAuthorizeIsAskedForEverything(t *testing.T) {
	var asked []string
	w := open(t, Options{Controls: true, Authorize: func(_ context.Context, a *debatehttp.Access) error {
		asked = append(asked, strings.TrimSpace(string(a.Action)+" "+a.Debate.ID+" "+a.Seat))
		return errors.New("no")
	}})
	d := w.create(pair("cars"))
	key := `{"run": 1, "round": 1, "phase": "respond", "actor": "Bo"}`
	for _, tt := range []struct {
		method, path, want string
		form               map[string][]string
	}{
		{"GET", "/", "list", nil},
		{"GET", "/inbox?seat=Bo", "inbox  Bo", nil},
		{"GET", "/debates/cars?seat=Bo", "watch cars Bo", nil},
		{"GET", "/debates/cars/events?seat=Bo&after=1", "watch cars Bo", nil},
		{"GET", "/api/debates/cars/result", "result cars", nil},
		{"POST", "/debates/cars/pause", "pause cars", map[string][]string{}},
		{"POST", "/debates/cars/remarks", "inject cars Zoe", map[string][]string{"from": {"Zoe"}, "text": {"Hm."}}},
		{"POST", "/debates/cars/annotations", "annotate cars", map[string][]string{"name": {"rating"}, "value": {"5"}}},
		{"POST", "/debates/cars/answers", "answer cars Bo", map[string][]string{"key": {key}, "reply": {"No."}}},
		{"POST", "/debates/cars/declines", "decline cars Bo", map[string][]string{"key": {key}}},
		{"POST", "/debates/cars/decisions", "decide cars", map[string][]string{"question": {"q"}, "action": {"stop"}}},
	} {
		asked = nil
		res, body := w.do(tt.method, tt.path, tt.form)
		require.Equal(t, http.StatusForbidden, res.StatusCode, tt.path)
		require.Equal(t, []string{tt.want}, asked, tt.path)
		require.NotContains(t, body, "Ban", tt.path)
	}
	s := debatetest.Status(t, d)
	require.EqualValues(t, 1, s.Seq)
	_, err := Handler(w.engine, Options{})
	require.ErrorContains(t, err, "Options.Authorize is nil")
}

// counting counts the statuses that are read from a store.
type counting struct {
	store.Store
	read *atomic.Int64
}

func (c counting) List(ctx context.Context, q store.Query) iter.Seq2[store.Status, error] {
	return func(yield func(store.Status, error) bool) {
		for status, err := range c.Store.List(ctx, q) {
			if c.read.Add(1); !yield(status, err) {
				return
			}
		}
	}
}

// A search reads a limited number of debates for a page. The next pages have the rest.
func TestASearchIsLimited(t *testing.T) {
	kept := counting{store.Memory(), &atomic.Int64{}}
	engine := debatetest.Engine(t, debate.Options{Store: kept})
	const n = 2*maxScan + 500
	for i := range n {
		id := fmt.Sprintf("d%05d", i)
		status := store.Status{ID: id, Seq: 1, Topic: "Ban cars?", Protocol: "panel/1", Created: time.Unix(int64(i), 0).UTC()}
		if i == 3 {
			status.Topic = "Ban BIKES?"
		}
		require.NoError(t, kept.Commit(t.Context(), store.Change{ID: id, Entries: []store.Entry{{Seq: 1, Type: "config"}}, Status: status}))
	}
	w := serve(t, engine, Options{})
	for _, query := range []string{"text=nothing", "protocol=vote"} {
		kept.read.Store(0)
		body := w.get(http.StatusOK, "/?"+query)
		require.LessOrEqual(t, kept.read.Load(), int64(maxScan+1))
		require.Contains(t, body, "1,000 debates were searched.")
		require.Contains(t, body, "Search older debates")
		require.NotContains(t, body, "No debate matches")
	}
	found, pages := w.all("/?text=bikes")
	require.Equal(t, []string{"d00003"}, found)
	require.Equal(t, 3, pages)
	require.Contains(t, w.get(http.StatusOK, "/?text=nothing&before="+url.QueryEscape(cursorOf(store.Status{ID: "d00400", Created: time.Unix(400, 0)}))), "No debate matches")
	kept.read.Store(0)
	require.Contains(t, w.get(http.StatusOK, "/?text=cars"), "Older debates")
	require.Equal(t, int64(pageSize+1), kept.read.Load())
}

// All links of a person's lists lead to pages that Authorize allows.
func TestListsOfAPersonLinkToTheSeat(t *testing.T) {
	w := open(t, Options{Authorize: func(_ context.Context, a *debatehttp.Access) error {
		if a.Action != debatehttp.List && a.Seat != "Bo" {
			return errors.New("only for Bo")
		}
		return nil
	}})
	cfg := pair("cars")
	cfg.Participants[1].Human = true
	w.run(cfg)
	for _, path := range []string{"/?waiting=Bo", "/?seat=Bo", "/inbox?seat=Bo"} {
		page := w.get(http.StatusOK, path)
		links := regexp.MustCompile(`href="\./(debates/[^"]*)"`).FindAllStringSubmatch(page, -1)
		require.NotEmpty(t, links, path)
		for _, link := range links {
			w.get(http.StatusOK, "/"+html.UnescapeString(link[1]))
		}
	}
	page := w.get(http.StatusOK, "/?seat=Bo")
	require.Contains(t, page, `<a class="brand" href="./?seat=Bo">`)
	require.Contains(t, page, `<input type="hidden" name="seat" value="Bo">`)
	require.Contains(t, page, "seat=Bo&amp;state=", "groups keep the seat")
	require.Contains(t, w.get(http.StatusOK, "/debates/cars?seat=Bo"), `<a class="brand" href="../?seat=Bo">`)
}
