package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/evidence/extract"
	"github.com/elenchus-go/debate/evidence/search"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/tool"
)

// searchTool names the tool that searches the documents for which the prompts have no room.
const searchTool = "search_documents"

// The labels of a stored debate that name its documents: the folder, and in numbered labels, as JSON objects, the place of
// each file that the debate does not hold, with the beginning of the SHA-256 of its text.
const (
	documentsLabel = "debate.documents"
	pinDigits      = 24 // hexadecimal digits of the SHA-256
	maxPinLabel    = 4000
	maxPins        = 200
)

// addDocuments adds the documents of --docs and of the configuration file to a debate. Documents for all are stored with the
// debate as long as they take at most a quarter of the smallest window; models search the others with a tool.
func (p *program) addDocuments(s configFile, c *debate.Config, o *debate.Options) error {
	var sources []source
	for _, path := range p.docs {
		sources = append(sources, source{path, []string{evidence.Everybody}, "--docs"})
	}
	for i, d := range s.documents {
		sources = append(sources, source{s.relative(d.File), d.Readers, fmt.Sprintf("%s: documents[%d]", s.path, i)})
	}
	if len(sources) == 0 {
		return nil
	}
	r := extract.Reader{Cache: cacheFolder(p.env)}
	defer func() { _ = r.Close() }()
	all, folder, leftOut, err := readSources(p.ctx, &r, sources)
	if err != nil {
		return err
	}
	if len(leftOut) > 0 {
		p.warnf("%d files are no documents and are left out: %s", len(leftOut), joinFirst(leftOut, 5))
	}
	var private, searched []document
	room := smallestWindow(c, o.Providers) / 4
	for _, d := range c.Documents {
		room -= cmp.Or(d.Tokens, window.Estimate(d.Text))
	}
	slices.SortStableFunc(all, func(a, b document) int { return cmp.Compare(len(a.text), len(b.text)) })
	for _, d := range all {
		switch tokens := window.Estimate(d.text); {
		case d.isPrivate():
			private = append(private, d)
			c.Documents = append(c.Documents, evidence.Private(d.name(), d.text, d.readers...))
		case tokens <= room && len(c.Documents) < evidence.MaxDocuments/2:
			room -= tokens
			c.Documents = append(c.Documents, evidence.Shared(d.name(), d.text))
		default:
			searched = append(searched, d)
		}
	}
	p.sayDocuments(c, searched)
	if err := pin(c, folder, slices.Concat(private, searched)); err != nil {
		return err
	}
	return p.offerDocuments(o, c, private, searched)
}

// smallestWindow returns the smallest context window of the models that read documents.
func smallestWindow(c *debate.Config, clients map[string]providers.Provider) int {
	least := 0
	for _, a := range slices.Concat(c.Participants, c.Judges) {
		if a.Human || a.Disabled {
			continue
		}
		size := a.Window
		if w, ok := clients[a.Provider].(providers.Windowed); ok && size == 0 {
			size = w.Window(a.Model)
		}
		size = cmp.Or(size, window.DefaultSize)
		if least == 0 || size < least {
			least = size
		}
	}
	return cmp.Or(least, window.DefaultSize)
}

// sayDocuments says who reads which documents, and gives the search tool to all models if there is something to search.
func (p *program) sayDocuments(c *debate.Config, searched []document) {
	for _, d := range c.Documents {
		who := "all"
		if d.IsPrivate() {
			who = strings.Join(d.Readers, ", ")
		}
		p.say(fmt.Sprintf("document %s: read by %s", printableLine(d.Name), printableLine(who)))
	}
	if len(searched) == 0 {
		return
	}
	var names []string
	for _, d := range searched {
		names = append(names, printableLine(d.name()))
	}
	p.say(fmt.Sprintf("searched with the tool %s, because the prompts have no room: %s", searchTool, joinFirst(names, 10)))
	for _, list := range [][]debate.Participant{c.Participants, c.Judges} {
		for i := range list {
			if !list[i].Human && !slices.Contains(list[i].Tools, searchTool) {
				list[i].Tools = append(slices.Clip(list[i].Tools), searchTool)
			}
		}
	}
}

// pin records documents in the labels of a debate, so that another process can open them again.
func pin(c *debate.Config, folder string, list []document) error {
	if len(list) == 0 {
		return nil
	}
	if len(list) > maxPins {
		return exitErrorf(exitInput,
			"read documents: %d files have no room in the prompts or are private, use at most %d: name fewer files, or join some",
			len(list), maxPins)
	}
	c.Labels = maps.Clone(c.Labels)
	if c.Labels == nil {
		c.Labels = map[string]string{}
	}
	c.Labels[documentsLabel] = folder
	pins, size := map[string]string{}, 0
	slices.SortFunc(list, func(a, b document) int { return cmp.Compare(a.place, b.place) })
	number := 0
	for i, d := range list {
		pins[d.place] = evidence.Hash(d.text)[:pinDigits]
		size += len(d.place) + pinDigits + 8
		if i+1 < len(list) && size+2*maxDocumentName < maxPinLabel {
			continue
		}
		b, err := json.Marshal(pins)
		if err != nil {
			return fmt.Errorf("read documents: %w", err)
		}
		number++
		c.Labels[fmt.Sprintf("%s.%d", documentsLabel, number)] = string(b)
		pins, size = map[string]string{}, 0
	}
	return nil
}

// openDocuments opens the documents of a stored debate again. It returns an error that names each file that is missing or
// has changed.
func (p *program) openDocuments(o *debate.Options, c *debate.Config) error {
	folder, given := c.Labels[documentsLabel]
	if !given {
		return nil
	}
	r := extract.Reader{Cache: cacheFolder(p.env)}
	defer func() { _ = r.Close() }()
	var private, searched []document
	var problems []error
	for number := 1; ; number++ {
		raw, given := c.Labels[fmt.Sprintf("%s.%d", documentsLabel, number)]
		if !given {
			break
		}
		var pins map[string]string
		if err := json.Unmarshal([]byte(raw), &pins); err != nil {
			return fmt.Errorf("open documents: label %s.%d: %w", documentsLabel, number, err)
		}
		for _, place := range sortedKeys(pins) {
			d, err := reopen(p.ctx, &r, folder, place, pins[place])
			if err != nil {
				problems = append(problems, err)
			}
			if slices.ContainsFunc(c.Documents, func(x evidence.Document) bool { return x.Name == d.name() }) {
				private = append(private, d)
			} else {
				searched = append(searched, d)
			}
		}
	}
	if len(problems) > 0 {
		return exitErrorf(exitInput, "open the documents of the debate: %w", errors.Join(problems...))
	}
	return p.offerDocuments(o, c, private, searched)
}

// reopen reads a document again, and checks that it has not changed.
func reopen(ctx context.Context, r *extract.Reader, folder, place, hash string) (document, error) {
	d := document{path: filepath.Join(folder, filepath.FromSlash(place)), place: place, readers: []string{evidence.Everybody}}
	if !filepath.IsLocal(filepath.FromSlash(place)) || len(hash) != pinDigits {
		return d, fmt.Errorf("%q is no place of a document", place)
	}
	text, err := readDocument(ctx, r, d.path)
	if err != nil {
		return d, err
	}
	if !strings.HasPrefix(evidence.Hash(text), hash) {
		return d, fmt.Errorf("%s has changed since the debate began: put the earlier file there, or begin a new debate", d.path)
	}
	d.text = text
	return d, nil
}

// offerDocuments gives an engine the texts of private documents, and the tool that searches the others.
func (p *program) offerDocuments(o *debate.Options, c *debate.Config, private, searched []document) error {
	if len(c.Documents) > 0 {
		texts := map[string]string{}
		for _, d := range private {
			texts[evidence.Hash(d.text)] = d.text
		}
		o.Documents = func(_ context.Context, _ string, _ map[string]string, d evidence.Document) (string, error) {
			if text, ok := texts[d.SHA256]; ok {
				return text, nil
			}
			return "", errors.New("no file of this debate has the text")
		}
	}
	if len(searched) == 0 {
		return nil
	}
	texts := map[string]string{}
	for _, d := range searched {
		texts[d.name()] = d.text
	}
	index, err := search.New(p.ctx, texts, search.Options{})
	if err != nil {
		return err
	}
	o.Tools = append(slices.Clip(o.Tools), newSearchTool(index, sortedKeys(texts)))
	return nil
}

// searchQuery holds the arguments of the search tool.
type searchQuery struct {
	Words string `json:"words" jsonschema:"minLength=1,description=what to look for: words that the passage has"`
}

// newSearchTool returns a tool that searches documents with these names.
func newSearchTool(index *search.Index, names []string) tool.Tool {
	about := "Searches the documents of this debate, and returns the passages that fit best. The documents: " + joinFirst(names, 50) + "."
	return tool.Func(tool.Spec{Name: searchTool, Description: about}, func(ctx context.Context, q searchQuery) (tool.Result, error) {
		found, err := index.Find(ctx, q.Words, 5)
		if err != nil {
			return tool.Result{}, err
		}
		if len(found) == 0 {
			return tool.Result{}, tool.Refusal("No passage has these words. Use other words, or fewer.")
		}
		var r tool.Result
		for _, x := range found {
			r.Sources = append(r.Sources, tool.Source{URI: fmt.Sprintf("%s#%d-%d", x.Document, x.Start, x.End), Title: x.Document, Text: x.Text})
		}
		return r, nil
	})
}
