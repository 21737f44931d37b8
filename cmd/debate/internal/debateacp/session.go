package debateacp

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/coder/acp-go-sdk"

	"github.com/elenchus-go/debate/integrations/debatetool"
)

// session is a conversation of the client about debates.
type session struct {
	*agent
	id    acp.SessionId
	tools *debatetool.Toolset
	turn  sync.Mutex             // held during a prompt
	mode  atomic.Pointer[string] // the preset of the next debate
	open  context.Context        // ends when the client closes the session
	close context.CancelFunc
}

// newSession returns a session whose debates have its labels.
func (a *agent) newSession(id acp.SessionId, folder string) (*session, error) {
	presets := maps.Clone(a.Presets)
	for name, p := range presets {
		labels := map[string]string{folderLabel: folder}
		maps.Copy(labels, p.Config.Labels)
		p.Config.Labels = labels
		presets[name] = p
	}
	tools, err := debatetool.New(a.engine, debatetool.Options{
		Presets: presets, Labels: map[string]string{sessionLabel: string(id)}, MaxText: maxText,
	})
	if err != nil {
		return nil, err
	}
	s := &session{agent: a, id: id, tools: tools.ForPeople()}
	s.open, s.close = context.WithCancel(context.Background())
	s.mode.Store(new(defaultMode))
	return s, nil
}

// modes returns the modes of the session: the presets.
func (s *session) modes() *acp.SessionModeState {
	state := &acp.SessionModeState{CurrentModeId: acp.SessionModeId(*s.mode.Load())}
	for _, name := range slices.Sorted(maps.Keys(s.Presets)) {
		about := s.Presets[name].Description
		state.AvailableModes = append(state.AvailableModes, acp.SessionMode{Id: acp.SessionModeId(name), Name: name, Description: &about})
	}
	return state
}

// prompt passes a prompt on to the debates of the session, and shows what happens.
func (s *session) prompt(ctx context.Context, blocks []acp.ContentBlock) error {
	topic, files, err := s.read(ctx, blocks)
	if err != nil {
		return err
	}
	in := debatetool.Input{Topic: topic, Background: files, Preset: *s.mode.Load()}
	for p, err := range s.tools.Converse(ctx, in, s.choose) {
		if err != nil {
			return err
		}
		switch {
		case p.Output != nil:
			s.rest(ctx, *p.Output)
		case p.Turn != nil:
			s.sayTurn(ctx, *p.Turn)
		default:
			s.send(ctx, acp.UpdateAgentThoughtText(p.Text+"\n"))
		}
		s.plan(ctx, p.ID)
	}
	return nil
}

// replay shows a debate that an earlier connection has held.
func (s *session) replay(ctx context.Context, d debatetool.Output) error {
	s.send(ctx, acp.UpdateUserMessageText(d.Topic))
	turns, err := s.tools.Transcript(ctx, d.ID)
	if err != nil {
		return err
	}
	for _, t := range turns {
		s.sayTurn(ctx, t)
	}
	s.plan(ctx, d.ID)
	out, err := s.tools.Result(ctx, d.ID)
	if err == nil {
		s.rest(ctx, out)
	}
	return err
}

// read returns the text of a prompt, and the texts of the files that are attached to it.
func (s *session) read(ctx context.Context, blocks []acp.ContentBlock) (text, files string, err error) {
	var said, attached []string
	for _, b := range blocks {
		switch {
		case b.Text != nil:
			said = append(said, b.Text.Text)
		case b.Resource != nil && b.Resource.Resource.TextResourceContents != nil:
			r := b.Resource.Resource.TextResourceContents
			attached = append(attached, fmt.Sprintf("File %s:\n\n%s", r.Uri, r.Text))
		case b.ResourceLink != nil:
			content, err := s.readLink(ctx, b.ResourceLink.Uri)
			if err != nil {
				return "", "", err
			}
			attached = append(attached, fmt.Sprintf("File %s:\n\n%s", b.ResourceLink.Uri, content))
		default:
			return "", "", refuse("prompt: models debate texts only, leave out images, sounds and other data")
		}
	}
	return strings.TrimSpace(strings.Join(said, "\n")), strings.Join(attached, "\n\n"), nil
}

// readLink has the client read a file, with what the user has not saved yet.
func (s *session) readLink(ctx context.Context, link string) (string, error) {
	file, err := url.Parse(link)
	if err != nil || file.Scheme != "file" || !s.readsFiles.Load() {
		return "", refuse("prompt: the text of %s is missing, attach it with its text", link)
	}
	r, err := s.client.ReadTextFile(ctx, acp.ReadTextFileRequest{SessionId: s.id, Path: file.Path})
	if err != nil {
		return "", refuse("prompt: read %s: %v", link, err)
	}
	return r.Content, nil
}

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
		request.Options = append(request.Options,
			acp.PermissionOption{OptionId: acp.PermissionOptionId(c.Action), Name: c.Label, Kind: kind})
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
