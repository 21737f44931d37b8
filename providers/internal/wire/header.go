package wire

import (
	"fmt"
	"net/http"
	"runtime/debug"
	"strings"
	"sync"
)

// checkHeader returns the headers with their names in the form in which they are sent. Its errors quote no value.
func checkHeader(given http.Header) (http.Header, error) {
	h := http.Header{}
	for name, values := range given {
		switch canonical := http.CanonicalHeaderKey(name); {
		case !isToken(name):
			return nil, fmt.Errorf("Config.Header has the name %q, want letters, digits and hyphens", name)
		case ownHeaders[canonical]:
			return nil, fmt.Errorf("Config.Header has %s, which the HTTP client sets itself: remove it", canonical)
		default:
			h[canonical] = append(h[canonical], values...)
		}
		for _, v := range values {
			if strings.ContainsFunc(v, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
				return nil, fmt.Errorf("Config.Header has a line break or a control character in the value of %s: remove it", name)
			}
		}
	}
	return h, nil
}

// ownHeaders are headers that net/http ignores, or that change how it reads a response.
var ownHeaders = map[string]bool{
	"Host": true, "Content-Length": true, "Transfer-Encoding": true, "Connection": true, "Trailer": true, "Accept-Encoding": true,
}

// isToken reports whether a text is valid as the name of a header.
// Source: https://www.rfc-editor.org/rfc/rfc9110#name-tokens
func isToken(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return r <= ' ' || r > '~' || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
	})
}

const module = "github.com/elenchus-go/debate"

// userAgent returns the name of the library, and its version if the program was built with a published one.
var userAgent = sync.OnceValue(func() string {
	info, _ := debug.ReadBuildInfo()
	return agentOf(info)
})

func agentOf(info *debug.BuildInfo) string {
	const name = "elenchus-debate"
	if info == nil {
		return name
	}
	for _, m := range append(info.Deps, &info.Main) {
		if m.Path == module && strings.HasPrefix(m.Version, "v") {
			return name + "/" + m.Version
		}
	}
	return name
}
