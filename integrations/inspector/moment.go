package inspector

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/integrations/debatehttp"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// maxReply limits the bytes of a validated reply, of its reasoning, and of all that the service replied, on a page.
const maxReply = 5 << 10

const (
	listed   = 8  // entries that a page lists before and after the one that it shows
	maxMarks = 30 // marks of rounds at the slider

	maxPast = 12 << 10 // bytes of the turns, as HTML, that the page shows, unless the last one is longer
)

// moment is a debate as it was after one entry of its journal, as far as the visitor's seat may see it.
type moment struct {
	history
	event   debate.Event         // in the entry
	last    int64                // the last entry that the visitor may see
	journey journey              // up to the entry
	called  []debate.ToolsCalled // the rounds of the step whose turn the entry is, and of steps without a turn
	refused map[fsm.Event]error
	entries []entry // the entry and those near it
	rounds  []entry // those in which a round begins, of the whole journal
	taken   bool

	nextTurn int64 // the first turn after the entry; 0 if there is none
}

// entry is an entry of the journal in a list.
type entry struct {
	Seq   int64
	At    time.Time
	Title string
}

// momentAt reads the journal once, and returns the debate as it was after an entry. Without such an entry it is the last one.
// It refuses judges who must not know who says what.
func (v *visit) momentAt(seq int64) (*moment, error) {
	m := &moment{refused: map[fsm.Event]error{}}
	if seq <= 0 {
		seq = v.status.Seq
	}
	var config []byte
	var last *debate.Snapshot
	for s, err := range v.debate.ReplayAs(v.r.Context(), v.seat) {
		if err != nil {
			return nil, err
		}
		last = s
		if !m.taken {
			m.journey.add(s.Event)
			m.call(s.Event, seq)
		}
		if c, ok := s.Event.(debate.ConfigChanged); ok && !m.taken {
			config = c.Config
		}
		m.list(s.Event, seq)
		if m.last == seq {
			v.take(m, s, config)
		}
	}
	if last == nil {
		return nil, errMasked(v.seat)
	}
	if !m.taken {
		v.take(m, last, config)
	}
	m.entries = slices.DeleteFunc(m.entries, func(e entry) bool { return e.Seq < m.status.Seq-listed })
	return m, nil
}

// take keeps what a snapshot shows. The snapshot is not valid later.
func (v *visit) take(m *moment, s *debate.Snapshot, config []byte) {
	m.status = s.Status()
	m.result = s.Result()
	m.event = s.Event
	m.taken = true
	for _, on := range controlEvents {
		m.refused[on] = s.Refusal(on)
	}
	m.config = v.configOf(config)
}

// list adds an entry to the lists that it belongs to.
func (m *moment) list(ev debate.Event, seq int64) {
	m.last = ev.Meta().Seq
	if _, ok := ev.(debate.TurnDone); ok && m.last > seq && m.nextTurn == 0 {
		m.nextTurn = m.last
	}
	phase, ok := ev.(debate.PhaseStarted)
	if ok && phase.Round > 0 && phase.Stage == transcript.Speech {
		e := entryOf(ev)
		e.Title = "Round " + strconv.Itoa(phase.Round)
		if n := len(m.rounds); n == 0 || m.rounds[n-1].Title != e.Title {
			m.rounds = append(m.rounds, e)
		}
	}
	if m.last > seq+listed {
		return
	}
	if len(m.entries) > 4*listed { // only those near the entry matter
		m.entries = slices.Delete(m.entries, 0, 2*listed)
	}
	m.entries = append(m.entries, entryOf(ev))
}

// entryOf returns an entry for lists.
func entryOf(ev debate.Event) entry {
	e := entry{Seq: ev.Meta().Seq}
	switch ev := ev.(type) {
	case debate.ConfigChanged:
		e.At, e.Title = ev.At, "The configuration is stored"
	case debate.StateChanged:
		e.At, e.Title = ev.At, fmt.Sprintf("%s: %s → %s", words(ev.On), words(ev.From), words(ev.To))
	case debate.PhaseStarted:
		e.At, e.Title = ev.At, fmt.Sprintf("%s begins, round %d", words(ev.Phase), ev.Round)
	case debate.TurnDone:
		e.At, e.Title = ev.At, turnTitle(&ev.Turn)
	case debate.Dropped:
		e.At, e.Title = ev.At, ev.Name+" takes no further part"
	case debate.Decided:
		e.At, e.Title = ev.At, "A person decides: "+words(ev.Action)
	case debate.Asked:
		e.At, e.Title = ev.At, ev.Key.Actor+" is asked to reply"
	case debate.ToolsCalled:
		e.At, e.Title = ev.At, fmt.Sprintf("%s calls tools, round %d of the step", ev.Key.Actor, ev.Number)
	case debate.Annotated:
		e.At, e.Title = ev.At, "A note is stored"
	}
	return e
}

// shownTurns returns the turns of a debate without vectors.
func shownTurns(m *moment) []transcript.Turn {
	return slices.DeleteFunc(slices.Clone(m.result.Turns), func(t transcript.Turn) bool { return t.Kind == transcript.Embeddings })
}

// turnTitle returns a turn in a few words, such as "Ada: rebut, round 2".
func turnTitle(t *transcript.Turn) string {
	title := t.Actor + ": " + words(cmp.Or(t.Phase, string(t.Kind)))
	if t.Target != "" && t.Kind != transcript.Remark {
		title += " (" + words(t.Target) + ")"
	}
	if t.Round > 0 {
		title += ", round " + strconv.Itoa(t.Round)
	}
	return title
}

// pastView is what the page about a moment shows.
type pastView struct {
	Status store.Status
	Result *debate.Result
	Entry  entry
	Notes  []string // what else the entry says
	Said   *said    // the turn in the entry; nil if it has none

	Last      int64
	Before    int64 // the entry before it; 0 if there is none
	After     int64 // the entry after it; 0 if there is none
	Entries   []entry
	Marks     []entry
	Lifecycle *lifecycle
	Scores    *scoreTable // nil if nothing is scored yet
	Turns     []said
	Earlier   int64 // seq of the first turn that is shown, if there are earlier ones
	Later     bool  // whether there are later turns than those shown
}

// nowOrThen shows a debate as it is, or as it was if the address has the parameter at.
func (v *visit) nowOrThen() error {
	if v.r.URL.Query().Has("at") {
		return v.past()
	}
	return v.now()
}

// past shows a debate as it was. The parameter at is the seq of an entry.
func (v *visit) past() error {
	m, before, err := v.askedMoment()
	if err != nil {
		return err
	}
	return v.show("past", page{Title: v.status.Topic, Tab: "past", Scripts: []string{"time.js"}, Main: m.view(before)})
}

// askedMoment opens the debate, and returns the moment and the number in the parameters at and before.
func (v *visit) askedMoment() (m *moment, before int64, err error) {
	if err := v.open(debatehttp.Watch); err != nil {
		return nil, 0, err
	}
	at, err := v.number("at")
	if err != nil {
		return nil, 0, err
	}
	before, err = v.number("before")
	if err != nil {
		return nil, 0, err
	}
	m, err = v.momentAt(at)
	return m, before, err
}

// view returns what the page shows of a moment, with the turns before a seq.
func (m *moment) view(before int64) *pastView {
	seq := m.status.Seq
	p := &pastView{
		Status: m.status, Result: m.result, Entry: entryOf(m.event), Notes: notesOf(m.event), Last: m.last, Entries: m.entries,
		Marks: spread(m.rounds, maxMarks), Scores: scoresOf(m.result, &m.config),
		Lifecycle: drawLifecycle(m.status.State, &m.journey, func(on fsm.Event) error { return m.refused[on] }),
	}
	if seq > 1 {
		p.Before = seq - 1
	}
	if seq < m.last {
		p.After = seq + 1
	}
	actors := actorsOf(&m.history)
	p.Turns, p.Earlier, p.Later = turnsOf(&m.history, actors, before, maxPast)
	if done, ok := m.event.(debate.TurnDone); ok {
		said := saidOf(done.Turn, actors, maxExtent) // the rest is among the turns
		p.Said = &said
	}
	return p
}

// call keeps the rounds of tool calls that the turn in an entry needs.
func (m *moment) call(ev debate.Event, seq int64) {
	switch ev := ev.(type) {
	case debate.ToolsCalled:
		same := func(r debate.ToolsCalled) bool { return r.Key == ev.Key && r.Number == ev.Number }
		m.called = append(slices.DeleteFunc(m.called, same), ev) // a call that has waited has two entries
	case debate.TurnDone:
		m.called = slices.DeleteFunc(m.called, func(r debate.ToolsCalled) bool { return (r.Key == ev.Turn.Key) != (ev.Seq == seq) })
	}
}

// callLines returns the calls of a round, each with its sources.
func callLines(ev *debate.ToolsCalled) (lines []string) {
	for _, c := range ev.Calls {
		texts := []string{c.String()}
		for _, s := range c.Sources {
			texts = append(texts, "Source: "+cut(s.Title+" "+s.URI, 200))
		}
		lines = append(lines, strings.Join(texts, "\n"))
	}
	return lines
}

// firstLines returns as many lines as a page has room for.
func firstLines(lines []string, of string) []string {
	size := 0
	for i, line := range lines {
		size += len(line)
		if size > maxReply {
			return append(slices.Clip(lines[:i]), fmt.Sprintf("%d more %s", len(lines)-i, of))
		}
	}
	return lines
}

// notesOf returns what an entry says beyond its title.
func notesOf(ev debate.Event) (list []string) {
	add := func(texts ...string) {
		for _, text := range texts {
			if text != "" {
				list = append(list, text)
			}
		}
	}
	switch ev := ev.(type) {
	case debate.StateChanged:
		add(words(ev.Ending.Outcome), ev.Ending.Evidence)
		if ev.Failure != nil {
			add(ev.Failure.Error())
		}
		if ev.Question != nil {
			add("A person has to decide: " + ev.Question.String())
		}
		for _, p := range ev.Problems {
			add(p.String())
		}
		for _, f := range ev.Findings {
			add(f.String())
		}
		for _, w := range ev.Warnings {
			add(w.Text)
		}
	case debate.PhaseStarted:
		add("Steps: " + strconv.Itoa(ev.Steps))
	case debate.Dropped:
		if ev.Failure != nil {
			add(ev.Failure.Error())
		}
	case debate.Decided:
		add(ev.By, ev.Reason)
	case debate.ToolsCalled:
		add(firstLines(callLines(&ev), "calls")...)
	case debate.Asked:
		for _, attached := range ev.Attachments {
			add("Attached: " + attached)
		}
		add(ev.Task)
	}
	return list
}
