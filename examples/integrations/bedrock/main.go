// Bedrock runs a panel debate with a langchaingo model: one of the models on Amazon Bedrock. For Anthropic's models there,
// you can also use providers/clouds/bedrock; for the others, the library has no provider of its own.
//
//	AWS_REGION=us-east-1 go run ./examples/integrations/bedrock "Should cities ban private cars?"
//
// It takes the region and the credentials from the environment and the configuration files of AWS. If AWS_REGION is not
// set, it uses an offline demo model. Any other model of langchaingo works in the same way: wrap it with langchain.New.
package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/tmc/langchaingo/llms/bedrock"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/examples/console"
	"github.com/elenchus-go/debate/examples/offline"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/langchain"
	"github.com/elenchus-go/debate/transcript"
)

func main() { console.Main(run) }

func run(ctx context.Context, p *console.Program) error {
	name := p.Flags.String("model", "us.anthropic.claude-sonnet-4-5-20250929-v1:0", "id of the model or of its inference profile")
	endpoint := p.Flags.String("endpoint", "", "URL of the service, if it is not the one of the region")
	topic, err := p.Topic("Should cities ban private cars?")
	if err != nil {
		return err
	}
	model, err := choose(ctx, p, *name, *endpoint)
	if err != nil {
		return err
	}
	result, err := p.Debate(ctx, debate.Config{
		Topic:        topic,
		Participants: []debate.Participant{{Name: "Ada", Side: "for"}, {Name: "Bo", Side: "against"}},
		Judges:       []debate.Participant{{Name: "Judge"}},
		Limits:       debate.Limits{MaxRounds: 2},
	}, debate.Options{Providers: map[string]providers.Provider{"model": model}})
	if err != nil {
		return err
	}
	return printVerdict(p, result)
}

// choose returns the model on Bedrock, or the demo model if AWS_REGION is not set.
func choose(ctx context.Context, p *console.Program, name, endpoint string) (providers.Provider, error) {
	region := p.Env("AWS_REGION")
	if region == "" {
		fmt.Fprintln(p.Stderr, "AWS_REGION is not set; using the offline demo model")
		return offline.Model(p.IsTerminal), nil
	}
	account, err := config.LoadDefaultConfig(ctx, config.WithRegion(region))
	if err != nil {
		return nil, err
	}
	client := bedrockruntime.NewFromConfig(account, func(o *bedrockruntime.Options) {
		o.RetryMaxAttempts = 1 // the debate retries
		if endpoint != "" {
			o.BaseEndpoint = &endpoint
		}
	})
	model, err := bedrock.New(bedrock.WithModel(name), bedrock.WithClient(client))
	if err != nil {
		return nil, err
	}
	fmt.Fprintln(p.Stderr, "model:", name)
	provider := langchain.New(model)
	provider.NoStreaming = !strings.Contains(name, "anthropic") // langchaingo streams only Anthropic's models
	return provider, nil
}

// printVerdict prints who won and why.
func printVerdict(p *console.Program, r *debate.Result) error {
	if r.Verdict == nil {
		return fmt.Errorf("the debate ended without a verdict: %s", r.Ending.Evidence)
	}
	v, err := transcript.Decode[judge.Verdict](*r.Verdict)
	if err != nil {
		return err
	}
	winner := v.Winner
	if winner == "" {
		winner = "nobody"
	}
	fmt.Fprintf(p.Stdout, "%s\nwinner: %s\n\n%s\n", r.Topic, winner, v.Summary)
	return nil
}
