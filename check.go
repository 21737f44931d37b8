package debate

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/elenchus-go/debate/journal"

	"github.com/google/uuid"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/actor/binding"
	"github.com/elenchus-go/debate/internal/actor/room"
	"github.com/elenchus-go/debate/internal/additions"
	"github.com/elenchus-go/debate/internal/attachment"
	"github.com/elenchus-go/debate/internal/budget"
	"github.com/elenchus-go/debate/internal/chain/signing"
	"github.com/elenchus-go/debate/internal/characters"
	"github.com/elenchus-go/debate/internal/deepcopy"
	"github.com/elenchus-go/debate/internal/findings"
	"github.com/elenchus-go/debate/internal/forecast"
	"github.com/elenchus-go/debate/internal/panics"
	"github.com/elenchus-go/debate/internal/presets"
	"github.com/elenchus-go/debate/internal/protocoljson"
	"github.com/elenchus-go/debate/internal/sources"
	"github.com/elenchus-go/debate/internal/turns"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// newID returns an id that sorts by time.
func newID() string { return uuid.Must(uuid.NewV7()).String() }

// withDefaults returns a copy of the configuration with all defaults filled in, and every problem with it. A debate
// stores its defaults, so that later versions of the library do not change them. open reports whether the windows of a
// provider's models are known only when the debate starts: they remain 0.
func withDefaults(c Config, env *environment, open func(provider string) bool) (Config, []protocol.Problem) {
	l := &problemList{}
	if protocoljson.IsNil(c.Protocol) {
		l.add("protocol", "it is a nil pointer of type %T, use a value", c.Protocol)
		return c, l.problems
	}
	c = deepcopy.Of(c)
	c.Protocol = deepcopy.Of(c.Protocol) // Config encodes it, although its own tag omits it
	if c.Protocol == nil {
		c.Protocol = panel.Protocol{}
	}
	c.OnFailure = cmp.Or(c.OnFailure, Degrade)
	c.OnJudgeFailure = cmp.Or(c.OnJudgeFailure, Continue)
	c.OnRetrievalFailure = cmp.Or(c.OnRetrievalFailure, Degrade)
	c.OnRefusal = cmp.Or(c.OnRefusal, Continue)
	c.OnOverflow = cmp.Or(c.OnOverflow, OverflowTruncate)
	for i := range c.Attachments {
		if a := &c.Attachments[i]; a.MediaType == attachment.PDF && a.Pages == 0 &&
			len(a.Data) <= attachment.MaxData {
			a.Pages = attachment.Pages(a.Data)
		}
	}
	for i, d := range c.Documents {
		c.Documents[i] = d.WithDefaults(func(text string) int { return env.Count("", text) })
	}
	own := budget.DefaultsOf(c.Protocol)
	l.limits(&c.Limits)
	c.Limits = c.Limits.WithDefaults(own)
	l.limits(&c.Limits)
	for i, p := range c.Participants {
		temperature := own.Temperatures[min(i, len(own.Temperatures)-1)]
		c.Participants[i] = p.WithDefaults(temperature, c.Limits.StepTokens, open)
	}
	derivePositions(c)
	for i, p := range c.Judges {
		c.Judges[i] = p.WithDefaults(*own.JudgeTemperature, c.Limits.JudgeTokens, open)
	}
	for i, p := range c.Substitutes {
		c.Substitutes[i] = p.WithDefaults(*own.JudgeTemperature, c.Limits.JudgeTokens, open)
	}
	if usesTools(&c) {
		c.Limits = c.Limits.WithToolDefaults()
	}
	if c.Limits.Cost > 0 || c.AskAboveCost > 0 {
		nameModels(&c, env)
	}
	c.PersonaAssigner = systemActor(&c, c.PersonaAssigner).WithDefaults(0.9, c.Limits.JudgeTokens, open)
	c.Summarizer = systemActor(&c, c.Summarizer).WithDefaults(0.3, c.Limits.JudgeTokens, open)
	c.Retriever.Provider = cmp.Or(c.Retriever.Provider, binding.Templates)
	c.Embedder.Window = cmp.Or(c.Embedder.Window, 8_000)
	checkConfig(&c, env, l, own)
	return c, l.problems
}

// nameModels sets the models that have no name to the default ones of their providers, as far as these know them. Otherwise their
// prices would be unknown.
func nameModels(c *Config, env *environment) {
	for _, list := range [][]Participant{c.Participants, c.Judges, c.Substitutes} {
		for i := range list {
			nameModel(&list[i], env)
		}
	}
	for _, p := range []*Participant{&c.PersonaAssigner, &c.Summarizer} {
		if p.Provider != "" {
			nameModel(p, env)
		}
	}
}

// nameModel sets the model of an actor that has none.
func nameModel(p *Participant, env *environment) {
	if p.Model != "" || p.Human || env.Bind == nil {
		return
	}
	_, client, err := env.Bind(p.Provider)
	if known, ok := client.(providers.Defaulted); ok && err == nil {
		_ = panics.Call(func() { p.Model = known.DefaultModel() })
	}
}

// derivePositions sets the positions of the participants that are not disabled, if the protocol derives them. Such a
// protocol has the method Positions.
func derivePositions(c Config) {
	p, ok := c.Protocol.(interface {
		Positions(participants []transcript.Profile) []string
	})
	if !ok {
		return
	}
	positions := p.Positions(participantProfiles(c))
	for i := range c.Participants {
		if !c.Participants[i].Disabled && len(positions) > 0 {
			c.Participants[i].Position = positions[0]
			positions = positions[1:]
		}
	}
}

// systemActor fills in the model of the persona assigner or the summarizer from the first judge or participant that is
// not a person.
func systemActor(c *Config, p Participant) Participant {
	for _, list := range [][]Participant{c.Judges, c.Participants} {
		at := slices.IndexFunc(list, func(o Participant) bool { return !o.Human && !o.Disabled })
		if at < 0 {
			continue
		}
		if p.Provider == "" {
			p.Provider = list[at].Provider
			p.Model = cmp.Or(p.Model, list[at].Model)
		}
		p.Window = cmp.Or(p.Window, list[at].Window)
		break
	}
	return p
}

// checkConfig adds every problem with a configuration whose defaults are filled in, as far as data alone can tell.
func checkConfig(c *Config, env *environment, l *problemList, own protocol.Defaults) {
	if characters.IsBlank(c.Topic) {
		l.add("topic", "it is blank, set a question or claim to debate")
	}
	l.problems = append(l.problems, additions.CheckLabels(c.Labels)...)
	texts := textsOf(c)
	if c.Documents != nil {
		l.problems = append(l.problems, texts.CheckDocuments(c.Actors(), c.HasSeat)...)
	}
	long, tokens := texts.Longest()
	for field, p := range c.Actors() {
		if room.Fills(tokens, field, &p) {
			l.problems = append(l.problems, room.TooLong(long, tokens, field, &p))
			break
		}
	}
	before := len(l.problems)
	l.problems = append(l.problems, c.CheckNames()...)
	named := len(l.problems) == before
	l.problems = append(l.problems, c.CheckValues()...)
	if c.Limits.Cost > 0 || c.AskAboveCost > 0 {
		l.problems = append(l.problems, c.CheckPriced()...)
	}
	checkProtocol(c, env, l, own, named)
}

// checkProtocol adds every problem that the protocol finds. If it finds none and all names are valid, it adds those of
// the phases and budgets, and fills in the default of Limits.OutputTokens.
func checkProtocol(c *Config, env *environment, l *problemList, own protocol.Defaults, named bool) {
	r := plannedRecord(seatSettings{config: c}, env)
	found := c.Protocol.Check(&r.Record)
	l.problems = append(l.problems, found...)
	f := forecast.Forecast{Assesses: true}
	if named && len(found) == 0 { // otherwise the protocol may return anything
		f = forecastOf(r)
		if len(f.Steps) == 0 {
			l.add("protocol", "it has no step in any phase")
		}
		for _, problem := range f.Duplicates {
			l.add("protocol", "%s", problem)
		}
	}
	l.problems = append(l.problems, findings.Check(c.Detect, c.Protocol.Name(), f.Assesses, c.Embedder.Provider != "")...)
	r.Cursor.Round = 1
	if len(l.problems) == 0 {
		l.problems = budget.CoverStart(&c.Limits, worstCase(r, f.First...))
	}
	if c.Limits.OutputTokens == 0 && len(l.problems) == 0 {
		c.Limits.OutputTokens = own.OutputTokens
		if own.OutputTokens < f.Output { // it does not suffice for all rounds
			c.Limits.OutputTokens = 2 * f.Output
		}
	}
}

// plannedRecord returns the record of a debate that has not begun.
func plannedRecord(s seatSettings, env *environment) *record {
	c := s.config
	r := newRecord(c.ID, env)
	r.Record = *protocolRecord(c)
	r.hidden = s.hidden
	r.setConfig(c)
	r.addParticipants()
	r.Sources.SetDocuments(c.Documents, 0)
	r.Documents = r.Sources.Shared()
	return r
}

// limits adds a problem for each invalid limit, and sets it to 0.
func (l *problemList) limits(is *Limits) {
	valid, found := is.Valid()
	*is = valid
	l.problems = append(l.problems, found...)
}

// checkStored returns an error if no version of the library has stored the configuration for the debate with the given id.
// A journal may be damaged or forged. Protocols of other packages are not asked, because their rules may have changed.
func checkStored(c *Config, id string) (err error) {
	l := &problemList{}
	if c.ID != "" && c.ID != id {
		l.add("id", "%q is not that of the debate", c.ID)
	}
	l.limits(&c.Limits)
	l.problems = append(l.problems, c.CheckNames()...)
	l.problems = append(l.problems, c.CheckValues()...)
	if len(l.problems) == 0 && presets.Has(c.Protocol) {
		panicked := panics.Call(func() { l.problems = append(l.problems, c.Protocol.Check(protocolRecord(c))...) })
		if panicked != nil {
			return fmt.Errorf("check protocol: %w", panicked)
		}
	}
	if err := problemsError(l.problems); err != nil {
		return errors.New(err.Error()) // it is no mistake of the caller, as Problems are
	}
	return nil
}

// protocolRecord returns the record that the protocol checks before the debate starts.
func protocolRecord(c *Config) *protocol.Record {
	r := &protocol.Record{
		ID:           c.ID,
		Seed:         cmp.Or(c.Seed, c.ID),
		Topic:        c.Topic,
		Participants: participantProfiles(*c),
		MinRounds:    c.Limits.MinRounds,
		MaxRounds:    c.Limits.MaxRounds,
	}
	r.Cursor = transcript.Cursor{Run: 1}
	r.Judges = namesOf(c.Judges)
	return r
}

// checkEntry rejects events that no version of the library writes in the record's state. Nothing else checks what a journal
// contains, and a journal may be damaged or forged.
func (r *record) checkEntry(ev Event) error {
	if seq := ev.Meta().Seq; seq != r.Seq+1 {
		return fmt.Errorf("entry %d is missing", r.Seq+1)
	}
	if _, config := ev.(ConfigChanged); r.Seq == 0 && !config {
		return errors.New("the journal must begin with a configuration")
	}
	failed := journal.Failures(ev)
	switch ev := ev.(type) {
	case ConfigChanged:
		return turns.CheckTokens("reply", ev.ReplyTokens)
	case StateChanged:
		return r.checkState(ev, failed)
	case PhaseStarted:
		if ev.Round != r.Cursor.Round &&
			(ev.Round != 0 ||
				r.Cursor.Stage != transcript.Setup) { // after an error, a setup may have new steps
			return fmt.Errorf("it is a phase of round %d, but the debate is in round %d", ev.Round, r.Cursor.Round)
		}
	case Dropped:
		if ev.Failure == nil {
			return errors.New("the entry has no failure")
		}
		return r.checkFailures(failed)
	case TurnDone:
		return turns.Check(&ev.Turn, r.Cursor)
	case Asked:
		return turns.CheckKey(ev.Key, r.Cursor)
	case ToolsCalled:
		if err := turns.CheckKey(ev.Key, r.Cursor); err != nil {
			return err
		}
		if _, done := r.Find(ev.Key); done {
			return fmt.Errorf("turn %s has been committed before it", ev.Key)
		}
		return cmp.Or(
			r.tools.Check(&ev),
			sources.Check(ev.Calls),
			turns.CheckUsages(transcript.Usage{}, ev.Attempts),
			turns.CheckRound(ev.Attempts),
		)
	case Annotated:
		return r.checkNote(ev)
	case Decided:
		switch err := turns.CheckKey(ev.Key, r.Cursor); { // of a step that is declined
		case err != nil:
			return err
		case r.decisions.question == nil && ev.Action != actionDecline && ev.Action != actionHold &&
			ev.Action != actionRelease:
			return errors.New("no question is open")
		}
	}
	return nil
}

func (r *record) checkNote(ev Annotated) error {
	if ev.Name == signing.Name {
		return additions.CheckSignature(ev.Value)
	}
	if wrong := r.notes.Check(ev.Name, ev.Value); wrong != nil {
		return fmt.Errorf("note %q: %v", characters.Cut(ev.Name, 40), wrong[0])
	}
	return nil
}

func (r *record) checkState(ev StateChanged, failed []*Failure) error {
	if ev.On == fsm.Fail && ev.Failure == nil {
		return errors.New("the entry has no failure")
	}
	if ev.From != r.lifecycle.State {
		return fmt.Errorf("it is a transition from %q, but the debate is %q", ev.From, r.lifecycle.State)
	}
	if is := r.roundAfter(ev.On, ev.To); ev.Round != is {
		return fmt.Errorf("it leads to round %d, but the debate is in round %d then", ev.Round, is)
	}
	if err := cmp.Or(turns.CheckTokens("reply", ev.ReplyTokens), turns.CheckTokens("window", ev.Windows)); err != nil {
		return err
	}
	return r.checkFailures(failed)
}

func (r *record) checkFailures(list []*Failure) error {
	for _, f := range list {
		err := cmp.Or(
			turns.CheckKey(f.Key, r.Cursor),
			turns.CheckUsages(transcript.Usage{}, f.AttemptDetails),
			turns.CheckNext(f.AttemptDetails),
		)
		if err != nil {
			return err
		}
	}
	return nil
}

// rulesOf returns the rules of the engine that wrote an entry, given those of the entry before it.
func rulesOf(m EventMeta, before Rules) Rules {
	if m.Rules != nil {
		return *m.Rules
	}
	return before
}
