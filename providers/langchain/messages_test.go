package langchain_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tmc/langchaingo/llms"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/langchain"
)

func TestAPromptIsSentInItsCanonicalForm(t *testing.T) {
	say := func(role providers.Role) func(string) providers.Message {
		return func(text string) providers.Message { return providers.Message{Role: role, Text: text} }
	}
	system := say(providers.System)
	user := say(providers.User)
	assistant := say(providers.Assistant)
	type prompt = []providers.Message
	type sent = []llms.MessageContent
	text := llms.TextParts
	for name, test := range map[string]struct {
		prompt prompt
		want   sent
	}{
		"one message": {
			prompt{user("Why?")},
			sent{text(llms.ChatMessageTypeHuman, "Why?")},
		},
		"all system texts are one leading message": {
			prompt{system("Argue."), user("Why?"), system("Be brief.")},
			sent{text(llms.ChatMessageTypeSystem, "Argue.\n\nBe brief."), text(llms.ChatMessageTypeHuman, "Why?")},
		},
		"neighbours of one role are one message": {
			prompt{user("Ada: So."), user("Bo: No."), assistant("Well."), assistant("But."), user("Go on.")},
			sent{
				text(llms.ChatMessageTypeHuman, "Ada: So.\n\nBo: No."), text(llms.ChatMessageTypeAI, "Well.\n\nBut."),
				text(llms.ChatMessageTypeHuman, "Go on."),
			},
		},
		"also across a system message": {
			prompt{user("Ada: So."), system("Argue."), user("Bo: No.")},
			sent{text(llms.ChatMessageTypeSystem, "Argue."), text(llms.ChatMessageTypeHuman, "Ada: So.\n\nBo: No.")},
		},
		"the user begins": {
			prompt{system("Argue."), assistant("Well."), user("Go on.")},
			sent{
				text(llms.ChatMessageTypeSystem, "Argue."), text(llms.ChatMessageTypeHuman, "(The debate begins.)"),
				text(llms.ChatMessageTypeAI, "Well."), text(llms.ChatMessageTypeHuman, "Go on."),
			},
		},
		"messages without text are left out": {
			prompt{system(""), user("Why?"), assistant(" \n"), user("Go on.")},
			sent{text(llms.ChatMessageTypeHuman, "Why?\n\nGo on.")},
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := langchain.New(fake{func(_ context.Context, m []llms.MessageContent, _ llms.CallOptions) (*llms.ContentResponse, error) {
				require.Equal(t, test.want, m)
				return &llms.ContentResponse{Choices: []*llms.ContentChoice{stops("So.")}}, nil
			}})
			_, err := p.Generate(t.Context(), providers.Request{Messages: test.prompt})
			require.NoError(t, err)
		})
	}
}

func TestAPromptThatNoModelTakesIsRefused(t *testing.T) {
	for name, test := range map[string]struct {
		prompt []providers.Message
		want   string
	}{
		"nothing":         {nil, "invalid_request: build prompt: no user or assistant message has text"},
		"no text":         {[]providers.Message{{Role: providers.User, Text: "\n"}}, "invalid_request: build prompt: no user or assistant message has text"},
		"only a system":   {[]providers.Message{{Role: providers.System, Text: "Argue."}}, "invalid_request: build prompt: no user or assistant message has text"},
		"an unknown role": {[]providers.Message{{Role: providers.User, Text: "Why?"}, {Role: "tool", Text: "7"}}, `invalid_request: build prompt: message 2 has the unknown role "tool", want system, user or assistant`},
	} {
		t.Run(name, func(t *testing.T) {
			res, err := langchain.New(nil).Generate(t.Context(), providers.Request{Messages: test.prompt})
			require.EqualError(t, err, test.want)
			require.Zero(t, res)
		})
	}
}
