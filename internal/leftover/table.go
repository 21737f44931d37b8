package leftover

import "strings"

// role is what a mark is for.
type role int

const (
	noise     role = iota // nothing, at the beginning of a text or after another mark
	ends                  // ends a message
	turn                  // begins a message; its header has the name of the author
	assistant             // begins a message of the model
	other                 // begins a message of somebody else
	author                // as turn, but further marks follow the name
	channel               // begins a message; its header has the name of a channel
	message               // ends a header
	thinks                // begins reasoning
	thought               // ends reasoning
	calls                 // begins a block with calls of tools
	inlineOn              // begins reasoning that stays in the text: package reasoning removes it
	inlineOff             // ends it
)

// mark is a row of the table of marks.
type mark struct {
	text   string
	role   role
	until  string // what ends the header of a turn, or a block; several for a block are separated by spaces, and none is the end of the text
	source string
}

// marks are what templates put between messages, and models or servers leave in a text.
var marks = []mark{
	// Harmony, the format of gpt-oss.
	{"<|start|>", author, "", "NVIDIA/TensorRT-LLM#9256, vllm-project/vllm#32633"},
	{"<|channel|>", channel, "<|message|>", "NVIDIA/TensorRT-LLM#9256, odysseus-dev/odysseus#4522"},
	{"<|message|>", message, "", "NVIDIA/TensorRT-LLM#9256"},
	{"<|end|>", ends, "", "kekzl/imp#768; the template of Phi-3"},
	{"<|return|>", ends, "", "NousResearch/hermes-agent#62680"},
	{"<|call|>", ends, "", "odysseus-dev/odysseus#4522"},
	// ChatML.
	{"<|im_start|>", turn, "\n", "the template of Qwen2.5"},
	{"<|im_end|>", ends, "", "the template of Qwen2.5; scouzi1966/maclocal-api#121"},
	{"<|endoftext|>", ends, "", "the templates of Qwen2.5 and Phi-3"},
	// Llama 3 and 4.
	{"<|begin_of_text|>", noise, "", "meta-llama/llama3#29"},
	{"<|start_header_id|>", turn, "<|end_header_id|>", "huggingface/chat-ui#1423"},
	{"<|header_start|>", turn, "<|header_end|>", "the template of Llama 4"},
	{"<|eot_id|>", ends, "", "huggingface/chat-ui#1423"},
	{"<|eom_id|>", ends, "", "the template of Llama 3.1"},
	{"<|eot|>", ends, "", "the template of Llama 4"},
	{"<|end_of_text|>", ends, "", "the templates of Llama 3 and Granite"},
	{"<|python_tag|>", calls, "<|eom_id|> <|eot_id|>", "unslothai/unsloth#5620"},
	// Llama 2 and Mistral.
	{"[INST]", other, "", "continuedev/continue#561"},
	{"[/INST]", assistant, "", "continuedev/continue#561"},
	{"<s>", noise, "", "the template of Mistral-7B-Instruct"},
	{"</s>", ends, "", "the template of Mistral-7B-Instruct"},
	{"[TOOL_CALLS]", calls, "</s>", "lmstudio-ai/lmstudio-bug-tracker#797, ml-explore/mlx-lm#1374"},
	{"[THINK]", thinks, "", "the template of Magistral"},
	{"[/THINK]", thought, "", "the template of Magistral"},
	// Gemma.
	{"<bos>", noise, "", "google/gemma.cpp#276"},
	{"<start_of_turn>", turn, "\n", "google/gemma.cpp#276, LostRuins/koboldcpp#990"},
	{"<end_of_turn>", ends, "", "google/gemma.cpp#276, ml-explore/mlx-swift-examples#89"},
	{"<eos>", ends, "", "Vali-98/ChatterUI#128"},
	{"<|channel>thought", thinks, "", "kekzl/imp#768; the template of Gemma 4"},
	{"<channel|>", thought, "", "NousResearch/hermes-agent#62680"},
	{"<|turn>", turn, "\n", "the template of Gemma 4"},
	{"<turn|>", ends, "", "the template of Gemma 4"},
	{"<|tool_call>", calls, "<tool_call|>", "unslothai/unsloth#5620; the template of Gemma 4"},
	// Phi, Zephyr, Falcon and GLM.
	{"<|assistant|>", assistant, "", "foldl/chatllm.cpp#46"},
	{"<|user|>", other, "", "the template of Phi-3"},
	{"<|system|>", other, "", "the template of Phi-3"},
	{"<|observation|>", other, "", "the template of GLM-4"},
	{"<|tool_call|>", calls, "<|/tool_call|>", "the templates of Phi-4-mini and Granite"},
	// DeepSeek.
	{"<｜begin▁of▁sentence｜>", noise, "", "the template of DeepSeek-V3"},
	{"<｜end▁of▁sentence｜>", ends, "", "the template of DeepSeek-V3"},
	{"<｜User｜>", other, "", "the template of DeepSeek-V3"},
	{"<｜Assistant｜>", assistant, "", "the template of DeepSeek-V3"},
	{"<｜tool▁calls▁begin｜>", calls, "<｜tool▁calls▁end｜>", "the template of DeepSeek-V3"},
	{"<｜DSML｜function_calls>", calls, "</｜DSML｜function_calls>", "ochafik/minja#11, vllm-project/vllm#54686"},
	// Kimi, Command, Granite, OpenChat, EXAONE and Seed.
	{"<|im_assistant|>", turn, "<|im_middle|>", "the template of Kimi-K2"},
	{"<|im_user|>", other, "", "the template of Kimi-K2"},
	{"<|tool_calls_section_begin|>", calls, "<|tool_calls_section_end|>", "the template of Kimi-K2"},
	{"<|START_OF_TURN_TOKEN|>", noise, "", "the template of Command R"},
	{"<|END_OF_TURN_TOKEN|>", ends, "", "the template of Command R"},
	{"<|CHATBOT_TOKEN|>", assistant, "", "the template of Command R"},
	{"<|USER_TOKEN|>", other, "", "the template of Command R"},
	{"<|SYSTEM_TOKEN|>", other, "", "the template of Command R"},
	{"<|START_THINKING|>", thinks, "", "the template of Command A"},
	{"<|END_THINKING|>", thought, "", "the template of Command A"},
	{"<|START_RESPONSE|>", noise, "", "the template of Command A"},
	{"<|END_RESPONSE|>", ends, "", "the template of Command A"},
	{"<|START_ACTION|>", calls, "<|END_ACTION|>", "the template of Command A"},
	{"<|start_of_role|>", turn, "<|end_of_role|>", "the template of Granite"},
	{"<|end_of_turn|>", ends, "", "the template of OpenChat"},
	{"[|assistant|]", assistant, "", "the template of EXAONE"},
	{"[|user|]", other, "", "the template of EXAONE"},
	{"[|endofturn|]", ends, "", "the template of EXAONE"},
	{"<seed:think>", thinks, "", "the template of Seed-OSS"},
	{"</seed:think>", thought, "", "the template of Seed-OSS"},
	{"<seed:eos>", ends, "", "the template of Seed-OSS"},
	{"<seed:tool_call>", calls, "</seed:tool_call>", "lmstudio-ai/lmstudio-bug-tracker#797"},
	// Calls of many models.
	{"<tool_call>", calls, "</tool_call>", "odysseus-dev/odysseus#5199, ROCm/ATOM#1427"},
	{"<function_call>", calls, "</function_call>", "the templates of Hermes"},
	{"<function_calls>", calls, "</function_calls>", "Extra-Chill/data-machine#2308"},
	{"<invoke name=", calls, "</invoke>", "vellum-ai/vellum-assistant#42234"},
	{"<function=", calls, "</function>", "ROCm/ATOM#1427"},
	{"<minimax:tool_call>", calls, "</minimax:tool_call>", "the template of MiniMax-M2"},
	{"<tool_response>", other, "", "the template of Qwen2.5"},

	{"<think>", inlineOn, "", "package reasoning"},
	{"<thinking>", inlineOn, "", "package reasoning"},
	{"</think>", inlineOff, "", "package reasoning"},
	{"</thinking>", inlineOff, "", "package reasoning"},
}

// lookup returns the mark with which a text begins, or nil. wait means that more of the text is needed; end that there is no more.
func lookup(text string, end bool) (m *mark, wait bool) {
	for i := range marks {
		known := marks[i].text
		switch {
		case strings.HasPrefix(text, known):
			return &marks[i], false
		case !end && len(text) < len(known) && strings.HasPrefix(known, text):
			wait = true
		}
	}
	return nil, wait
}
