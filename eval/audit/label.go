package audit

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/elenchus-go/debate"
	rundebates "github.com/elenchus-go/debate/internal/runs"
	"github.com/elenchus-go/debate/judge/agreement"
	"github.com/elenchus-go/debate/protocol/pairwise"
	"github.com/elenchus-go/debate/report/progress"
	"github.com/elenchus-go/debate/store"
)

// Labeling asks a person which answer of a pair is better, or who has won a debate, to get gold labels. Each question is a
// debate in a store that waits for the person, who judges in the seat of a blind judge: at a terminal, in the inspector's inbox, or
// over HTTP. No model is called. These debates have the labels "labels", which is the name, and "item". Set Pairs or Debates.
type Labeling struct {
	// Name identifies the labels in their store. Use at most 128 bytes without control characters.
	Name string
	// Pairs are judged as by the judges of an audit. Their gold labels are not used. Every second pair of the sample is shown with B
	// first.
	Pairs []Pair
	// Debates are ids of debates in the store that their judges have concluded: by naming the winner of two participants, with the
	// protocols panel or procon, or by deciding between two options. Each is forked before its conclusion, and the person concludes
	// the fork, without seeing what the judges have said.
	Debates []string
	// Size is the number of items in the sample. Defaults to all. A larger sample has the items of a smaller one.
	Size int
	// Seed draws the sample. Of each group of pairs, or of the debates on each topic, it has one item before it has a second one of
	// any. Defaults to Name.
	Seed string
	// Judge is the name of the person's seat. Defaults to Labeler.
	Judge string
	// Progress is called after each item. Calls do not overlap.
	Progress func(progress.Tasks)
	// Stop ends the labeling when it is closed.
	Stop <-chan struct{}
}

// Labels says what a person has said so far. It is plain data.
type Labels struct {
	Name     string `json:"name"`
	Judge    string `json:"judge"`    // the name of the person's seat
	Sample   int    `json:"sample"`   // items in the sample
	A        int    `json:"a"`        // labels for A: the first answer, participant or option
	B        int    `json:"b"`        // labels for B
	Neither  int    `json:"neither"`  // items of which neither is better; they have no label
	Declined int    `json:"declined"` // items that the person did not judge
	// Waiting are the ids of the debates that wait for the person.
	Waiting []string `json:"waiting"`
	// Pairs are the labeled pairs, with the labels as gold, for an [Audit].
	Pairs []Pair `json:"pairs,omitempty"`
	// Items are the labeled debates, with the labels as gold and with the decisions of their judges, for agreement.Calibrate.
	Items []agreement.Item `json:"items,omitempty"`
}

// Labels of the debates that ask.
const (
	labelLabels = "labels"
	labelItem   = "item"
)

// defaultJudge is the default name of the person's seat.
const defaultJudge = "Labeler"

// Run creates the debates of the sample that are missing in the store of o, concludes those that the person has answered, and
// returns the labels so far. The person answers between two calls.
func (l Labeling) Run(ctx context.Context, o debate.Options) (*Labels, error) {
	l.Judge, l.Seed = cmp.Or(l.Judge, defaultJudge), cmp.Or(l.Seed, l.Name)
	if err := l.check(); err != nil {
		return nil, err
	}
	shared, err := rundebates.Open(l.runs(), o)
	if err != nil {
		return nil, err
	}
	defer shared.Close(ctx)
	r := &labeler{Labeling: l, Runner: shared}
	if err := r.draw(ctx); err != nil {
		return nil, fmt.Errorf("label %s: %w", l.Name, err)
	}
	r.ends = make([]store.Status, len(r.sample))
	if err := r.Each(ctx, len(r.sample), r.ask); err != nil {
		return nil, fmt.Errorf("label %s: %w", l.Name, err)
	}
	return r.labels(ctx)
}

func (l *Labeling) runs() rundebates.Config {
	return rundebates.Config{Label: labelLabels, What: "labels", Name: l.Name, Progress: l.Progress, Stop: l.Stop}
}

// check returns everything that is wrong with the labeling.
func (l *Labeling) check() error {
	var wrong []error
	add := func(format string, args ...any) { wrong = append(wrong, fmt.Errorf(format, args...)) }
	if !rundebates.IsName(l.Name) {
		add("name: %q, use 1 to %d bytes without control characters", l.Name, rundebates.MaxName)
	}
	switch {
	case len(l.Pairs) > 0 && len(l.Debates) > 0:
		add("debates: there are pairs too, use one of them")
	case len(l.Debates) == 0:
		wrong = append(wrong, checkPairs(l.Pairs, false)...)
	}
	if l.Size < 0 {
		add("size: %d, use 1 or more", l.Size)
	}
	return rundebates.Check("labels", wrong)
}

// question is an item of the sample, and the debate that asks about it.
type question struct {
	id, group string
	swapped   bool // B is shown first
	pair      Pair
	concluded concluded     // of a debate; zero for a pair
	config    debate.Config // of the debate that asks
}

// labeler asks a person.
type labeler struct {
	Labeling
	*rundebates.Runner

	sample []question
	ends   []store.Status // of the debates that ask
}

// draw draws the sample.
func (r *labeler) draw(ctx context.Context) error {
	var all []question
	for _, p := range r.Pairs {
		all = append(all, question{id: p.ID, group: cmp.Or(p.Group, p.ID), pair: p})
	}
	for _, id := range r.Debates {
		c, err := readConcluded(ctx, r.Engine, id)
		if err != nil {
			return fmt.Errorf("read debate %s: %w", id, err)
		}
		all = append(all, question{id: id, group: c.item.Group, concluded: c})
	}
	r.sample = drawn(all, r.Seed, r.Size)
	for i := range r.sample {
		q := &r.sample[i]
		q.swapped = i%2 == 1
		c := q.concluded.forPerson(r.Judge)
		if len(r.Debates) == 0 {
			c = r.pairConfig(*q)
		}
		var err error
		q.config, err = r.runs().Labeled(c, map[string]string{labelItem: q.id}, q.id, r.Judge)
		if err != nil {
			return err
		}
	}
	return nil
}

// pairConfig returns the debate that asks about a pair.
func (r *labeler) pairConfig(q question) debate.Config {
	first, second := q.pair.A, q.pair.B
	if q.swapped {
		first, second = second, first
	}
	return debate.Config{
		Topic: q.pair.Question, Reference: q.pair.Reference, Protocol: pairwise.Protocol{A: first, B: second, Once: true},
		Judges: []debate.Participant{{Name: r.Judge, Human: true, Blind: true}},
	}
}

// ask drives the debate that asks about an item, which it creates if it is missing.
func (r *labeler) ask(ctx context.Context, i int) (whole bool, err error) {
	q := &r.sample[i]
	if _, err := r.Engine.Open(ctx, q.config.ID); errors.Is(err, store.ErrNotFound) && q.concluded.id != "" {
		_, err = r.Engine.Fork(ctx, q.concluded.id, q.concluded.before, debate.Edits{ID: q.config.ID, Config: &q.config})
		if err != nil {
			return false, err
		}
	}
	r.ends[i], err = r.Drive(ctx, q.config)
	return err == nil && r.ends[i].State.Final(), err
}

// labels reads what the person has said.
func (r *labeler) labels(ctx context.Context) (*Labels, error) {
	l := &Labels{Name: r.Name, Judge: r.Judge, Sample: len(r.sample), Waiting: []string{}}
	for i, q := range r.sample {
		if end := r.ends[i]; !end.State.Final() {
			if end.ID != "" {
				l.Waiting = append(l.Waiting, end.ID)
			}
			continue
		}
		d, err := r.Engine.Open(ctx, q.config.ID)
		if err != nil {
			return nil, err
		}
		result, err := d.Result(ctx)
		if err != nil {
			return nil, err
		}
		l.add(q, q.label(result, r.Judge))
	}
	return l, nil
}

// label returns the label of an item: Tie for neither, and None without one.
func (q question) label(r *debate.Result, judge string) agreement.Decision {
	if q.concluded.id != "" {
		said := q.concluded.itemOf(r.Turns).Decisions[judge]
		if len(said) == 0 {
			return agreement.None
		}
		return said[0]
	}
	x, err := pairwise.DecodeAnswer(r.Answer)
	if err != nil || len(x.Decisions[judge]) == 0 {
		return agreement.None
	}
	label := x.Decisions[judge][0]
	if swapped := (map[agreement.Decision]agreement.Decision{agreement.A: agreement.B, agreement.B: agreement.A})[label]; q.swapped && swapped != "" {
		return swapped
	}
	return label
}

// add adds the label of an item.
func (l *Labels) add(q question, label agreement.Decision) {
	switch label {
	case agreement.A:
		l.A++
	case agreement.B:
		l.B++
	case agreement.Tie:
		l.Neither++
		return
	case agreement.None:
		l.Declined++
		return
	}
	if q.concluded.id == "" {
		q.pair.Gold = label
		l.Pairs = append(l.Pairs, q.pair)
		return
	}
	item := q.concluded.item
	item.Gold = label
	l.Items = append(l.Items, item)
}

// Write writes a line of JSON for each labeled item: a [Pair], or an agreement.Item for a debate.
func (l *Labels) Write(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	for _, p := range l.Pairs {
		if err := e.Encode(p); err != nil {
			return fmt.Errorf("write label of pair %s: %w", p.ID, err)
		}
	}
	for _, i := range l.Items {
		if err := e.Encode(i); err != nil {
			return fmt.Errorf("write label of debate %s: %w", i.ID, err)
		}
	}
	return nil
}

// String returns the progress in a sentence.
func (l *Labels) String() string {
	text := fmt.Sprintf("%d of %d labeled: %d for the first, %d for the second", l.A+l.B, l.Sample, l.A, l.B)
	if l.Neither > 0 {
		text += fmt.Sprintf("; %d for neither", l.Neither)
	}
	if l.Declined > 0 {
		text += fmt.Sprintf("; %d declined", l.Declined)
	}
	if n := len(l.Waiting); n > 0 {
		text += fmt.Sprintf("; %d wait for %s", n, strings.ReplaceAll(l.Judge, "\n", " "))
	}
	return text
}

// drawn returns a sample: in an order that the seed draws, one item of each group, then a second one of each, and so on. All is
// drawn from the ids, so a larger sample begins with a smaller one. A sample that is balanced by what judges have decided would
// not be one of the questions that they decide, and a calibration of it would promise too much.
func drawn(all []question, seed string, size int) []question {
	hash := func(texts ...string) uint64 {
		h := sha256.New()
		for _, t := range append([]string{seed}, texts...) {
			fmt.Fprintf(h, "%d %s", len(t), t)
		}
		return binary.BigEndian.Uint64(h.Sum(nil))
	}
	byHash := func(a, b question) int {
		switch x, y := hash(a.id), hash(b.id); {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	}
	all = slices.Clone(all)
	slices.SortStableFunc(all, byHash)
	turn, place := map[string]int{}, map[string]int{}
	for _, q := range all {
		place[q.id] = turn[q.group]
		turn[q.group]++
	}
	slices.SortStableFunc(all, func(a, b question) int { return place[a.id] - place[b.id] })
	if size > 0 {
		all = all[:min(size, len(all))]
	}
	return all
}
