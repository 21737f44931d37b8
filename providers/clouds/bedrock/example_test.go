package bedrock_test

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/clouds/bedrock"
)

// The credentials usually come from config.LoadDefaultConfig of the AWS SDK.
func Example() {
	source := aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
		return aws.Credentials{AccessKeyID: "AKIA…", SecretAccessKey: "…"}, nil
	})
	claude, err := bedrock.New(bedrock.Config{Region: "us-east-1", Credentials: source, Model: "us.anthropic.claude-sonnet-4-5-20250929-v1:0"})
	if err != nil {
		panic(err)
	}
	options := debate.Options{Providers: map[string]providers.Provider{"claude": claude}}
	fmt.Println(len(options.Providers), "provider")
	// Output: 1 provider
}
