package adapter

import (
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"strconv"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/internal/fault"
)

// asError returns the error of a failed call with its kind and the part of the reply that arrived. It redacts keys.
func asError(err error, partial providers.Response, kind func(error) providers.ErrorKind) *providers.Error {
	if known, ok := errors.AsType[*providers.Error](err); ok {
		e := *known
		e.Partial = partial
		return &e
	}
	e := &providers.Error{Kind: kindOf(err, kind), Partial: partial, Err: fmt.Errorf("call model: %w", fault.RedactError(err, nil))}
	switch {
	case e.Kind == providers.RateLimit:
		e.RetryAfter = fault.RetryAfter(err.Error())
	case e.Kind == providers.InvalidResponse && partial.Text != "":
		e.Kind = providers.Network // some models report a cut stream as an empty response
	}
	return e
}

// kindOf determines the kind of an error by its HTTP status, then by its type, then by its text.
func kindOf(err error, own func(error) providers.ErrorKind) providers.ErrorKind {
	text := err.Error()
	if status := statusOf(err); status != 0 {
		return fault.KindOfStatus(status, text)
	}
	kind := fault.KindOfText(text)
	if byType := kindOfType(err, own); byType != "" && kind != providers.ContextOverflow {
		return byType
	}
	return kind
}

// statusPattern finds an HTTP status in the text of an error. A number is a status only after a word such as "status",
// because token counts are numbers too.
var statusPattern = regexp.MustCompile(`(?:(?i:status ?code:? |error code:? |HTTP Error |googleapi: Error )|\bError |": |^)([45]\d\d)\b`)

// statusOf returns the HTTP status of an error, or 0 if it has none. Google's errors have a method for it; other errors
// contain it in their text.
func statusOf(err error) int {
	var coded interface{ HTTPCode() int }
	if errors.As(err, &coded) && coded.HTTPCode() > 0 {
		return coded.HTTPCode()
	}
	m := statusPattern.FindStringSubmatch(err.Error())
	if m == nil {
		return 0
	}
	status, _ := strconv.Atoi(m[1])
	return status
}

// kindOfType returns the kind of an error by its type, or an empty kind if the type does not determine it.
func kindOfType(err error, own func(error) providers.ErrorKind) providers.ErrorKind {
	if own != nil {
		if kind := own(err); kind != "" {
			return kind
		}
	}
	var broken net.Error
	switch {
	case errors.As(err, &broken) && broken.Timeout():
		return providers.Timeout
	case broken != nil, errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return providers.Network
	}
	return ""
}
