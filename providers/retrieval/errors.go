package retrieval

import (
	"context"
	"errors"
	"net"
	"regexp"
	"strconv"

	"github.com/elenchus-go/debate/providers"
)

// asError wraps err in a *providers.Error with its kind. It returns nil if err is nil.
func asError(err error) error {
	if err == nil {
		return nil
	}
	if known, ok := errors.AsType[*providers.Error](err); ok && known.Kind == providers.Panic {
		return known
	} else if ok {
		e := *known
		e.Err = err
		return &e
	}
	return &providers.Error{Kind: kindOf(err), Err: err}
}

// kindOf determines the kind of an error by its type, then by an HTTP status in its text, then by other patterns.
func kindOf(err error) providers.ErrorKind {
	broken, network := errors.AsType[net.Error](err)
	switch {
	case errors.Is(err, context.DeadlineExceeded), network && broken.Timeout():
		return providers.Timeout
	case network:
		return providers.Network
	}
	text := err.Error()
	if m := statusPattern.FindStringSubmatch(text); m != nil {
		code, _ := strconv.Atoi(m[1])
		return kindOfStatus(code)
	}
	for _, w := range errorPatterns {
		if w.in.MatchString(text) {
			return w.kind
		}
	}
	return providers.ServerError
}

func kindOfStatus(code int) providers.ErrorKind {
	switch {
	case code == 429:
		return providers.RateLimit
	case code == 401, code == 402, code == 403:
		return providers.Authentication
	case code == 408, code == 504:
		return providers.Timeout
	case code < 500:
		return providers.InvalidRequest
	}
	return providers.ServerError
}

// statusPattern matches an HTTP status that follows the word "status".
var statusPattern = regexp.MustCompile(`(?i)\bstatus(?: code)?:? ([45]\d\d)\b`)

var errorPatterns = []struct {
	in   *regexp.Regexp
	kind providers.ErrorKind
}{
	{regexp.MustCompile(`(?i)rate.?limit|too many requests|quota`), providers.RateLimit},
	{regexp.MustCompile(`(?i)api.?key|unauthori[sz]ed|authentication|permission denied`), providers.Authentication},
	{regexp.MustCompile(`(?i)(maximum|exceed\w*) (the )?context length`), providers.ContextOverflow},
	{regexp.MustCompile(`(?i)connection (refused|reset)|unexpected EOF|no such host`), providers.Network},
	{regexp.MustCompile(`(?i)timed? ?out|deadline exceeded`), providers.Timeout},
}
