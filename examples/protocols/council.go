package main

import (
	"fmt"
	"io"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/protocol/council"
)

// councilOfFour needs at least three members. They rank one another's answers under pseudonyms.
var councilOfFour = kind{
	about:  "models answer a question and rank one another's answers; a chair writes the final answer",
	topic:  "How should a small team back up its database?",
	config: debate.Config{Protocol: council.Protocol{}, Participants: people("Ada", "Bo", "Cy", "Di"), Judges: people("Chair")},
	show:   showCouncil,
}

// showCouncil prints the answer, which begins with what is missing. It returns an error if the chair has failed.
func showCouncil(w io.Writer, r *debate.Result) error {
	fmt.Fprintln(w, r.Answer.Text)
	res, err := council.DecodeAnswer(r.Answer)
	if err == nil && res.StandIn {
		err = fmt.Errorf("the chair failed, and the answer of %s stands in", res.By)
	}
	return err
}
