package prompts

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

func overlay(files ...string) fstest.MapFS {
	m := fstest.MapFS{}
	for i := 0; i < len(files); i += 2 {
		m[files[i]] = &fstest.MapFile{Data: []byte(files[i+1])}
	}
	return m
}

// load returns the templates with those of an overlay, which may be nil.
func load(t testing.TB, overlay fs.FS) *Set {
	t.Helper()
	s, err := Load(overlay)
	require.NoError(t, err)
	return s
}

const debater = `{{define "system"}}{{template "debater" .}}{{end}}`

func TestOverlay(t *testing.T) {
	own := loaded(t)
	s, err := Load(overlay(
		"opening.tmpl", debater+"\r\nSpeak of {{.Topic}}, \r\n\r\n\r\n{{.Me.Name}}.\r\n",
		"toast.tmpl", `{{define "system"}}{{template "brief" .}}{{end}}A toast to {{with .Target}}{{.Name}}{{end}}, {{.Vars.tone}}.`,
		"_brief.tmpl", `{{define "brief"}}You are {{.Me.Name}}.{{end}}`,
		"_house.tmpl", `{{define "topic"}}On {{.Topic}}{{end}}{{define "impartiality"}}{{""}}{{end}}`,
		"README.md", "{{not a template",
		".hidden.tmpl", "{{not a template",
		"folder/closing.tmpl", "{{not read",
	))
	require.NoError(t, err)
	require.Len(t, s.Names(), len(loaded(t).Names())+1)

	system, user := both(t, s, "opening", rich("opening"))
	require.Equal(t, "Speak of Should cities ban private cars?,\n\nAda.", user)
	rebuttal, _ := both(t, s, "rebuttal", rich("rebuttal"))
	require.Equal(t, rebuttal, system)
	requireAll(t, system, "On Should cities", "Stay in role")
	require.NotContains(t, system, "The council votes")

	d := rich("toast")
	d.Target, d.Vars = &bo, map[string]string{"tone": "warmly"}
	system, user = both(t, s, "toast", d)
	require.Equal(t, "You are Eve.|A toast to Bo, warmly.", system+"|"+user)

	system, user = both(t, s, "assess", rich("assess"))
	require.NotContains(t, system, "Be impartial")
	_, untouched := both(t, own, "assess", rich("assess"))
	require.Equal(t, untouched, user)
	require.False(t, own.Has("toast"), "an overlay does not change the library's set")
}

func TestBlocksAreAPromptsOwn(t *testing.T) {
	s, err := Load(overlay(
		"a.tmpl", `{{define "system"}}{{template "x"}}{{end}}{{define "x"}}a{{end}}body`,
		"b.tmpl", `{{define "system"}}{{template "x"}}{{end}}{{define "x"}}b{{end}}body`,
	))
	require.NoError(t, err)
	a, _ := both(t, s, "a", Data{})
	b, _ := both(t, s, "b", Data{})
	require.Equal(t, "ab", a+b)
}

func TestMissingVariable(t *testing.T) {
	s := load(t, overlay("x.tmpl", debater+"\nBe {{.Vars.tone}}."))
	_, err := s.User("x", Data{})
	require.ErrorContains(t, err, `render prompt: template: x.tmpl:2:10:`)
	require.ErrorContains(t, err, `no entry for key "tone"`)
}

func TestBadOverlay(t *testing.T) {
	tests := map[string]struct {
		overlay fs.FS
		want    []string
	}{
		"syntax":           {overlay("x.tmpl", debater+"\n{{if}}"), []string{"parse prompt: template: x.tmpl:2: missing value for if"}},
		"partial syntax":   {overlay("_x.tmpl", "\n\n{{end}}"), []string{"parse partial: template: _x.tmpl:3: unexpected {{end}}"}},
		"unknown function": {overlay("x.tmpl", debater+`{{shout .Topic}}`), []string{`x.tmpl:1: function "shout" not defined`}},
		"no system":        {overlay("x.tmpl", "body"), []string{`check prompt: x.tmpl has no system prompt; add one, such as {{define "system"}}`}},
		"empty system":     {overlay("x.tmpl", `{{define "system"}} {{end}}body`), []string{"x.tmpl has no system prompt"}},
		"no user":          {overlay("x.tmpl", debater+"\n{{/* nothing */}}\n"), []string{"check prompt: x.tmpl has no user message"}},
		"misspelt field":   {overlay("x.tmpl", debater+"\n{{.Topc}}"), []string{"render prompt: template: x.tmpl:2:2:", "can't evaluate field Topc in type *prompts.Data"}},
		"volatile system":  {overlay("x.tmpl", `{{define "system"}}{{.Round}}{{end}}body`), []string{"x.tmpl:1:21:", "can't evaluate field Round", "can read only Topic"}},
		"unknown block":    {overlay("x.tmpl", debater+`{{template "nix" .}}`), []string{"x.tmpl:1:", `template "nix" not defined`}},
		"endless":          {overlay("x.tmpl", debater+`{{define "a"}}{{template "a"}}{{end}}{{template "a"}}`), []string{"exceeded maximum template depth"}},
		"in a folder":      {overlay("prompts/x.tmpl", "body"), []string{"read prompts: no *.tmpl file at the root; use fs.Sub"}},
		"all at once":      {overlay("x.tmpl", "body", "y.tmpl", "{{"), []string{"x.tmpl has no system prompt", "parse prompt: template: y.tmpl:1:"}},
		"unreadable file":  {broken{overlay("x.tmpl", "body")}, []string{"read prompts: out of order"}},
		"unreadable root":  {broken{}, []string{"read prompts: open .: file does not exist"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s, err := Load(tt.overlay)
			require.Error(t, err)
			require.Nil(t, s)
			requireAll(t, err.Error(), tt.want...)
		})
	}
}

// broken lists its files but fails to read them.
type broken struct{ files fstest.MapFS }

func (b broken) Open(string) (fs.File, error) { return nil, errors.New("out of order") }

func (b broken) ReadDir(name string) ([]fs.DirEntry, error) {
	if b.files == nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return b.files.ReadDir(name)
}

func FuzzLoad(f *testing.F) {
	for _, name := range all {
		text, err := fs.ReadFile(templates(), name+extension)
		require.NoError(f, err)
		f.Add(string(text), `{{define "topic"}}{{.Topic}}{{end}}`)
	}
	f.Add(debater+"{{range .Others}}{{.Name}}{{else}}{{nil}}{{end}}", "{{block \"system\" .}}{{.}}{{end}}")
	f.Add(debater+"{{join .Opponents `,`}}", "{{/*")
	f.Add("{{define \"x.tmpl\"}}\n{{end}}{{break}}", "{{define \"x.tmpl\"}}{{template \"system\"}}{{end}}")
	f.Fuzz(func(t *testing.T, text, partial string) {
		if strings.Contains(text+partial, "range") && strings.ContainsAny(text+partial, "0123456789") {
			t.Skip("may count for ever")
		}
		s, err := Load(overlay("x.tmpl", text, "_x.tmpl", partial))
		if err != nil {
			return
		}
		for _, d := range []Data{{}, minimal("x"), rich("x")} {
			for _, render := range []func(string, Data) (string, error){s.System, s.User} {
				if out, err := render("x", d); err == nil {
					require.Equal(t, out, string(tidy([]byte(out))), "tidy is idempotent")
				}
			}
		}
	})
}

func TestVersionsOfSets(t *testing.T) {
	version := func(overlay fs.FS) string {
		s := load(t, overlay)
		return s.Version()
	}
	one := func(text string) fs.FS {
		return fstest.MapFS{"opening.tmpl": {Data: []byte(`{{define "system"}}x{{end}}` + text)}}
	}
	require.Len(t, version(nil), 16)
	require.Equal(t, version(nil), version(nil))
	require.Equal(t, version(one("a")), version(one("a")))
	require.NotEqual(t, version(one("a")), version(one("b")))
	require.NotEqual(t, version(one("a")), version(nil))
}
