package sources

import (
	"slices"

	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/evidence/quote"
	"github.com/elenchus-go/debate/internal/lines"
	"github.com/elenchus-go/debate/transcript"
)

// The limits of the citations of a turn. Whatever else it mentions is not checked.
const (
	maxChecked = 64  // quotes
	maxCited   = 256 // citations
)

// Cited is what a text cites and quotes. Its quotes are not checked yet.
type Cited struct {
	list  []transcript.Citation
	texts map[int]*sourceText // of the sources that it quotes, as far as they are known
}

// sourceText is the text of a source.
type sourceText struct {
	name       string
	text, hash string
	partial    bool    // the source has more
	line       int     // of the file, with which text begins; 0 for the first
	strings    *string // what text contains if it is JSON; nil until it is needed
}

// Private returns the text of a private document, if whoever speaks may have quotes of it checked.
type Private func(d *evidence.Document) (string, bool)

// TextsOf returns the texts of documents that have them.
func TextsOf(list []evidence.Document) Private {
	return func(d *evidence.Document) (string, bool) {
		at := slices.IndexFunc(list, func(x evidence.Document) bool { return x.Name == d.Name && x.SHA256 == d.SHA256 })
		if at < 0 || list[at].Text == "" {
			return "", false
		}
		return list[at].Text, true
	}
}

// Cite returns what a turn cites and quotes. It returns nil if that is nothing. private may be nil.
func (l *List) Cite(t *transcript.Turn, private Private) *Cited {
	if len(l.all) == 0 || !citesIn(t.Kind) {
		return nil
	}
	c := &Cited{}
	for _, m := range parse(t.Text) {
		s := l.find(m, t.Key, t.VisibleSeq)
		switch {
		case len(c.list) == maxCited, s == nil && m.attached:
			continue
		case s == nil:
			c.list = append(c.list, transcript.Citation{Source: m.number, Quote: m.quote, Verdict: transcript.NotFound})
			continue
		case !m.quoted || m.quote == "":
			c.list = append(c.list, transcript.Citation{Source: s.Number})
			continue
		}
		c.list = append(c.list, transcript.Citation{Source: s.Number, Quote: m.quote})
		if text, ok := s.textFor(t.Actor, private); ok {
			if c.texts == nil {
				c.texts = map[int]*sourceText{}
			}
			c.texts[s.Number] = &text
		}
	}
	if c.list == nil {
		return nil
	}
	return c
}

// citesIn reports whether turns of a kind cite. Summaries repeat what others have cited.
func citesIn(k transcript.Kind) bool {
	return k != transcript.Summary && k != transcript.Embeddings
}

// find returns the source that a text mentions, or nil if there is none that the step could know of.
func (l *List) find(m mention, k transcript.Key, visible int64) *source {
	for i := range l.all {
		s := &l.all[i]
		if (m.name == "" && s.Number == m.number || m.name != "" && s.Name == m.name) && s.isVisible(k, visible) {
			return s
		}
	}
	return nil
}

// textFor returns the text of a source for the check of a quote.
func (s *source) textFor(actor string, private Private) (sourceText, bool) {
	if d := s.document; d != nil && d.IsPrivate() {
		if private == nil || !d.IsFor(actor) {
			return sourceText{}, false
		}
		text, ok := private(d)
		return sourceText{name: d.Name, text: text, hash: d.SHA256}, ok
	}
	return sourceText{name: s.Name, text: s.text, hash: s.hash, partial: s.partial, line: s.line}, s.text != ""
}

// Check checks the quotes, and returns all citations.
func (c *Cited) Check(kept *Texts) []transcript.Citation {
	if c == nil {
		return nil
	}
	checked := 0
	for i := range c.list {
		x := &c.list[i]
		if x.Quote == "" || x.Verdict != "" {
			continue
		}
		text, ok := c.texts[x.Source]
		checked++
		if !ok || checked > maxChecked {
			x.Verdict = transcript.NotChecked
			continue
		}
		text.check(kept, x)
	}
	return c.list
}

// check checks a quote, and sets what it finds. A source that is JSON contains it if the strings in it do, without their escapes,
// or if it does as it is, which alone has lines.
func (t *sourceText) check(kept *Texts, x *transcript.Citation) {
	if t.strings == nil {
		text := decoded(t.text, t.partial)
		t.strings = &text
	}
	whole := *x
	if *t.strings == "" || quote.IsCode(t.name) {
		t.checkIn(kept, t.hash, t.name, t.text, &whole)
	}
	if *t.strings == "" || whole.Line > 0 {
		*x = whole
		return
	}
	inner := *x
	t.checkIn(kept, "strings of "+t.hash, "", *t.strings, &inner)
	if inner.Verdict != transcript.Verified && whole.Verdict == "" {
		t.checkIn(kept, t.hash, t.name, t.text, &whole)
	}
	*x = inner
	if whole.Verdict == transcript.Verified || inner.Verdict == transcript.NotFound {
		*x = whole
	}
}

// checkIn checks a quote in a text with a hash. Its name tells whether it is code.
func (t *sourceText) checkIn(kept *Texts, hash, name, text string, x *transcript.Citation) {
	prepared := kept.prepare(hash, name, text)
	verdict, places := prepared.Check(x.Quote)
	switch {
	case verdict == quote.Verified, verdict == quote.Elided:
		x.Verdict = transcript.Verified
		x.Omitted = wordsBetween(text, places)
		t.locate(name, text, places, x)
	case verdict == quote.TooShort, t.partial:
		x.Verdict = transcript.NotChecked
	case prepared.Resembles(x.Quote):
		x.Verdict = transcript.Altered
	default:
		x.Verdict = transcript.NotFound
	}
}

// locate sets the lines of a quote of code.
func (t *sourceText) locate(name, text string, places []quote.Place, x *transcript.Citation) {
	if !quote.IsCode(name) || len(places) == 0 {
		return
	}
	first, last := lines.Range(text, places[0].Start, places[len(places)-1].End)
	if lines.IsDiff(name) && t.line == 0 {
		file, from, to := lines.InDiff(text, first, last)
		if file != "" {
			x.File = file
			x.Line = from
			x.EndLine = to
			return
		}
	}
	before := max(t.line-1, 0)
	x.File = name
	x.Line = before + first
	x.EndLine = before + last
}

// Contradict reports whether stored citations cannot be those of a turn. Quotes whose text is not known can have any verdict.
func (c *Cited) Contradict(stored []transcript.Citation, kept *Texts) bool {
	if c == nil {
		return stored != nil
	}
	return !slices.EqualFunc(c.Check(kept), stored, func(a, b transcript.Citation) bool {
		if _, ok := c.texts[a.Source]; !ok && a.Quote != "" && a.Verdict == transcript.NotChecked {
			known := b
			known.Source = a.Source
			known.Quote = a.Quote
			a = known
		}
		return a == b
	})
}
