package main

import (
	"fmt"
	"io"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/protocol/procon"
)

var proAndCon = kind{
	about: "arguments for and against a claim, judged once at the end",
	topic: "Cities should ban private cars",
	config: debate.Config{
		Protocol:     procon.Protocol{},
		Participants: []debate.Participant{{Name: "Ada", Side: "pro"}, {Name: "Bo", Side: "con"}},
		Judges:       people("Judge"),
		Limits:       debate.Limits{MaxRounds: 3}, // the other limits have the protocol's defaults
	},
	show: showJudgment,
}

// showJudgment prints the judgment with the scores.
func showJudgment(w io.Writer, r *debate.Result) error {
	j, err := procon.DecodeAnswer(r.Answer)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%s\n\n", j.Summary)
	for _, s := range j.Participants {
		fmt.Fprintf(w, "%-10s %4.1f of 10\n", s.Name, s.Score)
	}
	if j.Winner != "" {
		fmt.Fprintln(w, "winner:", j.Winner)
	}
	return nil
}
