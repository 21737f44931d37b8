// Example offers debates over A2A, and holds one as a client. The model is a script, so it needs no key.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2aclient/agentcard"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/examples/offline"
	"github.com/elenchus-go/debate/integrations/debatea2a"
	"github.com/elenchus-go/debate/integrations/debatehttp"
	"github.com/elenchus-go/debate/providers"
)

func main() {
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	check(err)
	url := "http://" + listener.Addr().String()
	go serve(listener, url)
	ask(context.Background(), os.Stdout, url, "Should cities ban private cars?")
}

// serve offers debates at a URL.
func serve(listener net.Listener, url string) {
	engine, err := debate.NewEngine(debate.Options{Providers: map[string]providers.Provider{"offline": offline.Model(false)}})
	check(err)
	agent, err := debatea2a.New(engine, debatea2a.Options{})
	check(err)
	check(debatehttp.Serve(context.Background(), listener, engine, debatehttp.CheckHost(agent.Handler(agent.Card(url))), time.Second))
}

// ask has the agent at a URL debate a question, and shows each turn.
func ask(ctx context.Context, w io.Writer, url, question string) {
	card, err := agentcard.DefaultResolver.Resolve(ctx, url)
	check(err)
	client, err := a2aclient.NewFromCard(ctx, card)
	check(err)
	for event, err := range client.SendStreamingMessage(ctx, &a2a.SendMessageRequest{Message: a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart(question))}) {
		check(err)
		if e, ok := event.(*a2a.TaskArtifactUpdateEvent); ok {
			fmt.Fprintf(w, "%s: %s\n\n", e.Artifact.Name, e.Artifact.Parts[0].Text())
		}
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
