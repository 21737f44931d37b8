package debateacp

import (
	"context"
	"fmt"
	"strings"

	"github.com/coder/acp-go-sdk"

	"github.com/elenchus-go/debate/debatetool"
)

// sayTurn says a turn, with its speaker. The text is quoted, so that it cannot look like a turn of somebody else.
func (s *session) sayTurn(ctx context.Context, t debatetool.Turn) {
	when := ""
	if t.Round > 0 {
		when = fmt.Sprintf(", round %d", t.Round)
	}
	s.say(ctx, fmt.Sprintf("**%s**%s\n\n%s", t.Actor, when, quote(t.Said())))
}

// rest says how a debate rests: with its answer, or with what it waits for. Its turns were shown.
func (s *session) rest(ctx context.Context, out debatetool.Output) {
	out.Turns = nil
	s.say(ctx, out.Text())
}

// quote returns a text as a quotation in Markdown.
func quote(text string) string { return "> " + strings.ReplaceAll(text, "\n", "\n> ") }

// say says a text that is a message of its own, also in a client that joins messages.
func (s *session) say(ctx context.Context, text string) {
	s.send(ctx, acp.UpdateAgentMessageText(text+"\n\n"))
}

// send sends an update. A client that has gone misses nothing.
func (s *session) send(ctx context.Context, u acp.SessionUpdate) {
	_ = s.client.SessionUpdate(ctx, acp.SessionNotification{SessionId: s.id, Update: u})
}

// plan shows the phases of a debate.
func (s *session) plan(ctx context.Context, id string) {
	phases, err := s.tools.Plan(ctx, id)
	if err != nil {
		return // what follows says so
	}
	entries := []acp.PlanEntry{}
	for _, p := range phases {
		status := acp.PlanEntryStatus(p.State) // the words are the same
		entries = append(entries, acp.PlanEntry{Content: p.String(), Priority: acp.PlanEntryPriorityMedium, Status: status})
	}
	s.send(ctx, acp.UpdatePlan(entries...))
}

// choose asks the client to choose, as debatetool.Choose says: each question is a request for permission.
func (s *session) choose(ctx context.Context, a debatetool.Ask) (action string, err error) {
	call, status := acp.ToolCallId(a.Step), acp.ToolCallStatusPending
	cause, _, _ := strings.Cut(a.Task, "\n")
	content := []acp.ToolCallContent{acp.ToolContent(acp.TextBlock(quote(a.Task)))}
	s.send(ctx, acp.StartToolCall(call, cause,
		acp.WithStartKind(acp.ToolKindOther), acp.WithStartStatus(status), acp.WithStartContent(content)))
	request := acp.RequestPermissionRequest{SessionId: s.id, ToolCall: acp.ToolCallUpdate{
		ToolCallId: call, Title: &cause, Content: content, Kind: acp.Ptr(acp.ToolKindOther), Status: &status,
	}}
	kind := acp.PermissionOptionKindAllowOnce // the first choice lets the debate go on
	for _, c := range a.Choices {
		request.Options = append(request.Options, acp.PermissionOption{OptionId: acp.PermissionOptionId(c.Action), Name: c.Label, Kind: kind})
		kind = acp.PermissionOptionKindRejectOnce
	}
	r, err := s.client.RequestPermission(ctx, request)
	if err != nil {
		return "", err
	}
	result := acp.ToolCallStatusFailed
	if r.Outcome.Selected != nil {
		action, result = string(r.Outcome.Selected.OptionId), acp.ToolCallStatusCompleted
	}
	s.send(ctx, acp.UpdateToolCall(call, acp.WithUpdateStatus(result)))
	return action, nil
}
