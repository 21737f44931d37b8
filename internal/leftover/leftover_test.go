package leftover_test

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/leftover"
)

// parts is what a filter makes of a text.
type parts struct{ reply, thought, calls, cut string }

// taken returns what a filter makes of a text in pieces of a size.
func taken(t testing.TB, text string, size int) (p parts, removed []string) {
	t.Helper()
	var f leftover.Filter
	emit := func(part leftover.Part) error {
		switch part.Kind {
		case leftover.Reply:
			p.reply += part.Text
		case leftover.Thought:
			p.thought += part.Text
		case leftover.Calling:
			for _, c := range part.Calls {
				p.calls += fmt.Sprintf("%s(%s)", c.Name, c.Arguments)
			}
		case leftover.Earlier:
			p.thought += p.reply
			p.reply = ""
		}
		return nil
	}
	for rest := text; rest != ""; {
		n := min(size, len(rest))
		require.NoError(t, f.Add(rest[:n], emit))
		rest = rest[n:]
	}
	held := f.Held()
	before := p
	require.NoError(t, f.End(emit))
	require.True(t, held || before == p)
	p.cut = f.Cut()
	p.reply = strings.TrimSpace(p.reply)
	p.thought = strings.TrimSpace(p.thought)
	return p, f.Removed()
}

// requireParts requires the parts of texts, whatever their pieces are.
func requireParts(t *testing.T, tests map[string]struct {
	text string
	want parts
},
) {
	t.Helper()
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			for size := 1; size <= len(test.text); size++ {
				p, removed := taken(t, test.text, size)
				require.Equal(t, test.want, p, "in pieces of %d bytes", size)
				require.NotEmpty(t, removed)
			}
			require.True(t, strings.Contains(test.want.reply, "<think>") || !leftover.IsSuspect(test.want.reply))
		})
	}
}

func TestChannels(t *testing.T) {
	both := parts{reply: "Edge caches cut the tail.", thought: "We should argue."}
	requireParts(t, map[string]struct {
		text string
		want parts
	}{
		"reasoning and a reply":    {"<|channel|>analysis<|message|>We should argue.<|end|><|start|>assistant<|channel|>final<|message|>Edge caches cut the tail.", both},
		"with an end":              {"<|channel|>analysis<|message|>We should argue.<|end|><|start|>assistant<|channel|>final<|message|>Edge caches cut the tail.<|return|>", both},
		"with all marks":           {"<|start|>assistant<|channel|>analysis<|message|>We should argue.<|end|>\n<|start|>assistant<|channel|>final<|message|>\nEdge caches cut the tail.<|end|>", both},
		"only a reply":             {"<|channel|>final<|message|>Edge caches cut the tail.", parts{reply: both.reply}},
		"only reasoning":           {"<|channel|>analysis<|message|>We should argue.", parts{thought: both.thought}},
		"without the start":        {"We should argue.<|end|><|start|>assistant<|channel|>final<|message|>Edge caches cut the tail.", both},
		"a channel without end":    {"<|channel|>analysis<|message|>We should argue.<|channel|>final<|message|>Edge caches cut the tail.", both},
		"no mark after the header": {"<|channel|>analysis We should argue.<|end|><|start|>assistant<|channel|>final Edge caches cut the tail.", both},
		"a note before the reply":  {"<|channel|>commentary<|message|>We should argue.<|end|><|start|>assistant<|channel|>final<|message|>Edge caches cut the tail.", both},
		"no channel":               {"<|start|>assistant<|message|>Edge caches cut the tail.<|return|>", parts{reply: both.reply}},
		"another one speaks": {
			"<|channel|>final<|message|>Edge caches cut the tail.<|end|><|start|>user<|message|>Why?<|end|><|start|>assistant<|channel|>final<|message|>Because.",
			parts{reply: both.reply, cut: "Why?Because."},
		},
		"a format":            {`<|channel|>final <|constrain|>json<|message|>{"winner": "Ada"}`, parts{reply: `{"winner": "Ada"}`}},
		"a second reply":      {"<|channel|>final<|message|>Edge caches cut the tail.<|end|><|start|>assistant<|channel|>final<|message|>Again.", parts{reply: both.reply, cut: "Again."}},
		"a call":              {`<|channel|>analysis<|message|>We should argue.<|end|><|start|>assistant<|channel|>commentary to=functions.search <|constrain|>json<|message|>{"query": "edge"}<|call|>`, parts{thought: both.thought, calls: `search({"query": "edge"})`}},
		"a call by its start": {`<|start|>assistant to=functions.search<|channel|>commentary json<|message|>{"query": "edge"}<|call|>`, parts{calls: `search({"query": "edge"})`}},
		"words":               {"analysisWe should argue.assistantfinalEdge caches cut the tail.", both},
		"words and no reply":  {"analysisWe should argue.", parts{thought: both.thought}},
		"words of a reply":    {"assistantfinalEdge caches cut the tail.", parts{reply: both.reply}},
		"words twice":         {"analysisWe should assistantanalysisargue.assistantfinalEdge caches cut the tail.", both},
		"words of a call":     {`analysisWe should argue.assistantcommentary to=functions.search json{"query": "edge"}`, parts{thought: both.thought, calls: `search({"query": "edge"})`}},
		"a call first":        {`commentary to=functions.search json{"query": "edge"}`, parts{calls: `search({"query": "edge"})`}},
		"words and JSON":      {`analysisWe should argue.assistantfinal{"winner": "Ada"}`, parts{reply: `{"winner": "Ada"}`, thought: both.thought}},
		"Gemma":               {"<|channel>thought\nWe should argue.<channel|>Edge caches cut the tail.<turn|>", both},
		"Gemma's end":         {"We should argue.<channel|>Edge caches cut the tail.", both},
		"Magistral":           {"[THINK]We should argue.[/THINK]Edge caches cut the tail.</s>", both},
		"Command":             {"<|START_THINKING|>We should argue.<|END_THINKING|><|START_RESPONSE|>Edge caches cut the tail.<|END_RESPONSE|>", both},
		"Seed":                {"<seed:think>We should argue.</seed:think>Edge caches cut the tail.<seed:eos>", both},
	})
}

func TestMarksBetweenMessages(t *testing.T) {
	edge := parts{reply: "Edge caches cut the tail."}
	requireParts(t, map[string]struct {
		text string
		want parts
	}{
		"an end":                    {"Edge caches cut the tail.<|im_end|>", edge},
		"an end after a space":      {"Edge caches cut the tail. </s>", edge},
		"an end on its own line":    {"Edge caches cut the tail.\n<end_of_turn>\n", edge},
		"several ends":              {"Edge caches cut the tail.<end_of_turn><eos>", edge},
		"many ends":                 {"Edge caches cut the tail." + strings.Repeat("<end_of_turn>", 30), edge},
		"an instruction":            {"Edge caches cut the tail. [/INST]", edge},
		"a beginning at the end":    {"Edge caches cut the tail.<start_of_turn>", edge},
		"a name at the end":         {"Edge caches cut the tail.<|im_end|>\n<|im_start|>user", edge},
		"another message":           {"Edge caches cut the tail.<|im_end|>\n<|im_start|>user\nWhy?<|im_end|>\n<|im_start|>assistant\nBecause.", parts{reply: edge.reply, cut: "Why?\nBecause."}},
		"another instruction":       {"Edge caches cut the tail. [INST] Why? [/INST] Because.", parts{reply: edge.reply, cut: "Why?  Because."}},
		"another message of Llama":  {"Edge caches cut the tail.<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nWhy?", parts{reply: edge.reply, cut: "Why?"}},
		"another message of Phi":    {"Edge caches cut the tail.<|end|><|user|>\nWhy?<|end|><|assistant|>", parts{reply: edge.reply, cut: "Why?"}},
		"another message of Gemma":  {"Edge caches cut the tail.\n<start_of_turn>user\nWhy?<end_of_turn>", parts{reply: edge.reply, cut: "Why?"}},
		"text after the end":        {"Edge caches cut the tail.<|endoftext|>The history of Rome begins", parts{reply: edge.reply, cut: "The history of Rome begins"}},
		"a header of Llama":         {"<|start_header_id|>assistant<|end_header_id|>\n\nEdge caches cut the tail.", edge},
		"a header of ChatML":        {"<|im_start|>assistant\nEdge caches cut the tail.<|im_end|>", edge},
		"a header of Gemma":         {"<start_of_turn>model\nEdge caches cut the tail.", edge},
		"an author":                 {"<|assistant|>\nEdge caches cut the tail.", edge},
		"an instruction first":      {"[/INST] Edge caches cut the tail.", edge},
		"the beginning of the text": {"<s> Edge caches cut the tail.</s>", edge},
		"several beginnings":        {"<|begin_of_text|><|start_header_id|>assistant<|end_header_id|>\n\nEdge caches cut the tail.<|eot_id|>", edge},
		"the prompt and the reply":  {"<|im_start|>user\nWhy?<|im_end|>\n<|im_start|>assistant\nEdge caches cut the tail.<|im_end|>", parts{reply: edge.reply, cut: "Why?"}},
		"DeepSeek":                  {"Edge caches cut the tail.<｜end▁of▁sentence｜>", edge},
		"DeepSeek, another message": {"Edge caches cut the tail.<｜User｜>Why?", parts{reply: edge.reply, cut: "Why?"}},
		"Granite":                   {"<|start_of_role|>assistant<|end_of_role|>Edge caches cut the tail.<|end_of_text|>", edge},
		"EXAONE":                    {"[|assistant|]Edge caches cut the tail.[|endofturn|]", edge},
		"Kimi":                      {"<|im_assistant|>assistant<|im_middle|>Edge caches cut the tail.<|im_end|>", edge},
		"Command":                   {"<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>Edge caches cut the tail.<|END_OF_TURN_TOKEN|>", edge},
		"after reasoning":           {"<think>Hm.</think>\n\n<|im_start|>assistant\nEdge caches cut the tail.<|im_end|>", parts{reply: "<think>Hm.</think>Edge caches cut the tail."}},
		"JSON":                      {`{"winner": "Ada"}<|im_end|>`, parts{reply: `{"winner": "Ada"}`}},
		"after code":                {"So:\n```go\nx()\n```\n<|im_end|>", parts{reply: "So:\n```go\nx()\n```"}},
		"nothing else":              {"<|im_end|>", parts{}},
		"a mark that is cut":        {"Edge caches cut the tail.<|im_e", edge},
	})
}

func TestNamesOfTheModel(t *testing.T) {
	edge := parts{reply: "Edge caches cut the tail."}
	requireParts(t, map[string]struct {
		text string
		want parts
	}{
		"a label":             {"assistant: Edge caches cut the tail.", edge},
		"a capital letter":    {"Assistant: Edge caches cut the tail.", edge},
		"capital letters":     {"ASSISTANT:Edge caches cut the tail.", edge},
		"bold":                {"**Assistant:** Edge caches cut the tail.", edge},
		"bold before a colon": {"**assistant**: Edge caches cut the tail.", edge},
		"before bold text":    {"assistant: **Edge** caches cut the tail.", parts{reply: "**Edge** caches cut the tail."}},
		"on its own line":     {"assistant:\nEdge caches cut the tail.", edge},
		"after an empty line": {"\n\nassistant: Edge caches cut the tail.", edge},
		"Llama's header":      {"assistant\n\nEdge caches cut the tail.", edge},
		"Gemma's header":      {"model\nEdge caches cut the tail.", edge},
		"Llama's next header": {"Edge caches cut the tail.assistant\n\nIs there anything else?", parts{reply: edge.reply, cut: "Is there anything else?"}},
		"Llama's last header": {"Edge caches cut the tail.assistant", edge},
		"twice":               {"<|im_start|>assistant\nassistant: Edge caches cut the tail.", edge},
		"after reasoning":     {"<think>Hm.</think>assistant: Edge caches cut the tail.", parts{reply: "<think>Hm.</think>Edge caches cut the tail."}},
		"JSON":                {`assistant: {"winner": "Ada"}`, parts{reply: `{"winner": "Ada"}`}},
	})
}

func TestCallsOfTools(t *testing.T) {
	call := parts{calls: `search({"query": "edge"})`}
	requireParts(t, map[string]struct {
		text string
		want parts
	}{
		"Hermes":             {`<tool_call>{"name": "search", "arguments": {"query": "edge"}}</tool_call>`, call},
		"on lines":           {"<tool_call>\n{\"name\": \"search\", \"arguments\": {\"query\": \"edge\"}}\n</tool_call>", call},
		"no end":             {`<tool_call>{"name": "search", "arguments": {"query": "edge"}}`, call},
		"after text":         {`Let me look. <tool_call>{"name": "search", "arguments": {"query": "edge"}}</tool_call>`, parts{reply: "Let me look.", calls: call.calls}},
		"after reasoning":    {`<think>Use <tool_call>?</think><tool_call>{"name": "search", "arguments": {"query": "edge"}}</tool_call>`, parts{reply: "<think>Use <tool_call>?</think>", calls: call.calls}},
		"two":                {`<tool_call>{"name": "search", "arguments": {"query": "edge"}}</tool_call>` + "\n" + `<tool_call>{"name": "fetch", "arguments": {}}</tool_call>`, parts{calls: call.calls + "fetch({})"}},
		"two in one block":   {`<tool_call>{"name": "search", "arguments": {"query": "edge"}}` + "\n" + `{"name": "fetch", "arguments": {}}</tool_call>`, parts{calls: call.calls + "fetch({})"}},
		"an invented result": {`<tool_call>{"name": "search", "arguments": {"query": "edge"}}</tool_call><tool_response>3 results</tool_response>`, parts{calls: call.calls, cut: "3 results</tool_response>"}},
		"arguments as text":  {`<tool_call>{"name": "search", "arguments": "{\"query\": \"edge\"}"}</tool_call>`, call},
		"parameters":         {`<|python_tag|>{"name": "search", "parameters": {"query": "edge"}}<|eom_id|>`, call},
		"a function":         {`<tool_call>{"function": {"name": "search", "arguments": {"query": "edge"}}}</tool_call>`, call},
		"Mistral's list":     {`[TOOL_CALLS] [{"name": "search", "arguments": {"query": "edge"}}]`, call},
		"Mistral's name":     {`[TOOL_CALLS]search[ARGS]{"query": "edge"}`, call},
		"Granite":            {`<|tool_call|>[{"name": "search", "arguments": {"query": "edge"}}]`, call},
		"Qwen's tags":        {"<tool_call>\n<function=search>\n<parameter=query>\nedge\n</parameter>\n</function>\n</tool_call>", parts{calls: `search({"query":"edge"})`}},
		"tags alone":         {"<function=search><parameter=query>edge</parameter></function>", parts{calls: `search({"query":"edge"})`}},
		"Llama's tags":       {`<function=search>{"query": "edge"}</function>`, call},
		"GLM":                {"<tool_call>search\n<arg_key>query</arg_key>\n<arg_value>edge</arg_value>\n</tool_call>", parts{calls: `search({"query":"edge"})`}},
		"MiniMax":            {"<minimax:tool_call>\n<invoke name=\"search\">\n<parameter name=\"query\">edge</parameter>\n</invoke>\n</minimax:tool_call>", parts{calls: `search({"query":"edge"})`}},
		"XML":                {"<function_calls>\n<invoke name=\"search\">\n<parameter name=\"query\">edge</parameter>\n</invoke>\n</function_calls>", parts{calls: `search({"query":"edge"})`}},
		"XML without a list": {"<invoke name=\"search\"><parameter name=\"query\">edge</parameter></invoke>", parts{calls: `search({"query":"edge"})`}},
		"DeepSeek's XML":     {"<｜DSML｜function_calls>\n<｜DSML｜invoke name=\"search\">\n<｜DSML｜parameter name=\"query\" string=\"true\">edge</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>", parts{calls: `search({"query":"edge"})`}},
		"DeepSeek":           {"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>search\n```json\n{\"query\": \"edge\"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>", call},
		"Kimi":               {`<|tool_calls_section_begin|><|tool_call_begin|>functions.search:0<|tool_call_argument_begin|>{"query": "edge"}<|tool_call_end|><|tool_calls_section_end|>`, call},
		"Gemma":              {`<|tool_call>call:search{"query": "edge"}<tool_call|>`, call},
		"Command":            {`<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "search", "parameters": {"query": "edge"}}]<|END_ACTION|>`, call},
		"and an end":         {`<tool_call>{"name": "search", "arguments": {"query": "edge"}}</tool_call><|im_end|>`, call},
	})
}

// Marks that a text mentions, and what only looks like one, stay.
func TestWhatIsNoLeftover(t *testing.T) {
	for name, text := range map[string]string{
		"in code":                    "A template writes `<|im_start|>user` and `<|im_end|>`.",
		"in a block of code":         "So:\n```\n<|im_start|>user\nWhy?<|im_end|>\n```\nThat is all.",
		"in a block of tildes":       "~~~\n<tool_call>{\"name\": \"search\", \"arguments\": {}}</tool_call>\n~~~",
		"within a line":              "A model stops at <|im_end|> because it has learned to.",
		"in quotation marks":         `The token "<|im_end|>" ends a message.`,
		"in brackets":                "It writes the mark (<|eot_id|>) after each message.",
		"before a comma":             "With <|im_end|>, a message ends.",
		"the beginning of a mark":    "Is a < b, or <|a|>? See [INS] and <tool.",
		"HTML":                       "The old price is <s>10</s> and the new one 5.",
		"HTML at the end":            "The old price is <s>10</s>",
		"a mention of a call":        "The tag <tool_call> begins a call, and </tool_call> ends it.",
		"a call that is none":        `The block <tool_call>{"a": 1}</tool_call> has no name.`,
		"a name":                     "Assistants: do we need them?",
		"a sentence with the word":   "Assistant professors earn less. An assistant: what is that?",
		"analysis":                   "analysis of the costs shows it.",
		"Analysis":                   "Analysis: the costs are high.",
		"final":                      "final costs are higher.",
		"model":                      "model costs are higher.",
		"a heading":                  "**Final assessment**\n\nThe edge wins.",
		"a list":                     "[1] The edge wins.\n[2] It costs.",
		"JSON":                       `[{"winner": "Ada"}, {"winner": "Bo"}]`,
		"a generic type":             "In Go, List<T> is List[T], and a<b>c is a comparison.",
		"the word after a sentence":  "It helps. assistant systems do. \"assistant\" is a word.",
		"reasoning":                  "<think>Write <|im_end|> and [INST] here.</think>So it is.",
		"reasoning without an end":   "<think>Write <|im_end|> here.",
		"an instruction in a line":   "Mistral puts the prompt between [INST] and [/INST] tags.",
		"a role in a line":           "The mark <|user|> stands before a question.",
		"a token of another kind":    "What is <|mystery|> for?",
		"an empty text":              "",
		"white space":                " \n ",
		"backquotes that do not end": "The ` is a mark.\nThat is all.",
		"thinking as a word":         "I was [THINKING] about it.",
		"a citation":                 "The edge wins [3], and <quote source=\"3\">it is fast</quote>.",
	} {
		t.Run(name, func(t *testing.T) {
			for size := 1; size <= len(text); size++ {
				p, removed := taken(t, text, size)
				require.Equal(t, parts{reply: strings.TrimSpace(text)}, p, "in pieces of %d bytes", size)
				require.Empty(t, removed)
			}
		})
	}
}

func TestTextsWithSpecialTokens(t *testing.T) {
	for text, want := range map[string]bool{
		"What is <|mystery|> for?":                 true,
		"The edge wins.<|im_foo|> And so on.":      true,
		"It ends. <｜fim▁hole｜>":                    true,
		"See <unused42> there.":                    true,
		"It is <pad><pad>":                         true,
		"A [PAD] here":                             true,
		"A model stops at <|im_end|> because.":     true,
		"It said <tool_response> first.":           true,
		"It ends <end_of_utterance> there.":        true,
		"Bytes such as <0x0A> remain.":             true,
		"[|system|] says so.":                      true,
		"<<SYS>> be kind <</SYS>>":                 true,
		"A template writes `<|im_start|>` there.":  false,
		"```\n<|im_start|>\n```":                   false,
		"The old price is <s>10</s>.":              false,
		"If a < b | c > d, then |x| <= 3.":         false,
		"In F#, x |> f <| g.":                      false,
		"<b>Bold</b> and <i>italic</i>.":           false,
		"[1] and [note] and [a|b]":                 false,
		"<quote source=\"3\">it is fast</quote>":   false,
		"Vec<u8> and Map<String, List<T>> and <T>": false,
		"So it is.": false,
		"":          false,
	} {
		require.Equal(t, want, leftover.IsSuspect(text), text)
	}
}

// texts returns texts of marks, parts of marks, words, white space and characters of several bytes, some of them longer than a header.
func texts(n int) iter.Seq[string] {
	words := strings.Fields("<|start|> <|channel|> <|message|> <|end|> <|im_start|> <|im_end|> <|start_header_id|> <|end_header_id|> [INST] [/INST] <s> " +
		"</s> [TOOL_CALLS] [/THINK] <start_of_turn> <|channel>thought <channel|> <|assistant|> <|user|> <｜User｜> <tool_call> </tool_call> <function= <think> " +
		"</think> assistant analysis final commentary model user functions.x name{} {\"name\":\"x\"} : . 。 “ ” é \xff \xe3 \x00 ( ) ` ** _ a B 7 { } [ < <| | >")
	words = append(words, " ", "\n", "\r\n", "```\n", "commentary to=", "to=functions.x ", "~~~\n")
	random := rand.New(rand.NewPCG(1, 2))
	piece := func() string {
		word := words[random.IntN(len(words))]
		switch random.IntN(10) {
		case 0:
			return word[:1+random.IntN(len(word))]
		case 1:
			return strings.Repeat(word[:1], 190+random.IntN(20))
		}
		return word
	}
	return func(yield func(string) bool) {
		for range n {
			text := ""
			for range 1 + random.IntN(7) {
				text += piece()
			}
			if !yield(text) {
				return
			}
		}
	}
}

func TestPiecesDoNotMatter(t *testing.T) {
	for text := range texts(5000) {
		whole, _ := taken(t, text, len(text))
		for _, size := range []int{1, 2, 7} {
			parts, _ := taken(t, text, size)
			require.Equal(t, whole, parts, "%q in pieces of %d bytes", text, size)
		}
	}
}

// The pieces of a text do not matter, and a text without marks stays.
func FuzzFilter(f *testing.F) {
	for _, text := range []string{
		"<|channel|>analysis<|message|>We.<|end|><|start|>assistant<|channel|>final<|message|>Edge.", "a <|im_end|>\n<|im_start|>user\nWhy?",
		"<tool_call>{\"name\": \"x\", \"arguments\": {}}</tool_call>", "assistant: So.", "analysisWe.assistantfinalEdge.", "<think>a</think>[INST]b[/INST]", "`<s>`</s>",
	} {
		f.Add(text, uint8(3))
	}
	f.Add("\x00<s>", uint8(1))
	f.Add("assistant: <s>So.", uint8(1))
	f.Add("</think>"+strings.Repeat(" ", 250)+"```\n<|end|>", uint8(1))
	f.Add("<|start|>"+strings.Repeat("g", 250)+"<|end|>", uint8(1))
	f.Fuzz(func(t *testing.T, text string, size uint8) {
		whole, _ := taken(t, text, len(text)+1)
		one, _ := taken(t, text, 1)
		some, removed := taken(t, text, max(int(size), 1))
		require.Equal(t, whole, one)
		require.Equal(t, whole, some)
		if len(removed) == 0 {
			require.Equal(t, strings.TrimSpace(text), whole.reply)
		}
	})
}

func BenchmarkFilter(b *testing.B) {
	var f leftover.Filter
	emit := func(leftover.Part) error { return nil }
	_ = f.Add("So it is. ", emit)
	b.ReportAllocs()
	for b.Loop() {
		_ = f.Add(" a token", emit)
	}
}
