package prompting_test

import (
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/elenchus-go/debate/journal"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/internal/step/prompting"
	"github.com/elenchus-go/debate/protocol"
)

// all yields a participant, a person, a judge and the embedder.
func all(yield func(string, journal.Participant) bool) {
	_ = yield("participants[0]", journal.Participant{Name: "Ann", Window: 1000}) &&
		yield("participants[1]", journal.Participant{Name: "Bob", Human: true, Window: 10}) &&
		yield("judges[0]", journal.Participant{Name: "Jo", Window: 500}) &&
		yield("embedder", journal.Participant{Window: 10})
}

func isSeat(name string) bool { return slices.Contains([]string{"Ann", "Bob", "Jo"}, name) }

var long = strings.Repeat("word ", 900)

func TestTheRoomOfAReply(t *testing.T) {
	require.Equal(t, 50, prompting.ReplyRoom(100, false))
	require.Equal(t, 8976, prompting.ReplyRoom(10_000, false))
	require.Equal(t, 7952, prompting.ReplyRoom(10_000, true))
}

func TestTextsThatFillAWindow(t *testing.T) {
	small := prompting.Texts{
		Topic: "t", Background: "b",
		Documents: []evidence.Document{{Name: "a", Tokens: 400, Readers: []string{evidence.Everybody}}},
	}
	require.Empty(t, small.CheckDocuments(all, isSeat))

	documents := prompting.Texts{Documents: []evidence.Document{
		{Name: "a", Tokens: 600, Readers: []string{evidence.Everybody}},
		{Name: "b", Tokens: 2000, Readers: []string{"Ann"}},
	}}
	found := documents.CheckDocuments(all, isSeat)
	require.Len(t, found, 2)
	require.Equal(t, "documents[0]", found[0].Field)
	require.Contains(t, found[0].Reason, "a has about 600 tokens, which leaves no room in the window of Jo, 500")
	require.Contains(t, found[1].Reason, "in the window of Ann, 1000")

	topic, background := prompting.Texts{Topic: long}, prompting.Texts{Topic: "t", Background: long}
	text, tokens := topic.Longest()
	require.Equal(t, "topic", text)
	summarizer := &journal.Participant{Window: 100}
	require.True(t, prompting.Fills(tokens, "summarizer", summarizer))
	require.False(t, prompting.Fills(tokens, "embedder", summarizer), "it is cut")
	require.False(t, prompting.Fills(tokens, "judges[0]", &journal.Participant{}), "its window is not known yet")
	require.Contains(t, prompting.TooLong(text, tokens, "summarizer", summarizer).Reason,
		"tokens are too long for the window of summarizer, 100")
	text, _ = background.Longest()
	require.Equal(t, "background", text)
}

func TestWhatTakesTheRoom(t *testing.T) {
	list := []evidence.Document{{Name: "a", Tokens: 10}, {Name: "b", Tokens: 600}, {Name: "c", Tokens: 30}}
	s := &journal.Participant{Name: "Jo", Window: 1000}
	for _, x := range []struct {
		texts  prompting.Texts
		field  string
		prompt prompting.FirstPrompt
		want   string
		reason string
		shared bool
	}{
		{prompting.Texts{Topic: long}, "participants[0]", prompting.FirstPrompt{}, "topic", "too long for the window of Jo, 1000", true},
		{prompting.Texts{Background: long}, "participants[0]", prompting.FirstPrompt{}, "background", "too long", true},
		{prompting.Texts{Reference: long}, "judges[0]", prompting.FirstPrompt{}, "reference", "too long", true},
		{prompting.Texts{Reference: long}, "substitutes[0]", prompting.FirstPrompt{}, "reference", "too long", true},
		{
			prompting.Texts{Reference: long},
			"participants[0]",
			prompting.FirstPrompt{Attachments: 600},
			"attachments",
			"about 600 tokens are too many", false,
		},
		{
			prompting.Texts{Documents: list},
			"judges[0]",
			prompting.FirstPrompt{Read: list[1:], Documents: 640},
			"documents[1]",
			"b has about 640 tokens", false,
		},
		{
			prompting.Texts{Documents: list},
			"judges[0]",
			prompting.FirstPrompt{Tokens: 800, Read: list[:1], Documents: 10},
			"judges[0].window", "1000 is too small: the prompt takes about 800 tokens", false,
		},
	} {
		problem, shared := x.texts.TooSmall(x.field, s, x.prompt)
		require.Equal(t, x.want, problem.Field)
		require.Contains(t, problem.Reason, x.reason)
		require.Equal(t, x.shared, shared)
	}
}

func TestWindowsAreComparedWithPrompts(t *testing.T) {
	seat := func(s journal.Participant) iter.Seq2[string, journal.Participant] {
		return func(yield func(string, journal.Participant) bool) { _ = yield("judges[0]", s) && yield("judges[1]", s) }
	}
	tools := prompting.ToolRoom{Room: func(left int) int { return left / 4 }, Least: 256}
	tooSmall := func(string, *journal.Participant, int) (protocol.Problem, bool) {
		return protocol.Problemf("topic", "it is too long"), true
	}
	for name, x := range map[string]struct {
		s     journal.Participant
		size  int
		found string
		limit int
	}{
		"enough":          {journal.Participant{Name: "Jo", Window: 8000, MaxTokens: 1000}, 500, "", 0},
		"no prompt":       {journal.Participant{Name: "Jo", Window: 100, MaxTokens: 1000}, 0, "", 0},
		"a shorter reply": {journal.Participant{Name: "Jo", Window: 2000, MaxTokens: 1000}, 1000, "", 500},
		"no room":         {journal.Participant{Name: "Jo", Window: 2000, MaxTokens: 1000}, 1900, "topic", 0},
		"no room for tools": {
			journal.Participant{Name: "Jo", Window: 2000, MaxTokens: 300, Tools: []string{"look"}},
			1000,
			"judges[0].window", 0,
		},
		"reasoning needs it": {journal.Participant{Name: "Jo", Window: 4000, MaxTokens: 3000, Reasoning: "2048"}, 1000, "topic", 0},
	} {
		list, limits := prompting.CheckRoom(seat(x.s), map[string]int{"Jo": x.size}, tools, tooSmall)
		require.Equal(t, x.limit, limits["judges[0]"], name)
		if x.found == "" {
			require.Empty(t, list, name)
			continue
		}
		require.Equal(t, x.found, list[0].Field, name)
		require.Equal(t, x.found != "topic", len(list) == 2, "%s: a shared problem is told once", name)
	}
}
