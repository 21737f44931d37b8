package inspector

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/integrations/debatehttp"
	"github.com/elenchus-go/debate/transcript"
)

// forkView is what the page that makes a fork shows.
type forkView struct {
	Entry    entry
	Last     int64
	Config   *debate.Config // with what the visitor has entered so far
	Editable bool           // whether the engine can read the configuration
	Actors   []*debate.Participant
	Turn     *transcript.Turn // the turn of the entry, which can be edited; nil if there is none
	Reply    string           // its reply as the visitor has entered it
	Refused  *debatehttp.Problem
	Started  bool
}

// fork shows the form for a fork from the entry in the parameter at.
func (v *visit) fork() error {
	m, err := v.forkFrom(v.number("at"))
	if err != nil {
		return err
	}
	return v.showFork(m, nil, nil)
}

// forkFrom returns the debate at the entry from which to fork it, for a visitor who may do so.
func (v *visit) forkFrom(at int64, err error) (*moment, error) {
	if err == nil && !v.Controls {
		err = errReadOnly
	}
	if err == nil {
		err = v.open(debatehttp.Watch)
	}
	if err != nil {
		return nil, err
	}
	return v.momentAt(at)
}

// showFork shows the form, with what the visitor has entered if it was refused.
func (v *visit) showFork(m *moment, entered url.Values, refused *debatehttp.Problem) error {
	cfg := m.config
	f := &forkView{Entry: entryOf(m.event), Last: m.last, Config: &cfg, Editable: cfg.Protocol != nil, Refused: refused}
	if done, ok := m.event.(debate.TurnDone); ok && canEdit(&done.Turn) {
		f.Turn, f.Reply = &done.Turn, replyText(&done.Turn)
	}
	code := http.StatusOK
	if refused != nil {
		code = refused.Status
		edited, _ := editConfig(cfg, entered) // what is wrong with it is in the refusal
		f.Config, f.Started = &edited, entered.Get("start") != ""
		if entered.Has("reply") {
			f.Reply = entered.Get("reply")
		}
	}
	f.Actors = actorsIn(f.Config)
	v.write(code, "fork", page{Title: "Fork of " + v.status.Topic, Tab: "family", Main: f})
	return nil
}

// canEdit reports whether a fork can have another reply in place of a turn.
func canEdit(t *transcript.Turn) bool {
	return t.Kind != transcript.Remark && t.Kind != transcript.Embeddings && t.Kind != transcript.Silence
}

// replyText returns the reply of a turn as a visitor edits it.
func replyText(t *transcript.Turn) string {
	if t.Contract != "" {
		return indent(t.Data)
	}
	return t.Text
}

// actorsIn returns the participants and judges of a configuration.
func actorsIn(c *debate.Config) (list []*debate.Participant) {
	c.Participants, c.Judges = slices.Clone(c.Participants), slices.Clone(c.Judges)
	for i := range c.Participants {
		list = append(list, &c.Participants[i])
	}
	for i := range c.Judges {
		list = append(list, &c.Judges[i])
	}
	return list
}

// editConfig returns a configuration with what a form changes.
func editConfig(c debate.Config, form url.Values) (debate.Config, error) {
	text := func(field string, value *string) {
		if form.Has(field) {
			*value = strings.ReplaceAll(form.Get(field), "\r\n", "\n")
		}
	}
	text("topic", &c.Topic)
	text("background", &c.Background)
	text("prompts", &c.Prompts)
	if n := strings.TrimSpace(form.Get("max_rounds")); n != "" {
		rounds, err := strconv.Atoi(n)
		if err != nil {
			return c, invalid("max_rounds", "%q is not a number", n)
		}
		c.Limits.MaxRounds = rounds
	}
	for i, p := range actorsIn(&c) {
		field := func(name string) string { return fmt.Sprintf("%s-%d", name, i) }
		text(field("model"), &p.Model)
		text(field("provider"), &p.Provider)
		text(field("instructions"), &p.Instructions)
	}
	return c, nil
}

// makeFork makes the fork that a form asks for, and shows it.
func (v *visit) makeFork() error {
	v.r.Body = http.MaxBytesReader(v.w, v.r.Body, maxForm)
	if err := v.r.ParseForm(); err != nil {
		return &debatehttp.Problem{Title: "The request is invalid", Status: http.StatusBadRequest, Detail: "the form cannot be read"}
	}
	form := v.r.PostForm
	at, err := strconv.ParseInt(form.Get("at"), 10, 64)
	if err != nil {
		err = invalid("at", "%q is not the number of an entry", form.Get("at"))
	}
	m, err := v.forkFrom(at, err)
	if err != nil {
		return err
	}
	body, err := forkBody(m, form)
	if err != nil {
		return v.showFork(m, form, problemOf(err))
	}
	res, err := v.send(request{http.MethodPost, "forks", body})
	if err != nil {
		return err
	}
	if refused := res.problem(); refused != nil {
		return v.showFork(m, form, refused)
	}
	var made struct{ ID string }
	if err := json.Unmarshal(res.body.Bytes(), &made); err != nil {
		return err
	}
	if form.Get("start") != "" {
		v.r.SetPathValue("id", made.ID)
		if _, err := v.send(request{http.MethodPost, "start", nil}); err != nil { // if it is refused, the page of the fork says why
			return err
		}
	}
	to := url.PathEscape(made.ID)
	if v.seat != "" {
		to += "?" + url.Values{"seat": {v.seat}}.Encode()
	}
	v.w.Header().Set("Location", "../"+to)
	v.w.WriteHeader(http.StatusSeeOther)
	return nil
}

// forkBody returns the request for the API. It has only what differs from the debate at that entry.
func forkBody(m *moment, form url.Values) (map[string]any, error) {
	body := map[string]any{"seq": m.status.Seq}
	if m.config.Protocol != nil {
		cfg, err := editConfig(m.config, form)
		if err != nil {
			return nil, err
		}
		if !reflect.DeepEqual(cfg, m.config) {
			body["config"] = cfg
		}
	}
	done, ok := m.event.(debate.TurnDone)
	if reply := strings.ReplaceAll(form.Get("reply"), "\r\n", "\n"); ok && form.Has("reply") && canEdit(&done.Turn) && reply != replyText(&done.Turn) {
		body["turn"], body["reply"] = done.Turn.Key, reply
	}
	return body, nil
}
