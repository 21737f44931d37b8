package debatemcp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/elenchus-go/debate/integrations/debatetool"
)

const (
	defaultListed = 20
	maxListed     = 100
)

// listing is the input of debate_list.
type listing struct {
	Text  string `json:"text"`
	Limit int    `json:"limit"`
}

// listed is the output of debate_list.
type listed struct {
	Debates []debatetool.Output `json:"debates"`
}

// addList adds the tool debate_list.
func (s *server) addList(server *mcp.Server) {
	schema := fmt.Sprintf(`{"type": "object", "additionalProperties": false, "properties": {"text": {"type": "string", "description": "Part of the topic, or the beginning of the id."},`+
		`"limit": {"type": "integer", "minimum": 1, "maximum": %d, "description": "Defaults to %d."}}}`, maxListed, defaultListed)
	t := describe("debate_list", "Lists debates, newest first, with id, topic, status and outcome. Use it to find a debate whose id you do not know.", json.RawMessage(schema))
	server.AddTool(t, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		var in listing
		d := json.NewDecoder(strings.NewReader(cmp.Or(string(r.Params.Arguments), "{}")))
		d.DisallowUnknownFields()
		if err := d.Decode(&in); err != nil {
			return s.failure(ctx, t.Name, fmt.Errorf("read input: %w", err)), nil
		}
		found, err := s.tools.List(ctx, in.Text, min(max(cmp.Or(in.Limit, defaultListed), 1), maxListed))
		if err != nil {
			return s.failure(ctx, t.Name, err), nil
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: listText(found)}}, StructuredContent: listed{found}}, nil
	})
}

// listText returns a list of debates for a model. Topics are cut to one short line.
func listText(found []debatetool.Output) string {
	if len(found) == 0 {
		return "There is no such debate."
	}
	b := &strings.Builder{}
	for _, o := range found {
		how := o.Status
		if o.Outcome != "" {
			how += ", " + o.Outcome
		}
		fmt.Fprintf(b, "%s (%s; %s): %s\n", o.ID, o.Created.UTC().Format("2006-01-02 15:04"), how, short(o.Topic))
	}
	b.WriteString("\nCall debate_result with an id to read the answer.")
	return b.String()
}

// short returns the beginning of a topic in one line.
func short(topic string) string {
	const most = 120
	line := []rune(strings.Join(strings.Fields(topic), " "))
	if len(line) > most {
		return string(line[:most]) + "…"
	}
	return string(line)
}
