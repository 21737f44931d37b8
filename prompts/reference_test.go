package prompts

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/golden"
)

var (
	definition = regexp.MustCompile(`{{-? *define "([^"]+)"`)
	call       = regexp.MustCompile(`{{-? *template "([^"]+)"`)
	remark     = regexp.MustCompile(`(?s)^{{/\*(.*?)\*/}}`)
)

// page is docs/reference/prompts.md: all prompts and all blocks of templates, with their texts.
const page = "../docs/reference/prompts.md"

// The page of all prompts is made from the templates, and leaves none out.
func TestTheReferenceHasAllPromptsAndBlocks(t *testing.T) {
	names, err := fs.Glob(embedded, "templates/*.tmpl")
	require.NoError(t, err)
	texts := map[string]string{} // by the name of the file, without its ending
	file := map[string]string{}  // of each block
	users := map[string][]string{}
	for _, name := range names {
		raw, err := fs.ReadFile(embedded, name)
		require.NoError(t, err)
		id := strings.TrimSuffix(path.Base(name), ".tmpl")
		texts[id] = string(raw)
		for _, found := range definition.FindAllStringSubmatch(texts[id], -1) {
			if found[1] != "system" {
				file[found[1]] = id
			}
		}
		for _, block := range callsIn(texts[id]) {
			users[block] = append(users[block], id)
		}
	}
	set, err := Load(nil)
	require.NoError(t, err)
	var b strings.Builder
	b.WriteString("\n## Prompts\n\nEach has a user message and the block `system`, the system prompt.\n\n| prompt | blocks that it uses |\n|---|---|\n")
	for _, name := range set.Names() {
		text, has := texts[name]
		require.True(t, has, "prompt %s has no file", name)
		fmt.Fprintf(&b, "| [`%s`](#%s) | %s |\n", name, anchor(name), list(callsIn(text)))
	}
	b.WriteString("\n## Blocks\n\nA file of yours replaces the library's file with the same name, with the blocks that it defines.\n\n| block | file | used by |\n|---|---|---|\n")
	for _, block := range slices.Sorted(maps.Keys(file)) {
		fmt.Fprintf(&b, "| `%s` | [`%s`](#%s) | %s |\n", block, file[block], anchor(file[block]), list(users[block]))
	}
	b.WriteString("\n## Texts\n")
	for _, id := range slices.Sorted(maps.Keys(texts)) {
		text := texts[id]
		fmt.Fprintf(&b, "\n### %s\n", id)
		if about := remark.FindStringSubmatch(text); about != nil {
			fmt.Fprintf(&b, "\n%s\n", strings.Join(strings.Fields(about[1]), " "))
			text = text[len(about[0]):]
		}
		fmt.Fprintf(&b, "\n````text\n%s\n````\n", strings.TrimSpace(text))
	}
	golden.Section(t, page, "prompts", b.String())
	for block := range users {
		require.Contains(t, file, block, "a block that no template defines")
	}
}

// callsIn returns the blocks that a template uses, each once.
func callsIn(text string) (blocks []string) {
	for _, found := range call.FindAllStringSubmatch(text, -1) {
		if !slices.Contains(blocks, found[1]) {
			blocks = append(blocks, found[1])
		}
	}
	slices.Sort(blocks)
	return blocks
}

func list(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return "`" + strings.Join(names, "`, `") + "`"
}

// anchor returns the link to the heading of a file, as GitHub makes it.
func anchor(id string) string { return strings.ToLower(id) }
