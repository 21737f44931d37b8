package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/evidence/extract"
	"github.com/elenchus-go/debate/providers"
)

// The labels of a stored debate that name its documents: the folder, and in numbered labels, as JSON objects, the place of
// each file that the debate does not hold, with the beginning of the SHA-256 of its text. Where there are too many files, one label has
// the paths of the sources, as a JSON list, and another one a hash of all files. The last one has the hash of standard input.
const (
	documentsLabel = "debate.documents"
	sourcesLabel   = documentsLabel + ".sources"
	allLabel       = documentsLabel + ".all"
	inputLabel     = documentsLabel + ".input"
	pinDigits      = 24 // hexadecimal digits of the SHA-256
	maxPinLabel    = 4000
	maxPinLabels   = 3
)

// addDocuments adds the documents of --docs and of the configuration file to a debate. Documents for all are stored with the
// debate as long as they take at most a quarter of the smallest window, or half of it if they are named themselves; models search and
// read the others with tools.
func (p *program) addDocuments(s configFile, c *debate.Config, o *debate.Options) error {
	var list []source
	var input []*document
	for _, path := range p.docs {
		if path != standardInput {
			list = append(list, source{path, []string{evidence.Everybody}, "--docs"})
			continue
		}
		d, err := p.inputDocument()
		if err != nil {
			return err
		}
		input = append(input, d)
	}
	for i, d := range s.documents {
		list = append(list, source{s.relative(d.File), d.Readers, fmt.Sprintf("%s: documents[%d]", s.path, i)})
	}
	if len(list)+len(input) == 0 {
		return nil
	}
	r := extract.Reader{Cache: cacheFolder(p.env)}
	defer func() { _ = r.Close() }()
	l, err := readSources(p.ctx, &r, list)
	if err != nil {
		return err
	}
	l.leftOut.say(p)
	l.documents = append(l.documents, input...)
	private, searched := l.distribute(c, smallestWindow(c, o.Providers))
	p.sayDocuments(c, searched)
	if err := l.pin(c, list, private, searched); err != nil {
		return err
	}
	return p.offerDocuments(o, c, private, searched)
}

// distribute adds to a debate the private documents, and those for which a window has room. The others are searched.
func (l *library) distribute(c *debate.Config, size int) (private, searched []*document) {
	used := 0
	for _, d := range c.Documents {
		used += cmp.Or(d.Tokens, window.Estimate(d.Shown(d.Text)))
	}
	missed := math.MaxInt // the length of the shortest text of a folder that had no room: longer ones are not tried
	for _, d := range l.ranked() {
		if d.isPrivate() {
			private = append(private, d)
			c.Documents = append(c.Documents, evidence.Private(d.place, d.text, d.readers...))
			continue
		}
		room := size / 4
		if d.named {
			room = size / 2
		}
		if !d.named && len(d.text) >= missed {
			searched = append(searched, d)
			continue
		}
		tokens := tokensOf(d, room-used)
		if used+tokens > room || len(c.Documents) >= evidence.MaxDocuments/2 || len(d.place) > maxDocumentName {
			searched = append(searched, d)
			if !d.named && len(d.place) <= maxDocumentName {
				missed = len(d.text)
			}
			continue
		}
		used += tokens
		c.Documents = append(c.Documents, evidence.Shared(d.place, d.text))
	}
	return private, searched
}

// tokensOf returns the tokens of a document in a prompt, or more than there is room for. It does not count those of a long text.
func tokensOf(d *document, room int) int {
	const mostBytes = 16 // of a token, on the average of a text
	if len(d.text)/mostBytes > max(room, 0) {
		return room + 1
	}
	shared := evidence.Document{Name: d.place}
	return window.Estimate(shared.Shown(d.text))
}

// ranked returns the documents in the order in which they get room in the prompts: those that are named, those that a diff among them
// changes, and the others; short ones first.
func (l *library) ranked() []*document {
	changed := map[string]bool{}
	for _, d := range l.documents {
		if d.named {
			for _, path := range diffFiles(d.text) {
				changed[path] = true
			}
		}
	}
	rank := func(d *document) int {
		switch {
		case d.named:
			return 0
		case changed[d.place]:
			return 1
		}
		return 2
	}
	list := slices.Clone(l.documents)
	slices.SortStableFunc(list, func(a, b *document) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(len(a.text), len(b.text)))
	})
	return list
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

// maxSaidDocuments is the most documents of which each has a line.
const maxSaidDocuments = 10

// sayDocuments says who reads which documents, and gives the search tool to all models if there is something to search.
func (p *program) sayDocuments(c *debate.Config, searched []*document) {
	var shared []string
	for _, d := range c.Documents {
		if d.IsPrivate() {
			p.say(fmt.Sprintf("document %s: read by %s", printableLine(d.Name), printableLine(strings.Join(d.Readers, ", "))))
		} else {
			shared = append(shared, printableLine(d.Name))
		}
	}
	if len(shared) > maxSaidDocuments {
		p.say(fmt.Sprintf("%d documents, read by all: %s", len(shared), joinFirst(shared, maxSaidDocuments)))
		shared = nil
	}
	for _, name := range shared {
		p.say(fmt.Sprintf("document %s: read by all", name))
	}
	if len(searched) == 0 {
		return
	}
	var names []string
	for i := range searched {
		names = append(names, searched[i].place)
	}
	p.say(fmt.Sprintf("searched with the tool %s, because the prompts have no room: %s", searchTool,
		printableLine(joinFirst(names, maxSaidDocuments))))
	for _, list := range [][]debate.Participant{c.Participants, c.Judges} {
		for i := range list {
			for _, name := range []string{searchTool, readTool} {
				if !list[i].Human && !slices.Contains(list[i].Tools, name) {
					list[i].Tools = append(slices.Clip(list[i].Tools), name)
				}
			}
		}
	}
}

// pin records documents in the labels of a debate, so that another process can open them again.
func (l *library) pin(c *debate.Config, list []source, private, searched []*document) error {
	labels := map[string]string{}
	var files []*document
	for _, d := range slices.Concat(private, searched) {
		if d.path == "" {
			labels[inputLabel] = d.sha256()
		} else {
			files = append(files, d)
		}
	}
	if len(files) > 0 {
		labels[documentsLabel] = l.folder
		pins, err := pinLabels(files)
		if err == nil && len(pins) > maxPinLabels {
			pins, err = pinAll(list, files)
		}
		if err != nil {
			return err
		}
		maps.Copy(labels, pins)
	}
	if len(labels) == 0 {
		return nil
	}
	c.Labels = maps.Clone(c.Labels)
	if c.Labels == nil {
		c.Labels = map[string]string{}
	}
	maps.Copy(c.Labels, labels)
	return nil
}

// pinLabels returns labels with the place of each file, and the beginning of the hash of its text.
func pinLabels(list []*document) (labels map[string]string, err error) {
	labels = map[string]string{}
	pins := map[string]string{}
	size := 0
	slices.SortFunc(list, func(a, b *document) int { return cmp.Compare(a.place, b.place) })
	for i, d := range list {
		pins[d.place] = d.sha256()[:pinDigits]
		size += len(d.place) + pinDigits + 8
		if i+1 < len(list) && size+len(list[i+1].place)+pinDigits+8 < maxPinLabel {
			continue
		}
		b, err := json.Marshal(pins)
		if err != nil {
			return nil, fmt.Errorf("read documents: %w", err)
		}
		labels[fmt.Sprintf("%s.%d", documentsLabel, len(labels)+1)] = string(b)
		pins = map[string]string{}
		size = 0
		if len(labels) > maxPinLabels {
			break // there will be another label in place of these
		}
	}
	return labels, nil
}

// pinAll returns labels with the sources of many files, and a hash of all.
func pinAll(list []source, files []*document) (labels map[string]string, err error) {
	var paths []string
	for _, s := range list {
		path, err := filepath.Abs(s.path)
		if err != nil {
			return nil, fmt.Errorf("read documents: %w", err)
		}
		if slices.Equal(s.readers, []string{evidence.Everybody}) {
			paths = append(paths, path)
			continue
		}
		return nil, exitErrorf(exitInput,
			"read documents: there are too many files beside private ones to find all again: name fewer files, or join some")
	}
	b, err := json.Marshal(paths)
	if err != nil {
		return nil, fmt.Errorf("read documents: %w", err)
	}
	if len(b) > maxPinLabel {
		return nil, exitErrorf(exitInput, "read documents: the paths of --docs have %d bytes, use at most %d", len(b), maxPinLabel)
	}
	return map[string]string{sourcesLabel: string(b), allLabel: hashOf(files)}, nil
}

// hashOf returns a hash of the places and the texts of files, whatever their order.
func hashOf(files []*document) string {
	inOrder := slices.SortedFunc(slices.Values(files), func(a, b *document) int { return strings.Compare(a.place, b.place) })
	all := sha256.New()
	var line []byte
	for i, d := range inOrder {
		line = line[:0]
		if i > 0 {
			line = append(line, '\n')
		}
		line = append(line, d.place...)
		line = append(line, 0)
		line = append(line, d.sha256()...)
		_, _ = all.Write(line)
	}
	return hex.EncodeToString(all.Sum(nil))
}

// openDocuments opens the documents of a stored debate again. It returns an error that names each file that is missing or
// has changed.
func (p *program) openDocuments(o *debate.Options, c *debate.Config) error {
	folder, given := c.Labels[documentsLabel]
	input := c.Labels[inputLabel]
	if !given && input == "" {
		return nil
	}
	r := extract.Reader{Cache: cacheFolder(p.env)}
	defer func() { _ = r.Close() }()
	var all []*document
	var err error
	switch {
	case c.Labels[allLabel] != "":
		all, err = p.openAll(&r, c)
	case given:
		all, err = p.openPinned(&r, c, folder)
	}
	if err != nil {
		return err
	}
	if input != "" {
		d, err := p.inputAgain(input)
		if err != nil {
			return err
		}
		all = append(all, d)
	}
	var private, searched []*document
	for _, d := range all {
		if slices.ContainsFunc(c.Documents, func(x evidence.Document) bool { return x.Name == d.place }) {
			private = append(private, d)
		} else {
			searched = append(searched, d)
		}
	}
	return p.offerDocuments(o, c, private, searched)
}

// openPinned opens the files that labels name.
func (p *program) openPinned(r *extract.Reader, c *debate.Config, folder string) (all []*document, err error) {
	var problems []error
	for number := 1; ; number++ {
		raw, given := c.Labels[fmt.Sprintf("%s.%d", documentsLabel, number)]
		if !given {
			break
		}
		var pins map[string]string
		if err := json.Unmarshal([]byte(raw), &pins); err != nil {
			return nil, fmt.Errorf("open documents: label %s.%d: %w", documentsLabel, number, err)
		}
		for _, place := range sortedKeys(pins) {
			d, err := reopen(p.ctx, r, folder, place, pins[place])
			if err != nil {
				problems = append(problems, err)
				continue
			}
			all = append(all, d)
		}
	}
	if len(problems) > 0 {
		return nil, exitErrorf(exitInput, "open the documents of the debate: %w", errors.Join(problems...))
	}
	return all, nil
}

// openAll opens the files of the sources that a label names, if they have not changed.
func (p *program) openAll(r *extract.Reader, c *debate.Config) (all []*document, err error) {
	var paths []string
	if err := json.Unmarshal([]byte(c.Labels[sourcesLabel]), &paths); err != nil {
		return nil, fmt.Errorf("open documents: label %s: %w", sourcesLabel, err)
	}
	var list []source
	for _, path := range paths {
		list = append(list, source{path, []string{evidence.Everybody}, "open the documents of the debate"})
	}
	l, err := readSources(p.ctx, r, list)
	if err != nil {
		return nil, err
	}
	for _, d := range l.documents {
		stored := slices.ContainsFunc(c.Documents, func(x evidence.Document) bool { return x.Name == d.place && x.Text != "" })
		if !stored {
			all = append(all, d)
		}
	}
	if hashOf(all) != c.Labels[allLabel] {
		return nil, exitErrorf(exitInput,
			"open the documents of the debate: files of %s have changed since the debate began: put the earlier files there, or begin a new debate",
			strings.Join(paths, ", "))
	}
	return all, nil
}

// inputAgain reads the text again that a debate has read from standard input.
func (p *program) inputAgain(hash string) (*document, error) {
	if !p.hasInput() {
		return nil, exitErrorf(exitInput,
			"open the documents of the debate: it has read a document from standard input: give the same text again")
	}
	d, err := p.inputDocument()
	if err == nil && d.sha256() != hash {
		err = exitErrorf(exitInput, "open the documents of the debate: standard input is not the text that the debate has read from it")
	}
	return d, err
}

// reopen reads a document again, and checks that it has not changed.
func reopen(ctx context.Context, r *extract.Reader, folder, place, hash string) (*document, error) {
	d := &document{path: filepath.Join(folder, filepath.FromSlash(place)), place: place, readers: []string{evidence.Everybody}}
	if !filepath.IsLocal(filepath.FromSlash(place)) || len(hash) != pinDigits {
		return nil, fmt.Errorf("%q is no place of a document", place)
	}
	text, err := readDocument(ctx, r, d.path)
	if err != nil {
		return nil, err
	}
	if !strings.HasPrefix(evidence.Hash(text), hash) {
		return nil, fmt.Errorf("%s has changed since the debate began: put the earlier file there, or begin a new debate", d.path)
	}
	d.text = text
	return d, nil
}

// offerDocuments gives an engine the texts of private documents, and the tool that searches the others.
func (p *program) offerDocuments(o *debate.Options, c *debate.Config, private, searched []*document) error {
	if len(c.Documents) > 0 {
		texts := map[string]string{}
		for _, d := range private {
			texts[d.sha256()] = d.text
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
	o.Tools = append(slices.Clip(o.Tools), documentTools(p.ctx, searched)...)
	return nil
}
