package fault

import (
	"regexp"
	"sync"
)

// near returns a pattern that matches words of both lists within a sentence, in either order.
func near(a, b string) func() *regexp.Regexp {
	return compiled(`(?is)(?:` + a + `).{0,80}(?:` + b + `)|(?:` + b + `).{0,80}(?:` + a + `)`)
}

// compiled returns a pattern that is compiled when it is needed, because most programs see no failure.
func compiled(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}
