package reasoning_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/reasoning"
)

var inlineTests = map[string]struct{ text, reply, thought string }{
	"no reasoning":                  {"I say so.", "I say so.", ""},
	"a block":                       {"<think>A secret plan.</think>\n\nI say so.", "I say so.", "A secret plan."},
	"the other tag":                 {"<thinking>A plan.</thinking> I say so.", "I say so.", "A plan."},
	"capital letters":               {"<THINK>A plan.</Think>I say so.", "I say so.", "A plan."},
	"white space first":             {"\n <think>A plan.</think>\nI say so.", "\n I say so.", "A plan."},
	"in the middle":                 {"I say <think>A plan.</think>so.", "I say so.", "A plan."},
	"two blocks":                    {"<think>One.</think>I <think>Two.</think>say.", "I say.", "One.Two."},
	"two blocks first":              {"<think>One.</think>\n<think>Two.</think>\nI say.", "I say.", "One.Two."},
	"no end":                        {"I say so. <think>And now", "I say so. ", "And now"},
	"nothing but reasoning":         {"<think>And now", "", "And now"},
	"an empty block":                {"<think>\n\n</think>\n\nI say so.", "I say so.", "\n\n"},
	"no beginning":                  {"A secret plan.\n</think>\n\nI say so.", "I say so.", "A secret plan.\n"},
	"no beginning, then a block":    {"One.</think>I <think>Two.</think>say.", "I say.", "One.Two."},
	"a beginning within a block":    {"<think>Write <think> here.</think>I say.", "I say.", "Write <think> here."},
	"two ends":                      {"<think>One.</think>Two.</think>I say.", "I say.", "One.Two."},
	"between backquotes":            {"Models write `<think>` and `</think>`.", "Models write `<think>` and `</think>`.", ""},
	"after a backquote only":        {"`<think>A plan.</think>so`", "`so`", "A plan."},
	"in a fence":                    {"So:\n```\n<think>x</think>\n```\n<think>A plan.</think>Done.", "So:\n```\n<think>x</think>\n```\nDone.", "A plan."},
	"in a fence of tildes":          {"~~~xml\n<think>x\n~~~\nDone.", "~~~xml\n<think>x\n~~~\nDone.", ""},
	"backquotes of another fence":   {"~~~\n```\n<think>x\n~~~\n<think>y", "~~~\n```\n<think>x\n~~~\n", "y"},
	"an indented fence":             {"   ```\n<think>x", "   ```\n<think>x", ""},
	"no fence within a line":        {"a ``` b <think>x</think>c", "a ``` b c", "x"},
	"two backquotes":                {"``\n<think>x</think>c", "``\nc", "x"},
	"a fence within reasoning":      {"<think>\n```\ncode</think>I say <think>x</think>so.", "I say so.", "\n```\ncodex"},
	"a quoted end within reasoning": {"<think>Never write `</think>` there.</think>I say.", "I say.", "Never write `</think>` there."},
	"what looks like a tag":         {"<thin <thinks> < think> </ think> <", "<thin <thinks> < think> </ think> <", ""},
	"a tag that is cut":             {"I say </thin", "I say </thin", ""},
	"a fence after a block":         {"<think>x</think>```\n<think>y\n```", "```\n<think>y\n```", "x"},
}

func TestSplit(t *testing.T) {
	for name, test := range inlineTests {
		t.Run(name, func(t *testing.T) {
			reply, thought := reasoning.Split(test.text)
			require.Equal(t, test.reply, reply)
			require.Equal(t, test.thought, thought)
		})
	}
}

// filtered returns what a filter returns for a text in pieces of the given sizes, in turn.
func filtered(text string, sizes ...int) string {
	var f reasoning.Filter
	var said strings.Builder
	for i := 0; text != ""; i++ {
		n := min(max(sizes[i%len(sizes)], 1), len(text))
		said.WriteString(f.Add(text[:n]))
		text = text[n:]
	}
	if !f.Pending() {
		return said.String() + requireEmpty(f.End())
	}
	return said.String() + f.End()
}

func requireEmpty(text string) string {
	if text != "" {
		panic("nothing was pending, but the filter returned " + text)
	}
	return ""
}

func TestFilter(t *testing.T) {
	for name, test := range inlineTests {
		t.Run(name, func(t *testing.T) {
			for n := 1; n <= len(test.text); n++ {
				if strings.HasPrefix(name, "no beginning") || name == "two ends" {
					require.True(t, strings.HasSuffix(filtered(test.text, n), test.reply))
					continue
				}
				require.Equal(t, test.reply, filtered(test.text, n), "in pieces of %d bytes", n)
			}
		})
	}
}

// FuzzFilter cuts texts anywhere. The pieces do not matter, and no reasoning gets through.
func FuzzFilter(f *testing.F) {
	for _, test := range inlineTests {
		f.Add(test.text, uint8(1), uint8(3))
	}
	f.Fuzz(func(t *testing.T, text string, a, b uint8) {
		reply, thought := reasoning.Split(text)
		require.LessOrEqual(t, len(reply)+len(thought), len(text))
		whole := filtered(text, len(text)+1)
		require.Equal(t, whole, filtered(text, 1))
		require.Equal(t, whole, filtered(text, int(a), int(b)))
		require.True(t, strings.HasSuffix(whole, reply), "the reply is %q, the pieces %q", reply, whole)
		if !strings.Contains(strings.ToLower(text), "</think") {
			require.Equal(t, reply, whole)
		}
	})
}

func BenchmarkFilter(b *testing.B) {
	var f reasoning.Filter
	for b.Loop() {
		_ = f.Add("a token ")
	}
}
