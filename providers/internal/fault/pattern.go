package fault

import (
	"regexp"
	"sync"
)

// pattern is a regular expression that is compiled when it is needed, because most programs see no failure.
type pattern struct {
	text string
	near string // if it is set, the pattern matches words of both texts within a sentence, in either order
	once sync.Once
	re   *regexp.Regexp
}

// compiled returns the expression.
func (p *pattern) compiled() *regexp.Regexp {
	p.once.Do(func() {
		text := p.text
		if p.near != "" {
			text = `(?is)(?:` + p.text + `).{0,80}(?:` + p.near + `)|(?:` + p.near + `).{0,80}(?:` + p.text + `)`
		}
		p.re = regexp.MustCompile(text)
	})
	return p.re
}
