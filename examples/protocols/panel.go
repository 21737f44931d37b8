package main

import (
	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/protocol/panel"
)

var adaAndBo = []debate.Participant{{Name: "Ada", Side: "for"}, {Name: "Bo", Side: "against"}}

// freePanel lets a model assign personas and positions.
var freePanel = kind{
	about: "two debate before a judge, who ends the debate; a model assigns personas",
	topic: "Should cities ban private cars?",
	config: debate.Config{
		Protocol: panel.Protocol{Personas: panel.Binary}, Participants: people("Ada", "Bo"), Judges: people("Judge"),
	},
	show: showText,
}

// structuredPanel has an opening, a rebuttal and a closing. All speak at the same time.
var structuredPanel = kind{
	about: "opening, rebuttal and closing; all speak at the same time",
	topic: "Should cities ban private cars?",
	config: debate.Config{
		Protocol:     panel.Protocol{Format: panel.StructuredRounds, Mode: panel.Simultaneous},
		Participants: adaAndBo, Judges: people("Judge"), Limits: debate.Limits{MaxRounds: 3},
	},
	show: showText,
}

// convergingPanel looks for agreement. When the judges find one, a devil's advocate argues against it. Another judge assesses each
// round.
var convergingPanel = kind{
	about: "two look for agreement; a devil's advocate argues against it; three judges assess the rounds in turn",
	topic: "Should cities ban private cars?",
	config: debate.Config{
		Protocol:     panel.Protocol{Format: panel.ConvergenceSeeking, DevilsAdvocate: true, RotateJudges: true},
		Participants: adaAndBo, Judges: people("Judge", "Judge 2", "Judge 3"),
	},
	show: showText,
}

// oxfordPanel has an audience that votes before the debate and after it.
var oxfordPanel = kind{
	about: "an audience of five votes on a motion, before the debate and after it",
	topic: "Cities should ban private cars",
	config: debate.Config{
		Protocol:     panel.Protocol{Format: panel.Oxford},
		Participants: adaAndBo, Judges: people("Ann", "Ben", "Cleo", "Dan", "Eva"), Limits: debate.Limits{MaxRounds: 3},
	},
	show: showText,
}
