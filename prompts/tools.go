package prompts

import (
	_ "embed"
	"strings"
)

//go:embed tools/system.txt
var toolsText string

// Tools returns what the system prompt of an actor with tools says about them, below everything else. nonce is in the
// delimiters around results. It is no template of a set, so that debates without tools have the same [Set.Version].
func Tools(nonce string) string {
	return strings.ReplaceAll(strings.TrimSpace(toolsText), "NONCE", nonce)
}
