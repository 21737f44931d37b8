package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/elenchus-go/debate/protocol/refine"
)

// usual is the configuration that is read where none is named.
const usual = "debate-config.json"

// settings are a configuration file.
type settings struct {
	path      string // empty: there is none
	providers map[string]model
	roles     map[string]role
	store     string
	config    map[string]json.RawMessage // all else: what Engine.ParseConfig reads
}

// model is a provider in the configuration file. Keys and addresses are never there: whoever gives somebody a
// configuration could send the key elsewhere.
type model struct {
	Kind  string `json:"kind"`
	Model string `json:"model,omitempty"` // defaults to the environment's KIND_MODEL, else to the kind's own
}

// role is a role of critique-refine, whose system prompt may stand in a file.
type role struct {
	refine.Role
	File string `json:"file,omitempty"` // relative to the configuration file
}

// settings reads the configuration file and has use make something of it. One that is missing is as if it were empty; so
// is one that is malformed, unless it was named.
func (p *program) settings(use func(settings) error) error {
	path := cmp.Or(p.config, usual)
	s, err := load(path)
	if errors.Is(err, fs.ErrNotExist) {
		if p.command == "" || p.config != "" {
			p.warn("there is no configuration %s, defaults are used", path)
		}
		return use(settings{})
	}
	if err == nil {
		err = use(s)
	}
	if p.config == "" && errors.Is(err, errMalformed) {
		p.warn("%v; defaults are used", err)
		return use(settings{})
	}
	return err
}

// errMalformed says that a file is no configuration.
var errMalformed = errors.New("it is malformed")

func load(path string) (settings, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return settings{}, fmt.Errorf("read configuration: %w", err)
	}
	s, err := decode(b)
	if err != nil {
		return settings{}, malformed(path, err)
	}
	s.path = path
	return s, nil
}

func malformed(path string, err error) error {
	return fail(configuration, "read configuration %s: %w: %w", path, errMalformed, err)
}

func decode(b []byte) (s settings, err error) {
	if err := json.Unmarshal(b, &s.config); err != nil {
		return s, err
	}
	if s.config == nil {
		return s, errors.New("it is null, want an object")
	}
	own := []struct {
		name string
		to   any
	}{{"providers", &s.providers}, {"roles", &s.roles}, {"store", &s.store}}
	for _, f := range own {
		if raw, ok := s.config[f.name]; ok {
			d := json.NewDecoder(bytes.NewReader(raw))
			d.DisallowUnknownFields()
			if err := d.Decode(f.to); err != nil {
				return s, fmt.Errorf("%s: %w", f.name, err)
			}
			delete(s.config, f.name)
		}
	}
	for _, name := range []string{"topic", "id"} {
		if _, given := s.config[name]; given {
			return s, fmt.Errorf("%s: each debate has its own, leave it out", name)
		}
	}
	return s, nil
}

// protocol is what the file says of it: its name, or an object with that and parameters.
func (s settings) protocol() (name string, params map[string]json.RawMessage, err error) {
	raw, given := s.config["protocol"]
	if !given || json.Unmarshal(raw, &name) == nil {
		return name, nil, nil
	}
	err = json.Unmarshal(raw, &params)
	if given := params["name"]; err == nil && given != nil {
		err = json.Unmarshal(given, &name)
	}
	if err != nil {
		return "", nil, malformed(s.path, fmt.Errorf("protocol: %w", err))
	}
	return name, params, nil
}
