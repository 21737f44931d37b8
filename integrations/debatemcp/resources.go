package debatemcp

import (
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/integrations/debatetool"
	"github.com/elenchus-go/debate/report"
	"github.com/elenchus-go/debate/store"
)

const (
	scheme   = "debate://"
	markdown = "text/markdown"
)

// resources serves the reports and the transcripts of the debates of a toolset.
type resources struct {
	tools  *debatetool.Toolset
	server *mcp.Server

	mu       sync.Mutex
	followed map[string]*subscribers     // by URI
	sessions map[*mcp.ServerSession]bool // those whose end await waits for
}

// subscribers are the sessions that have subscribed to a resource. They share one watch of its debate, because the SDK
// sends each notification to all of them.
type subscribers struct {
	sessions map[*mcp.ServerSession]bool
	stop     context.CancelFunc
}

func newResources(tools *debatetool.Toolset) *resources {
	return &resources{tools: tools, followed: map[string]*subscribers{}, sessions: map[*mcp.ServerSession]bool{}}
}

// addTo adds the report and the transcript of each debate to a server.
func (s *resources) addTo(server *mcp.Server) {
	s.server = server
	server.AddResourceTemplate(&mcp.ResourceTemplate{
		Name: "report", URITemplate: scheme + "{id}/report", MIMEType: markdown, Description: "The report of a debate: the outcome, the answer, scores and the transcript.",
	}, s.read(markdown, s.report))
	server.AddResourceTemplate(&mcp.ResourceTemplate{
		Name: "transcript", URITemplate: scheme + "{id}/transcript", MIMEType: "text/plain", Description: "What was said in a debate so far, as quotations.",
	}, s.read("text/plain", s.transcript))
}

// parse returns the id of the debate that a resource belongs to.
func parse(uri string) (id string, ok bool) {
	rest, ok := strings.CutPrefix(uri, scheme)
	id, kind, found := strings.Cut(rest, "/")
	return id, ok && found && id != "" && (kind == "report" || kind == "transcript")
}

// read returns a handler for resources whose text is made by f.
func (s *resources) read(mime string, f func(context.Context, *debate.Debate) (string, error)) mcp.ResourceHandler {
	return func(ctx context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		d, err := s.open(ctx, r.Params.URI)
		if err != nil {
			return nil, err
		}
		text, err := f(ctx, d)
		if err != nil {
			return nil, err
		}
		return &mcp.ReadResourceResult{
			Cacheable: mcp.Cacheable{CacheScope: "private"}, Contents: []*mcp.ResourceContents{{URI: r.Params.URI, MIMEType: mime, Text: text}},
		}, nil
	}
}

// open returns the debate that a resource belongs to.
func (s *resources) open(ctx context.Context, uri string) (*debate.Debate, error) {
	id, ok := parse(uri)
	if !ok {
		return nil, mcp.ResourceNotFoundError(uri)
	}
	d, err := s.tools.Open(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return nil, mcp.ResourceNotFoundError(uri)
	}
	return d, err
}

func (s *resources) report(ctx context.Context, d *debate.Debate) (string, error) {
	r, err := report.Collect(ctx, d)
	if err != nil {
		return "", err
	}
	b := &strings.Builder{}
	err = report.Markdown(b, r.Redact())
	return b.String(), err
}

func (s *resources) transcript(ctx context.Context, d *debate.Debate) (string, error) {
	turns, err := s.tools.Transcript(ctx, d.ID())
	texts := make([]string, len(turns))
	for i, t := range turns {
		texts[i] = t.Said()
	}
	return strings.Join(texts, "\n\n"), err
}

// subscribe tells a session when a debate changes, until the session ends or unsubscribes, or the debate has ended.
func (s *resources) subscribe(ctx context.Context, r *mcp.SubscribeRequest) error {
	uri := r.Params.URI
	d, err := s.open(ctx, uri)
	if err != nil {
		return err
	}
	status, err := d.Status(ctx)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.followed[uri]
	if list == nil {
		ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
		list = &subscribers{map[*mcp.ServerSession]bool{}, stop}
		s.followed[uri] = list
		go func() {
			s.follow(ctx, uri, d, status.Seq)
			s.end(uri, list)
		}()
	}
	list.sessions[r.Session] = true
	if !s.sessions[r.Session] {
		s.sessions[r.Session] = true
		go s.await(r.Session)
	}
	return nil
}

// follow notifies the subscribers of a resource of each event after a seq.
func (s *resources) follow(ctx context.Context, uri string, d *debate.Debate, after int64) {
	for ev, err := range d.Watch(ctx, after) {
		if ctx.Err() != nil {
			return
		}
		if err == nil && ev.Meta().Live {
			continue
		}
		if s.server.ResourceUpdated(ctx, &mcp.ResourceUpdatedNotificationParams{URI: uri}) != nil || err != nil {
			return
		}
	}
}

// end ends the watch of a resource.
func (s *resources) end(uri string, list *subscribers) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list.stop()
	if s.followed[uri] == list { // not yet followed again
		delete(s.followed, uri)
	}
}

// await waits for the end of a session, and ends its subscriptions.
func (s *resources) await(session *mcp.ServerSession) {
	_ = session.Wait() // the reason does not matter
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sessions, session)
	for uri := range s.followed {
		s.leave(uri, session)
	}
}

func (s *resources) unsubscribe(_ context.Context, r *mcp.UnsubscribeRequest) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leave(r.Params.URI, r.Session)
	return nil
}

// leave ends a subscription. The last one ends the watch.
func (s *resources) leave(uri string, session *mcp.ServerSession) {
	list := s.followed[uri]
	if list == nil {
		return
	}
	delete(list.sessions, session)
	if len(list.sessions) == 0 {
		list.stop()
		delete(s.followed, uri)
	}
}

// maxCompletions is the largest number of ids that a completion returns. The protocol allows no more.
const maxCompletions = 100

// complete completes the id of a debate, in the address of a resource or as the argument of a prompt.
func (s *resources) complete(ctx context.Context, r *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
	details := mcp.CompletionResultDetails{Values: []string{}}
	if r.Params.Argument.Name == "id" {
		begin := r.Params.Argument.Value
		found, err := s.tools.List(ctx, begin, 2*maxCompletions)
		if err != nil {
			return nil, err
		}
		for _, o := range found {
			switch {
			case !strings.HasPrefix(o.ID, begin): // the topic has the text
			case len(details.Values) == maxCompletions:
				details.HasMore = true
			default:
				details.Values = append(details.Values, o.ID)
			}
		}
	}
	return &mcp.CompleteResult{Completion: details}, nil
}
