package speech_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/speech"
)

// seats are those of most tests: Ada speaks.
var seats = speech.Seats{Own: "Ada", Others: []string{"Bo", "Cy", "The Judge"}}

func TestALabelOfTheSpeakerIsRemoved(t *testing.T) {
	const said = "The edge wins.\n\nIt is fast."
	for name, text := range map[string]string{
		"a name":                        "Ada: ",
		"a name in bold":                "**Ada:** ",
		"a bold name before the colon":  "**Ada**: ",
		"a name in italics":             "_Ada_: ",
		"a round in brackets":           "Ada (round 2): ",
		"a round in square brackets":    "Ada [Round 2]: ",
		"a round after a comma":         "Ada, round 2: ",
		"bold, with a round":            "**Ada (Round 1):**\n\n",
		"a task in brackets":            "Ada (opening statement):\n",
		"square brackets":               "[Ada]: ",
		"square brackets alone":         "[Ada]\n",
		"capitals":                      "ADA: ",
		"a heading":                     "### Ada\n\n",
		"a heading with a colon":        "## Ada (round 3):\n\n",
		"a line of its own":             "Ada\n\n",
		"a bold line of its own":        "**Ada**\n\n",
		"a wide colon":                  "Ada： ",
		"white space before the label":  "\n\n  Ada: ",
		"a dash":                        "Ada — ",
		"the label twice":               "Ada: Ada: ",
		"the label in two lines":        "Ada\n# Ada\n",
		"the delimiters of the prompts": "<<<09214337650718826612 begin: Ada, round 2>>>\n",
	} {
		t.Run(name, func(t *testing.T) {
			end := ""
			if strings.HasPrefix(text, "<<<") {
				end = "\n<<<09214337650718826612 end>>>"
			}
			found := seats.Read(text + said + end)
			require.Equal(t, said, found.Text)
			require.False(t, found.Dialogue)
		})
	}
}

func TestNoLabel(t *testing.T) {
	for name, text := range map[string]string{
		"a speech":               "The edge wins.",
		"the name in a sentence": "Ada says: the edge wins.",
		"the name and a comma":   "Ada, who speaks for the edge, asks this: who waits?",
		"another name":           "Adam: is he here?",
		"a possessive":           "Ada's case: the edge wins.",
		"a word that begins so":  "Adaptation: it takes time.",
		"a quote":                "> Ada: The edge wins.\n\nThat is what I said.",
		"code":                   "```\nAda: edge\nBo: origin\nAda: edge\n```\n\nSo much for the settings.",

		"a label of nobody":       "Conclusion: the edge wins.",
		"a question and answer":   "Question: is it fast?\n\nAnswer: yes.",
		"a time":                  "12:30 is when the origin failed.",
		"an address":              "See https://ada.example: it has the figures.",
		"the name in the middle":  "The edge wins. Ada: that is me.",
		"a hyphen within a word":  "Ada-like languages: they are strict.",
		"a dash in prose":         "Ada - like others - is a language.",
		"a long clause":           "Ada (and whoever else has measured a cache in the last ten years of the web) knows: it is fast.",
		"a label with no content": "",
	} {
		t.Run(name, func(t *testing.T) {
			found := seats.Read(text)
			require.Equal(t, text, found.Text)
			require.False(t, found.Dialogue)
		})
	}
}

// dialogues are replies in which Ada speaks for others, and what she says before.
var dialogues = map[string]struct{ text, own string }{
	"three lines": {"Ada: The edge wins.\n\nBo: The origin is simpler.\n\nAda: Still, latency counts.", "The edge wins."},
	"no label at the beginning": {
		"The edge wins.\n\nBo: I disagree. The origin is simpler.\n\nAda: Still, latency counts.",
		"The edge wins.",
	},
	"bold labels": {"**Ada:** The edge wins.\n\n**Bo:** The origin is simpler.", "The edge wins."},
	"rounds": {
		"Ada (round 2): The edge wins.\nBo (round 2): The origin is simpler.\nAda (round 3): No.",
		"The edge wins.",
	},
	"square brackets":              {"[Ada]: The edge wins.\n[Bo]: The origin is simpler.\n[Ada]: No.", "The edge wins."},
	"headings":                     {"### Ada\n\nThe edge wins.\n\n### Bo\n\nThe origin is simpler.\n\n### Ada\n\nNo.", "The edge wins."},
	"labels on lines of their own": {"Ada:\nThe edge wins.\n\nBo:\nThe origin is simpler.", "The edge wins."},
	"delimiters": {
		"<<<123 begin: Ada, round 1>>>\nThe edge wins.\n<<<123 end>>>\n<<<123 begin: Bo, round 1>>>\nThe origin is simpler.\n<<<123 end>>>", "The edge wins.",
	},
	"capitals": {"ADA: The edge wins.\nBO: The origin is simpler.\nADA: No.", "The edge wins."},
	"the other speaks of itself": {
		"The edge wins, as the figures show.\n\nBo: I think that the origin is simpler.",
		"The edge wins, as the figures show.",
	},
	"the other speaks of the speaker":   {"The edge wins.\n\nBo: What Ada says is wrong.", "The edge wins."},
	"the other addresses the speaker":   {"The edge wins.\n\nBo: You forget the cost, Ada. It counts.", "The edge wins."},
	"the other addresses, and a return": {"Ada: The edge wins.\n\nBo: You forget the cost.\n\nAda: I do not.", "The edge wins."},
	"two others":                        {"Ada: The edge wins.\n\nCy: Does it?\n\nBo: It does not.\n\nAda: It does.", "The edge wins."},
	"a judge": {
		"Ada: The edge wins.\n\nThe Judge: Thank you. The next one, please.\n\nAda: One more word.",
		"The edge wins.",
	},
	"a moderator who has no seat": {"Ada: The edge wins.\n\nModerator: Thank you, Ada. Bo, it is your turn.", "The edge wins."},
	"a moderator after a speech": {
		"The edge wins.\n\n**Moderator:** Thank you, Ada. Bo, it is your turn.\n\n**Bo:** The origin is simpler.", "The edge wins.",
	},
	"an opponent who has no name": {"Ada: The edge wins.\n\nOpponent: The origin is simpler.\n\nAda: It is not.", "The edge wins."},
	"a stranger":                  {"Ada: The edge wins.\n\nCaller: What about the cost?\n\nAda: It is low.", "The edge wins."},
	"wide colons":                 {"Ada：边缘更快。\n\nBo：源站更简单。\n\nAda：延迟很重要。", "边缘更快。"},
	"dashes":                      {"Ada — The edge wins.\nBo — The origin is simpler.\nAda — No.", "The edge wins."},
	"one line":                    {"Ada: The edge wins. Bo: The origin is simpler. Ada: Still, latency counts.", "The edge wins."},
	"a rule between the lines": {
		"The edge wins.\n\n---\n\n**Bo:** I do not think so.\n\n---\n\n**Ada:** It does.",
		"The edge wins.",
	},
	"a dialogue that another begins": {
		"Bo: The origin is simpler.\n\nAda: Still, latency counts.\n\nBo: It does not.",
		"Still, latency counts.",
	},
	"a dialogue in which nobody returns": {"Bo: I say that Ada is wrong.", ""},
	"a long speech first": {
		"The edge wins: it is near.\n\nCaches hold what most people ask for. The origin never sees those requests.\n\nBo: My answer is simple. Caches are stale.\n\nCy: I agree with Bo.",
		"The edge wins: it is near.\n\nCaches hold what most people ask for. The origin never sees those requests.",
	},
	"a reply of the other at the end": {
		"The edge wins, as the figures show.\n\nBo: The origin is simpler, and simple systems fail less.",
		"The edge wins, as the figures show.",
	},
	"German": {
		"Der Rand ist schneller.\n\nBo: Ich sehe das anders. Der Ursprung ist einfacher.",
		"Der Rand ist schneller.",
	},
	"a heading before it": {
		"Here is the debate:\n\nAda: The edge wins.\nBo: The origin is simpler.\nAda: No.",
		"The edge wins.",
	},
	"lines in quotation marks": {"Ada: \"The edge wins.\"\n\nBo: \"The origin is simpler.\"\n\nAda: \"No.\"", "\"The edge wins.\""},
}

func TestDialogues(t *testing.T) {
	for name, test := range dialogues {
		t.Run(name, func(t *testing.T) {
			found := seats.Read(test.text)
			require.True(t, found.Dialogue)
			require.Equal(t, test.own, found.Text)
			again := seats.Read(found.Text)
			require.Equal(t, found.Text, again.Text, "what is left has nothing to cut")
			require.False(t, again.Dialogue)
		})
	}
}

func TestMoreDialogues(t *testing.T) {
	for _, text := range []string{
		"**Ada (Pro):** The edge wins.\n\n**Bo (Con):** It does not.\n\n**Ada (Pro):** It does.",
		"The edge wins.\n\n**Bo**: While Ada makes a fair point, the origin is simpler.",
		"The edge is faster. People notice.\n\n[Bo]: I would like to answer that.",
		"Ada: The edge is faster.\nBo: Prove it.\nAda: Look at the tail.",
		"Round 2\n\nAda: The edge is faster.\n\nBo: No, it isn't.\n\nCy: I am with Bo.",
		"*Ada:* The edge.\n*Bo:* The origin.",
		"Ada: The edge is faster.\n\nThe Judge: Ada wins.",
		"The edge is faster, and people notice that.\n\nBo: Thank you, Ada. I disagree.",
		"> The origin is simple.\n\nIt is not.\n\nBo: My turn. Ada is wrong.",
		"<<<1 begin: Ada, round 1>>>\nThe edge.\n<<<1 end>>>\n\n<<<2 begin: Bo, round 1>>>\nThe origin.\n<<<2 end>>>",
		"The edge is faster.\n\nUser: Now speak for Bo.\n\nBo: I prefer the origin.",
		"Ada: The edge is faster.\r\n\r\nBo: The origin is simpler.\r\n\r\nAda: No.",
		"Ada:The edge is faster.\nBo:The origin is simpler.\nAda:No.",
	} {
		found := seats.Read(text)
		require.True(t, found.Dialogue, text)
		require.NotEmpty(t, found.Text)
		require.NotContains(t, found.Text, "Bo")
		require.False(t, seats.Read(found.Text).Dialogue, text)
	}
}

func TestMoreAnswersStayWhole(t *testing.T) {
	for _, text := range []string{
		"Bo: On cost, you are right. On speed, you are not.",
		"Regarding Bo: he has a point.\nRegarding Cy: she has none.",
		"Bo and Cy: you both forget the tail.",
		"My answers:\n\nBo: Caches are not stale.\n\nCy: Costs fall.",
		"First, to Bo: no.\nSecond, to Cy: yes.",
		"Bo: 40 %. Cy: 60 %. Neither figure has a source.",
		"I quote: Bo: \"simple\". Cy: \"cheap\".",
		"* Bo: I see no evidence.\n* Cy: I see little.",
		"Bo [round 1]: \"Caches are stale.\" They hold for a minute.",
		"The motion has two sides.\n\nThe edge: fast.\n\nThe origin: simple.",
		"Ada: I stand by my figure.",
		"Bo – and I say this with respect – is wrong.",
		"**Bo's strongest point:** simplicity. **My answer:** it is slow.",
		"The edge is faster, as I said in round 1.\n\nBo: no source.\nCy: no figure.",
		"The edge is faster, as I said before.\n\nNote: Bo has not answered.",
		"Summary of the positions:\n**Ada:** I say that the edge is faster.\n**Bo:** The origin is simpler.",
	} {
		require.False(t, seats.Read(text).Dialogue, text)
	}
}

// answers are replies that quote or address others.
var answers = map[string]string{
	"a list of answers":          "Bo: you said that the origin is simpler. It is not.\n\nCy: you said that nobody waits. People do.",
	"a list with marks":          "- Bo: The origin is simpler, but slow.\n- Cy: Nobody waits long, but they leave.",
	"a list with numbers":        "1. Bo: The origin fails less.\n2. Cy: Costs matter.\n\nBoth points miss the tail.",
	"bold names with your":       "**Bo:** Your claim about the cost has no source.\n\n**Cy:** Your claim about caches is old.",
	"a quote":                    "Bo: \"The origin is simpler.\" That leaves out the deployments.",
	"a quote in a block":         "> Bo: The origin is simpler.\n\nThat leaves out the deployments.",
	"a typographic quote":        "Bo: “I think that the origin is simpler.” I do not.",
	"an address":                 "Bo, you said that the origin is simpler. It is not.",
	"a name in a sentence":       "As Bo: said, no.",
	"a recap":                    "Where we stand:\nBo: The origin is simpler.\nAda: The edge is faster.",
	"a recap in a list":          "To sum up:\n\n- Ada: The edge is faster.\n- Bo: The origin is simpler.\n\nSpeed matters more.",
	"a recap in lines":           "Where do we stand? This is what counts.\n\nBo: 40 ms.\nAda: 10 ms.",
	"a report":                   "Bo: claims that the origin is simpler. It is not.",
	"a round in brackets":        "Bo (round 1): you said that the origin is simpler. Then you said that it is not.",
	"a possessive":               "Bo's claim: the origin is simpler.\n\nMy answer: it is not.",
	"a table":                    "| Ada | Bo |\n|---|---|\n| fast | simple |",
	"an answer below each":       "Bo: The origin is simpler.\nAnswer: It is not, because of the deployments.",
	"a concession":               "Bo: I accept your point on cost.\n\nCy: I do not accept yours.",
	"an address after a label":   "Ada, to Bo: you said that the origin is simpler.",
	"German":                     "Bo: Du sagst, der Ursprung sei einfacher. Das stimmt nicht.\n\nCy: Ihre Zahl ist alt.",
	"French":                     "Bo : vous dites que l'origine est plus simple. Ce n'est pas le cas.",
	"Spanish":                    "Bo: dices que el origen es más simple. Tu cifra es antigua.",
	"a second person later":      "Bo: That is where we differ, because you count requests and I count people.",
	"headings for points":        "## Latency\n\nThe edge wins.\n\n## Cost\n\nIt is low.",
	"a label of the topic":       "Latency: the edge wins.\n\nCost: it is low.\n\nSimplicity: Bo has a point.",
	"two answers without a mark": "Bo: Simplicity is no end in itself.\n\nCy: Costs fall each year.",
	"a question to somebody":     "The edge wins.\n\nBo: How do you explain the tail?",
}

func TestAnswersStayWhole(t *testing.T) {
	for name, text := range answers {
		t.Run(name, func(t *testing.T) {
			found := seats.Read(text)
			require.False(t, found.Dialogue)
			if name != "an address after a label" {
				require.Equal(t, text, found.Text)
			}
			found = seats.Read("Ada: " + text)
			require.False(t, strings.HasPrefix(found.Text, "Ada: "), "the label is removed")
		})
	}
}

// A name that is a letter or a common word labels lines of a list too. Such lines are a dialogue if the speaker returns.
func TestNamesThatAreWords(t *testing.T) {
	for _, s := range []speech.Seats{
		{Own: "A", Others: []string{"B"}},
		{Own: "Pro", Others: []string{"Con"}},
		{Own: "For", Others: []string{"Against"}},
	} {
		other := s.Others[0]
		require.False(t, s.Read("The balance.\n\n"+s.Own+": It is fast.\n"+other+": It is new.").Dialogue)
		require.False(t, s.Read("It is fast.\n\n"+other+": It is new.").Dialogue)
		balance := s.Own + ":\nIt is fast.\n\n" + other + ":\nIt is new."
		require.Equal(t, speech.Reading{Text: balance}, s.Read(balance))
		found := s.Read(s.Own + ": It is fast.\n\n" + other + ": It is new.\n\n" + s.Own + ": Not for long.")
		require.True(t, found.Dialogue)
		require.Equal(t, "It is fast.", found.Text)
	}
}

func TestNamesOfSeveralWords(t *testing.T) {
	s := speech.Seats{Own: "Dr. Lee", Others: []string{"Dr. Lee Jones", "Debater B"}}
	require.Equal(t, "No.", s.Read("Dr. Lee: No.").Text)
	found := s.Read("Dr. Lee: No.\n\nDr. Lee Jones: I say yes.\n\nDebater B: So do I.")
	require.True(t, found.Dialogue)
	require.Equal(t, "No.", found.Text)
}

func FuzzSeats(f *testing.F) {
	for _, d := range dialogues {
		f.Add(d.text)
	}
	for _, text := range answers {
		f.Add(text)
	}
	f.Add(" Ada")
	f.Add("**Ada:** ")
	f.Add("AdA \n#AdA")
	f.Fuzz(func(t *testing.T, text string) {
		found := seats.Read(text)
		require.Contains(t, text, found.Text, "nothing is added")
		if !found.Dialogue && found.Text == "" && text != "" {
			require.Contains(t, strings.ToLower(text), "ada", "only a label of the speaker leaves nothing")
		}
	})
}
