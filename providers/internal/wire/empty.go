package wire

import (
	"errors"
	"fmt"

	"github.com/elenchus-go/debate/providers"
)

// emptyError returns why a reply has no text. thought reports whether the model reasoned, called whether it called a
// tool, and limit is the token limit of the request.
func emptyError(reason providers.FinishReason, thought, called bool, limit int) *providers.Error {
	switch {
	case reason == providers.ContentFilter:
		return replyError(providers.ContentFiltered, "the service filtered the reply")
	case reason == providers.WindowFull:
		return replyError(providers.ContextOverflow, "the context window was full before the reply began")
	case reason == providers.Length && thought:
		return replyError(providers.InvalidResponse, "reasoning used up the "+tokenLimit(limit)+" before the reply began")
	case reason == providers.Length:
		return replyError(providers.InvalidResponse, "no text arrived before the "+tokenLimit(limit)+" was used up")
	case called:
		return replyError(providers.InvalidResponse, "the model called a tool instead of replying")
	case thought:
		return replyError(providers.InvalidResponse, "the model reasoned, but wrote no reply")
	}
	return replyError(providers.InvalidResponse, "the reply is empty")
}

// tokenLimit describes the token limit of a request.
func tokenLimit(limit int) string {
	if limit == 0 {
		return "service's token limit"
	}
	return fmt.Sprintf("token limit of %d", limit)
}

func replyError(kind providers.ErrorKind, cause string) *providers.Error {
	return &providers.Error{Kind: kind, Err: errors.New("read reply: " + cause)}
}

// endedEarly reports whether a reply that ended at its length has fewer tokens than its limit. Services count tokens in
// different ways, so a few are no difference.
func endedEarly(tokens, limit int) bool {
	return tokens > 0 && limit > 0 && tokens < limit-8-limit/20
}
