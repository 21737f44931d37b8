package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/tmc/langchaingo/llms/bedrock"

	"github.com/elenchus-go/debate/examples/console"
	"github.com/elenchus-go/debate/examples/offline"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/langchain"
)

// chooseDebater returns the model of the debaters. For Anthropic's models on Bedrock, you can also use providers/clouds/bedrock; for the
// others, the library has no provider of its own. Any other model of langchaingo works in the same way: wrap it with langchain.New.
// The region and the credentials come from the environment and the configuration files of AWS.
func chooseDebater(ctx context.Context, p *console.Program, name string) (providers.Provider, error) {
	if name == "" {
		return offline.Choose(p.Env, p.Stderr, offline.Model(p.IsTerminal))
	}
	region := p.Env("AWS_REGION")
	if region == "" {
		return nil, errors.New("-bedrock: AWS_REGION is not set")
	}
	account, err := config.LoadDefaultConfig(ctx, config.WithRegion(region))
	if err != nil {
		return nil, err
	}
	client := bedrockruntime.NewFromConfig(account, func(o *bedrockruntime.Options) {
		o.RetryMaxAttempts = 1 // the debate retries
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
