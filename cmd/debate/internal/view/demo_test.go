package view

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/price"
	"github.com/elenchus-go/debate/providers/scripted"
)

// demoVariable makes the test binary run a debate in its terminal instead of the tests. Its value is the time in
// milliseconds that a reply takes.
const demoVariable = "DEBATE_VIEW_DEMO"

func TestMain(m *testing.M) {
	if os.Getenv(demoVariable) == "abandoned" {
		abandon()
	}
	if latency, err := strconv.Atoi(os.Getenv(demoVariable)); err == nil {
		if err := demo(time.Duration(latency) * time.Millisecond); err != nil {
			fmt.Fprintln(os.Stderr, "demo:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// abandon ends the process while a view is live.
func abandon() {
	o := Options{Output: os.Stderr, Input: os.Stdin, Env: os.Getenv}
	restore := Save(o)
	New(o).Start()
	restore()
	os.Exit(0)
}

// demo runs a debate in the terminal. The first Ctrl-C pauses it, the second one cancels it.
func demo(latency time.Duration) error {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	d, err := debate.New(ctx, demoConfig(), debate.Options{Providers: map[string]providers.Provider{"demo": demoModel(latency)}})
	if err != nil {
		return err
	}
	v := New(Options{Output: os.Stderr, Input: os.Stdin, Env: os.Getenv, Hint: "Ctrl-C pauses", Currency: "USD"})
	for m, err := range d.Replay(ctx) {
		if err != nil {
			return err
		}
		v.Skip(m.Event)
	}
	go func() {
		<-signals
		v.Notef("interrupted: waiting for the calls in flight, press Ctrl-C again to cancel them")
		_ = d.Pause(ctx)
		<-signals
		cancel()
	}()
	v.Start()
	for event, err := range d.Run(ctx) {
		if err == nil {
			v.Show(event)
		}
	}
	v.Stop()
	r, err := d.Result(context.Background())
	if err != nil {
		return err
	}
	fmt.Println("answer:", r.State)
	return nil
}

func demoConfig() debate.Config {
	return debate.Config{
		Topic: "Should cities ban private cars?", Protocol: panel.Protocol{Mode: demoMode()}, Limits: debate.Limits{MaxRounds: 2},
		Participants: []debate.Participant{
			{Name: "Ada", Side: "for", Provider: "demo"}, {Name: "Bo 文字", Side: "against", Provider: "demo"},
		},
		Judges: []debate.Participant{{Name: "Jo", Provider: "demo"}},
		Prices: price.Prices{"": {Input: 1000, Output: 4000}},
	}
}

// demoMode returns the mode of the panel: the participants speak at the same time if the variable says so.
func demoMode() panel.Mode {
	if os.Getenv(demoVariable+"_PARALLEL") != "" {
		return panel.Simultaneous
	}
	return panel.Sequential
}

// demoModel streams texts with wide characters, and the scores of a judge.
func demoModel(latency time.Duration) providers.Provider {
	return &scripted.Provider{DiscardCalls: true, Func: func(r providers.Request) scripted.Reply {
		reply := scripted.Reply{Chunks: 60, Latency: latency}
		switch r.SchemaName {
		case "assessment/1":
			a := judge.Assessment{Quality: 7, ShouldContinue: true, Reasoning: "Ada had figures. Bo had examples, but left the question of space open."}
			for i, name := range []string{"Ada", "Bo 文字"} {
				a.Participants = append(a.Participants, judge.ParticipantAssessment{Name: name, Criteria: judge.Rubric(nil).UniformScores(float64(8 - i))})
			}
			b, _ := json.Marshal(a)
			reply.Text = string(b)
		case "verdict/1":
			reply.Text = `{"summary": "Ada won on space and noise.", "winner": "Ada", "quality": 70}`
		default:
			reply.Text = demoText
		}
		return reply
	}}
}

var demoText = strings.Repeat("A parked car takes 12 m² of a street, all day long, for 23 hours of 24. 停车的汽车整天占用街道的空间,而行人没有地方。 "+
	"Where Ghent closed its centre to through traffic, cycling rose by a quarter within a year 🚲, and 👩‍👩‍👧 families came back.\n\n", 2) +
	"- Buses stop in time.\n- Children walk."
