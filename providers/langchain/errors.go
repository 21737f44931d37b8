package langchain

import (
	"errors"

	"github.com/tmc/langchaingo/llms"

	"github.com/elenchus-go/debate/providers"
)

// kindOfCode returns the kind of an error with one of langchaingo's codes, or an empty kind.
func kindOfCode(err error) providers.ErrorKind {
	if coded, ok := errors.AsType[*llms.Error](err); ok {
		return kindsByCode[coded.Code]
	}
	return ""
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
	llms.ErrCodeContentFilter:       providers.ContentFiltered,
	llms.ErrCodeProviderUnavailable: providers.ServerError,
}
