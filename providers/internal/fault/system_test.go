package fault

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRefusalsOfTheSystemRole(t *testing.T) {
	for words, want := range map[string]bool{
		"System role not supported": true,
		`{"error": {"message": "Unsupported value: 'messages[0].role' does not support 'system' with this model."}}`: true,
		`Error rendering prompt with jinja template: "Only user and assistant roles are supported!"`:                 true,
		"Conversation roles must alternate user/assistant/user/assistant/...":                                        true,
		"After the optional system message, conversation roles must alternate":                                       true,
		"System messages are not supported by this model":                                                            true,
		"this model doesn't accept system prompts":                                                                   true,
		"Unknown role: system":                                                                  true,
		"invalid message role 'system' at index 0":                                              true,
		"Unexpected role \"system\"":                                                            true,
		"Developer instruction is not enabled for models/gemma-3-27b-it":                        true,
		"system_instruction is not enabled for this model":                                      true,
		"The first message must have the role user":                                             true,
		"Conversations have to start with a user message":                                       false, // it may be about another order
		"A conversation must start with a user message":                                         true,
		"messages.0.role: Input should be 'user' or 'assistant'":                                true,
		"role must be one of ['user', 'assistant']":                                             true,
		"The template has no system role":                                                       true,
		"该模型不支持 system 角色":                                                                      true,
		"role 'system' is not allowed here":                                                     true,
		"role: system cannot be handled":                                                        true,
		"system role can not be supported":                                                      true,
		"role must be one of ['system', 'user', 'assistant']":                                   false,
		"messages.3.role: Input should be 'user', 'assistant' or 'system'":                      false,
		"The operating system is not supported":                                                 false,
		"The system is not available now":                                                       false,
		"Unsupported parameter: 'system_fingerprint'":                                           false,
		"not supported by this system":                                                          false,
		"'temperature' does not support 0.5 with this model. Only the default (1) is supported": false,
		"the system prompt is too long":                                                         false,
		"Internal system error":                                                                 false,
		"unexpected field 'system'":                                                             true,
		"":                                                                                      false,
	} {
		require.Equal(t, want, RefusesSystem(words), words)
	}
}
