package debateacp_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/acp-go-sdk"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/store"
)

// gated returns a debate that asks before its second round.
func gated() debate.Config {
	c := debatetest.ShortPanel(2)
	c.AskBeforeRounds = true
	return c
}

func TestQuestionsAreRequestsForPermission(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := connect(t, store.Memory(), gated())
		reason, said := e.prompt(t, e.begin(t), topic)
		require.Equal(t, acp.StopReasonEndTurn, reason)
		require.Contains(t, said, ": completed, ")
		require.Equal(t, []string{
			"approve: Continue (allow_once)", "edit: Continue with a remark (reject_once)", "stop: Stop here (reject_once)",
		}, e.options()[0])
		require.Contains(t, *e.asked[0].ToolCall.Title, "round 1")
		statuses := map[acp.ToolCallId]acp.ToolCallStatus{}
		for _, u := range e.seen {
			if u.ToolCall != nil {
				statuses[u.ToolCall.ToolCallId] = u.ToolCall.Status
			}
			if u.ToolCallUpdate != nil {
				require.Contains(t, statuses, u.ToolCallUpdate.ToolCallId)
				statuses[u.ToolCallUpdate.ToolCallId] = *u.ToolCallUpdate.Status
			}
		}
		require.Len(t, statuses, len(e.asked))
		for _, status := range statuses {
			require.Equal(t, acp.ToolCallStatusCompleted, status)
		}
	})
}

func TestAQuestionIsAnsweredWithStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := connect(t, store.Memory(), gated())
		e.choose = func(acp.RequestPermissionRequest) string { return "stop" }
		_, said := e.prompt(t, e.begin(t), topic)
		require.Contains(t, said, ": completed, stopped in round 1")
	})
}

// A remark needs a text, so it is the next message.
func TestARemarkIsTheNextMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := connect(t, store.Memory(), gated())
		id := e.begin(t)
		choices := []string{"edit", "edit", "approve", "approve", "approve"}
		e.choose = func(acp.RequestPermissionRequest) string {
			chosen := choices[0]
			choices = choices[1:]
			return chosen
		}
		reason, said := e.prompt(t, id, topic)
		require.Equal(t, acp.StopReasonEndTurn, reason)
		require.Contains(t, said, "waiting")
		_, said = e.prompt(t, id, "Mention trams.")
		require.Equal(t, []string{
			"continue: Continue it (allow_once)", "edit: Continue it, with this message as a remark (reject_once)",
			"new: Begin a debate about this message (reject_once)",
		}, e.options()[0])
		require.Contains(t, said, ": completed, ")
		require.True(t, e.model.read("Mention trams."))
	})
}

// A client that dismisses a question leaves it open, and the next prompt can answer it or begin another debate.
func TestADismissedQuestionStaysOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := connect(t, store.Memory(), gated())
		id := e.begin(t)
		e.choose = func(acp.RequestPermissionRequest) string { return "" }
		_, said := e.prompt(t, id, topic)
		require.Contains(t, said, ": waiting")
		_, said = e.prompt(t, id, "Go on.")
		require.Contains(t, said, ": waiting")
		require.Len(t, e.options(), 1)
		e.choose = nil
		_, said = e.prompt(t, id, "Go on.")
		require.Contains(t, said, ": completed, ")
	})
}

func TestAPersonRepliesWithAPrompt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := debatetest.ShortPanel(1)
		c.Participants[1].Human = true
		e := connect(t, store.Memory(), c)
		id := e.begin(t)
		reason, said := e.prompt(t, id, topic)
		require.Equal(t, acp.StopReasonEndTurn, reason)
		require.Contains(t, said, "asks Bo")
		_, err := e.Prompt(t.Context(), acp.PromptRequest{SessionId: id, Prompt: []acp.ContentBlock{acp.TextBlock(" ")}})
		require.ErrorContains(t, err, "text: it is blank")
		_, said = e.prompt(t, id, "Buses are rare.")
		require.Contains(t, said, "**Bo**, round 1\n\n> Buses are rare.")
		require.Contains(t, said, ": completed, ")
		require.NotContains(t, said, "**Ada**", "the turns before were shown")
	})
}

// cancelAfter sends a prompt, and cancels it when the agent has said something.
func (e *editor) cancelAfter(t *testing.T, id acp.SessionId, text, said string) {
	t.Helper()
	e.heard = func(heard string) {
		if strings.HasPrefix(heard, said) {
			_ = e.Cancel(context.Background(), acp.CancelNotification{SessionId: id})
		}
	}
	reason, all := e.prompt(t, id, text)
	e.mu.Lock()
	e.heard = nil
	e.mu.Unlock()
	require.Equal(t, acp.StopReasonCancelled, reason)
	require.Contains(t, all, "The debate is paused.")
	require.NotContains(t, all, ": completed")
}

func TestCancelPausesADebate(t *testing.T) {
	for name, tt := range map[string]struct {
		choose       string
		want, unlike string
	}{
		"continue":  {"continue", "**Judge**, round 2", "**Ada**, round 1"},
		"another":   {"new", "**Ada**, round 1", "paused"},
		"neither":   {"", ": paused", "**"},
		"by itself": {"continue", ": completed", "fails"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := connect(t, store.Memory(), debatetest.ShortPanel(2))
				id := e.begin(t)
				e.cancelAfter(t, id, topic, "**Bo**")
				synctest.Wait()
				calls := len(e.model.prompts)
				time.Sleep(time.Hour)
				require.Len(t, e.model.prompts, calls, "a paused debate costs nothing")
				e.choose = func(acp.RequestPermissionRequest) string { return tt.choose }
				_, said := e.prompt(t, id, "Go on.")
				require.Equal(t, "The debate “"+topic+"” is paused.", *e.asked[0].ToolCall.Title)
				require.Contains(t, said, tt.want)
				require.NotContains(t, said, tt.unlike)
			})
		})
	}
}

// A session that is closed during a prompt pauses its debate.
func TestAClosedSessionPausesItsDebate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := connect(t, store.Memory(), debatetest.ShortPanel(2))
		id := e.begin(t)
		e.heard = func(string) {
			go func() { _, _ = e.CloseSession(context.Background(), acp.CloseSessionRequest{SessionId: id}) }()
		}
		reason, _ := e.prompt(t, id, topic)
		require.Equal(t, acp.StopReasonCancelled, reason)
		e.heard = nil
		_, err := e.Prompt(t.Context(), acp.PromptRequest{SessionId: id, Prompt: []acp.ContentBlock{acp.TextBlock("Go on.")}})
		require.ErrorContains(t, err, "there is no session")
	})
}

// The editor ends during a prompt. Another one lists the session, sees what was said, and continues the debate.
func TestASessionIsResumed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := store.Memory()
		first := connect(t, s, debatetest.ShortPanel(2))
		id := first.begin(t)
		first.prompt(t, id, "Ban trucks?")
		first.heard = func(heard string) {
			if strings.HasPrefix(heard, "**Bo**") {
				first.hang()
			}
		}
		_, _ = first.Prompt(t.Context(), acp.PromptRequest{SessionId: id, Prompt: []acp.ContentBlock{acp.TextBlock(topic)}})
		<-first.left

		second := connect(t, s, debatetest.ShortPanel(2))
		second.hello(t)
		for cwd, want := range map[string]int{"/src/project": 1, "/src": 0, "": 1} {
			r := acp.ListSessionsRequest{Cwd: &cwd}
			if cwd == "" {
				r.Cwd = nil
			}
			list, err := second.ListSessions(t.Context(), r)
			require.NoError(t, err)
			require.Len(t, list.Sessions, want, cwd)
			if want > 0 {
				require.Equal(t, id, list.Sessions[0].SessionId)
				require.Equal(t, "Ban trucks?", *list.Sessions[0].Title)
				require.Equal(t, "/src/project", list.Sessions[0].Cwd)
			}
		}
		loaded, err := second.LoadSession(t.Context(),
			acp.LoadSessionRequest{SessionId: id, Cwd: "/src/project", McpServers: []acp.McpServer{}})
		require.NoError(t, err)
		require.Len(t, loaded.Modes.AvailableModes, 2)
		var asked []string
		for _, u := range second.seen {
			if u.UserMessageChunk != nil {
				asked = append(asked, u.UserMessageChunk.Content.Text.Text)
			}
		}
		require.Equal(t, []string{"Ban trucks?", topic}, asked)
		said := second.said()
		require.Contains(t, said, ": completed, ")
		require.Contains(t, said, ": paused, ")
		require.Equal(t, 3, strings.Count(said, "**Ada**"), said)

		_, said = second.prompt(t, id, "Go on.")
		require.Contains(t, said, ": completed, ")
		require.NotContains(t, said, "**Bo**, round 1", "what was said is not said again")

		third := connect(t, s, debatetest.ShortPanel(2))
		third.hello(t)
		_, err = third.ResumeSession(t.Context(), acp.ResumeSessionRequest{SessionId: id, Cwd: "/src/project"})
		require.NoError(t, err)
		require.Empty(t, third.seen)
		third.prompt(t, id, "And bikes?")
		require.True(t, third.model.read("Earlier, the user said: "+topic))
	})
}
