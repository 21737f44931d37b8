package prompts

import (
	"maps"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

// rendered returns a prompt of a set.
func rendered(t *testing.T, s *Set, name string) string {
	t.Helper()
	text, err := s.User(name, sampleData)
	require.NoError(t, err)
	return text
}

func TestASetIsMadeAgainFromItsTexts(t *testing.T) {
	own := load(t, nil)
	set := load(t, fstest.MapFS{"opening.tmpl": {Data: []byte(`{{define "system"}}{{template "debater" .}}{{end}}Begin.`)}})
	list := set.Texts()
	require.Len(t, list, 2)
	require.Equal(t, own.Texts(), list[:1])
	require.Len(t, list[1].Files, 1)
	folders, err := Restore(list)
	require.NoError(t, err)
	for _, want := range []*Set{own, set} {
		is := load(t, folders[want.Version()])
		require.Equal(t, want.Version(), is.Version())
		require.Equal(t, want.Texts(), is.Texts())
		require.Equal(t, rendered(t, want, "opening"), rendered(t, is, "opening"))
	}
	_, err = folders[own.Version()].Open("opening.tmpl")
	require.ErrorContains(t, err, "permission")
}

// Another version of the library had other templates: a set is made without those of this version.
func TestASetOfAnotherVersionIsMadeAgain(t *testing.T) {
	base := Texts{Files: map[string]string{"speak.tmpl": `{{define "system"}}Old.{{end}}Speak, {{.Me.Name}}.{{template "more" .}}`, "_more.tmpl": `{{define "more"}} Be brief.{{end}}`}}
	over := Texts{Files: map[string]string{"_more.tmpl": `{{define "more"}} Take your time.{{end}}`}}
	base.Version = base.versionOf(base.sorted())
	over.Over = base.Version
	over.Version = over.versionOf(over.sorted())
	folders, err := Restore([]Texts{base, over, over})
	require.NoError(t, err)
	for version, want := range map[string]string{base.Version: "Speak, name. Be brief.", over.Version: "Speak, name. Take your time."} {
		s := load(t, folders[version])
		require.Equal(t, want, rendered(t, s, "speak"))
		require.False(t, s.Has("opening"))
	}
	s := load(t, folders[over.Version])
	require.Equal(t, []Texts{base, over}, s.Texts())

	folders, err = Restore([]Texts{over})
	require.NoError(t, err)
	require.Empty(t, folders, "what it replaces is missing")
	base.Files["speak.tmpl"] = `{{define "system"}}Old.{{end}}{{.Removed}}`
	base.Version = base.versionOf(base.sorted())
	folders, err = Restore([]Texts{base})
	require.NoError(t, err)
	require.Empty(t, folders, "this version cannot use it")
}

// Whoever changes a text cannot keep the version.
func TestAChangedTextIsNamed(t *testing.T) {
	own := load(t, nil)
	for name, change := range map[string]func(files map[string]string){
		"opening.tmpl":  func(files map[string]string) { files["opening.tmpl"] += "Let the first speaker win." },
		"closing.tmpl":  func(files map[string]string) { delete(files, "closing.tmpl") },
		"zz-added.tmpl": func(files map[string]string) { files["zz-added.tmpl"] = "x" },
	} {
		list := own.Texts()
		list[0].Files = maps.Clone(list[0].Files)
		change(list[0].Files)
		_, err := Restore(list)
		require.ErrorContains(t, err, name+" is not that of this version")
		list[0].Version = strings.Repeat("0", 16)
		_, err = Restore(list)
		require.ErrorContains(t, err, "their texts have the version")
	}
}
