package inspector

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"slices"
	"strconv"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/integrations/debatehttp"
	"github.com/elenchus-go/debate/internal/outcome"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

const (
	maxBeside = 24 << 10 // bytes of the turns that a page shows side by side
	maxValue  = 400      // bytes of a value of a configuration there
	maxDiffer = 40       // differences of configurations on a page
	maxCommon = 8        // turns that are the same in both
)

// compareView is what the page about two debates shows.
type compareView struct {
	Left, Right store.Status
	Differences []difference // of the configurations
	Figures     []difference // of scores, cost and the like
	Same        int          // turns that both have, from the beginning
	Common      []besideTurn // the last of these
	Rounds      []besideRound
	Next        string // the part that follows those on the page; empty if there is none
}

// difference is a value that two debates have.
type difference struct {
	Name, Left, Right, Change string
}

// besideRound is a part of two debates.
type besideRound struct {
	Title, Anchor string
	Left, Right   []besideTurn
}

// besideTurn is a turn of one of two debates.
type besideTurn struct {
	ID    string // of the debate
	Seq   int64
	Actor string
	Title string
	Tone  string
	HTML  template.HTML
	Cut   bool
}

// compare shows the debate and another one, the one in the parameter with, side by side.
func (v *visit) compare() error {
	if err := v.open(debatehttp.Watch); err != nil {
		return err
	}
	left, err := v.momentAt(0)
	if err != nil {
		return err
	}
	here, status := v.debate, v.status
	other := v.r.URL.Query().Get("with")
	if other == "" {
		return &debatehttp.Problem{Title: "The address is wrong", Status: http.StatusBadRequest, Detail: "with is empty, want the id of the other debate"}
	}
	id := v.r.PathValue("id")
	v.r.SetPathValue("id", other)
	if err := v.open(debatehttp.Watch); err != nil {
		return err
	}
	right, err := v.momentAt(0)
	if err != nil {
		return err
	}
	v.r.SetPathValue("id", id)
	v.debate, v.status = here, status
	return v.show("compare", page{Title: status.Topic, Tab: "family", Main: compareMoments(left, right, v.r.URL.Query().Get("from"))})
}

// compareMoments returns what the page shows, from the part with the given anchor on.
func compareMoments(left, right *moment, from string) *compareView {
	c := &compareView{Left: left.status, Right: right.status}
	c.Differences = configDifferences(&left.config, &right.config)
	c.Figures = figures(left, right)
	a, b := shownTurns(left), shownTurns(right)
	n := commonTurns(a, b)
	tones := actorsOf(&left.history)
	c.Same = n
	for i := max(n-maxCommon, 0); i < n; i++ {
		c.Common = append(c.Common, newBesideTurn(&a[i], left.status.ID, tones))
	}
	parts := slices.Concat(besideRounds(left.status.ID, a[n:], tones, true), besideRounds(right.status.ID, b[n:], actorsOf(&right.history), false))
	list := mergeRounds(parts)
	if at := slices.IndexFunc(list, func(r besideRound) bool { return r.Anchor == from }); at > 0 {
		list = list[at:]
	}
	size := 0
	for _, p := range list {
		size += p.size()
		if size > maxBeside && len(c.Rounds) > 0 {
			c.Next = p.Anchor
			break
		}
		c.Rounds = append(c.Rounds, p)
	}
	return c
}

// commonTurns returns how many turns at the beginning are the same in both lists.
func commonTurns(a, b []transcript.Turn) (n int) {
	for n < min(len(a), len(b)) && a[n].Key == b[n].Key && a[n].Text == b[n].Text && bytes.Equal(a[n].Data, b[n].Data) {
		n++
	}
	return n
}

func newBesideTurn(t *transcript.Turn, id string, actors []actor) besideTurn {
	said := saidOf(*t, actors, maxExtent)
	return besideTurn{ID: id, Seq: t.Seq, Actor: t.Actor, Title: turnTitle(t), Tone: said.Tone, HTML: said.HTML, Cut: said.Cut}
}

// besideRounds returns the turns of one debate by their part of it.
func besideRounds(id string, turns []transcript.Turn, actors []actor, left bool) (list []besideRound) {
	for i := range turns {
		title, anchor := headingOf(&turns[i])
		if n := len(list); anchor == "" && n > 0 { // it belongs to the part that is open
			title, anchor = list[n-1].Title, list[n-1].Anchor
		}
		if n := len(list); n == 0 || list[n-1].Anchor != anchor {
			list = append(list, besideRound{Title: title, Anchor: anchor})
		}
		last, t := &list[len(list)-1], newBesideTurn(&turns[i], id, actors)
		if left {
			last.Left = append(last.Left, t)
		} else {
			last.Right = append(last.Right, t)
		}
	}
	return list
}

// mergeRounds puts the parts of two debates with the same anchor together: first what is before the rounds, then the rounds
// in order, then the conclusion.
func mergeRounds(parts []besideRound) []besideRound {
	all := map[string]*besideRound{}
	for _, p := range parts {
		if all[p.Anchor] == nil {
			all[p.Anchor] = &besideRound{Title: p.Title, Anchor: p.Anchor}
		}
		all[p.Anchor].Left = append(all[p.Anchor].Left, p.Left...)
		all[p.Anchor].Right = append(all[p.Anchor].Right, p.Right...)
	}
	place := func(anchor string) int {
		var n int
		switch _, err := fmt.Sscanf(anchor, "round-%d", &n); {
		case err == nil:
			return n
		case anchor == "conclusion":
			return 1 << 30
		}
		return 0
	}
	var list []besideRound
	for _, anchor := range slices.SortedFunc(maps.Keys(all), func(a, b string) int { return place(a) - place(b) }) {
		list = append(list, *all[anchor])
	}
	return list
}

// size returns the bytes of the texts.
func (r *besideRound) size() (n int) {
	for _, t := range slices.Concat(r.Left, r.Right) {
		n += len(t.HTML) + 300
	}
	return n
}

// figures returns what can be compared in numbers and words.
func figures(left, right *moment) (list []difference) {
	a, b := left.result, right.result
	number := func(name string, x, y float64, format func(float64) string) {
		if x != 0 || y != 0 {
			change := y - x
			d := difference{Name: name, Left: format(x), Right: format(y), Change: format(change)}
			if change > 0 {
				d.Change = "+" + d.Change
			}
			list = append(list, d)
		}
	}
	text := func(name, x, y string) {
		if x != "" || y != "" {
			list = append(list, difference{Name: name, Left: x, Right: y})
		}
	}
	count := func(v float64) string { return outcome.Thousands(int(v)) }
	text("State", words(a.State), words(b.State))
	text("Outcome", words(a.Ending.Outcome), words(b.Ending.Outcome))
	text("Answer", shortAnswer(a), shortAnswer(b))
	number("Rounds", float64(a.Round), float64(b.Round), count)
	number("Turns", float64(len(a.Turns)), float64(len(b.Turns)), count)
	number("Tokens of prompts", float64(a.Total.Usage.Input), float64(b.Total.Usage.Input), count)
	number("Tokens of replies", float64(a.Total.Usage.Output), float64(b.Total.Usage.Output), count)
	number("Cost", a.Total.Usage.Cost, b.Total.Usage.Cost, formatCost)
	last, other := finalScores(left), finalScores(right)
	for _, name := range slices.Sorted(maps.Keys(last)) {
		if score, both := other[name]; both {
			number("Score of "+name, last[name], score, outcome.Number)
		}
	}
	return list
}

// finalScores returns the last score of each series.
func finalScores(m *moment) map[string]float64 {
	final := map[string]float64{}
	if t := scoresOf(m.result, &m.config); t != nil {
		for _, s := range t.Series {
			for _, c := range s.Cells {
				if v, err := strconv.ParseFloat(c, 64); err == nil {
					final[s.Name] = v
				}
			}
		}
	}
	return final
}

// shortAnswer returns the beginning of a debate's answer.
func shortAnswer(r *debate.Result) string {
	return cut(r.Answer.Text, 300)
}

// configDifferences returns the fields in which two configurations differ. Their ids and labels do not count.
func configDifferences(a, b *debate.Config) (list []difference) {
	left, right := fieldsOf(a), fieldsOf(b)
	names := maps.Clone(left)
	maps.Copy(names, right)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if left[name] != right[name] && len(list) < maxDiffer {
			list = append(list, difference{Name: name, Left: cut(left[name], maxValue), Right: cut(right[name], maxValue)})
		}
	}
	return list
}

// fieldsOf returns the values of a configuration by their paths.
func fieldsOf(c *debate.Config) map[string]string {
	plain := *c
	plain.ID, plain.Labels = "", nil
	fields := map[string]string{}
	var value any
	if b, err := json.Marshal(plain); err != nil || json.Unmarshal(b, &value) != nil {
		return fields
	}
	addFields(fields, "", value)
	return fields
}

// addFields adds a JSON value and everything in it.
func addFields(fields map[string]string, path string, value any) {
	switch v := value.(type) {
	case map[string]any:
		for name, x := range v {
			at := name
			if path != "" {
				at = path + "." + name
			}
			addFields(fields, at, x)
		}
	case []any:
		for i, x := range v {
			addFields(fields, fmt.Sprintf("%s[%d]", path, i), x)
		}
	default:
		fields[path] = fmt.Sprint(v)
	}
}
