package prompts

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"text/template"
	"text/template/parse"

	"github.com/elenchus-go/debate/transcript"
)

const extension = ".tmpl"

//go:embed templates/*.tmpl
var embedded embed.FS

// Load reads the library's prompts and lays those of overlay over them; nil stands for no overlay. It refuses a
// template that cannot be parsed, that lacks one of its two parts, or that reads something that is not there: each
// prompt is rendered once with made-up data, so that a misspelt field shows now and not in the last round.
func Load(overlay fs.FS) (*Set, error) {
	if overlay == nil {
		return own()
	}
	return load(library(), overlay)
}

// own loads the library's prompts once: a set never changes, so all may share it.
var own = sync.OnceValues(func() (*Set, error) { return load(library()) })

func library() fs.FS {
	dir, err := fs.Sub(embedded, "templates")
	if err != nil {
		panic(err) // unreachable: the name is valid
	}
	return dir
}

// load reads the layers, the later above the earlier, and checks all prompts.
func load(layers ...fs.FS) (*Set, error) {
	partials := template.New("").Funcs(funcs)
	texts := map[string]string{} // by file
	for _, layer := range layers {
		if err := read(layer, partials, texts); err != nil {
			return nil, err
		}
	}
	s := &Set{prompts: make(map[string]prompt, len(texts))}
	var errs []error
	for _, file := range slices.Sorted(maps.Keys(texts)) {
		p, err := parsePrompt(file, texts[file], partials)
		errs = append(errs, err)
		s.prompts[strings.TrimSuffix(file, extension)] = p
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return s, nil
}

// read parses the partials at the root of layer and collects the texts of its prompts.
func read(layer fs.FS, partials *template.Template, texts map[string]string) error {
	files, err := fs.ReadDir(layer, ".")
	if err != nil {
		return fmt.Errorf("read prompts: %w", err)
	}
	found := false
	for _, f := range files {
		if f.IsDir() || !strings.HasSuffix(f.Name(), extension) || strings.HasPrefix(f.Name(), ".") {
			continue
		}
		found = true
		if err := readFile(layer, f.Name(), partials, texts); err != nil {
			return err
		}
	}
	if !found {
		return fmt.Errorf("read prompts: no *%s file at the root; use fs.Sub if they are in a folder", extension)
	}
	return nil
}

func readFile(layer fs.FS, file string, partials *template.Template, texts map[string]string) error {
	text, err := fs.ReadFile(layer, file)
	if err != nil {
		return fmt.Errorf("read prompts: %w", err)
	}
	if !strings.HasPrefix(file, "_") {
		texts[file] = string(text)
		return nil
	}
	if _, err := partials.New(file).Parse(string(text)); err != nil {
		return fmt.Errorf("parse partial: %w", err)
	}
	return nil
}

func parsePrompt(file, text string, partials *template.Template) (prompt, error) {
	user, err := template.Must(partials.Clone()).New(file).Parse(text)
	if err != nil {
		return prompt{}, fmt.Errorf("parse prompt: %w", err)
	}
	p := prompt{system: user.Lookup("system"), user: user}
	if empty(p.system) {
		const block = `{{define "system"}}{{template "debater" .}}{{end}}`
		return p, fmt.Errorf("check prompt: %s has no system prompt; add one, such as %s", file, block)
	}
	if empty(p.user) {
		return p, fmt.Errorf("check prompt: %s has no user message; write it outside of the blocks", file)
	}
	return p, p.try()
}

func empty(t *template.Template) bool { return t == nil || parse.IsEmptyTree(t.Root) }

// try renders both parts with made-up data, in which any key of Vars is there and empty.
func (p prompt) try() error {
	p.user.Option("missingkey=zero")
	defer p.user.Option("missingkey=error")
	if _, err := render(p.system, specimen.lasting()); err != nil {
		return fmt.Errorf("%w (a system prompt reads Topic, Background, Me, Others, Vars, Criteria and Fence alone)", err)
	}
	_, err := render(p.user, &specimen)
	return err
}

// specimen has a value in each field, so that as much as possible of a template is tried.
var specimen = func() Data {
	seat := transcript.Seat{
		Name: "name", Role: "role", Side: "side", Position: "position", Persona: "persona",
		Instructions: "instructions", KeyArguments: []string{"argument", "argument"},
	}
	return Data{
		Topic: "topic", Background: "background", Me: seat, Others: []transcript.Seat{seat, seat, seat}, Target: &seat,
		Opponents: []string{"name", "name"}, Phase: "phase", Round: 2, Rounds: 3, MinRounds: 2,
		Reply: "reply", Findings: []string{"finding", "finding"}, Criteria: "criteria", Fence: "fence", Advice: []string{"advice", "advice"},
	}
}()
