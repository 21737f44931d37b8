package debatehttp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/report"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// Client calls a handler of this package over the network. Its methods do what the methods of Engine and Debate do, and
// return a *Problem if the handler refuses. A Client is safe for concurrent use if nobody changes its fields.
type Client struct {
	URL    string      // address of the handler, such as "https://example.com/api"
	Header http.Header // sent with each request, such as Authorization
	// HTTP sends the requests. Defaults to http.DefaultClient. A timeout of it also ends a connection of Watch, which then
	// reconnects. Redirects are errors, unless HTTP has a CheckRedirect, because they take Header to another server.
	HTTP *http.Client
}

// Launch creates and starts a debate, and returns its id. If key is not empty, a second call with the same key and
// configuration returns the debate of the first one. A configuration with a key has no ID.
func (c *Client) Launch(ctx context.Context, cfg debate.Config, key string) (id string, err error) {
	return c.launch(ctx, "/debates", cfg, key)
}

// List returns the debates that match a query and that the client may see, newest first. It reads them in pages.
func (c *Client) List(ctx context.Context, q store.Query) iter.Seq2[store.Status, error] {
	return func(yield func(store.Status, error) bool) {
		values := valuesOf(q)
		for left := q.Limit; ; {
			values.Set("limit", strconv.Itoa(min(maxPage, cmp.Or(left, maxPage))))
			var p page
			if err := c.call(ctx, "GET", "/debates", values, nil, &p); err != nil {
				yield(store.Status{}, err)
				return
			}
			for _, s := range p.Items {
				if !yield(s, nil) {
					return
				}
			}
			if left > 0 {
				left -= len(p.Items)
				if left <= 0 {
					return
				}
			}
			if p.Next == "" || len(p.Items) == 0 {
				return
			}
			values.Set("cursor", p.Next)
		}
	}
}

// valuesOf returns a query as parameters, without its limit.
func valuesOf(q store.Query) url.Values {
	v := url.Values{"failure_kind": q.FailureKinds}
	for _, s := range q.States {
		v.Add("state", string(s))
	}
	for _, o := range q.Outcomes {
		v.Add("outcome", string(o))
	}
	for name, value := range q.Labels {
		v.Add("label", name+":"+value)
	}
	if q.Waiting != "" {
		v.Set("waiting", q.Waiting)
	}
	if q.Parent != "" {
		v.Set("parent", q.Parent)
	}
	if q.BeforeID != "" {
		v.Set("cursor", cursorOf(store.Status{Created: q.CreatedBefore, ID: q.BeforeID}))
		q.CreatedBefore = time.Time{}
	}
	for name, at := range map[string]time.Time{
		"created_since": q.CreatedSince, "created_before": q.CreatedBefore, "updated_since": q.UpdatedSince, "updated_before": q.UpdatedBefore,
	} {
		if !at.IsZero() {
			v.Set(name, at.UTC().Format(time.RFC3339Nano))
		}
	}
	return v
}

// Status returns a short summary of a debate's state.
func (c *Client) Status(ctx context.Context, id string) (s store.Status, err error) {
	err = c.call(ctx, "GET", pathOf(id, ""), nil, nil, &s)
	return s, err
}

// Result returns the debate so far, or as it ended.
func (c *Client) Result(ctx context.Context, id string) (r *debate.Result, err error) {
	err = c.call(ctx, "GET", pathOf(id, "/result"), nil, nil, &r)
	return r, err
}

// Report returns a report on a debate, without prompts unless full is true. Package report renders it.
func (c *Client) Report(ctx context.Context, id string, full bool) (r *report.Report, err error) {
	err = c.call(ctx, "GET", pathOf(id, "/report"), url.Values{"full": {strconv.FormatBool(full)}}, nil, &r)
	return r, err
}

// Delete removes a debate.
func (c *Client) Delete(ctx context.Context, id string) error {
	return c.call(ctx, "DELETE", pathOf(id, ""), nil, nil, nil)
}

// Start drives a debate after a Reset, or a fork.
func (c *Client) Start(ctx context.Context, id string) error { return c.control(ctx, id, "/start") }

// Pause prevents new steps from starting.
func (c *Client) Pause(ctx context.Context, id string) error { return c.control(ctx, id, "/pause") }

// Resume continues a paused debate.
func (c *Client) Resume(ctx context.Context, id string) error { return c.control(ctx, id, "/resume") }

// Stop ends a debate with a conclusion based on the turns so far.
func (c *Client) Stop(ctx context.Context, id string) error { return c.control(ctx, id, "/stop") }

// Cancel ends a debate at once, without a verdict.
func (c *Client) Cancel(ctx context.Context, id string) error { return c.control(ctx, id, "/cancel") }

// Retry continues a debate in error with the step that failed.
func (c *Client) Retry(ctx context.Context, id string) error { return c.control(ctx, id, "/retry") }

// Reset takes a debate in error back to its configuration. Call Start to begin a new run.
func (c *Client) Reset(ctx context.Context, id string) error { return c.control(ctx, id, "/reset") }

func (c *Client) control(ctx context.Context, id, verb string) error {
	return c.call(ctx, "POST", pathOf(id, verb), nil, nil, nil)
}

// Edit replaces the configuration of a debate that is configuring or ready.
func (c *Client) Edit(ctx context.Context, id string, cfg debate.Config) error {
	return c.call(ctx, "PUT", pathOf(id, "/config"), nil, cfg, nil)
}

// Decide answers a question with the action of one of its choices. The action edit takes a remark.
func (c *Client) Decide(ctx context.Context, id, question, action string, remarks ...debate.Remark) error {
	body := decisionBody{Question: question, Action: action}
	if len(remarks) > 1 {
		return fmt.Errorf("decide debate %s: there are %d remarks, use at most one", id, len(remarks))
	}
	for _, r := range remarks {
		body.Remark = &remarkBody{r.ID, r.From, r.Text}
	}
	return c.call(ctx, "POST", pathOf(id, "/decisions"), nil, body, nil)
}

// Inject adds a remark. From defaults to the principal.
func (c *Client) Inject(ctx context.Context, id string, r debate.Remark) error {
	return c.call(ctx, "POST", pathOf(id, "/remarks"), nil, remarkBody{r.ID, r.From, r.Text}, nil)
}

// Annotate stores a note on a debate. value must encode to JSON.
func (c *Client) Annotate(ctx context.Context, id, name string, value any) error {
	return c.call(ctx, "PUT", pathOf(id, "/annotations/"+url.PathEscape(name)), nil, value, nil)
}

// Fork creates a debate from the first seq entries of another, with edits, and returns its id; see [debate.Engine.Fork]. If
// key is not empty, a second call with the same key and edits returns the fork of the first one. Edits with a key have
// no ID. Call Start to drive the fork.
func (c *Client) Fork(ctx context.Context, id string, seq int64, edits debate.Edits, key string) (fork string, err error) {
	return c.launch(ctx, pathOf(id, "/forks"), forkBody{Seq: seq, Edits: edits}, key)
}

// Rejudge creates a debate in which the judges of another are asked again, and returns its id; see [debate.Engine.Rejudge]. The
// key has the same meaning as that of Fork.
func (c *Client) Rejudge(ctx context.Context, id string, again debate.Rejudge, key string) (fork string, err error) {
	return c.launch(ctx, pathOf(id, "/forks"), forkBody{Rejudge: &again}, key)
}

// launch creates a debate with a request to a path, and returns its id.
func (c *Client) launch(ctx context.Context, path string, in any, key string) (id string, err error) {
	req, err := c.request(ctx, "POST", path, nil, in)
	if err != nil {
		return "", err
	}
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	var made launched
	err = c.do(req, &made)
	return made.ID, err
}

// Prompt returns what a committed step was asked with; see [debate.Debate.PromptOf].
func (c *Client) Prompt(ctx context.Context, id string, key transcript.Key) (p *debate.Prompt, err error) {
	query := url.Values{
		"run": {strconv.Itoa(key.Run)}, "round": {strconv.Itoa(key.Round)}, "phase": {key.Phase}, "actor": {key.Actor}, "target": {key.Target},
	}
	err = c.call(ctx, "GET", pathOf(id, "/prompts"), query, nil, &p)
	return p, err
}

// Waiting returns what a debate asks the person who speaks for a seat, or all people if seat is empty.
func (c *Client) Waiting(ctx context.Context, id, seat string) (list []debate.Asked, err error) {
	var p askedPage
	err = c.call(ctx, "GET", pathOf(id, "/waiting"), seatOf(seat), nil, &p)
	return p.Items, err
}

// Document returns the text of a document for the person who speaks for a seat, with the names that this seat sees.
// Asked.Documents names the documents.
func (c *Client) Document(ctx context.Context, id, seat, name string) (string, error) {
	var body documentBody
	err := c.call(ctx, "GET", pathOf(id, "/documents/"+url.PathEscape(name)), seatOf(seat), nil, &body)
	return body.Text, err
}

// Inbox returns what the debates that match a query ask the person who speaks for a seat.
func (c *Client) Inbox(ctx context.Context, seat string, q store.Query) (list []InboxItem, err error) {
	values := valuesOf(q)
	values.Set("seat", seat)
	if q.Limit > 0 {
		values.Set("limit", strconv.Itoa(q.Limit))
	}
	var p inboxPage
	err = c.call(ctx, "GET", "/inbox", values, nil, &p)
	return p.Items, err
}

// Answer gives a person's reply to a step, in the principal's name.
func (c *Client) Answer(ctx context.Context, id string, key transcript.Key, text string) error {
	return c.call(ctx, "POST", pathOf(id, "/answers"), nil, answerBody{key, text}, nil)
}

// Decline says that a person gives no reply to a step.
func (c *Client) Decline(ctx context.Context, id string, key transcript.Key, reason string) error {
	return c.call(ctx, "POST", pathOf(id, "/declines"), nil, declineBody{key, reason}, nil)
}

func pathOf(id, rest string) string { return "/debates/" + url.PathEscape(id) + rest }

// seatOf returns the parameter for a seat.
func seatOf(seat string) url.Values {
	if seat == "" {
		return nil
	}
	return url.Values{"seat": {seat}}
}

// call sends a request and decodes the response into answer, if it is not nil.
func (c *Client) call(ctx context.Context, method, path string, query url.Values, body, answer any) error {
	req, err := c.request(ctx, method, path, query, body)
	if err != nil {
		return err
	}
	return c.do(req, answer)
}

// request returns a request with a body in JSON, or without one if body is nil.
func (c *Client) request(ctx context.Context, method, path string, query url.Values, body any) (*http.Request, error) {
	var text io.Reader
	if body != nil || method == http.MethodPut { // a note may be null
		b, err := json.Marshal(body)
		if err != nil {
			return nil, fmt.Errorf("encode request: %w", err)
		}
		text = bytes.NewReader(b)
	}
	address := strings.TrimSuffix(c.URL, "/") + path
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, method, address, text)
	if err != nil {
		return nil, err
	}
	if text != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for name, values := range c.Header {
		req.Header[http.CanonicalHeaderKey(name)] = values
	}
	return req, nil
}

func (c *Client) do(req *http.Request, answer any) error {
	res, err := c.send(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if answer == nil {
		if res.StatusCode != http.StatusNoContent {
			return stranger(res, "has the status %d, want %d", res.StatusCode, http.StatusNoContent)
		}
		return nil
	}
	b, err := io.ReadAll(io.LimitReader(res.Body, maxResponse+1))
	if err == nil && len(b) > maxResponse {
		return stranger(res, "has more than %d bytes", maxResponse)
	}
	if err == nil {
		err = json.Unmarshal(b, answer)
	}
	if err != nil {
		return fmt.Errorf("read response to %s %s: %w", req.Method, req.URL.Path, err)
	}
	return nil
}

// maxResponse limits the response or event that a client reads, in bytes.
const maxResponse = 64 << 20

// stranger returns an error for a response that does not come from a handler of this package.
func stranger(res *http.Response, format string, args ...any) error {
	return fmt.Errorf("response to %s %s "+format, append([]any{res.Request.Method, res.Request.URL.Path}, args...)...)
}

// send sends a request. It returns a *Problem if the handler refuses.
func (c *Client) send(req *http.Request) (*http.Response, error) {
	sender := *cmp.Or(c.HTTP, http.DefaultClient)
	if sender.CheckRedirect == nil {
		sender.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	}
	res, err := sender.Do(req)
	if err != nil {
		return nil, err
	}
	if res.StatusCode < http.StatusMultipleChoices {
		return res, nil
	}
	defer res.Body.Close()
	return nil, readProblem(res)
}

// maxProblem limits the problem that a client reads, in bytes.
const maxProblem = 1 << 20

// readProblem returns the problem in a response. If the response comes from elsewhere, such as a proxy, the problem has
// only a status.
func readProblem(res *http.Response) *Problem {
	p := &Problem{}
	b, err := io.ReadAll(io.LimitReader(res.Body, maxProblem))
	err = errors.Join(err, json.Unmarshal(b, p))
	if err != nil || p.Title == "" {
		p = &Problem{Title: http.StatusText(res.StatusCode)}
	}
	p.Status = res.StatusCode
	return p
}
