package inspector

import (
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/integrations/debatehttp"
	"github.com/elenchus-go/debate/internal/runs"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

const (
	pageSize = 30   // debates on a page
	maxScan  = 1000 // debates that are read for a page, if a filter that the store does not know selects few of them
)

// A group is a set of states by which the list can be filtered.
type group struct {
	Name, Title string
	states      []fsm.State
}

var groups = []group{
	{"", "All", nil},
	{"running", "Running", fsm.Active()},
	{"paused", "Paused", []fsm.State{fsm.Paused}},
	{"completed", "Completed", []fsm.State{fsm.Completed}},
	{"canceled", "Canceled", []fsm.State{fsm.Canceled}},
	{"error", "In error", []fsm.State{fsm.Error}},
	{"new", "Not started", []fsm.State{fsm.Configuring, fsm.Ready}},
}

// A filter selects debates of the list. The store applies all of it but Protocol and Text.
type filter struct {
	Seat     string // of the visitor; it selects nothing
	State    string // name of a group
	Outcome  string
	Protocol string // name, with or without its version
	Label    string // name:value
	Waiting  string // name of a person
	Text     string // part of the topic, in any case
	All      string // "yes" if each debate of a run has a row
	Before   string // cursor
}

// listing is what the list shows.
type listing struct {
	Filter   filter
	Groups   []counted
	Outcomes []transcript.Outcome
	Debates  []store.Status
	Rows     []runs.Row
	Switch   string // address of the list with, or without, each debate of a run
	Next     string // address of the next page; empty on the last one
	Searched int    // the debates that were searched, if there are more; 0 if the page is full or the last one

	Filtered bool // whether the visitor searches
	lines    map[string]line

	seats map[string]string // by debate, whose page the visitor may open if it is not that of everything
}

// Line returns what the list says of a debate besides its status.
func (l listing) Line(s store.Status) line { return l.lines[s.ID] }

// SeatIn returns the seat for which the visitor may open the page of a debate, or "" for that of the list.
func (l listing) SeatIn(s store.Status) string { return l.seats[s.ID] }

// seatsIn returns a seat for each debate that waits for a person and whose page the visitor may open only for that seat.
func (v *visit) seatsIn(list []store.Status, person string) map[string]string {
	seats := map[string]string{}
	if v.seat != "" || person == "" {
		return seats
	}
	for _, s := range list {
		if v.allow(&debatehttp.Access{Action: debatehttp.Watch, Debate: s}) != nil {
			seats[s.ID] = person
		}
	}
	return seats
}

// counted is a group with the number of its debates.
type counted struct {
	group
	Count   int
	Link    string
	Current bool
}

// outcomes lists the outcomes of the library.
var outcomes = []transcript.Outcome{
	transcript.JudgeDecided, transcript.Converged, transcript.DiminishingReturns, transcript.Unanimous, transcript.EarlyStop, transcript.RoundLimit,
	transcript.TokenBudget, transcript.CostBudget, transcript.TimeBudget, transcript.QuorumLost, transcript.Stopped, transcript.Canceled,
}

// list shows the debates that the visitor may see, newest first.
func (v *visit) list() error {
	f := filterOf(v.r.URL.Query())
	q, err := f.query()
	if err != nil {
		return err
	}
	counts := q
	counts.States = nil
	counts.CreatedBefore = time.Time{}
	counts.BeforeID = ""
	counts.Labels = withLabel(f.Label)
	for _, one := range []*store.Query{&q, &counts} {
		if err := v.allow(&debatehttp.Access{Action: debatehttp.List, Query: one}); err != nil {
			return err
		}
	}
	shown := listing{Filter: f, Outcomes: outcomes, Filtered: f != filter{Seat: f.Seat}}
	shown.Groups, err = v.counts(f, counts)
	if err != nil {
		return err
	}
	var cursor string
	folds := f.All == "" && f.Label == ""
	shown.Debates, cursor, err = v.selectPage(q, f.matches, folds)
	if err != nil {
		return err
	}
	shown.Rows, err = v.rows(q, shown.Debates, folds)
	if err != nil {
		return err
	}
	shown.Switch = f.with("all", map[bool]string{true: "yes", false: ""}[f.All == ""])
	shown.seats = v.seatsIn(shown.Debates, f.Waiting)
	shown.lines = map[string]line{}
	for _, s := range shown.Debates {
		shown.lines[s.ID] = v.lineOf(s)
	}
	if cursor != "" {
		shown.Next = f.with("before", cursor)
		if len(shown.Rows) < pageSize {
			shown.Searched = maxScan
		}
	}
	return v.show("list", page{Title: "Debates", Scripts: appScript, Main: shown})
}

func filterOf(v url.Values) filter {
	typed := func(name string) string { return strings.TrimSpace(v.Get(name)) }
	return filter{
		v.Get("seat"), v.Get("state"), v.Get("outcome"), v.Get("protocol"), typed("label"), typed("waiting"), typed("text"), v.Get("all"),
		v.Get("before"),
	}
}

// query returns the part of the filter that the store applies.
func (f filter) query() (q store.Query, err error) {
	at := slices.IndexFunc(groups, func(g group) bool { return g.Name == f.State })
	if at < 0 {
		return q, invalid("state", "there is no group of states %q", f.State)
	}
	q.States = groups[at].states
	q.Waiting = f.Waiting
	q.Labels = withLabel(f.Label)
	if f.Outcome != "" {
		q.Outcomes = []transcript.Outcome{transcript.Outcome(f.Outcome)}
	}
	if f.Label != "" && len(q.Labels) == 0 {
		return q, invalid("label", "%q has no colon, use name:value", f.Label)
	}
	if f.Before != "" {
		q.CreatedBefore, q.BeforeID, err = readCursor(f.Before)
		if err != nil {
			return q, invalid("before", "%q is not the cursor of a page", f.Before)
		}
	}
	return q, nil
}

// withLabel returns the labels of a query for a label such as "team:red".
func withLabel(label string) map[string]string {
	labels := map[string]string{}
	if name, value, ok := strings.Cut(label, ":"); ok {
		labels[name] = value
	}
	return labels
}

// matches reports whether a debate matches the part of the filter that the store does not know.
func (f filter) matches(s store.Status) bool {
	name, _, _ := strings.Cut(s.Protocol, "/")
	return (f.Protocol == "" || f.Protocol == s.Protocol || f.Protocol == name) &&
		strings.Contains(strings.ToLower(s.Topic), strings.ToLower(f.Text))
}

// with returns the address of the list with this filter and another parameter.
func (f filter) with(name, value string) string {
	q := url.Values{}
	for name, value := range map[string]string{
		"seat": f.Seat, "state": f.State, "outcome": f.Outcome, "protocol": f.Protocol, "label": f.Label, "waiting": f.Waiting,
		"text": f.Text, "all": f.All, name: value,
	} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if name != "" && value == "" {
		q.Del(name)
	}
	return "./?" + q.Encode()
}

// Of returns the address of the list of the debates of a run.
func (f filter) Of(g *runs.Group) string {
	f.Label = g.Kind + ":" + g.Name
	f.Before = ""
	return f.with("", "")
}

// counts returns the groups of states with the numbers of the debates that a query selects.
func (v *visit) counts(f filter, q store.Query) (list []counted, err error) {
	numbers, err := v.engine.Count(v.r.Context(), q)
	if err != nil {
		return nil, err
	}
	for _, g := range groups {
		c := counted{group: g, Link: f.with("state", g.Name), Current: g.Name == f.State}
		for state, n := range numbers {
			if len(g.states) == 0 || slices.Contains(g.states, state) {
				c.Count += n
			}
		}
		list = append(list, c)
	}
	return list, nil
}

// rows returns the rows of a page. If folds is set, the debates of a run are one row, on the page of the newest of them.
func (v *visit) rows(q store.Query, list []store.Status, folds bool) (shown []runs.Row, err error) {
	if !folds {
		for i := range list {
			shown = append(shown, runs.Row{Debate: &list[i]})
		}
		return shown, nil
	}
	for _, row := range runs.Rows(list) {
		if row.Group != nil {
			newest, err := v.complete(q, row.Group)
			if err != nil {
				return nil, err
			}
			if newest != row.Group.Newest {
				continue // it is on an earlier page
			}
		}
		shown = append(shown, row)
	}
	return shown, nil
}

// complete counts all debates of a run, also those of other pages. It returns the id of the newest.
func (v *visit) complete(q store.Query, g *runs.Group) (newest string, err error) {
	q.Labels = maps.Clone(q.Labels)
	if q.Labels == nil {
		q.Labels = map[string]string{}
	}
	q.Labels[g.Kind] = g.Name
	q.CreatedBefore = time.Time{}
	q.BeforeID = ""
	q.Limit = 0
	g.States, err = v.engine.Count(v.r.Context(), q)
	if err != nil {
		return "", err
	}
	g.Debates = 0
	for _, n := range g.States {
		g.Debates += n
	}
	q.Limit = 1
	for s, err := range v.engine.List(v.r.Context(), q) {
		return s.ID, err
	}
	return "", nil
}

// selectPage returns the first debates of a query that match, at most a page of rows, and the cursor of the next page, or ""
// if there is none. If folds is set, the debates of a run take one row.
func (v *visit) selectPage(q store.Query, match func(store.Status) bool, folds bool) (list []store.Status, next string, err error) {
	read := 0
	taken := 0
	seen := map[string]bool{}
	var last store.Status
	for s, err := range v.engine.List(v.r.Context(), q) {
		if err != nil && s.ID == "" {
			return nil, "", err
		}
		if err != nil { // its status is damaged
			v.Logger.WarnContext(v.r.Context(), "list debates", "debate", s.ID, "error", err)
			continue
		}
		if taken == pageSize || read == maxScan {
			return list, cursorOf(last), nil
		}
		read++
		last = s
		if !match(s) {
			continue
		}
		list = append(list, s)
		run := runs.RunOf(&s)
		if !folds || run == "" || !seen[run] {
			taken++
		}
		seen[run] = true
	}
	return list, "", nil
}

// cursorOf returns the cursor of the page after a debate.
func cursorOf(s store.Status) string { return s.Created.UTC().Format(time.RFC3339Nano) + "," + s.ID }

func readCursor(text string) (time.Time, string, error) {
	created, id, _ := strings.Cut(text, ",")
	at, err := time.Parse(time.RFC3339Nano, created)
	return at, id, err
}
