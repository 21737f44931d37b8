package inspector

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/integrations/debatehttp"
	"github.com/elenchus-go/debate/transcript"
)

// A request is a change, as package debatehttp takes it.
type request struct {
	method string
	path   string // below the debate's address, escaped
	body   any    // nil if there is none
}

// forms maps the last part of a form's address to the change that the form asks for.
var forms = map[string]func(url.Values) (request, error){
	"start": press("start"), "pause": press("pause"), "resume": press("resume"), "stop": press("stop"), "cancel": press("cancel"),
	"retry": press("retry"), "reset": press("reset"),
	"decisions": decision, "remarks": remark, "annotations": annotation, "answers": answer, "declines": decline,
}

// press returns the change of a button.
func press(name string) func(url.Values) (request, error) {
	return func(url.Values) (request, error) { return request{http.MethodPost, name, nil}, nil }
}

func decision(f url.Values) (request, error) {
	body := map[string]any{"question": f.Get("question"), "action": f.Get("action")}
	if text := strings.TrimSpace(f.Get("text")); text != "" && slices.Contains([]string{"edit", "refuse"}, f.Get("action")) {
		body["remark"] = map[string]string{"from": f.Get("from"), "text": text}
	}
	return request{http.MethodPost, "decisions", body}, nil
}

func remark(f url.Values) (request, error) {
	return request{http.MethodPost, "remarks", map[string]string{"from": f.Get("from"), "text": f.Get("text")}}, nil
}

// annotation stores a note as JSON if it is JSON, such as a number, and otherwise as text.
func annotation(f url.Values) (request, error) {
	text := strings.TrimSpace(f.Get("value"))
	var value any = text
	if json.Valid([]byte(text)) {
		value = json.RawMessage(text)
	}
	return request{http.MethodPut, "annotations/" + url.PathEscape(f.Get("name")), value}, nil
}

func answer(f url.Values) (request, error) {
	key, err := keyOf(f)
	if err != nil {
		return request{}, err
	}
	text, err := replyOf(f)
	return request{http.MethodPost, "answers", map[string]any{"key": key, "text": text}}, err
}

func decline(f url.Values) (request, error) {
	key, err := keyOf(f)
	return request{http.MethodPost, "declines", map[string]any{"key": key, "reason": f.Get("reason")}}, err
}

func keyOf(f url.Values) (key transcript.Key, err error) {
	if json.Unmarshal([]byte(f.Get("key")), &key) != nil {
		return key, invalid("key", "%q is not the key of a step", f.Get("key"))
	}
	return key, nil
}

// maxForm limits a form, in bytes. Package debatehttp limits the change that it asks for.
const maxForm = 4 << 20

// control performs the change that a form asks for, through the API, and shows the page again. A script that accepts only
// JSON receives the API's response.
func (v *visit) control() error {
	build := forms[v.r.PathValue("control")]
	if build == nil {
		return notFound("There is no such page", "it has moved, or the address is wrong")
	}
	if !v.Controls {
		return errReadOnly
	}
	v.r.Body = http.MaxBytesReader(v.w, v.r.Body, maxForm)
	if err := v.r.ParseForm(); err != nil {
		return &debatehttp.Problem{Title: "The request is invalid", Status: http.StatusBadRequest, Detail: "the form cannot be read"}
	}
	change, err := build(v.r.PostForm)
	if err != nil {
		return err
	}
	res, err := v.send(change)
	if err != nil {
		return err
	}
	if v.r.Header.Get("Accept") == "application/json" {
		res.copyTo(v.w)
		return nil
	}
	v.refused = res.problem()
	if v.refused != nil {
		if v.refused.Status == http.StatusNotFound || v.refused.Status == http.StatusForbidden || v.refused.Status == http.StatusUnauthorized {
			return v.refused
		}
		return v.now()
	}
	back := "../" + url.PathEscape(v.r.PathValue("id"))
	if v.seat != "" {
		back += "?" + url.Values{"seat": {v.seat}}.Encode()
	}
	v.w.Header().Set("Location", back) // relative, because the handler may be below any path
	v.w.WriteHeader(http.StatusSeeOther)
	return nil
}

// send performs a change of the debate through the API.
func (v *visit) send(change request) (*response, error) {
	return v.call(change.method, "/debates/"+url.PathEscape(v.r.PathValue("id"))+"/"+change.path, change.body)
}

// call sends a request to the API, so that all its rules apply: authorization, cross-origin protection and limits. Headers are pairs
// of a name and a value.
func (v *visit) call(method, path string, content any, headers ...string) (*response, error) {
	var body []byte
	if content != nil {
		var err error
		body, err = json.Marshal(content)
		if err != nil {
			return nil, err
		}
	}
	r := v.whole.Clone(context.WithoutCancel(v.whole.Context()))
	r.Method = method
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.ContentLength = int64(len(body))
	var err error
	r.URL, err = url.Parse(path)
	if err != nil {
		return nil, err
	}
	r.Form = nil
	r.PostForm = nil
	r.MultipartForm = nil
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	res := &response{header: http.Header{}, status: http.StatusOK}
	v.api.ServeHTTP(res, r)
	return res, nil
}

// A response takes the API's response to a change.
type response struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (r *response) Header() http.Header         { return r.header }
func (r *response) WriteHeader(status int)      { r.status = status }
func (r *response) Write(b []byte) (int, error) { return r.body.Write(b) }

// problem returns the problem in the response, or nil if the change was made.
func (r *response) problem() *debatehttp.Problem {
	if r.status < http.StatusMultipleChoices {
		return nil
	}
	p := &debatehttp.Problem{}
	if err := json.Unmarshal(r.body.Bytes(), p); err != nil || p.Title == "" {
		p.Title = http.StatusText(r.status)
	}
	p.Status = r.status
	return p
}

// copyTo sends the response.
func (r *response) copyTo(w http.ResponseWriter) {
	maps.Copy(w.Header(), r.header)
	w.WriteHeader(r.status)
	_, _ = w.Write(r.body.Bytes()) // fails if the client has disconnected
}
