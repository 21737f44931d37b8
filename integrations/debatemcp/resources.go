package debatemcp

import (
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/debatetool"
	"github.com/elenchus-go/debate/report"
	"github.com/elenchus-go/debate/store"
)

const (
	scheme   = "debate://"
	markdown = "text/markdown"
)

// resources are the reports and the transcripts of the debates of a toolset.
type resources struct {
	tools  *debatetool.Toolset
	server *mcp.Server

	mu   sync.Mutex
	list map[subscription]context.CancelFunc
}

// A subscription is a resource that a session has subscribed to.
type subscription struct {
	session *mcp.ServerSession
	uri     string
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
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: r.Params.URI, MIMEType: mime, Text: text}}}, nil
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
		texts[i] = t.Text
	}
	return strings.Join(texts, "\n\n"), err
}

// subscribe follows a debate until the session ends or unsubscribes, or the debate has ended.
func (s *resources) subscribe(ctx context.Context, r *mcp.SubscribeRequest) error {
	d, err := s.open(ctx, r.Params.URI)
	if err != nil {
		return err
	}
	status, err := d.Status(ctx)
	if err != nil {
		return err
	}
	key := subscription{r.Session, r.Params.URI}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	if !s.add(key, cancel) {
		cancel()
		return nil
	}
	go func() {
		_ = r.Session.Wait() // the reason does not matter
		s.end(key)
	}()
	go func() {
		defer s.end(key)
		for ev, err := range d.Watch(ctx, status.Seq) {
			if err == nil && ev.Meta().Live {
				continue
			}
			if s.server.ResourceUpdated(ctx, &mcp.ResourceUpdatedNotificationParams{URI: r.Params.URI}) != nil || err != nil {
				return
			}
		}
	}()
	return nil
}

func (s *resources) unsubscribe(_ context.Context, r *mcp.UnsubscribeRequest) error {
	s.end(subscription{r.Session, r.Params.URI})
	return nil
}

// add adds a subscription, and reports whether it is new.
func (s *resources) add(key subscription, cancel context.CancelFunc) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.list[key]; known {
		return false
	}
	if s.list == nil {
		s.list = map[subscription]context.CancelFunc{}
	}
	s.list[key] = cancel
	return true
}

// end ends a subscription.
func (s *resources) end(key subscription) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if cancel := s.list[key]; cancel != nil {
		cancel()
		delete(s.list, key)
	}
}
