package inspector

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/integrations/launch"
)

// personValue is the value of a seat for which a person speaks.
const personValue = "person"

// A draft is what the form for a new debate holds, as texts: what a visitor has entered, or what the form begins with.
type draft struct {
	Purpose, Topic, Background string
	Model                      string // of all seats
	Rounds, Cost, Labels       string
	Documents                  []document
	Once                       string               // tells this form from others, so that sending it twice begins one debate
	From                       string               // ID of the debate that is the template; empty if there is none
	Of                         map[string]ofPurpose // by the name of the purpose
}

// ofPurpose is what the form holds for one purpose.
type ofPurpose struct {
	Options, Scores string
	Seats           []string // IDs of models, or personValue, or empty for the model of all
	Positions       []string
}

// mistakes holds what is wrong in a form, by the name of the input.
type mistakes map[string][]string

func (m mistakes) add(input, format string, args ...any) {
	m[input] = append(m[input], fmt.Sprintf(format, args...))
}

// draftOf returns what a form holds, without its documents.
func draftOf(form url.Values, o *launch.Offer) draft {
	text := func(name string) string { return strings.ReplaceAll(form.Get(name), "\r\n", "\n") }
	d := draft{
		Purpose: form.Get("purpose"), Topic: text("topic"), Background: text("background"), Model: form.Get("model"),
		Rounds: strings.TrimSpace(form.Get("rounds")), Cost: strings.TrimSpace(form.Get("cost")), Labels: text("labels"),
		Once: form.Get("once"), From: form.Get("from"), Of: map[string]ofPurpose{},
	}
	for _, p := range o.Purposes {
		own := ofPurpose{Options: text(p.Name + ".options"), Scores: text(p.Name + ".scores")}
		for i := range len(p.Config.Participants) + len(p.Config.Judges) {
			own.Seats = append(own.Seats, form.Get(seatInput(p.Name, i)))
			own.Positions = append(own.Positions, strings.TrimSpace(text(positionInput(p.Name, i))))
		}
		d.Of[p.Name] = own
	}
	return d
}

// seatInput and positionInput return the names of inputs of a purpose.
func seatInput(purpose string, i int) string     { return purpose + ".seat" + strconv.Itoa(i) }
func positionInput(purpose string, i int) string { return purpose + ".position" + strconv.Itoa(i) }

// choice returns the choice of a draft, and what is no value of its type.
func (d draft) choice() (launch.Choice, mistakes) {
	wrong := mistakes{}
	own := d.Of[d.Purpose]
	c := launch.Choice{
		Purpose: d.Purpose, Topic: strings.TrimSpace(d.Topic), Background: strings.TrimSpace(d.Background), Model: d.Model,
		Options: linesOf(own.Options), Documents: evidenceOf(d.Documents),
	}
	for i, value := range own.Seats {
		seat := launch.Seat{Position: own.Positions[i]}
		if value == personValue {
			seat.Person = true
		} else {
			seat.Model = value
		}
		c.Seats = append(c.Seats, seat)
	}
	c.Scores = enteredScores(own.Scores, d.Purpose+".scores", wrong)
	c.Labels = labelsOf(d.Labels, wrong)
	if d.Rounds != "" {
		n, err := strconv.Atoi(d.Rounds)
		if err != nil || n < 1 {
			wrong.add("rounds", "%q is no number of rounds, use 1 or more.", d.Rounds)
		}
		c.MaxRounds = n
	}
	if d.Cost != "" {
		amount, err := strconv.ParseFloat(d.Cost, 64)
		if err != nil || math.IsInf(amount, 0) || !(amount > 0) {
			wrong.add("cost", "%q is no amount, use a number above 0, such as 0.50, or nothing for no limit.", d.Cost)
		}
		c.Cost = amount
	}
	return c, wrong
}

// linesOf returns the lines of a text that are not blank.
func linesOf(text string) (list []string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line != "" {
			list = append(list, line)
		}
	}
	return list
}

// partsOf returns the parts of a text that commas or ends of lines separate.
func partsOf(text string) (list []string) {
	return linesOf(strings.ReplaceAll(text, ",", "\n"))
}

// enteredScores returns the scores in a text such as "problem=5, market=7".
func enteredScores(text, input string, wrong mistakes) map[string]float64 {
	var scores map[string]float64
	for _, part := range partsOf(text) {
		name, value, _ := strings.Cut(part, "=")
		score, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		name = strings.TrimSpace(name)
		if err != nil || name == "" || math.IsNaN(score) {
			wrong.add(input, "%q is no score, use a name and a number, such as problem=5.", part)
			continue
		}
		if scores == nil {
			scores = map[string]float64{}
		}
		scores[name] = score
	}
	return scores
}

// labelsOf returns the labels in a text such as "team: red, project: roads".
func labelsOf(text string, wrong mistakes) map[string]string {
	var labels map[string]string
	for _, part := range partsOf(text) {
		name, value, ok := strings.Cut(part, ":")
		name = strings.TrimSpace(name)
		if !ok || name == "" {
			wrong.add("labels", "%q is no label, use a name and a value, such as team: red.", part)
			continue
		}
		if labels == nil {
			labels = map[string]string{}
		}
		labels[name] = strings.TrimSpace(value)
	}
	return labels
}

// addProblems adds the problems of a configuration beside the inputs that they come from. Those of fields without an input are under "".
func (m mistakes) addProblems(err *debate.Problems, d draft, o *launch.Offer) {
	for _, p := range err.List {
		input := inputOf(p.Field, d, o)
		reason := p.Reason
		if input == "" {
			reason = p.Field + ": " + reason
		}
		m.add(input, "%s", sentence(reason))
	}
}

// sentence returns a reason as a sentence.
func sentence(reason string) string {
	if strings.HasSuffix(reason, ".") {
		return reason
	}
	return reason + "."
}

// inputs maps the beginnings of fields of a configuration to inputs.
var inputs = []struct{ field, input string }{
	{"topic", "topic"},
	{"background", "background"},
	{"documents", "documents"},
	{"limits.max_rounds", "rounds"},
	{"limits.cost", "cost"},
	{"labels", "labels"},
	{"purpose", "purpose"},
}

// inputOf returns the name of the input for a field of a configuration, or "" if there is none.
func inputOf(field string, d draft, o *launch.Offer) string {
	for _, x := range inputs {
		if strings.HasPrefix(field, x.field) {
			return x.input
		}
	}
	p, ok := o.Purpose(d.Purpose)
	if !ok {
		return ""
	}
	options, scores := launch.Takes(p.Config.Protocol)
	at, first := -1, 0
	switch {
	case options && (strings.HasPrefix(field, "protocol.decision") || strings.HasPrefix(field, "protocol.options")):
		return d.Purpose + ".options"
	case scores && strings.HasPrefix(field, "protocol.scores"):
		return d.Purpose + ".scores"
	case strings.HasPrefix(field, "participants["):
		_, err := fmt.Sscanf(field, "participants[%d]", &at)
		if err != nil {
			return ""
		}
	case strings.HasPrefix(field, "judges["):
		first = len(p.Config.Participants)
		_, err := fmt.Sscanf(field, "judges[%d]", &at)
		if err != nil {
			return ""
		}
	}
	if at < 0 || first+at >= len(p.Config.Participants)+len(p.Config.Judges) {
		return ""
	}
	if strings.HasSuffix(field, ".position") {
		return positionInput(d.Purpose, first+at)
	}
	return seatInput(d.Purpose, first+at)
}

// draftFrom returns the draft of a configuration for a purpose, and what it cannot take over.
func draftFrom(c debate.Config, purpose launch.Purpose, o *launch.Offer) (d draft, left []string) {
	d = draft{
		Purpose: purpose.Name, Topic: c.Topic, Background: c.Background, Rounds: strconv.Itoa(c.Limits.MaxRounds),
		Of: map[string]ofPurpose{},
	}
	if c.Limits.Cost > 0 {
		d.Cost = strconv.FormatFloat(c.Limits.Cost, 'f', -1, 64)
	}
	var labels []string
	people := shownLabels(c.Labels)
	for _, name := range slices.Sorted(maps.Keys(people)) {
		labels = append(labels, name+": "+people[name])
	}
	d.Labels = strings.Join(labels, ", ")
	for _, x := range c.Documents {
		if x.IsPrivate() {
			left = append(left, fmt.Sprintf("The document %s is private: its text is not stored with the debate.", x.Name))
		} else {
			d.Documents = append(d.Documents, document{x.Name, x.Text})
		}
	}
	own := ofPurpose{}
	options, _ := launch.Takes(c.Protocol)
	if now := launch.Options(c.Protocol); options && !slices.Equal(now, launch.Options(purpose.Config.Protocol)) {
		own.Options = strings.Join(now, "\n")
	}
	if now := launch.Scores(c.Protocol); !maps.Equal(now, launch.Scores(purpose.Config.Protocol)) {
		own.Scores = formatScores(now)
	}
	before := slices.Concat(purpose.Config.Participants, purpose.Config.Judges)
	for i, a := range slices.Concat(c.Participants, c.Judges) {
		value := launch.Model{Provider: a.Provider, Name: a.Model}.ID()
		_, offered := o.Model(value)
		switch {
		case a.Human:
			value = personValue
		case offered:
		case value != "" && i < len(before) && before[i].Provider == a.Provider && before[i].Model == a.Model:
			value = "" // the purpose has it
		case value != "":
			left = append(left, fmt.Sprintf("The model %s of %s is not among the models here.", value, a.Name))
			value = ""
		}
		own.Seats = append(own.Seats, value)
		position := ""
		if i < len(before) && a.Position != before[i].Position {
			position = a.Position
		}
		own.Positions = append(own.Positions, position)
	}
	d.Of[purpose.Name] = own
	return d, left
}

// formatScores returns scores as labels of a form have them.
func formatScores(scores map[string]float64) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(scores)) {
		parts = append(parts, name+"="+strconv.FormatFloat(scores[name], 'f', -1, 64))
	}
	return strings.Join(parts, ", ")
}

// modelOf returns the model of all seats in a draft, which a choice leaves empty for the first one.
func (d draft) modelOf(o *launch.Offer) string {
	if len(o.Models) == 0 {
		return d.Model
	}
	return cmp.Or(d.Model, o.Models[0].ID())
}
