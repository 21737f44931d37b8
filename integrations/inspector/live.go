package inspector

import (
	"errors"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/eval/influence"
	"github.com/elenchus-go/debate/integrations/debatehttp"
	"github.com/elenchus-go/debate/internal/outcome"
	"github.com/elenchus-go/debate/internal/readmodel"
	"github.com/elenchus-go/debate/internal/sources"
	"github.com/elenchus-go/debate/report/progress"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

const (
	maxShown  = 20 << 10 // bytes of the turns, as HTML, that the page of a debate shows, unless the last one is longer
	maxTurn   = 12 << 10 // bytes of one turn there
	maxExtent = 1500     // bytes of a turn of which a page shows the beginning
	frame     = 500      // bytes of HTML around the text of a turn
	maxNotes  = 20       // notes that the page of a debate shows
	maxNote   = 300      // bytes of one note there
)

// now shows a debate as it is, and app.js keeps the page up to date.
func (v *visit) now() error {
	if err := v.open(debatehttp.Watch); err != nil {
		return err
	}
	before, err := v.number("before")
	if err != nil {
		return err
	}
	code := http.StatusOK
	if v.refused != nil {
		code = v.refused.Status
	}
	var body []byte
	if v.refused != nil || before > 0 {
		body, err = v.renderNow()
	} else {
		body, err = v.pages.get(pageKey{v.status.ID, v.status.Created.UTC(), v.status.Seq, v.seat}, v.renderNow)
	}
	if err == nil {
		v.answer(code, body)
	}
	return err
}

// renderNow returns the page of a debate. It must not depend on the principal, because visitors share it.
func (v *visit) renderNow() ([]byte, error) {
	h, err := v.read()
	if err != nil {
		return nil, err
	}
	shown, err := v.live(h)
	if err != nil {
		return nil, err
	}
	return v.render("live", page{Title: v.status.Topic, Scripts: appScript, Main: shown})
}

// events streams the events of a debate from the API. A browser cannot send Last-Event-ID with its first request, so the
// parameter after says which events the page has.
func (v *visit) events() error {
	r := v.whole.Clone(v.whole.Context()) // the stream lasts
	q := r.URL.Query()
	if after := q.Get("after"); after != "" && r.Header.Get("Last-Event-ID") == "" {
		r.Header.Set("Last-Event-ID", after)
	}
	q.Del("after")
	r.URL.RawQuery = q.Encode()
	v.api.ServeHTTP(v.w, r)
	return nil
}

// liveView is what the page of a debate shows.
type liveView struct {
	Status      store.Status
	Result      *debate.Result
	Phases      []progress.Update
	Actors      []actor
	Turns       []said
	Earlier     int64 // seq of the first turn that is shown, if there are earlier ones
	Later       bool  // whether there are later turns than those shown
	Budgets     []budget
	Controls    []control
	Asked       []ask
	Others      []string // people whose replies the debate waits for, but not from this seat
	Attached    []attached
	Read        []attached
	Sources     []string // those that turns cite
	MoreSources int
	Answer      template.HTML // empty before the end
	Decided     string        // the answer in one sentence, after the end
	Notices     []string      // what a reader should know before relying on the answer
	Archive     bool          // whether the journal can be downloaded
	Masked      bool          // whether the visitor must not know who says what
	Refused     *debatehttp.Problem
	Advice      *advice // what the debate waits for; nil if it waits for nothing
	Stream      bool    // whether more may follow, so that the page follows the events
}

type note struct{ Name, Value string }

// Notes returns the signature of the debate, and the notes that the page shows, sorted by name.
func (l liveView) Notes() (list []note) {
	if s := l.Result.Signature; s != nil {
		list = append(list, note{"signed by", fmt.Sprintf("%s, entries 1 to %d with the head %s", s.Signer, s.Entries, s.Head)})
	}
	names := slices.Sorted(maps.Keys(l.Result.Annotations))
	for _, name := range names[:min(len(names), maxNotes)] {
		list = append(list, note{name, cut(string(l.Result.Annotations[name]), maxNote)})
	}
	return list
}

// MoreNotes returns the number of notes that the page does not show.
func (l liveView) MoreNotes() int { return max(len(l.Result.Annotations)-maxNotes, 0) }

// live returns what the page shows.
func (v *visit) live(h *history) (shown liveView, err error) {
	shown = liveView{
		Status: h.status, Result: h.result, Phases: h.phases, Actors: actorsOf(h), Budgets: budgetsOf(h), Controls: controlsOf(h), Refused: v.refused, Archive: v.Store != nil,
		Attached: v.attachmentsOf(h), Read: v.documentsOf(h),
	}
	before, err := v.number("before")
	if err != nil {
		return shown, err
	}
	shown.Stream = !h.status.State.Final() && before == 0
	if h.status.State.Final() {
		shown.Answer = markdown(cut(h.result.Answer.Text, maxTurn))
		shown.Decided = readmodel.Sentence(h.result, nil)
		shown.Notices = append(readmodel.Notices(h.result, h.gone), h.result.Outcome.Notes...)
	}
	shown.Asked, err = v.asked(h)
	if err != nil {
		return shown, err
	}
	if len(shown.Asked) == 0 && (!h.masked || len(h.status.Waiting) > 0) { // otherwise it could name who must not be known
		shown.Advice = v.adviceOn(h)
	}
	room := maxShown - len(shown.Answer) - len(shown.Decided) - len(strings.Join(shown.Notices, ""))
	if !h.masked {
		size := 0
		shown.Sources, shown.MoreSources, size = sourceLines(h.result.Sources)
		room -= size
	}
	if len(shown.Asked) > 0 { // their forms need room too
		room = maxShown / 4
	}
	shown.Turns, shown.Earlier, shown.Later = turnsOf(h, shown.Actors, before, room)
	shown.Masked = h.masked
	if shown.Masked {
		shown.Turns = nil
		shown.Earlier = 0
		shown.Later = false
		shown.Actors = nil
		shown.Stream = false
		shown.Result = withoutNames(h.result)
	}
	for _, name := range h.status.Waiting { // a seat may not know yet whether others have spoken
		if name != v.seat && !slices.Contains(shown.Others, name) {
			shown.Others = append(shown.Others, name)
		}
	}
	if h.masked && len(shown.Asked) > 0 { // the history has more than the seat may know
		shown.Others, shown.Phases = nil, nil
	}
	return shown, nil
}

// withoutNames returns a result without the texts that name participants, from which a judge could tell who says what.
func withoutNames(r *debate.Result) *debate.Result {
	shown := *r
	shown.Ending.Evidence = ""
	shown.Failure = nil
	shown.Annotations = nil
	if q := r.Question; q != nil && (q.Failure != nil || q.Call != nil) {
		shown.Question = nil
	}
	return &shown
}

// asked returns what the visitor's seat is asked.
func (v *visit) asked(h *history) (list []ask, err error) {
	if len(v.status.Waiting) == 0 && len(h.status.Waiting) == 0 { // the journal may be newer than the status
		return nil, nil
	}
	all, err := v.debate.Waiting(v.r.Context())
	if err != nil && !errors.Is(err, debate.ErrUnsupported) {
		return nil, err
	}
	for _, a := range all {
		if a.Key.Actor == v.seat {
			list = append(list, askOf(a))
		}
	}
	return list, nil
}

// An actor is a participant or a judge as the pages show it.
type actor struct {
	debate.ParticipantStatus
	Profile debate.Participant
	Tone    string // class of its color: "tone0" to "tone7", "judge", or "other"
	Place   string // class of its place in the conversation: "left", "right" or "wide"
	Judge   bool
}

// actorsOf returns the participants and judges, in order.
func actorsOf(h *history) (list []actor) {
	profiles := slices.Concat(h.config.Participants, h.config.Judges)
	for _, s := range readmodel.CastOf(h.result, h.config.Participants, h.config.Judges) {
		a := actor{
			ParticipantStatus: debate.ParticipantStatus{Name: s.Name, State: "active"}, Place: s.Place, Tone: "judge",
			Judge: s.Color < 0,
		}
		if !a.Judge {
			a.Tone = "tone" + strconv.Itoa(s.Color)
		}
		at := slices.IndexFunc(profiles, func(p debate.Participant) bool { return p.Name == s.Name })
		if at < 0 {
			continue // it is neither a participant nor a judge
		}
		a.Profile = profiles[at]
		at = slices.IndexFunc(h.result.Participants, func(p debate.ParticipantStatus) bool { return p.Name == s.Name })
		if at >= 0 {
			a.ParticipantStatus = h.result.Participants[at]
		}
		list = append(list, a)
	}
	return list
}

// said is a turn as the pages show it.
type said struct {
	transcript.Turn
	Heading string // of the round, before its first turn; empty elsewhere
	Anchor  string // its id
	Tone    string
	Place   string
	HTML    template.HTML
	Cut     bool   // whether the text is longer
	Quotes  string // how many of its quotes are right; empty if there are none
	Without string // what an analysis has found about the debate without it; empty if none has
}

// turnsOf returns the last turns before the one with the seq before, or the last ones if before is 0, the seq of the first of
// them if there are earlier ones, and whether there are later ones. Together they have at most room bytes of HTML, unless it
// is a single turn.
func turnsOf(h *history, actors []actor, before int64, room int) (list []said, earlier int64, later bool) {
	turns := slices.DeleteFunc(slices.Clone(h.result.Turns), func(t transcript.Turn) bool { return t.Kind == transcript.Embeddings })
	if before > 0 {
		at := slices.IndexFunc(turns, func(t transcript.Turn) bool { return t.Seq == before }) // turns of a parallel phase are not in the order of their seqs
		if at < 0 {
			at = slices.IndexFunc(turns, func(t transcript.Turn) bool { return t.Seq > before })
		}
		later = at >= 0
		if later {
			turns = turns[:at]
		}
	}
	marks := influence.Marks(h.result.Annotations)
	for len(list) < len(turns) {
		s := saidOf(turns[len(turns)-1-len(list)], actors, maxTurn)
		s.Without = cut(marks[s.Key.String()], maxNote)
		room -= len(s.HTML) + len(s.Without) + frame
		if room < 0 && len(list) > 0 {
			earlier = list[len(list)-1].Seq
			break
		}
		list = append(list, s)
	}
	slices.Reverse(list)
	anchor := ""
	for i := range list {
		if title, id := headingOf(&list[i].Turn); id != "" && id != anchor {
			list[i].Heading = title
			list[i].Anchor = id
			anchor = id
		}
	}
	return list, earlier, later
}

// saidOf returns a turn as the pages show it, with at most so many bytes of its text.
func saidOf(t transcript.Turn, actors []actor, most int) said {
	s := said{Turn: t, Tone: "other", Place: "wide"}
	if at := slices.IndexFunc(actors, func(a actor) bool { return a.Name == t.Actor }); at >= 0 {
		s.Tone, s.Place = actors[at].Tone, actors[at].Place
	}
	text := readmodel.Spoken(&t)
	if t.Citations != nil {
		text, s.Quotes = sources.Readable(text), sources.Count(t.Citations)
	}
	s.HTML, s.Cut = markdown(cut(text, most)), len(text) > most
	if t.Kind == transcript.Silence {
		s.HTML = markdown("*" + readmodel.Silent + "*")
	}
	return s
}

// headingOf returns the heading of the part of the debate to which a turn belongs, and its id. Both are empty if the turn
// may be in any part.
func headingOf(t *transcript.Turn) (title, id string) {
	if t.Kind == transcript.Remark {
		return "", ""
	}
	return readmodel.Part(t)
}

// A budget is how much of a limit is used.
type budget struct {
	Name, Title string
	Used, Limit float64
	Text        string
}

// budgetsOf returns the limits of the debate that have an end, and how much of them is used.
func budgetsOf(h *history) (list []budget) {
	add := func(name, title string, used, limit float64, text string) {
		if limit > 0 {
			list = append(list, budget{name, title, used, limit, text})
		}
	}
	l, u := h.config.Limits, h.result.Total.Usage
	count := func(n, limit int) string { return outcome.Thousands(n) + " of " + outcome.Thousands(limit) }
	add("rounds", "Rounds", float64(h.result.Round), float64(h.status.MaxRounds), count(h.result.Round, h.status.MaxRounds))
	add("output", "Tokens of replies", float64(u.Output), float64(l.OutputTokens), count(u.Output, l.OutputTokens))
	add("tokens", "Tokens of prompts and replies", float64(u.Input+u.Output), float64(l.Tokens), count(u.Input+u.Output, l.Tokens))
	add("cost", "Cost", u.Cost, l.Cost, formatCost(u.Cost)+" of "+formatCost(l.Cost))
	add("time", "Running time", h.result.RunningTime.Truncate(time.Second).Seconds(), l.RunningTime.Seconds(),
		formatDuration(h.result.RunningTime.Round(time.Second))+" of "+formatDuration(l.RunningTime))
	return list
}
