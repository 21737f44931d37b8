package prompts

import (
	"crypto/sha256"
	"embed"
	"encoding/binary"
	"encoding/hex"
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

// Load returns the library's prompts, with those of overlay replaced or added. If overlay is nil, it returns the library's
// prompts. Load returns an error if a template cannot be parsed, lacks a system prompt or a user message, or reads an
// unknown field. To find unknown fields, it renders each prompt that the overlay affects once with sample data.
//
// Load reads the overlay each time, but it does not parse the same content again: it keeps the 32 most recently used sets,
// identified by the content of their overlays.
func Load(overlay fs.FS) (*Set, error) {
	own, err := library()
	if err != nil {
		return nil, err
	}
	if overlay == nil {
		return own.set, nil
	}
	if r, made := overlay.(restored); made {
		return r.set, nil
	}
	files, err := read(overlay)
	if err != nil {
		return nil, err
	}
	key := digest(files)
	if s := overlays.get(key); s != nil {
		return s, nil
	}
	over, err := own.overlaid(files)
	if err != nil {
		return nil, err
	}
	over.set.files, over.set.over = files, own.set
	over.set.version = versionOf(append([]byte(own.set.version), key[:]...))
	overlays.put(key, over.set)
	return over.set, nil
}

// library returns the library's own prompts. They are parsed once, because sets and trees never change.
var library = sync.OnceValues(func() (*collection, error) {
	files, err := read(templates())
	if err != nil {
		return nil, err
	}
	own, err := emptyCollection().overlaid(files)
	if err != nil {
		return nil, err
	}
	key := digest(files)
	own.set.version, own.set.files = versionOf(key[:]), files
	return own, nil
})

// emptyCollection returns a collection without templates.
func emptyCollection() *collection {
	return &collection{partials: template.New("").Funcs(funcs), set: &Set{}}
}

// versionOf returns a short text that differs for different data.
func versionOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8])
}

// templates returns the folder of the library's templates.
func templates() fs.FS {
	dir, err := fs.Sub(embedded, "templates")
	if err != nil {
		panic(err) // unreachable: the name is valid
	}
	return dir
}

// read returns the template files at the root of a folder, sorted by name. It ignores hidden files.
func read(folder fs.FS) (files []file, err error) {
	entries, err := fs.ReadDir(folder, ".")
	if err != nil {
		return nil, fmt.Errorf("read prompts: %w", err)
	}
	for _, e := range entries {
		if e.IsDir() || !strings.HasSuffix(e.Name(), extension) || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		text, err := fs.ReadFile(folder, e.Name())
		if err != nil {
			return nil, fmt.Errorf("read prompts: %w", err)
		}
		files = append(files, file{e.Name(), string(text)})
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("read prompts: no *%s file at the root; use fs.Sub if they are in a folder", extension)
	}
	return files, nil
}

// digest returns a key of the names and texts of files.
func digest(files []file) (key [sha256.Size]byte) {
	h := sha256.New()
	var size [8]byte
	for _, f := range files {
		for _, s := range []string{f.name, f.text} {
			binary.BigEndian.PutUint64(size[:], uint64(len(s)))
			h.Write(size[:])
			h.Write([]byte(s))
		}
	}
	h.Sum(key[:0])
	return key
}

// collection is a set of prompts with its sources, so that overlays can be applied to it.
type collection struct {
	partials *template.Template       // the blocks of all partials
	trees    map[string][]*parse.Tree // body and blocks by prompt file
	set      *Set
}

// overlaid returns a collection in which files replace or extend those of c. It builds and checks the prompts that change.
func (c *collection) overlaid(files []file) (*collection, error) {
	partials, err := c.withPartials(files)
	if err != nil {
		return nil, err
	}
	texts := map[string]string{} // text by prompt file
	for _, f := range files {
		if !f.partial() {
			texts[f.name] = f.text
		}
	}
	next := &collection{partials: partials, trees: cloneMap(c.trees), set: &Set{prompts: cloneMap(c.set.prompts)}}
	var errs []error
	for _, name := range c.changed(texts, partials) {
		if text, replaced := texts[name]; replaced {
			next.trees[name], err = parseTrees(name, text)
			if err != nil {
				errs = append(errs, err)
				continue
			}
		}
		p, err := makePrompt(name, next.trees[name], partials)
		errs = append(errs, err)
		next.set.prompts[strings.TrimSuffix(name, extension)] = p
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return next, nil
}

// changed returns the sorted names of the prompt files that new texts or partials change.
func (c *collection) changed(texts map[string]string, partials *template.Template) []string {
	names := slices.Collect(maps.Keys(texts))
	if partials == c.partials {
		return slices.Sorted(slices.Values(names))
	}
	for name := range c.trees {
		if _, replaced := texts[name]; replaced {
			continue
		}
		parts := c.set.prompts[strings.TrimSuffix(name, extension)].user.Templates()
		if slices.ContainsFunc(parts, func(t *template.Template) bool {
			return treeOf(t.Name(), partials) != treeOf(t.Name(), c.partials)
		}) {
			names = append(names, name)
		}
	}
	return slices.Sorted(slices.Values(names))
}

// cloneMap returns a copy of m, which is never nil.
func cloneMap[V any](m map[string]V) map[string]V {
	c := make(map[string]V, len(m)+1)
	maps.Copy(c, m)
	return c
}

// withPartials returns the partials of c, replaced or extended by those among files. It returns c.partials if there are
// none.
func (c *collection) withPartials(files []file) (*template.Template, error) {
	partials := c.partials
	for _, f := range files {
		if !f.partial() {
			continue
		}
		if partials == c.partials {
			partials = template.Must(partials.Clone())
		}
		if _, err := partials.New(f.name).Parse(f.text); err != nil {
			return nil, fmt.Errorf("parse partial: %w", err)
		}
	}
	return partials, nil
}

// parseTrees parses a prompt file without the partials. makePrompt adds the blocks that it uses.
func parseTrees(name, text string) (trees []*parse.Tree, err error) {
	t, err := template.New(name).Funcs(funcs).Parse(text)
	if err != nil {
		return nil, fmt.Errorf("parse prompt: %w", err)
	}
	for _, part := range t.Templates() {
		trees = append(trees, part.Tree)
	}
	return trees, nil
}

// makePrompt builds and checks a prompt from the trees of its file and the blocks of partials that they use. A block of
// the file takes precedence over a block of a partial, unless it is empty.
func makePrompt(name string, trees []*parse.Tree, partials *template.Template) (prompt, error) {
	user := template.New(name).Funcs(funcs)
	var use func(block string)
	add := func(block string, tree *parse.Tree) {
		template.Must(user.AddParseTree(block, tree))
		walk(tree.Root, use)
	}
	use = func(block string) {
		if user.Lookup(block) != nil {
			return
		}
		own := ownTree(block, trees)
		if shared := treeOf(block, partials); shared != nil && (own == nil || parse.IsEmptyTree(own.Root)) {
			own = shared
		}
		if own != nil { // otherwise rendering reports that it is missing
			add(block, own)
		}
	}
	add(name, ownTree(name, trees))
	use("system")
	p := prompt{system: user.Lookup("system"), user: user}
	if isEmpty(p.system) {
		const block = `{{define "system"}}{{template "debater" .}}{{end}}`
		return p, fmt.Errorf("check prompt: %s has no system prompt; add one, such as %s", name, block)
	}
	if isEmpty(p.user) {
		return p, fmt.Errorf("check prompt: %s has no user message; write it outside the blocks", name)
	}
	p.flatSystem, p.flatUser = inlined(p.system), inlined(p.user)
	return p, p.tryRendering()
}

// ownTree returns the tree with the given name among the trees of a file, or nil if there is none.
func ownTree(name string, trees []*parse.Tree) *parse.Tree {
	if i := slices.IndexFunc(trees, func(t *parse.Tree) bool { return t.Name == name }); i >= 0 {
		return trees[i]
	}
	return nil
}

// treeOf returns the tree of a block of the partials, or nil if there is none.
func treeOf(block string, partials *template.Template) *parse.Tree {
	if t := partials.Lookup(block); t != nil {
		return t.Tree
	}
	return nil
}

// walk calls use with the name of each block that a node calls.
func walk(n parse.Node, use func(block string)) {
	switch n := n.(type) {
	case *parse.ListNode:
		if n == nil {
			return
		}
		for _, inner := range n.Nodes {
			walk(inner, use)
		}
	case *parse.TemplateNode:
		use(n.Name)
	case *parse.IfNode:
		walk(n.List, use)
		walk(n.ElseList, use)
	case *parse.WithNode:
		walk(n.List, use)
		walk(n.ElseList, use)
	case *parse.RangeNode:
		walk(n.List, use)
		walk(n.ElseList, use)
	}
}

// restored reads a set as a folder.
type restored struct{ set *Set }

// Open implements fs.FS. Only Load can use the folder.
func (restored) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
}

// isEmpty reports whether a template is missing or has no content.
func isEmpty(t *template.Template) bool { return t == nil || parse.IsEmptyTree(t.Root) }

// tryRendering renders both parts with sample data, in which every key of Vars exists and is empty.
func (p prompt) tryRendering() error {
	p.user.Option("missingkey=zero")
	defer p.user.Option("missingkey=error")
	if _, err := render(p.system, sampleData.systemData()); err != nil {
		return fmt.Errorf("%w (a system prompt can read only Topic, Background, Me, Others, Vars, Criteria, Nonce and Blind)", err)
	}
	_, err := render(p.user, &sampleData)
	return err
}

// sampleData has a value in each field, so that most branches of a template are rendered.
var sampleData = func() Data {
	seat := transcript.Profile{
		Name: "name", Role: "role", Side: "side", Position: "position", Persona: "persona",
		Instructions: "instructions", KeyArguments: []string{"argument", "argument"},
	}
	return Data{
		Topic: "topic", Background: "background", Me: seat, Others: []transcript.Profile{seat, seat, seat}, Target: &seat,
		Opponents: []string{"name", "name"}, Phase: "phase", Round: 2, Rounds: 3, MinRounds: 2,
		ReplyFields: "reply", Violations: []string{"violation", "violation"}, Criteria: "criteria", Nonce: "nonce", Blind: true,
		Advice: []string{"advice", "advice"},
	}
}()

// maxInlined is the maximum depth of nested blocks that are inlined. Deeper calls, such as those of a recursive block, are
// kept.
const maxInlined = 8

// inlined returns a function that returns the template with its blocks inlined, which renders faster. The function does
// the work on its first call.
func inlined(t *template.Template) func() *template.Template {
	return sync.OnceValue(func() *template.Template {
		flat, err := t.Clone()
		if err != nil {
			return t // unreachable: it was not executed as HTML
		}
		tree := t.Tree.Copy()
		inline(tree.Root, t, 0)
		if _, err := flat.AddParseTree(t.Name(), tree); err != nil {
			return t
		}
		return flat.Lookup(t.Name())
	})
}

// inline replaces calls of blocks by the nodes of the blocks if the result is the same: the call must pass on the dot, and
// no surrounding action may have changed the dot.
func inline(list *parse.ListNode, t *template.Template, depth int) {
	if list == nil || depth == maxInlined {
		return
	}
	var nodes []parse.Node
	for _, n := range list.Nodes {
		switch n := n.(type) {
		case *parse.IfNode:
			inline(n.List, t, depth)
			inline(n.ElseList, t, depth)
		case *parse.TemplateNode:
			if block := t.Lookup(n.Name); block != nil && block.Tree != nil && isDot(n.Pipe) {
				body := block.Tree.Root.CopyList()
				inline(body, t, depth+1)
				nodes = append(nodes, body.Nodes...)
				continue
			}
		}
		nodes = append(nodes, n)
	}
	list.Nodes = nodes
}

// isDot reports whether a call passes the dot and nothing else.
func isDot(p *parse.PipeNode) bool {
	if p == nil || len(p.Decl) > 0 || len(p.Cmds) != 1 || len(p.Cmds[0].Args) != 1 {
		return false
	}
	_, dot := p.Cmds[0].Args[0].(*parse.DotNode)
	return dot
}
