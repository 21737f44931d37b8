package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/eval/tournament"
	"github.com/elenchus-go/debate/internal/runs"
)

// tournamentFile holds what a file of a tournament has beside a configuration.
type tournamentFile struct {
	name      string
	players   []json.RawMessage // participants, without families
	motions   []tournament.Motion
	families  map[string]string // by the names of players and judges
	ownFamily bool
	by        tournament.Basis
}

// playTournament plays a tournament and writes its report.
func (p *program) playTournament() error {
	f, s, err := readTournament(p.operands[0])
	if err != nil {
		return err
	}
	t := tournament.Tournament{
		Name: cmp.Or(p.eval.name, f.name), Motions: f.motions, OwnFamily: f.ownFamily, By: f.by,
		MaxCost: p.maxCost, MaxTokens: p.eval.tokens, Concurrency: p.eval.atOnce, Stop: p.interrupted, Progress: p.showProgress("pairs"),
	}
	return p.withRuns(s, func(o *debate.Options) (err error) {
		t.Config, err = p.tournamentConfig(s, o)
		t.Players, t.Judges = f.withFamilies(t.Config.Participants), f.withFamilies(t.Config.Judges)
		t.Config.Topic = ""
		t.Config.Participants = nil
		t.Config.Judges = nil
		return err
	}, func(o debate.Options, results io.Writer) error {
		t.Results = results
		report, err := t.Run(p.ctx, o)
		if err != nil {
			return err
		}
		return p.writePages(report, "tournament "+report.Tournament, report.Incomplete)
	})
}

// tournamentConfig returns the configuration of a tournament, with its players as participants, and opens their providers.
func (p *program) tournamentConfig(s configFile, o *debate.Options) (c debate.Config, err error) {
	c, err = p.buildConfig(s, "a motion")
	if err != nil {
		return c, err
	}
	err = p.chooseModels(s, &c)
	if err != nil {
		return c, err
	}
	err = p.setRunModels(s, o, &c)
	if err == nil {
		err = p.usePrompts(o, &c)
	}
	return c, err
}

// readTournament reads a file of a tournament: a configuration with players and motions.
func readTournament(path string) (f tournamentFile, s configFile, err error) {
	if _, err := os.Stat(path); err != nil {
		return f, s, exitErrorf(exitInput, "read tournament: %w", err)
	}
	s, err = readConfigFile(path)
	if err != nil {
		return f, s, err
	}
	f.name, f.families = baseName(path), map[string]string{}
	var motions []json.RawMessage
	for name, to := range map[string]any{"name": &f.name, "players": &f.players, "motions": &motions, "own_family": &f.ownFamily, "by": &f.by} {
		raw, given := s.rest[name]
		if !given {
			continue
		}
		if err := json.Unmarshal(raw, to); err != nil {
			return f, s, malformedError(path, fmt.Errorf("%s: %w", name, err))
		}
		delete(s.rest, name)
	}
	if _, given := s.rest["participants"]; given {
		return f, s, malformedError(path, errors.New("participants: a tournament has players"))
	}
	if len(f.players) < 2 {
		return f, s, malformedError(path, fmt.Errorf("players: %s, use two or more", runs.Plural(len(f.players), "player")))
	}
	if len(motions) == 0 {
		return f, s, malformedError(path, errors.New("motions: there are none, use a list of claims or questions"))
	}
	for i, raw := range motions {
		var m tournament.Motion
		if json.Unmarshal(raw, &m.Topic) != nil {
			d := json.NewDecoder(bytes.NewReader(raw))
			d.DisallowUnknownFields()
			if err := d.Decode(&m); err != nil {
				return f, s, malformedError(path, fmt.Errorf("motions[%d]: %w", i, err))
			}
		}
		f.motions = append(f.motions, m)
	}
	var judges []json.RawMessage
	if raw, given := s.rest["judges"]; given {
		if err := json.Unmarshal(raw, &judges); err != nil {
			return f, s, malformedError(path, fmt.Errorf("judges: %w", err))
		}
	}
	return f, s, f.compose(path, s, judges)
}

// compose moves the families out of the players and the judges, and adds both to the configuration.
func (f *tournamentFile) compose(path string, s configFile, judges []json.RawMessage) error {
	for field, list := range map[string][]json.RawMessage{"players": f.players, "judges": judges} {
		for i, raw := range list {
			var own struct{ Name, Family string }
			fields := map[string]json.RawMessage{}
			if err := errors.Join(json.Unmarshal(raw, &own), json.Unmarshal(raw, &fields)); err != nil {
				return malformedError(path, fmt.Errorf("%s[%d]: %w", field, i, err))
			}
			f.families[own.Name] = own.Family
			delete(fields, "family")
			var err error
			list[i], err = json.Marshal(fields)
			if err != nil {
				return fmt.Errorf("compose configuration: %w", err)
			}
		}
		name := map[string]string{"players": "participants", "judges": "judges"}[field]
		if len(list) > 0 {
			raw, err := json.Marshal(list)
			if err != nil {
				return fmt.Errorf("compose configuration: %w", err)
			}
			s.rest[name] = raw
		}
	}
	if _, given := s.rest["protocol"]; !given {
		s.rest["protocol"] = json.RawMessage(`"procon"`)
	}
	return nil
}

// withFamilies returns participants as players or judges.
func (f *tournamentFile) withFamilies(list []debate.Participant) (players []tournament.Player) {
	for _, a := range list {
		players = append(players, tournament.Player{Participant: a, Family: f.families[a.Name]})
	}
	return players
}
