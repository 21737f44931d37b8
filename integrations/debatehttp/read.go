package debatehttp

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/report"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

func (c *call) status() error {
	if err := c.allow(); err != nil {
		return err
	}
	return c.answer(http.StatusOK, c.access.Debate)
}

func (c *call) result() error {
	if err := c.allow(); err != nil {
		return err
	}
	r, err := c.debate.Result(c.r.Context())
	if err != nil {
		return err
	}
	return c.answer(http.StatusOK, shownResult(r))
}

// report writes a report in one of four formats.
func (c *call) report() error {
	full, err := strconv.ParseBool(cmp.Or(c.query.Get("full"), "false"))
	if err != nil {
		return invalid("full", "%q is neither true nor false", c.query.Get("full"))
	}
	if full {
		c.access.Action = FullReport
	}
	if err := c.allow(); err != nil {
		return err
	}
	r, err := report.Collect(c.r.Context(), c.debate)
	if err != nil {
		return err
	}
	if !full {
		r = r.Redact()
	}
	var page bytes.Buffer
	switch format := c.query.Get("format"); format {
	case "", "json":
		return c.answer(http.StatusOK, r)
	case "html":
		c.w.Header().Set("Content-Type", "text/html; charset=utf-8")
		c.w.Header().Set("Content-Security-Policy", reportPolicy)
		err = report.HTML(&page, r)
	case "markdown":
		c.w.Header().Set("Content-Type", "text/markdown; charset=utf-8")
		err = report.Markdown(&page, r)
	case "csv":
		c.w.Header().Set("Content-Type", "text/csv; charset=utf-8")
		err = report.CSV(&page, r)
	default:
		return invalid("format", "%q is not a format, use json, html, markdown or csv", format)
	}
	if err == nil {
		_, _ = c.w.Write(page.Bytes()) // fails if the client has disconnected
	}
	return err
}

// reportPolicy adds to the policy that the page of a report contains: the page has no origin. Its links open in other
// tabs.
const reportPolicy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
	"sandbox allow-popups allow-popups-to-escape-sandbox"

// waiting answers with what the debate asks people, or the person who speaks for a seat.
func (c *call) waiting() error {
	if err := c.allow(); err != nil {
		return err
	}
	list, err := c.debate.Waiting(c.r.Context())
	if err != nil {
		return err
	}
	return c.answer(http.StatusOK, askedPage{Items: forSeat(list, c.access.Seat)})
}

// document answers with the text of a document for the person who speaks for a seat.
func (c *call) document() error {
	if err := c.allow(); err != nil {
		return err
	}
	if c.access.Seat == "" {
		return invalid("seat", "it is empty, use the name of a participant or judge")
	}
	text, err := c.debate.Document(c.r.Context(), c.access.Seat, c.r.PathValue("name"))
	if err != nil {
		return err
	}
	return c.answer(http.StatusOK, documentBody{text})
}

// documentBody holds the text of a document.
type documentBody struct {
	Text string `json:"text"`
}

// forSeat returns what is asked of the person who speaks for a seat, or everything if the seat is empty. It never returns
// nil, because that is no list in JSON.
func forSeat(list []debate.Asked, seat string) []debate.Asked {
	kept := []debate.Asked{}
	for _, a := range list {
		if seat == "" || a.Key.Actor == seat {
			kept = append(kept, a)
		}
	}
	return kept
}

// A page is a part of a list of debates. Next is the cursor of the next page; it is empty on the last one. All lists have this
// form.
type page struct {
	Items []store.Status `json:"items"`
	Next  string         `json:"next,omitempty"`
}

// An askedPage is what a debate asks people. It is always the last page.
type askedPage struct {
	Items []debate.Asked `json:"items"`
	Next  string         `json:"next,omitempty"`
}

// An inboxPage is what debates ask a person. It is always the last page.
type inboxPage struct {
	Items []InboxItem `json:"items"`
	Next  string      `json:"next,omitempty"`
}

const (
	defaultPage = 100 // debates on a page
	maxPage     = 1000
)

func (c *call) list() error {
	q, err := queryOf(c.query)
	if err != nil {
		return err
	}
	list, err := c.selected(q)
	if err != nil {
		return err
	}
	p := page{Items: list}
	if n := len(list); n == c.access.Query.Limit && n > 0 {
		p.Next = cursorOf(list[n-1])
	}
	return c.answer(http.StatusOK, p)
}

// selected returns the debates that a query selects and that the client may see.
func (c *call) selected(q store.Query) ([]store.Status, error) {
	c.access.Query = &q
	if err := c.allow(); err != nil {
		return nil, err
	}
	all := q
	all.Limit = 0 // the store counts debates whose status is damaged, too
	list := []store.Status{}
	for s, err := range c.engine.List(c.r.Context(), all) {
		switch {
		case err != nil && s.ID == "":
			return nil, err
		case err != nil:
			c.Logger.WarnContext(c.r.Context(), "list debates", "debate", s.ID, "error", err)
		default:
			list = append(list, s)
		}
		if q.Limit > 0 && len(list) == q.Limit {
			break
		}
	}
	return list, nil
}

// InboxItem is a step for which a debate asks a person.
type InboxItem struct {
	Debate string `json:"debate"` // its id
	Topic  string `json:"topic"`
	// Asked is what it asks: answer it by its Key. A background of more than 4,096 bytes is cut; Client.Waiting has all of it.
	Asked debate.Asked `json:"asked"`
}

// maxBackground limits the background of a debate in an inbox, in bytes.
const maxBackground = 4 << 10

// inbox answers with what all debates ask the person who speaks for a seat, newest debate first.
func (c *call) inbox() error {
	q, err := queryOf(c.query)
	if err != nil {
		return err
	}
	if c.access.Seat == "" {
		return invalid("seat", "it is empty, use the name of a participant or judge")
	}
	q.Waiting = c.access.Seat
	list, err := c.selected(q)
	if err != nil {
		return err
	}
	items := []InboxItem{}
	for _, s := range list {
		asked, err := c.askedOf(s.ID)
		switch {
		case errors.Is(err, store.ErrNotFound): // it was deleted meanwhile
		case c.r.Context().Err() != nil:
			return err
		case err != nil: // the others matter to the person all the same
			c.Logger.WarnContext(c.r.Context(), "read inbox", "debate", s.ID, "error", err)
		}
		for _, a := range forSeat(asked, c.access.Seat) {
			if b := a.Briefing; b != nil && len(b.Background) > maxBackground {
				b.Background = strings.ToValidUTF8(b.Background[:maxBackground], "") + "…"
			}
			items = append(items, InboxItem{s.ID, s.Topic, a})
		}
	}
	return c.answer(http.StatusOK, inboxPage{Items: items})
}

// askedOf returns what a debate asks people.
func (c *call) askedOf(id string) ([]debate.Asked, error) {
	d, _, release, err := c.open(c.r.Context(), id)
	if err != nil {
		return nil, err
	}
	defer release()
	return d.Waiting(c.r.Context())
}

// maxValues limits the values of one parameter of a request.
const maxValues = 100

// queryOf reads a query from the parameters of a request.
func queryOf(v url.Values) (q store.Query, err error) {
	p := parameters{values: v}
	for name, list := range v {
		if len(list) > maxValues {
			return q, invalid(name, "it has %d values, use at most %d", len(list), maxValues)
		}
	}
	for _, s := range v["state"] {
		q.States = append(q.States, fsm.State(s))
	}
	for _, o := range v["outcome"] {
		q.Outcomes = append(q.Outcomes, transcript.Outcome(o))
	}
	q.FailureKinds = v["failure_kind"]
	q.Waiting = v.Get("waiting")
	q.Parent = v.Get("parent")
	for _, l := range v["label"] {
		name, value, ok := strings.Cut(l, ":")
		if !ok {
			p.add("label", "%q has no colon, use name:value", l)
		}
		q.Labels = withLabel(q.Labels, name, value)
	}
	q.CreatedSince, q.CreatedBefore = p.time("created_since"), p.time("created_before")
	q.UpdatedSince, q.UpdatedBefore = p.time("updated_since"), p.time("updated_before")
	q.Limit = defaultPage
	if text := v.Get("limit"); text != "" {
		q.Limit, err = strconv.Atoi(text)
		if err != nil || q.Limit < 1 || q.Limit > maxPage {
			p.add("limit", "%q is not between 1 and %d", text, maxPage)
		}
	}
	if text := v.Get("cursor"); text != "" {
		q.CreatedBefore, q.BeforeID, err = readCursor(text)
		if err != nil {
			p.add("cursor", "%q is not the value next of a page", text)
		}
	}
	if len(p.problems) > 0 {
		return q, invalidList(p.problems)
	}
	return q, nil
}

// parameters reads the parameters of a request.
type parameters struct {
	values   url.Values
	problems []protocol.Problem
}

func (p *parameters) add(field, format string, args ...any) {
	p.problems = append(p.problems, protocol.Problemf(field, format, args...))
}

func (p *parameters) time(name string) (at time.Time) {
	if text := p.values.Get(name); text != "" {
		var err error
		at, err = time.Parse(time.RFC3339Nano, text)
		if err != nil {
			p.add(name, "%q is not a time, use one such as %q", text, "2026-01-31T15:04:05Z")
		}
	}
	return at
}

// cursor is the position in a list of debates. Clients treat its text as opaque.
type cursor struct {
	Created time.Time `json:"c"`
	ID      string    `json:"i"`
}

// cursorOf returns the cursor of the page after a debate.
func cursorOf(s store.Status) string {
	b, err := json.Marshal(cursor{s.Created, s.ID})
	if err != nil {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

func readCursor(text string) (time.Time, string, error) {
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return time.Time{}, "", err
	}
	var at cursor
	if err := json.Unmarshal(b, &at); err != nil {
		return time.Time{}, "", err
	}
	if at.ID == "" || at.Created.IsZero() {
		return time.Time{}, "", fmt.Errorf("cursor %q has no position", text)
	}
	return at.Created, at.ID, nil
}

// unknownParameters returns a problem for each parameter of a request that its address does not have.
func unknownParameters(v url.Values, known []string) *Problem {
	var list []protocol.Problem
	for name := range v {
		if !slices.Contains(known, name) {
			list = append(list, protocol.Problemf(name, "it is unknown, the parameters are %s", cmp.Or(strings.Join(known, ", "), "none")))
		}
	}
	if len(list) == 0 {
		return nil
	}
	return invalidList(list)
}
