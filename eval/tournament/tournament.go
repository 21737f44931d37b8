package tournament

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/protocols"
	"github.com/elenchus-go/debate/internal/runs"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/protocol/procon"
	"github.com/elenchus-go/debate/report/progress"
)

// Tournament is a round robin: each two players debate each motion twice, with the sides swapped.
type Tournament struct {
	// Name identifies the tournament in its store. Use at most 128 bytes without control characters.
	Name    string
	Players []Player
	Motions []Motion
	// Judges score the games. If the protocol is procon, their scores give margins.
	Judges []Player
	// Config is what all games have in common, such as the protocol, limits and prices. The tournament sets ID, Topic,
	// Participants and Judges. Its protocol defaults to procon.Protocol{}, and may be panel.Protocol, or one of your own that takes two
	// participants and implements protocol.Concluder: the winner and the scores of its outcome count as one judgment.
	Config debate.Config
	// OwnFamily lets judges judge players of their own family. By default, they are not asked, and the report says how many
	// judgments that leaves out.
	OwnFamily bool
	// By says what ratings are computed from. Defaults to Margins if each judgment has one, or else to Wins.
	By Basis
	// MaxCost and MaxTokens limit the whole tournament: what is stored under its name counts, so that limits hold across
	// restarts. At a limit no further game begins, and those in progress pause; calls in flight are completed. 0 means no
	// limit. MaxCost is in the currency of the prices in Config, which must have a price for each model.
	MaxCost   float64
	MaxTokens int
	// Concurrency is the number of pairs that are played at the same time. Defaults to 8.
	Concurrency int
	// Progress is called after each game. Calls do not overlap.
	Progress func(progress.Tasks)
	// Results receives a line of JSON for each [Game] that was begun, in the order of motions and players.
	Results io.Writer
	// Stop ends the tournament when it is closed: no further game begins, and those in progress pause. Calls in flight are
	// completed and committed.
	Stop <-chan struct{}
}

// Player is a player or a judge. The name of the participant names it in the report; a player has another one in games.
type Player struct {
	debate.Participant
	// Family names the models of one maker, in any case. Defaults to the name of the model before its first digit, without
	// what stands before a slash, such as "claude-sonnet" for "claude-sonnet-4-5". Without a model there is no family.
	Family string `json:"family,omitempty"`
}

// Motion is what a pair debates. One player is in favor of it, and the other one against it.
type Motion struct {
	// ID identifies the motion. Defaults to the topic. Use at most 128 bytes without control characters.
	ID    string `json:"id,omitempty"`
	Topic string `json:"topic"`
	// Pro and Con are the positions of the players. They default to being for and against the topic.
	Pro string `json:"pro,omitempty"`
	Con string `json:"con,omitempty"`
	// Background is added to that of Tournament.Config.
	Background string `json:"background,omitempty"`
}

// Basis says what ratings are computed from.
type Basis string

// The bases of ratings.
const (
	Margins Basis = "margins" // how far apart judges score the players
	Wins    Basis = "wins"    // whom most judges call the winner of a game
)

// family returns the family in lower case, or "" if it is unknown.
func (p Player) family() string {
	model := p.Model[strings.LastIndex(p.Model, "/")+1:]
	if at := strings.IndexAny(model, "0123456789"); at > 0 {
		model = model[:at]
	}
	return strings.ToLower(strings.Trim(cmp.Or(strings.TrimSpace(p.Family), model), "-_.: "))
}

// id returns the name of the motion.
func (m Motion) id() string { return cmp.Or(m.ID, m.Topic) }

// Names of the players in a game, and the sides that give them positions.
const (
	namePro, nameCon = "Pro", "Con"
	sidePro, sideCon = "pro", "con"
)

// check returns everything that is wrong with the tournament, apart from the configurations of games.
func (t *Tournament) check() error {
	var wrong []error
	add := func(format string, args ...any) { wrong = append(wrong, fmt.Errorf(format, args...)) }
	if !runs.IsName(t.Name) {
		add("name: %q, use 1 to %d bytes without control characters", t.Name, runs.MaxName)
	}
	if len(t.Players) < 2 {
		add("players: %d, use two or more", len(t.Players))
	}
	if len(t.Judges) == 0 {
		add("judges: there are none")
	}
	if len(t.Motions) == 0 {
		add("motions: there are none")
	}
	wrong = append(wrong, checkNames("players", t.Players)...)
	wrong = append(wrong, checkNames("judges", t.Judges)...)
	for i, j := range t.Judges {
		if strings.EqualFold(j.Name, namePro) || strings.EqualFold(j.Name, nameCon) {
			add("judges[%d]: name: %q is the name of a player in games", i, j.Name)
		}
	}
	for i, m := range t.Motions {
		switch {
		case strings.TrimSpace(m.Topic) == "":
			add("motions[%d]: topic: it is missing or blank", i)
		case !runs.IsName(m.id()):
			add("motions[%d]: id: %q, use 1 to %d bytes without control characters; it defaults to the topic", i, m.ID, runs.MaxName)
		case slices.ContainsFunc(t.Motions[:i], func(n Motion) bool { return n.id() == m.id() }):
			add("motions[%d]: id: %q is the id of another motion", i, m.id())
		}
	}
	if t.Config.ID != "" || t.Config.Topic != "" || len(t.Config.Participants)+len(t.Config.Judges) > 0 {
		add("config: leave out id, topic, participants and judges, which the tournament sets")
	}
	if !slices.Contains([]Basis{"", Margins, Wins}, t.By) {
		add("by: %q is unknown, use %q or %q", t.By, Margins, Wins)
	}
	if t.MaxCost < 0 || t.MaxTokens < 0 || t.Concurrency < 0 {
		add("limits: a limit is negative")
	}
	if err := t.checkProtocol(); err != nil {
		add("config: %w", err)
	}
	if len(wrong) == 0 {
		wrong = append(wrong, t.checkJudges()...)
	}
	return runs.Check("tournament", wrong)
}

// checkProtocol returns an error if the protocol is one of the library whose judges name no winner of two players. Another protocol says
// in its outcome who won, or has scores of the players.
func (t *Tournament) checkProtocol() error {
	switch p := t.Config.Protocol.(type) {
	case procon.Protocol:
		if !p.Decision.IsZero() {
			return errors.New("with a decision, judges name no winner; leave it out")
		}
	case panel.Protocol:
		if !p.Decision.IsZero() || p.Format == panel.Oxford {
			return errors.New("with a decision or an audience, judges name no winner; leave it out")
		}
	default:
		known := slices.ContainsFunc(protocols.All(), func(q protocol.Protocol) bool { return q.Name() == p.Name() })
		_, concludes := p.(protocol.Concluder)
		if !known && concludes {
			return nil
		}
		return fmt.Errorf("judges of protocol %s name no winner of two players, use procon or panel", p.Name())
	}
	return nil
}

// verdicts reports whether the judges give verdicts. Otherwise, the outcome says who won.
func (t *Tournament) verdicts() bool {
	switch t.Config.Protocol.(type) {
	case procon.Protocol, panel.Protocol:
		return true
	}
	return false
}

// checkNames returns what is wrong with the names of players or judges.
func checkNames(field string, list []Player) (wrong []error) {
	for i, p := range list {
		switch {
		case !runs.IsName(p.Name):
			wrong = append(wrong, fmt.Errorf("%s[%d]: name: %q, use 1 to %d bytes without control characters", field, i, p.Name, runs.MaxName))
		case slices.ContainsFunc(list[:i], func(q Player) bool { return q.Name == p.Name }):
			wrong = append(wrong, fmt.Errorf("%s[%d]: name: %q is the name of another one", field, i, p.Name))
		case p.Disabled || p.Side != "" || p.Position != "":
			wrong = append(wrong, fmt.Errorf("%s[%d]: %q has a side or a position, or is disabled: the tournament gives the sides", field, i, p.Name))
		}
	}
	return wrong
}

// checkJudges returns an error for each two players whom no judge may judge.
func (t *Tournament) checkJudges() (wrong []error) {
	for a, p := range t.Players {
		for _, q := range t.Players[a+1:] {
			if judges, _ := t.judges(p, q); len(judges) == 0 {
				wrong = append(wrong, fmt.Errorf("judges: each is of the family of %q or %q; add another one, set families, or let judges judge their own", p.Name, q.Name))
			}
		}
	}
	return wrong
}

// judges returns the judges of two players' games, and how many are left out because they are of a player's family.
func (t *Tournament) judges(pro, con Player) (list []debate.Participant, left int) {
	for _, j := range t.Judges {
		own := j.family() != "" && (j.family() == pro.family() || j.family() == con.family())
		if own && !t.OwnFamily {
			left++
		} else {
			list = append(list, j.Participant)
		}
	}
	return list, left
}
