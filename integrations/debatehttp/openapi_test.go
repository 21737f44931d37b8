package debatehttp

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v5"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/test/golden"
	"github.com/elenchus-go/debate/report"
	"github.com/elenchus-go/debate/store"
)

// operation describes a route in the OpenAPI document.
type operation struct {
	summary string
	about   string
	headers []string
	body    reflect.Type // nil if there is none
	status  int
	answer  reflect.Type // nil if there is none, or if other says what is sent
	other   schema       // schemas of further content types; of server-sent events, that of their data
}

var (
	idempotent = []string{"Idempotency-Key"}
	listOf     = reflect.TypeFor[askedPage]()
)

// operations describes all routes, by method and path.
var operations = map[string]operation{
	"POST /debates": {
		"Launch a debate", "Creates and starts a debate, which continues when the request ends.", idempotent,
		reflect.TypeFor[debate.Config](), 201, reflect.TypeFor[launched](), nil,
	},
	"GET /debates": {
		"List debates", "The newest debates come first. Pass next as cursor to get the next page.", nil, nil,
		200, reflect.TypeFor[page](), nil,
	},
	"GET /debates/{id}":    {"Read the status", "", nil, nil, 200, reflect.TypeFor[store.Status](), nil},
	"DELETE /debates/{id}": {"Delete a debate", "", nil, nil, 204, nil, nil},
	"PUT /debates/{id}/config": {
		"Edit the configuration", "Replaces the configuration of a debate that is configuring or ready.", nil,
		reflect.TypeFor[debate.Config](), 204, nil, nil,
	},
	"GET /debates/{id}/result": {
		"Read the result", "The debate so far, or as it ended.", nil, nil, 200, reflect.TypeFor[debate.Result](),
		nil,
	},
	"GET /debates/{id}/report": {
		"Read a report", "Without full, the report has no text that was used only in prompts.", nil, nil,
		200, reflect.TypeFor[report.Report](),
		schema{"text/html": schema{"type": "string"}, "text/markdown": schema{"type": "string"}, "text/csv": schema{"type": "string"}},
	},
	"GET /debates/{id}/events":     {"Follow the events", "A stream of server-sent events. The schema describes the data of each. Durable events and ended have an id. Continue after one with Last-Event-ID. The last event of a debate that has ended is ended. If the event is problem, its data is a Problem, and nothing follows.", []string{"Last-Event-ID"}, nil, 200, nil, schema{"text/event-stream": ref("Event")}},
	"POST /debates/{id}/start":     {"Start a debate", "Needed only after a reset, and for a fork.", nil, nil, 204, nil, nil},
	"POST /debates/{id}/pause":     {"Pause a debate", "", nil, nil, 204, nil, nil},
	"POST /debates/{id}/resume":    {"Resume a debate", "", nil, nil, 204, nil, nil},
	"POST /debates/{id}/stop":      {"Stop a debate", "It ends with a conclusion based on the turns so far.", nil, nil, 204, nil, nil},
	"POST /debates/{id}/cancel":    {"Cancel a debate", "It ends at once, without a verdict.", nil, nil, 204, nil, nil},
	"POST /debates/{id}/retry":     {"Retry a debate in error", "It continues with the step that failed.", nil, nil, 204, nil, nil},
	"POST /debates/{id}/reset":     {"Reset a debate in error", "Edit it, then start it.", nil, nil, 204, nil, nil},
	"POST /debates/{id}/decisions": {"Decide a question", "The result and the event of the pause have the question.", nil, reflect.TypeFor[decisionBody](), 204, nil, nil},
	"POST /debates/{id}/remarks":   {"Add a remark", "A remark with the same id is added once.", nil, reflect.TypeFor[remarkBody](), 204, nil, nil},
	"PUT /debates/{id}/annotations/{name}": {
		"Store a note", "The body is any JSON value. It replaces an earlier note with the same name.", nil, reflect.TypeFor[json.RawMessage](), 204, nil, nil,
	},
	"POST /debates/{id}/forks": {
		"Fork a debate", "Creates a debate from the first entries of another one, with edits. Start it to continue.", idempotent, reflect.TypeFor[forkBody](), 201, reflect.TypeFor[launched](), nil,
	},
	"GET /debates/{id}/prompts": {"Read the prompt of a step", "Rebuilds what a committed step was asked with. run defaults to 1, and round to 0.", nil, nil, 200, reflect.TypeFor[debate.Prompt](), nil},
	"GET /debates/{id}/waiting": {"List what a debate asks people", "", nil, nil, 200, listOf, nil},
	"GET /debates/{id}/documents/{name}": {
		"Read a document", "The text, for the person who speaks for a seat that reads it. seat is required.", nil, nil, 200, reflect.TypeFor[documentBody](), nil,
	},
	"POST /debates/{id}/answers":  {"Answer", "Gives a person's reply to a step, in the name of the principal.", nil, reflect.TypeFor[answerBody](), 204, nil, nil},
	"POST /debates/{id}/declines": {"Decline", "Says that a person gives no reply to a step.", nil, reflect.TypeFor[declineBody](), 204, nil, nil},
	"GET /inbox": {
		"List what all debates ask a person", "seat is required.", nil, nil, 200,
		reflect.TypeFor[inboxPage](), nil,
	},
	"GET /v1/models":         {"List the presets", "In the format of the OpenAI API.", nil, nil, 200, reflect.TypeFor[chatModels](), nil},
	"GET /v1/models/{model}": {"Read a preset", "In the format of the OpenAI API.", nil, nil, 200, reflect.TypeFor[chatModel](), nil},
	"POST /v1/chat/completions": {
		"Debate the last message", "In the format of the OpenAI API. The message of the answer is the answer of the debate, whose id is id.", idempotent,
		reflect.TypeFor[chatRequest](), 200, reflect.TypeFor[chatCompletion](),
		schema{"text/event-stream": ref("ChatCompletion")},
	},
	"GET /openapi.json": {"Read this document", "", nil, nil, 200, reflect.TypeFor[json.RawMessage](), nil},
}

// parameterSchemas describes the parameters of queries.
var parameterSchemas = map[string]struct {
	schema schema
	about  string
}{
	"state":          {schema{"type": "array", "items": schema{"type": "string"}}, "Debates in any of these states."},
	"outcome":        {schema{"type": "array", "items": schema{"type": "string"}}, "Debates that ended with any of these outcomes."},
	"failure_kind":   {schema{"type": "array", "items": schema{"type": "string"}}, "Debates that a failure of any of these kinds stopped."},
	"label":          {schema{"type": "array", "items": schema{"type": "string", "pattern": ":"}}, "Debates that have all these labels, each as name:value."},
	"waiting":        {schema{"type": "string"}, "Debates that wait for the person with this name."},
	"parent":         {schema{"type": "string"}, "Forks of the debate with this id."},
	"run":            {schema{"type": "integer", "minimum": 1, "default": 1}, "Run of the step."},
	"round":          {schema{"type": "integer", "minimum": 0, "default": 0}, "Round of the step."},
	"phase":          {schema{"type": "string"}, "Phase of the step."},
	"actor":          {schema{"type": "string"}, "Actor of the step."},
	"target":         {schema{"type": "string"}, "Target of the step, if it has one."},
	"created_since":  {schema{"type": "string", "format": "date-time"}, "Debates created at this time or later."},
	"created_before": {schema{"type": "string", "format": "date-time"}, "Debates created before this time."},
	"updated_since":  {schema{"type": "string", "format": "date-time"}, "Debates updated at this time or later."},
	"updated_before": {schema{"type": "string", "format": "date-time"}, "Debates updated before this time."},
	"limit":          {schema{"type": "integer", "minimum": 1, "maximum": maxPage, "default": defaultPage}, "Largest number of debates."},
	"cursor":         {schema{"type": "string"}, "The value next of the page before."},
	"seat":           {schema{"type": "string"}, "The participant or judge for whom the client speaks."},
	"format":         {schema{"enum": []string{"json", "html", "markdown", "csv"}, "default": "json"}, "Format of the report."},
	"full":           {schema{"type": "boolean"}, "Whether the report has everything."},
}

var pathParameter = regexp.MustCompile(`\{(\w+)\}`)

// describeRoute returns a route's operation for the document.
func (b *schemaBook) describeRoute(r route) schema {
	op, ok := operations[r.method+" "+r.path]
	require.True(b.t, ok, "%s %s is not described", r.method, r.path)
	list := []schema{}
	for _, m := range pathParameter.FindAllStringSubmatch(r.path, -1) {
		list = append(list, schema{"name": m[1], "in": "path", "required": true, "schema": schema{"type": "string"}})
	}
	for _, name := range r.parameters {
		p, ok := parameterSchemas[name]
		require.True(b.t, ok, name)
		list = append(list, schema{"name": name, "in": "query", "description": p.about, "schema": p.schema})
	}
	for _, name := range op.headers {
		list = append(list, schema{"name": name, "in": "header", "schema": schema{"type": "string"}})
	}
	responses := b.failures(r, op)
	responses[strconv.Itoa(op.status)] = b.success(op)
	if r.action == Watch {
		responses["204"] = schema{"description": "The viewer has the last event, and no other follows."}
	}
	s := schema{"summary": op.summary, "operationId": operationID(r), "responses": responses}
	if len(list) > 0 {
		s["parameters"] = list
	}
	if r.action != "" {
		s["description"] = strings.TrimSpace(op.about + " Action: " + string(r.action) + ".")
	}
	if op.body != nil {
		s["requestBody"] = schema{"required": true, "content": schema{"application/json": schema{"schema": b.of(op.body)}}}
	}
	return s
}

// success returns the response of an operation that succeeds.
func (b *schemaBook) success(op operation) schema {
	s, content := schema{"description": http.StatusText(op.status)}, schema{}
	if op.answer != nil {
		content["application/json"] = schema{"schema": b.of(op.answer)}
	}
	for kind, other := range op.other {
		content[kind] = schema{"schema": other}
	}
	if len(content) > 0 {
		s["content"] = content
	}
	return s
}

// failures returns the responses of an operation that fails, by status. They are components, because many operations have
// the same. The response default is for the problems of Options.Authorize and Options.Principal.
func (b *schemaBook) failures(r route, op operation) schema {
	chat := strings.HasPrefix(r.path, chatPath)
	list := schema{}
	for _, k := range kinds {
		if !fails(r, op, k.name) {
			continue
		}
		name := strings.ReplaceAll(http.StatusText(k.status), " ", "")
		body := schema{"application/problem+json": schema{"schema": b.of(reflect.TypeFor[Problem]())}}
		if chat {
			name, body = "OpenAI"+name, schema{"application/json": schema{"schema": b.of(reflect.TypeFor[chatError]())}}
		}
		about := fmt.Sprintf("%s: %s.", k.name, k.title)
		if known, ok := b.responses[name].(schema); !ok {
			b.responses[name] = schema{"description": about, "content": body}
		} else if text := known["description"].(string); !strings.Contains(text, about) {
			known["description"] = text + " " + about
		}
		list[strconv.Itoa(k.status)] = schema{"$ref": "#/components/responses/" + name}
		list["default"] = schema{"description": "Another problem", "content": body}
	}
	return list
}

// fails reports whether an operation can fail with a kind of problem.
func fails(r route, op operation, kind string) bool {
	debate := strings.Contains(r.path, "{id}")
	switch kind {
	case "not-found":
		return debate
	case "model-not-found":
		return strings.HasPrefix(r.path, chatPath) && r.path != chatPath+"models"
	case "answered", "not-asked", "refused":
		return debate && r.method != http.MethodGet
	case "conflict":
		return r.method != http.MethodGet
	case "taken":
		return r.action == Launch || r.action == Fork
	case "too-large":
		return op.body != nil
	case "key-reused":
		return slices.Contains(op.headers, "Idempotency-Key")
	case "unsupported":
		return debate || r.action == Launch
	case "stopped":
		return r.path == chatPath+"chat/completions"
	case "cross-origin":
		return r.method != http.MethodGet
	case "no-route", "method-not-allowed":
		return false
	}
	return r.action != "" // openapi.json needs no action
}

// operationIDs names the operations whose action has another one.
var operationIDs = map[string]string{
	chatPath + "models/{model}": "retrieveModel", chatPath + "chat/completions": "createChatCompletion", "/openapi.json": "document",
	"/debates/{id}/documents/{name}": "readDocument",
}

func operationID(r route) string { return cmp.Or(operationIDs[r.path], string(r.action)) }

// document returns the OpenAPI document of the routes.
func document(t *testing.T) []byte {
	b := newSchemaBook(t)
	b.addConfiguration()
	b.addEvents()
	paths := schema{}
	for _, r := range append(slices.Clone(routes), route{method: "GET", path: "/openapi.json"}) {
		if paths[r.path] == nil {
			paths[r.path] = schema{}
		}
		paths[r.path].(schema)[strings.ToLower(r.method)] = b.describeRoute(r)
	}
	text, err := json.MarshalIndent(schema{
		"openapi": "3.1.0",
		"info": schema{
			"title": "Debates", "version": "1", "license": schema{"name": "Apache-2.0", "identifier": "Apache-2.0"},
			"description": "Launch, follow and control debates between language models and people. " +
				"https://github.com/elenchus-go/debate/blob/main/docs/serving.md explains it.",
		},
		"servers": []schema{{"url": "."}}, "paths": paths, "security": []schema{{"token": []string{}}, {}},
		"components": schema{
			"schemas": b.schemas, "responses": b.responses,
			"securitySchemes": schema{"token": schema{"type": "http", "scheme": "bearer", "description": "Needed if the server wants it; see Options.Principal."}},
		},
	}, "", "  ")
	require.NoError(t, err)
	return append(text, '\n')
}

func TestTheDocumentIsCurrent(t *testing.T) {
	want := document(t)
	if golden.Update() {
		require.NoError(t, os.WriteFile("openapi.json", want, 0o600))
		return
	}
	got, err := os.ReadFile("openapi.json")
	require.NoError(t, err)
	lines := strings.Split(strings.ReplaceAll(string(got), "\r\n", "\n"), "\n")
	for i, line := range strings.Split(string(want), "\n") { // the document is too long for the message of a comparison
		require.Less(t, i, len(lines))
		require.Equal(t, line, lines[i], "line %d of openapi.json is out of date: run this test with -update and read the diff", i+1)
	}
}

// Every route of the document exists, and no other.
func TestTheDocumentHasTheRoutesOfTheHandler(t *testing.T) {
	s := open(t, store.Memory(), allowing())
	code, header, text := s.do(http.MethodGet, "/openapi.json", "")
	require.Equal(t, http.StatusOK, code)
	require.Equal(t, "application/json", header.Get("Content-Type"))
	doc := parsed[struct {
		OpenAPI    string                       `json:"openapi"`
		Paths      map[string]map[string]schema `json:"paths"`
		Components struct{ Schemas schema }     `json:"components"`
	}](t, text)
	require.Equal(t, "3.1.0", doc.OpenAPI)
	methods := []string{"GET", "POST", "PUT", "DELETE", "PATCH"}
	ids := map[any]bool{}
	for path, ops := range doc.Paths {
		for _, method := range methods {
			code, _, text := s.do(method, strings.NewReplacer("{id}", "none", "{name}", "note").Replace(path), "")
			missing := code == http.StatusMethodNotAllowed || strings.Contains(text, typeOf("no-route"))
			op, described := ops[strings.ToLower(method)]
			require.Equal(t, described, !missing, "%s %s: %s", method, path, text)
			if id := op["operationId"]; id != nil {
				require.False(t, ids[id], id)
				ids[id] = true
			}
		}
		require.Subset(t, methods, strings.Split(strings.ToUpper(strings.Join(slices.Collect(maps.Keys(ops)), " ")), " "))
	}
	require.Len(t, ids, len(routes)+1)
	for id := range ids { // generators of clients name types after operations
		for _, suffix := range []string{"Response", "Params", "JSONBody", "JSONRequestBody"} {
			name := strings.ToUpper(id.(string)[:1]) + id.(string)[1:] + suffix
			require.NotContains(t, doc.Components.Schemas, name)
		}
	}
	for at := range operations {
		method, path, _ := strings.Cut(at, " ")
		require.NotNil(t, doc.Paths[path][strings.ToLower(method)], at)
	}
}

// The client has a method for each action of the handler. Any OpenAI client has the rest.
func TestTheClientMirrorsTheHandler(t *testing.T) {
	for _, r := range routes {
		if strings.HasPrefix(r.path, chatPath) {
			continue
		}
		name := strings.ToUpper(string(r.action[:1])) + string(r.action[1:])
		_, ok := reflect.TypeFor[*Client]().MethodByName(name)
		require.True(t, ok, "%s: there is no method %s", r.path, name)
	}
}

// strictDocument compiles schemas of the document, such that they refuse properties that are not described.
var strictDocument = sync.OnceValues(func() (*jsonschema.Compiler, error) {
	text, err := os.ReadFile("openapi.json")
	if err != nil {
		return nil, err
	}
	var doc schema
	if err := json.Unmarshal(text, &doc); err != nil {
		return nil, err
	}
	schemas := doc["components"].(schema)["schemas"].(schema)
	for name, one := range schemas {
		if !strings.HasPrefix(strings.ToLower(name), "configuration") { // which is strict already
			schemas[name] = strict(one)
		}
	}
	text, err = json.Marshal(doc)
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	return c, c.AddResource("openapi.json", bytes.NewReader(text))
})

// describes requires that a text is JSON that the document describes at a place.
func describes(t *testing.T, text string, place ...string) {
	t.Helper()
	c, err := strictDocument()
	require.NoError(t, err)
	for i, p := range place {
		place[i] = strings.NewReplacer("~", "~0", "/", "~1").Replace(p)
	}
	compiling.Lock()
	s, err := c.Compile("openapi.json#/" + strings.Join(place, "/"))
	compiling.Unlock()
	require.NoError(t, err)
	require.NoError(t, s.Validate(parsed[any](t, text)), text)
}

var compiling sync.Mutex

// described requires that the document describes a request and its response.
func described(t *testing.T, method, path, body string, status int, header http.Header, text string) {
	t.Helper()
	path, _, _ = strings.Cut(path, "?")
	for _, r := range routes {
		pattern := regexp.MustCompile("^" + pathParameter.ReplaceAllString(r.path, "[^/]+") + "$")
		if r.method != method || !pattern.MatchString(path) {
			continue
		}
		op := []string{"paths", r.path, strings.ToLower(method)}
		if operations[method+" "+r.path].body != nil && status < 300 {
			describes(t, body, append(op, "requestBody", "content", "application/json", "schema")...)
		}
		kind, _, _ := strings.Cut(header.Get("Content-Type"), ";")
		switch {
		case strings.HasSuffix(kind, "json"):
			describes(t, text, append(responseOf(t, op, status), "content", kind, "schema")...)
		case kind == "":
			require.Equal(t, http.StatusNoContent, status)
			require.Empty(t, text)
		}
		return
	}
}

// listedOperation is an operation of the document.
type listedOperation struct {
	Responses map[string]struct {
		Ref string `json:"$ref"`
	} `json:"responses"`
}

// listedResponses returns the operations of the document, by path and method.
var listedResponses = sync.OnceValues(func() (map[string]map[string]listedOperation, error) {
	text, err := os.ReadFile("openapi.json")
	if err != nil {
		return nil, err
	}
	var doc struct {
		Paths map[string]map[string]listedOperation `json:"paths"`
	}
	err = json.Unmarshal(text, &doc)
	return doc.Paths, err
})

// responseOf returns the place of the response of an operation with a status. The document must have one for each status of
// a problem.
func responseOf(t *testing.T, op []string, status int) []string {
	t.Helper()
	paths, err := listedResponses()
	require.NoError(t, err)
	at := strconv.Itoa(status)
	response, listed := paths[op[1]][op[2]].Responses[at]
	if !listed {
		require.False(t, slices.ContainsFunc(kinds, func(k kind) bool { return k.status == status }), "%s %s answers with the status %d", op[2], op[1], status)
		at = "default"
	}
	if response.Ref != "" {
		return strings.Split(strings.TrimPrefix(response.Ref, "#/"), "/")
	}
	return append(op, "responses", at)
}

// Each kind of problem has the anchor in docs/reference/http.md to which its type refers.
func TestProblemsAreDocumented(t *testing.T) {
	var table strings.Builder
	table.WriteString("| kind | status | title |\n|---|---|---|\n")
	for _, k := range kinds {
		fmt.Fprintf(&table, "| <a id=\"%s\"></a>`%s` | %d | %s |\n", k.name, k.name, k.status, k.title)
	}
	golden.Section(t, "../../docs/reference/http.md", "problems", table.String())
	p := problem("no such kind", "x")
	require.Equal(t, http.StatusInternalServerError, p.Status)
	require.Empty(t, p.Detail)
}

// The page lists the names of all events, by which an EventSource listens.
func TestEventsAreDocumented(t *testing.T) {
	b := newSchemaBook(t)
	var table strings.Builder
	table.WriteString("| event | what happened |\n|---|---|\n")
	for _, kind := range slices.Sorted(maps.Keys(eventTypes)) {
		about := b.comment(reflect.TypeOf(eventTypes[kind]), "")
		require.NotEmpty(t, about, kind)
		first, _, _ := strings.Cut(about, ". ")
		fmt.Fprintf(&table, "| `%s` | %s |\n", kind, strings.TrimSuffix(first, "."))
	}
	golden.Section(t, "../../docs/reference/http.md", "events", table.String())
}
