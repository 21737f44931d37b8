package inspector

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/integrations/debatehttp"
	"github.com/elenchus-go/debate/integrations/launch"
	"github.com/elenchus-go/debate/protocol"
)

// beginView is what the page for a new debate shows.
type beginView struct {
	Draft     draft
	Purposes  []purposeView
	Models    []launch.Model
	Note      string
	Currency  string
	Mistakes  mistakes
	Problems  []string    // what is wrong and belongs to no input
	Costs     *costs      // of the draft, if they were asked for
	Shown     *shownDraft // the draft as JSON and as a command, if they were asked for
	Remembers bool        // the form begins with what this browser has chosen last
	Template  string      // topic of the debate that is the template
	Left      []string    // what the form cannot take over from the template
}

// purposeView is a purpose as the page shows it.
type purposeView struct {
	launch.Purpose
	Chosen         bool
	Options        string // what the visitor has entered
	Scores         string
	Before         []string // options that apply if the visitor enters none
	BeforeScores   string
	Takes, TakesTo bool // options, and scores
	Seats          []seatView
	Costs          *costs // of a short question with the first model; nil if they cannot be computed
}

// seatView is a participant or a judge of a purpose as the page shows it.
type seatView struct {
	Name, Role    string
	Judge         bool
	Input         string // name of the input for who speaks
	Value         string
	PositionInput string // empty if the seat has no position
	Position      string // that of the purpose
	Entered       string
}

// shownDraft is the configuration of a draft, for a file and for a terminal.
type shownDraft struct {
	JSON    string
	Command string // empty if there is none
	File    string // content of debate-config.json, if the command needs it
}

// offer returns what the visitor may begin.
func (v *visit) offer() (*launch.Offer, error) {
	if !v.Controls {
		return nil, errReadOnly
	}
	if v.Offer == nil {
		return nil, notFound("There is no page for new debates", "Options.Offer is not set")
	}
	if err := v.allow(&debatehttp.Access{Action: debatehttp.Launch, Config: &debate.Config{Labels: map[string]string{}}}); err != nil {
		return nil, err
	}
	o, err := v.Offer(v.r.Context(), v.principal)
	if _, told := errors.AsType[*debatehttp.Problem](err); err == nil || told {
		return o, err
	}
	v.Logger.InfoContext(v.r.Context(), "refuse page", "action", string(debatehttp.Launch), "error", err)
	return nil, &debatehttp.Problem{Title: "You may not do this", Status: http.StatusForbidden, Detail: "you may begin no debates"}
}

// newDebate shows the form for a new debate. With the parameter from, it begins with what another debate has.
func (v *visit) newDebate() error {
	o, err := v.offer()
	if err != nil {
		return err
	}
	q := v.r.URL.Query()
	shown := beginView{Draft: draft{Of: map[string]ofPurpose{}}}
	switch {
	case q.Get("from") != "":
		var left []string
		o, shown.Draft, left, err = v.fromTemplate(o, q.Get("from"))
		if err != nil {
			return err
		}
		shown.Left, shown.Template = left, shown.Draft.Topic
	case !q.Has("fresh"):
		shown.Draft, shown.Remembers = v.remembered(o)
	}
	if !shown.Remembers && shown.Template == "" {
		shown.Draft.Cost = defaultCost(o)
	}
	shown.Draft.Once = rand.Text()
	return v.showForm(o, shown)
}

// fromTemplate returns an offer and a draft for a debate like another one, and what they cannot take over.
func (v *visit) fromTemplate(o *launch.Offer, id string) (with *launch.Offer, d draft, left []string, err error) {
	c, err := v.template(id)
	if err != nil {
		return nil, d, nil, err
	}
	purpose, ok := o.PurposeOf(c)
	if !ok && o.Only {
		return nil, d, nil, &debatehttp.Problem{
			Title: "This debate cannot be a template", Status: http.StatusForbidden,
			Detail: "it is for something else than what you may begin",
		}
	}
	if !ok {
		o = withTemplate(o, c)
		purpose = o.Purposes[0]
	}
	d, left = draftFrom(c, purpose, o)
	d.From = id
	return o, d, left, nil
}

// withTemplate returns an offer with a further purpose: another debate like one that there is.
func withTemplate(o *launch.Offer, c debate.Config) *launch.Offer {
	with := *o
	c.ID = ""
	c.Seed = ""
	c.Topic = ""
	c.Background = ""
	c.Documents, c.Labels = nil, nil
	with.Purposes = slices.Concat([]launch.Purpose{{
		Name: templatePurpose, Title: "the same as before", About: "The protocol and the seats are those of the template.", Config: c,
	}}, o.Purposes)
	return &with
}

// template returns the configuration of a debate that the visitor may read whole.
func (v *visit) template(id string) (c debate.Config, err error) {
	d, status, err := v.recent.open(v.r.Context(), v.engine, id)
	if err == nil {
		err = v.allow(&debatehttp.Access{Action: debatehttp.FullReport, Debate: status})
	}
	if err != nil {
		if isMissing(err) {
			return c, notFound("There is no such debate", "the template does not exist")
		}
		return c, err
	}
	for past, err := range d.Replay(v.r.Context()) {
		if err != nil {
			return c, err
		}
		if changed, ok := past.Event.(debate.ConfigChanged); ok {
			c, err = v.engine.ParseConfig(changed.Config)
			if err != nil {
				return c, err
			}
		}
	}
	return c, nil
}

// begin answers the form for a new debate: it begins the debate, or shows the form with the costs or the configuration, or with what is
// wrong.
func (v *visit) begin() error {
	if err := http.NewCrossOriginProtection().Check(v.r); err != nil {
		return &debatehttp.Problem{
			Title: "Another site sent this request", Status: http.StatusForbidden,
			Detail: "a page of another site sent it",
		}
	}
	o, err := v.offer()
	if err != nil {
		return err
	}
	v.r.Body = http.MaxBytesReader(v.w, v.r.Body, maxUpload)
	if err := v.r.ParseMultipartForm(maxUpload); err != nil {
		return formError(err)
	}
	form := url.Values(v.r.MultipartForm.Value)
	if id := form.Get("from"); id != "" {
		c, err := v.template(id)
		if err != nil {
			return err
		}
		if _, ok := o.PurposeOf(c); !ok && !o.Only {
			o = withTemplate(o, c)
		}
	}
	d := draftOf(form, o)
	documents, wrong := v.documentsIn(v.r.MultipartForm)
	d.Documents = documents
	shown := beginView{Draft: d, Mistakes: mistakes{}}
	for _, text := range wrong {
		shown.Mistakes.add("documents", "%s", text)
	}
	return v.answerForm(o, shown, form.Get("do"))
}

// formError returns the problem of a form that cannot be read.
func formError(err error) error {
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return &debatehttp.Problem{
			Title: "The form is too large", Status: http.StatusRequestEntityTooLarge,
			Detail: "its documents have more than 24 MB together, use fewer or smaller ones",
		}
	}
	return &debatehttp.Problem{Title: "The request is invalid", Status: http.StatusBadRequest, Detail: "the form cannot be read"}
}

// answerForm does what a button of the form asks for.
func (v *visit) answerForm(o *launch.Offer, shown beginView, do string) error {
	choice, wrong := shown.Draft.choice()
	for input, list := range wrong {
		shown.Mistakes[input] = append(shown.Mistakes[input], list...)
	}
	cfg, err := o.Compose(choice)
	if err == nil {
		admitted := cfg
		err = o.Admit(&admitted)
		if err == nil {
			cfg = admitted
		}
	}
	if err == nil {
		_, err = launch.Complete(cfg)
	}
	if !shown.addError(err, o) {
		return err
	}
	script := v.r.Header.Get("Accept") == "application/json"
	if err == nil && (do == "check" || script) {
		shown.Costs = v.costsOf(o, cfg)
	}
	switch {
	case script:
		return v.tellScript(shown)
	case len(shown.Mistakes) > 0 || do == "check":
		return v.showForm(o, shown)
	case do == "show":
		shown.Shown, err = v.showDraft(choice, cfg)
		if err != nil {
			return err
		}
		return v.showForm(o, shown)
	}
	return v.launch(o, shown, cfg)
}

// addError adds the problems of an error to the form. It returns false for another error.
func (b *beginView) addError(err error, o *launch.Offer) bool {
	if err == nil {
		return true
	}
	wrong, ok := errors.AsType[*debate.Problems](err)
	if ok {
		b.Mistakes.addProblems(wrong, b.Draft, o)
	}
	return ok
}

// launch begins a debate through the API, and shows it.
func (v *visit) launch(o *launch.Offer, shown beginView, cfg debate.Config) error {
	content, err := json.Marshal(cfg)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(content) // a form that was changed after it was sent begins another debate
	res, err := v.call(http.MethodPost, "/debates", cfg, "Idempotency-Key", cut(shown.Draft.Once, maxOnce)+hex.EncodeToString(sum[:8]))
	if err != nil {
		return err
	}
	if refused := res.problem(); refused != nil {
		if refused.Status == http.StatusRequestEntityTooLarge {
			refused.Problems = []protocol.Problem{protocol.Problemf("documents", "they are too large together, use fewer or smaller ones")}
		}
		if len(refused.Problems) == 0 {
			return refused
		}
		shown.Mistakes.addProblems(&debate.Problems{List: refused.Problems}, shown.Draft, o)
		return v.showForm(o, shown)
	}
	var made struct{ ID string }
	if err := json.Unmarshal(res.body.Bytes(), &made); err != nil {
		return err
	}
	v.remember(shown.Draft)
	v.w.Header().Set("Location", "debates/"+url.PathEscape(made.ID))
	v.w.WriteHeader(http.StatusSeeOther)
	return nil
}

// maxOnce limits what tells a form from others, in bytes.
const maxOnce = 64

// showDraft returns a configuration for a file and for a terminal.
func (v *visit) showDraft(choice launch.Choice, cfg debate.Config) (*shownDraft, error) {
	b, err := json.MarshalIndent(cfg, "", "  ")
	if err != nil {
		return nil, err
	}
	shown := &shownDraft{JSON: string(b)}
	if v.Command != nil {
		shown.Command, shown.File = v.Command(choice, cfg)
	}
	return shown, nil
}

// tellScript answers the script of the page: with the costs, or with what is wrong.
func (v *visit) tellScript(shown beginView) error {
	answer := struct {
		Costs    *costs   `json:"costs,omitempty"`
		Mistakes mistakes `json:"mistakes,omitempty"`
	}{shown.Costs, shown.Mistakes}
	b, err := json.Marshal(answer)
	if err != nil {
		return err
	}
	v.w.Header().Set("Content-Type", "application/json")
	v.w.WriteHeader(http.StatusOK)
	_, _ = v.w.Write(b) // fails if the client has disconnected
	return nil
}

// showForm shows the form for a new debate.
func (v *visit) showForm(o *launch.Offer, shown beginView) error {
	code := http.StatusOK
	if len(shown.Mistakes) > 0 {
		code = http.StatusBadRequest
	}
	shown.Problems = shown.Mistakes[""]
	shown.Models = o.Models
	shown.Note = o.Note
	shown.Currency = o.Currency
	shown.Draft.Model = shown.Draft.modelOf(o)
	if _, ok := o.Purpose(shown.Draft.Purpose); !ok && len(o.Purposes) > 0 && shown.Draft.Purpose == "" {
		shown.Draft.Purpose = o.Purposes[0].Name
	}
	for _, p := range o.Purposes {
		shown.Purposes = append(shown.Purposes, v.purposeView(o, p, shown.Draft))
	}
	v.write(code, "new", page{Title: "New debate", Style: "new.css", Scripts: []string{"new.js"}, Main: shown})
	return nil
}

// purposeView returns a purpose with what a draft has for it.
func (v *visit) purposeView(o *launch.Offer, p launch.Purpose, d draft) purposeView {
	own := d.Of[p.Name]
	shown := purposeView{Purpose: p, Chosen: p.Name == d.Purpose, Options: own.Options, Scores: own.Scores}
	shown.Takes, shown.TakesTo = launch.Takes(p.Config.Protocol)
	shown.Before = launch.Options(p.Config.Protocol)
	shown.BeforeScores = formatScores(launch.Scores(p.Config.Protocol))
	shown.Costs = v.typicalCosts(o, p)
	for i, a := range slices.Concat(p.Config.Participants, p.Config.Judges) {
		seat := seatView{Name: a.Name, Role: a.Role, Judge: i >= len(p.Config.Participants), Input: seatInput(p.Name, i)}
		if a.Position != "" {
			seat.PositionInput, seat.Position = positionInput(p.Name, i), a.Position
		}
		if i < len(own.Seats) {
			seat.Value, seat.Entered = own.Seats[i], own.Positions[i]
		}
		shown.Seats = append(shown.Seats, seat)
	}
	return shown
}

// Wrong returns the number of mistakes.
func (b beginView) Wrong() (n int) {
	for _, list := range b.Mistakes {
		n += len(list)
	}
	return n
}

// isMissing reports whether an error says that a debate does not exist, or must seem so.
func isMissing(err error) bool { return problemOf(err).Status == http.StatusNotFound }
