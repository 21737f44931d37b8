package adapter

import (
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"strconv"
	"time"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/internal/fault"
)

// asError returns the error of a failed call with its kind and the part of the reply that arrived. It determines the kind
// by the HTTP status, then by the type of the error, then by its text. sent is the size of the prompt in bytes. It redacts
// keys.
func asError(err error, partial providers.Response, sent int, kind func(error) providers.ErrorKind) *providers.Error {
	if known, ok := errors.AsType[*providers.Error](err); ok {
		e := *known
		e.Partial = partial
		if e.Kind != providers.Panic && e.Err != nil {
			e.Err = fault.RedactError(e.Err, nil)
		}
		return &e
	}
	e := fault.OfText(statusOf(err), err.Error(), sent).Error(nil)
	e.Partial, e.Err = partial, fmt.Errorf("call model: %w", fault.RedactError(err, nil))
	if byType := kindOfType(err, kind); byType != "" && statusOf(err) == 0 && e.Kind != providers.ContextOverflow {
		e.Kind, e.Otherwise = byType, ""
	}
	switch {
	case e.Kind != providers.RateLimit:
		e.RetryAfter = 0
	case e.RetryAfter == 0: // it is one by its type
		e.RetryAfter = fault.RetryAfter(err.Error(), time.Now())
	}
	if e.Kind == providers.InvalidResponse && partial.Text != "" {
		e.Kind = providers.Network // some models report a cut stream as an empty response
	}
	return e
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
	case fault.NotConnected(err):
		return providers.Network
	case errors.As(err, &broken) && broken.Timeout():
		return providers.Timeout
	case broken != nil, errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return providers.Network
	}
	return ""
}
