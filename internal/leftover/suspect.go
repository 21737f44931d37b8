package leftover

import (
	"regexp"
	"strings"

	"github.com/elenchus-go/debate/internal/reasoning"
)

// special matches what looks like a special token of a model: words between <| and |>, and tags and brackets with the names that
// such tokens have.
var special = regexp.MustCompile(`<\|/?[A-Za-z][\w .:/-]{0,40}\|?>|<[A-Za-z][\w -]{0,40}\|>|<｜[^｜<>\n]{1,40}｜>|` +
	`</?(?:bos|eos|sop|eop|eod|eot|pad|unk|mask|sep|cls|unused_?\d+|extra_id_\d+|reserved_\w+_\d+|0x[0-9A-F]{2})>|` +
	`</?(?:start|end|begin|tool|function|im|turn|seed|minimax)[_:][a-z_]+>|<function=|` +
	`\[/?(?:INST|SYS|TOOL_CALLS|TOOL_RESULTS|AVAILABLE_TOOLS|ARGS|THINK|PAD|UNK|CLS|SEP|MASK|gMASK)\]|<</?SYS>>|\[\|[a-z]{1,20}\|\]`)

// IsSuspect reports whether a text has something that looks like a special token of a model, other than in code.
func IsSuspect(text string) bool {
	if !strings.ContainsAny(text, "<[") {
		return false
	}
	at := special.FindAllStringIndex(text, -1)
	if at == nil {
		return false
	}
	var fences reasoning.Fences
	span := false
	next := 0
	for i := 0; i < len(text) && next < len(at); i++ {
		if i == at[next][0] {
			if !fences.Open() && !span {
				return true
			}
			next++
		}
		fences.Add(text[i])
		span = inSpan(span, text[i])
	}
	return false
}
