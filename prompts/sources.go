package prompts

import (
	_ "embed"
	"strings"
)

//go:embed sources/system.txt
var sourcesText string

// Sources returns what the system prompt of a debate with sources says about them: how to cite and quote them, and what the
// lines below statements mean. nonce is in these lines. It is no template of a set, so that debates without sources have the
// same [Set.Version].
func Sources(nonce string) string {
	return strings.ReplaceAll(strings.TrimSpace(sourcesText), "NONCE", nonce)
}
