package prompts

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func toast(what string) string {
	return `{{define "system"}}{{template "debater" .}}{{end}}A toast to ` + what + "."
}

func TestTheSameContentIsLoadedOnce(t *testing.T) {
	first := load(t, overlay("toast.tmpl", toast("Ada"), "_x.tmpl", `{{define "x"}}y{{end}}`))
	second := load(t, overlay("toast.tmpl", toast("Ada"), "_x.tmpl", `{{define "x"}}y{{end}}`))
	require.Same(t, first, second)
}

func TestAChangeOfContentIsSeen(t *testing.T) {
	files := overlay("toast.tmpl", toast("Ada"), "_house.tmpl", `{{define "topic"}}On cars.{{end}}`)
	for _, tt := range []struct{ file, text, user, system string }{
		{"toast.tmpl", toast("Bo"), "A toast to Bo.", "On cars."},
		{"_house.tmpl", `{{define "topic"}}On trams.{{end}}`, "A toast to Bo.", "On trams."},
		{"toast.tmpl", toast("Ada"), "A toast to Ada.", "On trams."},
		{"_house.tmpl", `{{define "topic"}}On cars.{{end}}`, "A toast to Ada.", "On cars."},
	} {
		files[tt.file].Data = []byte(tt.text)
		s := load(t, files)
		system, user := both(t, s, "toast", rich("toast"))
		require.Equal(t, tt.user, user)
		require.Contains(t, system, tt.system)
	}
}

// A partial that replaces a block rebuilds the prompts that use it, directly or through other blocks, and no others.
func TestAPartialChangesThePromptsThatUseIt(t *testing.T) {
	own := load(t, nil)
	s := load(t, overlay("_house.tmpl", `{{define "rules"}}Be kind.{{end}}`))
	for _, name := range s.Names() {
		system, _ := both(t, own, name, rich(name))
		require.Equal(t, strings.Contains(system, "Stay in role"), own.prompts[name].user != s.prompts[name].user, name)
	}
}

// Otherwise an overlay could not add a block to a prompt that is not rebuilt.
func TestEachBlockThatTheLibraryUsesIsThere(t *testing.T) {
	own := load(t, nil)
	for name, p := range own.prompts {
		for _, part := range p.user.Templates() {
			walk(part.Root, func(block string) { require.NotNil(t, p.user.Lookup(block), "%s: %s", name, block) })
		}
	}
}

// Moving text between files or into a name changes the digest.
func TestDigestsDiffer(t *testing.T) {
	seen := map[[32]byte]bool{}
	for _, files := range [][]file{
		nil, {{}}, {{"a", "b"}}, {{"ab", ""}}, {{"", "ab"}}, {{"a", ""}, {"b", ""}}, {{"a", "b"}, {"c", "d"}}, {{"a", "bc"}, {"", "d"}},
	} {
		seen[digest(files)] = true
	}
	require.Len(t, seen, 8)
}

func TestBadTemplatesFailEachTime(t *testing.T) {
	for _, files := range []map[string]string{
		{"x.tmpl": debater + "{{.Topc}}"},
		{"x.tmpl": "body"},
		{"x.tmpl": debater + "{{if}}"},
		{"_x.tmpl": "{{end}}"},
		{"_x.tmpl": `{{define "topic"}}{{.Topc}}{{end}}`}, // used by the library's prompts
	} {
		var list []string
		for name, text := range files {
			list = append(list, name, text)
		}
		_, first := Load(overlay(list...))
		require.Error(t, first)
		s, second := Load(overlay(list...))
		require.EqualError(t, second, first.Error())
		require.Nil(t, s)
	}
}

func TestAnOverlayChangesNoOther(t *testing.T) {
	own := load(t, nil)
	system, user := both(t, own, "opening", rich("opening"))
	load(t, overlay("_house.tmpl", `{{define "rules"}}Be kind.{{end}}`, "opening.tmpl", toast("Cy")))
	again := load(t, overlay("toast.tmpl", toast("Cy")))
	gotSystem, gotUser := both(t, again, "opening", rich("opening"))
	require.Equal(t, system+user, gotSystem+gotUser)
}

func TestTheCacheIsBounded(t *testing.T) {
	var c cache
	key := func(i int) (k [32]byte) {
		k[0] = byte(i)
		return k
	}
	sets := make([]*Set, 2*maxCached)
	for i := range sets {
		sets[i] = &Set{}
		c.put(key(i), sets[i])
		c.put(key(i), &Set{}) // has no effect
		require.Same(t, sets[0], c.get(key(0)), "a set in use stays")
		require.LessOrEqual(t, len(c.sets), maxCached)
	}
	require.Nil(t, c.get(key(1)))
	require.Same(t, sets[len(sets)-1], c.get(key(len(sets)-1)))
}

func TestConcurrentLoads(t *testing.T) {
	var group sync.WaitGroup
	for i := range 16 {
		group.Go(func() {
			for j := range 10 {
				who := fmt.Sprint((i + j) % 5)
				s, err := Load(overlay("toast.tmpl", toast(who), "_house.tmpl", `{{define "topic"}}On `+who+`.{{end}}`))
				if err != nil {
					t.Error(err)
					return
				}
				user, err := s.User("toast", rich("toast"))
				if err != nil || user != "A toast to "+who+"." {
					t.Error(user, err)
				}
			}
		})
	}
	group.Wait()
}

// BenchmarkLoadLibrary parses and checks all prompts of the library, like the first load of a process.
func BenchmarkLoadLibrary(b *testing.B) {
	files, err := read(templates())
	require.NoError(b, err)
	own, err := library()
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := own.overlaid(files); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkLoad loads overlays with the same content each time, and with new content each time.
func BenchmarkLoad(b *testing.B) {
	const partial = `{{define "rules"}}Be kind.{{end}}`
	for _, bb := range []struct {
		name  string
		files func(i int) []string
	}{
		{"prompt/same", func(int) []string { return []string{"opening.tmpl", toast("Ada")} }},
		{"prompt/new", func(i int) []string { return []string{"opening.tmpl", toast(fmt.Sprint(i))} }},
		{"partial/same", func(int) []string { return []string{"opening.tmpl", toast("Ada"), "_house.tmpl", partial} }},
		{"partial/new", func(i int) []string { return []string{"opening.tmpl", toast(fmt.Sprint(i)), "_house.tmpl", partial} }},
	} {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if _, err := Load(overlay(bb.files(i)...)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
