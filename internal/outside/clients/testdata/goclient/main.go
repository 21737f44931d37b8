// Clients calls a server at DEBATE_URL with OpenAI's client for Go, and with the client that oapi-codegen generates in
// folder api.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/elenchus-go/debate/internal/outside/clients/testdata/goclient/api"
)

func main() {
	log.SetFlags(0)
	ctx, url := context.Background(), os.Getenv("DEBATE_URL")
	for name, test := range map[string]func(context.Context, string) error{"openai-go": openAI, "oapi-codegen": generated} {
		if err := test(ctx, url); err != nil {
			log.Fatalf("%s: %v", name, err)
		}
	}
}

// openAI asks a debate with an answer once, and one without an answer once.
func openAI(ctx context.Context, url string) error {
	client := openai.NewClient(option.WithAPIKey("x"), option.WithBaseURL(url+"/v1"))
	ask := func(model, question string) (*openai.ChatCompletion, error) {
		return client.Chat.Completions.New(ctx, openai.ChatCompletionNewParams{Model: model, Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(question)}})
	}
	reply, err := ask("fast", "Ban cars?")
	if err != nil || reply.Choices[0].Message.Content == "" {
		return fmt.Errorf("answer %v: %w", reply, err)
	}
	if _, err := client.Models.Get(ctx, "fast"); err != nil {
		return err
	}
	_, err = client.Models.Get(ctx, "gpt")
	if e, ok := errors.AsType[*openai.Error](err); !ok || e.StatusCode != http.StatusNotFound || e.Code != "model_not_found" || e.Param != "model" {
		return fmt.Errorf("unknown model: %w", err)
	}
	_, err = ask("fail", "Does it fail in Go?")
	if e, ok := errors.AsType[*openai.Error](err); !ok || e.StatusCode != http.StatusBadGateway || e.Code != "stopped" {
		return fmt.Errorf("failed debate: %w", err)
	}
	c, err := api.NewClientWithResponses(url)
	if err != nil {
		return err
	}
	list, err := c.ListWithResponse(ctx, &api.ListParams{})
	if err != nil {
		return err
	}
	started := 0
	for _, d := range list.JSON200.Debates {
		if d.Topic == "Does it fail in Go?" {
			started++
		}
	}
	if started != 1 {
		return fmt.Errorf("a debate that fails was started %d times", started)
	}
	stream := client.Chat.Completions.NewStreaming(ctx, openai.ChatCompletionNewParams{Model: "fast", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("Ban cars?")}})
	all := openai.ChatCompletionAccumulator{}
	for stream.Next() {
		all.AddChunk(stream.Current())
	}
	if stream.Err() != nil || all.Choices[0].Message.Content == "" {
		return fmt.Errorf("stream: %w", stream.Err())
	}
	return nil
}

// generated launches a debate, and follows its events by their types.
func generated(ctx context.Context, url string) error {
	c, err := api.NewClientWithResponses(url)
	if err != nil {
		return err
	}
	provider := "fast"
	one := func(name string) api.ConfigurationParticipant {
		return api.ConfigurationParticipant{Name: &name, Provider: &provider}
	}
	participants, judges := []api.ConfigurationParticipant{one("Ada"), one("Bo")}, []api.ConfigurationParticipant{one("Judge")}
	made, err := c.LaunchWithResponse(ctx, &api.LaunchParams{}, api.LaunchJSONRequestBody{Topic: "Ban cars?", Participants: &participants, Judges: &judges})
	if err != nil || made.JSON201 == nil {
		return fmt.Errorf("launch: %s: %w", made.Body, err)
	}
	res, err := c.ClientInterface.Watch(ctx, made.JSON201.Id, &api.WatchParams{})
	if err != nil {
		return err
	}
	defer res.Body.Close()
	turns, ended := 0, false
	lines := bufio.NewScanner(res.Body)
	for lines.Buffer(nil, 1<<20); lines.Scan(); {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var event api.Event
		if err := json.Unmarshal([]byte(data), &event); err != nil {
			return err
		}
		value, err := event.ValueByDiscriminator()
		if err != nil {
			return err
		}
		switch e := value.(type) {
		case api.TurnDone:
			turns++
		case api.Ended:
			ended = len(e.Result.Turns) == turns
		}
	}
	if !ended {
		return fmt.Errorf("%d turns, and no end with all of them", turns)
	}
	missing, err := c.StatusWithResponse(ctx, "none")
	if err != nil || missing.ApplicationproblemJSON404 == nil {
		return fmt.Errorf("status of no debate: %s: %w", missing.Body, err)
	}
	return nil
}
