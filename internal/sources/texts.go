package sources

import (
	"strings"
	"sync"
	"unicode"

	"github.com/elenchus-go/debate/evidence/quote"
)

// Texts keeps texts that were prepared for checks, up to a size. The zero Texts is empty. It is safe for concurrent use.
type Texts struct {
	mu    sync.Mutex
	kept  map[string]*quote.Text // by SHA-256, and whether it is code
	order []string
	sizes []int
	size  int
}

// maxKept limits, in bytes, the texts that are kept. Each takes about ten times its size in memory.
const maxKept = 4 << 20

// prepare returns the text of a source with a name, prepared. key has the hash of the text.
func (c *Texts) prepare(key, name, text string) *quote.Text {
	if quote.IsCode(name) {
		key = "code " + key
	}
	c.mu.Lock()
	prepared := c.kept[key]
	c.mu.Unlock()
	if prepared != nil {
		return prepared
	}
	prepared = quote.For(name, text)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept[key] != nil || len(text) > maxKept {
		return prepared
	}
	if c.kept == nil {
		c.kept = map[string]*quote.Text{}
	}
	c.kept[key] = prepared
	c.order = append(c.order, key)
	c.sizes = append(c.sizes, len(text))
	c.size += len(text)
	for c.size > maxKept {
		delete(c.kept, c.order[0])
		c.size -= c.sizes[0]
		c.order, c.sizes = c.order[1:], c.sizes[1:]
	}
	return prepared
}

// wordsBetween returns how many words of a text are between places.
func wordsBetween(text string, places []quote.Place) (n int) {
	for i := 1; i < len(places); i++ {
		between := strings.FieldsFunc(text[places[i-1].End:places[i].Start], func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsNumber(c) })
		n += max(len(between), 1)
	}
	return n
}
