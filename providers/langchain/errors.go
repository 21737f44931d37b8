package langchain

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/tmc/langchaingo/llms"

	"github.com/elenchus-go/debate/providers"
)

// asError returns the error of a failed call with its kind and the part of the reply that arrived. It redacts the
// secrets in sent.
func asError(err error, partial providers.Response, sent []string) *providers.Error {
	if known, ok := errors.AsType[*providers.Error](err); ok {
		e := *known
		e.Partial, e.Err = partial, redactError(e.Err, sent)
		return &e
	}
	e := &providers.Error{Kind: kindOf(err), Partial: partial, Err: fmt.Errorf("call model: %w", redactError(err, sent))}
	switch {
	case e.Kind == providers.RateLimit:
		e.RetryAfter = retryAfterText(err.Error())
	case e.Kind == providers.InvalidResponse && partial.Text != "":
		e.Kind = providers.Network // anthropic reports a cut stream as an empty response
	}
	return e
}

// kindOf determines the kind of an error by its HTTP status, then by its type, then by its text.
func kindOf(err error) providers.ErrorKind {
	text := err.Error()
	if status := statusOf(err); status != 0 {
		return kindOfStatus(status, text)
	}
	if kind := kindOfType(err); kind != "" && !overflowPattern.MatchString(text) {
		return kind
	}
	return kindOfWords(text)
}

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

// kindOfStatus returns the kind for an HTTP error status and the text of the response.
func kindOfStatus(status int, text string) providers.ErrorKind {
	switch {
	case status < http.StatusInternalServerError && unpaidPattern.MatchString(text): // sent with status 429 or 400, although waiting does not help
		return providers.Authentication
	case status == http.StatusTooManyRequests:
		return providers.RateLimit
	case overflowPattern.MatchString(text): // checked before the status, which is 400
		return providers.ContextOverflow
	}
	switch status {
	case http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusForbidden:
		return providers.Authentication
	case http.StatusRequestTimeout, http.StatusGatewayTimeout:
		return providers.Timeout
	case http.StatusConflict, http.StatusTooEarly:
		return providers.ServerError
	case http.StatusRequestEntityTooLarge: // larger than the context window, or than the tokens per minute
		if ratePattern.MatchString(text) {
			return providers.RateLimit
		}
		return providers.ContextOverflow
	case http.StatusBadRequest:
		if keyPattern.MatchString(text) { // Google's status for an invalid key
			return providers.Authentication
		}
	}
	if status >= http.StatusInternalServerError {
		return providers.ServerError
	}
	return providers.InvalidRequest
}

// kindOfType returns the kind of an error by its type, or an empty kind if the type does not determine it.
func kindOfType(err error) providers.ErrorKind {
	var coded *llms.Error
	var broken net.Error
	switch {
	case errors.As(err, &coded):
		return kindsByCode[coded.Code]
	case errors.As(err, &broken) && broken.Timeout():
		return providers.Timeout
	case broken != nil, errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return providers.Network
	}
	return ""
}

// kindOfWords returns the kind of an error by its text.
func kindOfWords(text string) providers.ErrorKind {
	for _, w := range errorPatterns {
		if w.in.MatchString(text) {
			return w.kind
		}
	}
	return providers.ServerError
}

// kindsByCode maps langchaingo's error codes to kinds. Its own models do not use the codes, but other models may.
var kindsByCode = map[llms.ErrorCode]providers.ErrorKind{
	llms.ErrCodeAuthentication:      providers.Authentication,
	llms.ErrCodeRateLimit:           providers.RateLimit,
	llms.ErrCodeQuotaExceeded:       providers.RateLimit,
	llms.ErrCodeInvalidRequest:      providers.InvalidRequest,
	llms.ErrCodeResourceNotFound:    providers.InvalidRequest,
	llms.ErrCodeNotImplemented:      providers.InvalidRequest,
	llms.ErrCodeTimeout:             providers.Timeout,
	llms.ErrCodeTokenLimit:          providers.ContextOverflow,
	llms.ErrCodeContentFilter:       providers.InvalidResponse,
	llms.ErrCodeProviderUnavailable: providers.ServerError,
}

// Patterns for the texts of errors. A number is a status only after a word such as "status", because token counts are
// numbers too.
var (
	statusPattern   = regexp.MustCompile(`(?i:status ?code:? |HTTP Error |googleapi: Error |^)([45]\d\d)\b`)
	overflowPattern = regexp.MustCompile(`(?i)context_length_exceeded|max(imum)? context length|prompt (is )?too long|` +
		`too many tokens|exceed(s|ed)? (\S+ ){0,3}context|input tokens? .{0,40}exceed`)
	ratePattern   = regexp.MustCompile(`(?i)rate.?limit|too many requests|tokens per min|quota|resource.?exhausted|throttl`)
	keyPattern    = regexp.MustCompile(`(?i)api.?key|unauthori[sz]ed|unauthenticated|authentication|permission`)
	unpaidPattern = regexp.MustCompile(`(?i)insufficient_quota|exceeded your current quota, please check your plan|credit balance is too low|insufficient (balance|credits)`)

	errorPatterns = []struct {
		in   *regexp.Regexp
		kind providers.ErrorKind
	}{
		{unpaidPattern, providers.Authentication},
		{overflowPattern, providers.ContextOverflow},
		{ratePattern, providers.RateLimit},
		{keyPattern, providers.Authentication},
		{regexp.MustCompile(`(?i)model .{0,200}(not found|not exist)|not_found_error|invalid_request_error|does not support`), providers.InvalidRequest},
		{regexp.MustCompile(`(?i)time(d )?out|deadline.?exceeded`), providers.Timeout},
		{regexp.MustCompile(`(?i)network error|cancell?ed|connection (refused|reset)|broken pipe|unexpected EOF`), providers.Network},
		{regexp.MustCompile(`(?i)(no|empty) response|no content in|blocked`), providers.InvalidResponse},
	}

	retryPattern = regexp.MustCompile(`(?i)(?:try again|retry) (?:in|after) ((?:\d+(?:\.\d+)?(?:h|ms|m|s))+|\d+ seconds?)|"retryDelay": ?"([\d.]+s)"`)
)

// retryAfterText returns the retry delay in a text, or 0 if there is none.
func retryAfterText(text string) time.Duration {
	m := retryPattern.FindStringSubmatch(text)
	if m == nil {
		return 0
	}
	number, _, inSeconds := strings.Cut(m[1]+m[2], " ")
	if inSeconds {
		number += "s"
	}
	d, _ := time.ParseDuration(number)
	return d
}

// redactError returns err without the keys that its text quotes.
func redactError(err error, sent []string) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	if quiet := redactText(text, sent); quiet != text {
		return errors.New(quiet)
	}
	return err
}
