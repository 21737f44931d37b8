package debatemcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/elenchus-go/debate/providers/tool"
)

// Tools returns tools of a server for debate.Options.Tools. Keep the session open as long as the engine.
//
//	found, err := debatemcp.Tools(ctx, session, map[string]tool.Spec{
//		"search":      {},
//		"files.read":  {Name: "read_file"},
//		"place_order": {Once: true, Approval: true},
//	})
//
// allow holds the tools that models may call, by the names that the server gives them. All others stay out of debates. Name
// and Description of a Spec default to those of the server, with '_' in place of characters that a name must not have, and
// Schema is always the server's. Set Description if you do not trust the server with the prompts of your models.
//
// Once and Approval are yours to set. Hints of the server are not trusted: they can only add to them. A tool that the server
// calls destructive has Once and Approval. A tool that it annotates as neither read-only nor idempotent has Once. A tool without
// annotations, or one that the server calls read-only, stays as allow has it.
//
// The tools stay as they are when the server changes its list. A call of a tool that the server no longer has fails. Set
// ToolListChangedHandler of the client to learn of changes, and make another engine to use them.
func Tools(ctx context.Context, session *mcp.ClientSession, allow map[string]tool.Spec) ([]tool.Tool, error) {
	missing := maps.Clone(allow)
	var list []tool.Tool
	for t, err := range session.Tools(ctx, nil) {
		if err != nil {
			return nil, fmt.Errorf("list tools of MCP server: %w", err)
		}
		s, allowed := missing[t.Name]
		if !allowed {
			continue
		}
		delete(missing, t.Name)
		if err := complete(&s, t); err != nil {
			return nil, fmt.Errorf("read tool %q of MCP server: %w", t.Name, err)
		}
		list = append(list, &remote{session: session, name: t.Name, spec: s})
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("list tools of MCP server: it has no tool %q, remove it from the list", slices.Sorted(maps.Keys(missing)))
	}
	return list, nil
}

// complete adds what a server says of its tool.
func complete(s *tool.Spec, t *mcp.Tool) (err error) {
	s.Name = cmp.Or(s.Name, strings.Map(func(r rune) rune {
		if tool.CheckName(string(r)) != nil {
			return '_'
		}
		return r
	}, t.Name))
	s.Description = cmp.Or(s.Description, t.Description, t.Title)
	if a := t.Annotations; a != nil && !a.ReadOnlyHint {
		destroys := a.DestructiveHint != nil && *a.DestructiveHint
		s.Once, s.Approval = s.Once || destroys || !a.IdempotentHint, s.Approval || destroys
	}
	schema, _ := t.InputSchema.(map[string]any)
	schema = maps.Clone(schema) // the session may keep it
	delete(schema, "$schema")   // some services refuse it
	s.Schema, err = json.Marshal(schema)
	if err != nil {
		return err
	}
	return s.Check()
}

// remote is a tool of a server.
type remote struct {
	session *mcp.ClientSession
	name    string // that the server gives it
	spec    tool.Spec
}

// Spec implements tool.Tool.
func (t *remote) Spec() tool.Spec { return t.spec }

// Call implements tool.Tool.
func (t *remote) Call(ctx context.Context, c tool.Call) (tool.Result, error) {
	r, err := t.session.CallTool(ctx, &mcp.CallToolParams{Name: t.name, Arguments: c.Arguments})
	if wrong, ok := errors.AsType[*jsonrpc.Error](err); ok && wrong.Code == jsonrpc.CodeInvalidParams && ctx.Err() == nil {
		return tool.Result{}, tool.Refusal("The server refuses the call: " + wrong.Message)
	}
	switch {
	case err != nil:
		return tool.Result{}, fmt.Errorf("call tool %q of MCP server: %w", t.name, err)
	case len(r.InputRequests) > 0:
		return tool.Result{}, fmt.Errorf("call tool %q of MCP server: it asks its user for input, use a client with a handler", t.name)
	}
	found := resultOf(r)
	if r.IsError {
		return tool.Result{}, tool.Refusal(cmp.Or(found.Text, "The tool failed."))
	}
	return found, nil
}

// resultOf returns what a server has found: its texts, or else the structured content as JSON. Resources are sources.
func resultOf(r *mcp.CallToolResult) (out tool.Result) {
	var parts []string
	for _, c := range r.Content {
		switch c := c.(type) {
		case *mcp.TextContent:
			parts = append(parts, c.Text)
		case *mcp.EmbeddedResource:
			if c.Resource != nil && c.Resource.Blob == nil {
				out.Sources = append(out.Sources, tool.Source{URI: c.Resource.URI, Text: c.Resource.Text})
			} else if c.Resource != nil {
				parts = append(parts, leftOut(c.Resource.MIMEType, len(c.Resource.Blob))+" "+c.Resource.URI)
			}
		case *mcp.ResourceLink:
			out.Sources = append(out.Sources, tool.Source{URI: c.URI, Title: cmp.Or(c.Title, c.Name), Text: c.Description})
		case *mcp.ImageContent:
			parts = append(parts, leftOut(c.MIMEType, len(c.Data)))
		case *mcp.AudioContent:
			parts = append(parts, leftOut(c.MIMEType, len(c.Data)))
		}
	}
	if len(parts) == 0 && r.StructuredContent != nil {
		data, _ := json.Marshal(r.StructuredContent) // it was decoded from JSON
		parts = append(parts, string(data))
	}
	if len(parts) > 0 { // a model reads the sources only if there is no text
		if len(out.Sources) > 0 {
			parts = append(parts, tool.Result{Sources: out.Sources}.String())
		}
		out.Text = strings.Join(parts, "\n\n")
	}
	return out
}

// leftOut stands for content that models cannot read.
func leftOut(kind string, size int) string {
	return fmt.Sprintf("[%s of %d bytes, left out]", cmp.Or(kind, "data"), size)
}
