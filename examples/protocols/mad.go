package main

import (
	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/protocol/mad"
)

// disagreement may be ended by the moderator after each round. Otherwise the moderator lists the candidate answers and decides.
var disagreement = kind{
	about: "a model answers a question, another must disagree, and a moderator decides",
	topic: "Is 2027 a prime number?",
	config: debate.Config{
		Protocol:     mad.Protocol{},
		Participants: []debate.Participant{{Name: "Ada", Role: mad.Affirmative}, {Name: "Bo", Role: mad.Negative}},
		Judges:       people("Judge"), // the temperatures have the protocol's default, 0
		Limits:       debate.Limits{MaxRounds: 3},
	},
	show: showText,
}
