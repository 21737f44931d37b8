package budget

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

func step(actor, prompt string) protocol.Step {
	return protocol.Step{Key: transcript.Key{Actor: actor}, Prompt: prompt}
}

// closing is a protocol that lists a step of its own.
type closing struct{ protocol.Protocol }

func (closing) Steps(*protocol.Record) []protocol.Step { return []protocol.Step{step("Cy", "extra")} }

func TestAForecastHasEachKindOfStepOnce(t *testing.T) {
	r := &protocol.Record{MaxRounds: 3}
	phases := func(stage transcript.Kind) []protocol.Phase {
		switch stage {
		case transcript.Speech:
			open := step("Ada", "speech")
			if r.Cursor.Round > 1 {
				open.Prompt = "rebuttal"
			}
			return []protocol.Phase{{Name: "speech", Steps: []protocol.Step{open, step("Bo", "speech")}}, {Name: "more", Steps: []protocol.Step{step("Ada", "speech")}}}
		case transcript.Assessment:
			s := step("Judge", "assess")
			s.Contract = judge.AssessmentContract.Name()
			return []protocol.Phase{{Name: "assessment", Steps: []protocol.Step{s}}}
		case transcript.Conclusion:
			return []protocol.Phase{{Name: "verdict", Steps: []protocol.Step{step("Judge", "verdict")}}}
		case transcript.Setup, transcript.Remark, transcript.Summary, transcript.Embeddings, transcript.Silence:
		}
		return nil
	}
	f := ForecastOf(r, closing{}, phases, func(steps []protocol.Step) int { return 100 * len(steps) })
	var prompts []string
	for _, s := range f.Steps {
		prompts = append(prompts, s.Actor+" "+s.Prompt)
	}
	require.Equal(t, []string{"Ada speech", "Bo speech", "Judge assess", "Ada rebuttal", "Judge verdict", "Cy extra"}, prompts)
	require.Equal(t, 3*400+100, f.Output)
	require.True(t, f.Assesses)
	require.Empty(t, f.Duplicates)
	require.Len(t, f.First, 2, "the setup and the first phase of round 1")
	require.Len(t, f.First[1].Phases, 1)
	require.Zero(t, r.Cursor, "as before")
}

func TestStepsThatAPhaseHasTwice(t *testing.T) {
	about := func(target string) protocol.Step {
		return protocol.Step{Key: transcript.Key{Actor: "Ada", Target: target}}
	}
	require.Empty(t, DuplicateStep("speech", []protocol.Step{about(""), about("Bo"), about("Cy")}))
	require.Equal(t, `phase "speech" has two steps of "Ada" about "Bo", set another Target in each`, DuplicateStep("speech", []protocol.Step{about("Bo"), about(""), about("Bo")}))
}

func TestTheLongestChainOfAnActor(t *testing.T) {
	step := func(name string) protocol.Step { return protocol.Step{Key: transcript.Key{Actor: name}} }
	require.Equal(t, 1, LongestChain(nil))
	require.Equal(t, 1, LongestChain([]protocol.Step{step("a"), step("b")}))
	require.Equal(t, 2, LongestChain([]protocol.Step{step("a"), step("b"), step("a")}))
}
