package langchain_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tmc/langchaingo/llms"

	"github.com/elenchus-go/debate/internal/test/calltest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/langchain"
	"github.com/elenchus-go/debate/transcript"
)

// info is the generation info of a choice.
type info = map[string]any

// mistralUsage has the shape of the struct that mistral reports.
type mistralUsage struct {
	PromptTokens     int `json:"prompt_tokens"`
	TotalTokens      int `json:"total_tokens"`
	CompletionTokens int `json:"completion_tokens"`
}

func TestUsageIsReadUnderTheNamesOfEachModel(t *testing.T) {
	for name, test := range map[string]struct {
		info info
		want transcript.Usage
	}{
		"openai": {
			info{"PromptTokens": 100, "CompletionTokens": 50, "TotalTokens": 150, "ReasoningTokens": 40, "ThinkingTokens": 40, "PromptCachedTokens": 90},
			transcript.Usage{Input: 100, Cached: 90, Output: 50, Reasoning: 40},
		},
		"a compatible server that counts reasoning apart": {
			info{"PromptTokens": 100, "CompletionTokens": 10, "TotalTokens": 150, "ReasoningTokens": 40},
			transcript.Usage{Input: 100, Output: 50, Reasoning: 40},
		},
		"anthropic, whose input is without the cache": {
			info{"InputTokens": 7, "OutputTokens": 50, "CacheReadInputTokens": 90, "CacheCreationInputTokens": 3},
			transcript.Usage{Input: 100, Cached: 90, Output: 50},
		},
		"anthropic, all from the cache": {
			info{"InputTokens": 0, "OutputTokens": 50, "CacheReadInputTokens": 90, "CacheCreationInputTokens": 0},
			transcript.Usage{Input: 90, Cached: 90, Output: 50},
		},
		"ollama": {
			info{"PromptTokens": 100, "CompletionTokens": 50, "TotalTokens": 150, "ThinkingTokens": 0},
			transcript.Usage{Input: 100, Output: 50},
		},
		"googleai, whose output is without reasoning": {
			info{
				"PromptTokens": int32(40), "input_tokens": int32(40), "CompletionTokens": int32(10), "output_tokens": int32(10),
				"TotalTokens": int32(75), "CachedTokens": int32(8), "CacheReadInputTokens": int32(8), "ThinkingTokens": 0,
			},
			transcript.Usage{Input: 40, Cached: 8, Output: 35, Reasoning: 25},
		},
		"mistral": {
			info{"usage": mistralUsage{100, 150, 50}, "created": 7},
			transcript.Usage{Input: 100, Output: 50},
		},
		"bedrock":             {info{"input_tokens": 100, "output_tokens": 50}, transcript.Usage{Input: 100, Output: 50}},
		"numbers of any type": {info{"input_tokens": int64(100), "output_tokens": json.Number("50"), "ReasoningTokens": 40.0}, transcript.Usage{Input: 100, Output: 50, Reasoning: 40}},
		"no numbers":          {info{"input_tokens": "many", "output_tokens": -1, "usage": func() {}}, transcript.Usage{}},
		"nothing":             {nil, transcript.Usage{}},
	} {
		t.Run(name, func(t *testing.T) {
			choice := &llms.ContentChoice{Content: "Because.", StopReason: "stop", GenerationInfo: test.info}
			res := calltest.Generate(t, langchain.New(says(nil, nil, choice)), calltest.Ask())
			require.Equal(t, test.want, res.Usage)
		})
	}
}

func TestFinish(t *testing.T) {
	for reason, want := range map[string]providers.FinishReason{
		"stop": providers.Stop, "end_turn": providers.Stop, "FinishReasonStop": providers.Stop, "COMPLETE": providers.Stop,
		"length": providers.Length, "max_tokens": providers.Length, "FinishReasonMaxTokens": providers.Length,
		"content_filter": providers.ContentFilter, "refusal": providers.ContentFilter, "FinishReasonSafety": providers.ContentFilter,
		"": "",
	} {
		t.Run(reason, func(t *testing.T) {
			choice := &llms.ContentChoice{Content: "Because.", StopReason: reason}
			res := calltest.Generate(t, langchain.New(says(nil, nil, choice)), calltest.Ask())
			require.Equal(t, want, res.FinishReason)
		})
	}
}

// A reply that ended in a failure is no reply, and neither is one that ended for an unknown reason.
func TestFinishReasonsOfFailures(t *testing.T) {
	for reason, want := range map[string]providers.ErrorKind{
		"error": providers.ServerError, "pause_turn": providers.ServerError, "network_error": providers.Network,
		"malformed_function_call": providers.InvalidResponse, "FinishReasonOther": providers.InvalidResponse, "tired": providers.InvalidResponse,
		"error_finish": providers.RateLimit,
	} {
		t.Run(reason, func(t *testing.T) {
			choice := &llms.ContentChoice{Content: "Too many tokens, please wait before trying again.", StopReason: reason}
			_, err := langchain.New(says(nil, nil, choice)).Generate(t.Context(), calltest.Ask())
			_ = calltest.RequireKind(t, want, err)
			require.ErrorContains(t, err, fmt.Sprintf("%q", reason))
		})
	}
}

func TestAModelThatGivesNoReasonStoppedAtTheCapWhenItsOutputFillsIt(t *testing.T) {
	for output, want := range map[int]providers.FinishReason{599: "", 600: providers.Length} {
		r := calltest.Ask()
		r.MaxTokens = 600
		choice := &llms.ContentChoice{Content: "Because.", GenerationInfo: info{"CompletionTokens": output}}
		res := calltest.Generate(t, langchain.New(says(nil, nil, choice)), r)
		require.Equal(t, want, res.FinishReason)
	}
}

func TestTheChoicesAreBlocksOfOneReply(t *testing.T) {
	block := func(text string, output int) *llms.ContentChoice {
		return &llms.ContentChoice{Content: text, StopReason: "end_turn", GenerationInfo: info{"InputTokens": 100, "OutputTokens": output}}
	}
	var heard []string
	p := langchain.New(says([]string{"Be", "cause", " of it."}, nil, nil, block("", 50), block("Because", 51), nil, block(" of it.", 52)))
	res := calltest.Generate(t, p, calltest.Listen(&heard))
	require.Equal(t, providers.Response{Text: "Because of it.", FinishReason: providers.Stop, Usage: transcript.Usage{Input: 100, Output: 50}}, res)
	require.Equal(t, []string{"Be", "cause", " of it."}, heard)
}

func TestTheModelIsNamedWhereItIsKnown(t *testing.T) {
	choice := &llms.ContentChoice{Content: "Because.", StopReason: "stop", GenerationInfo: info{"model": "mistral-large-2411"}}
	res := calltest.Generate(t, langchain.New(says(nil, nil, choice)), calltest.Ask())
	require.Equal(t, "mistral-large-2411", res.Model)
}

func TestAReplyCountsOnlyIfItCameToItsEnd(t *testing.T) {
	none := info{"PromptTokens": 0, "CompletionTokens": 0, "TotalTokens": 0}
	some := info{"PromptTokens": 9, "CompletionTokens": 2, "TotalTokens": 11}
	for name, test := range map[string]struct {
		chunks []string
		text   string
		reason string
		info   info
		cut    bool
	}{
		"it stopped": {[]string{"Be", "cause."}, "Because.", "stop", none, false},
		"it gives no reason, but the usage of the end":      {[]string{"Be", "cause."}, "Because.", "", some, false},
		"it never tells anything":                           {[]string{"Be", "cause."}, "Because.", "", nil, false},
		"it was not streamed":                               {nil, "Because.", "", none, false},
		"neither a reason nor usage":                        {[]string{"Be"}, "Be", "", none, true},
		"shorter than what was streamed":                    {[]string{"Be", "cause"}, "", "", none, true},
		"shorter than what was streamed, though it stopped": {[]string{"Be", "cause"}, "Be", "stop", some, true},
		"expressly without an end":                          {[]string{"Be"}, "Be", "FinishReasonUnspecified", some, true},
		"nothing at all":                                    {nil, "", "", none, true},
	} {
		t.Run(name, func(t *testing.T) {
			var heard []string
			choice := &llms.ContentChoice{Content: test.text, StopReason: test.reason, GenerationInfo: test.info}
			res, err := langchain.New(says(test.chunks, nil, choice)).Generate(t.Context(), calltest.Listen(&heard))
			if !test.cut {
				require.NoError(t, err)
				require.Equal(t, test.text, res.Text)
				return
			}
			require.Zero(t, res)
			require.EqualError(t, err, "network: read reply: the stream was cut")
			said := ""
			for _, chunk := range heard {
				said += chunk
			}
			require.Equal(t, said, calltest.RequireKind(t, providers.Network, err).Partial.Text)
		})
	}
}

func TestAnEmptyReplyIsInvalid(t *testing.T) {
	spent := info{"PromptTokens": 9, "CompletionTokens": 600, "ReasoningTokens": 600}
	for name, test := range map[string]struct {
		model fake
		want  string
		usage transcript.Usage
	}{
		"no response": {says(nil, nil), "invalid_response: read reply: the reply has no choices", transcript.Usage{}},
		"no choices":  {says(nil, nil, nil, nil), "invalid_response: read reply: the reply has no choices", transcript.Usage{}},
		"no text":     {says(nil, nil, stops(" \n")), "invalid_response: read reply: the reply is empty", transcript.Usage{}},
		"withheld":    {says(nil, nil, &llms.ContentChoice{StopReason: "refusal"}), "content_filtered: read reply: the service filtered the reply", transcript.Usage{}},
		"spent in reasoning": {
			says(nil, nil, &llms.ContentChoice{StopReason: "length", GenerationInfo: spent}),
			"invalid_response: read reply: reasoning used up the service's token limit before the reply began",
			transcript.Usage{Input: 9, Output: 600, Reasoning: 600},
		},
	} {
		t.Run(name, func(t *testing.T) {
			res, err := langchain.New(test.model).Generate(t.Context(), calltest.Ask())
			require.Zero(t, res)
			require.EqualError(t, err, test.want)
			require.Equal(t, test.usage, providers.AsError(err).Partial.Usage, "what was spent is known")
		})
	}
}
