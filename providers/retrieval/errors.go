package retrieval

import (
	"context"
	"errors"
	"net"
	"regexp"
	"strconv"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/internal/fault"
)

// asError wraps err in a *providers.Error with its kind, without the keys that it quotes. It returns nil if err is nil.
func asError(err error) error {
	if err == nil {
		return nil
	}
	if known, ok := errors.AsType[*providers.Error](err); ok && known.Kind == providers.Panic {
		return known
	} else if ok {
		e := *known
		e.Err = fault.RedactError(err, nil)
		return &e
	}
	e := fault.OfText(statusOf(err), err.Error(), 0).Error(nil)
	if kind := kindOfType(err); kind != "" {
		e.Kind = kind
	}
	e.Err = fault.RedactError(err, nil)
	return e
}

// kindOfType returns the kind of an error by its type, or an empty kind if the type does not determine it.
func kindOfType(err error) providers.ErrorKind {
	broken, network := errors.AsType[net.Error](err)
	switch {
	case fault.NotConnected(err):
		return providers.Network
	case errors.Is(err, context.DeadlineExceeded), network && broken.Timeout():
		return providers.Timeout
	case network:
		return providers.Network
	}
	return ""
}

// statusOf returns the HTTP status that follows the word "status" in the text of an error, or 0 if there is none.
func statusOf(err error) int {
	m := statusPattern.FindStringSubmatch(err.Error())
	if m == nil {
		return 0
	}
	status, _ := strconv.Atoi(m[1])
	return status
}

var statusPattern = regexp.MustCompile(`(?i)\bstatus(?: code)?:? ([45]\d\d)\b`)
