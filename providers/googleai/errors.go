package googleai

import (
	"fmt"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/internal/wire"
)

// finishReasons maps the finish reasons of replies.
// Source: https://ai.google.dev/api/generate-content#FinishReason
var finishReasons = map[string]providers.FinishReason{
	"STOP": providers.Stop, "MAX_TOKENS": providers.Length,
	"SAFETY": providers.ContentFilter, "RECITATION": providers.ContentFilter, "LANGUAGE": providers.ContentFilter,
	"BLOCKLIST": providers.ContentFilter, "PROHIBITED_CONTENT": providers.ContentFilter, "SPII": providers.ContentFilter,
	"IMAGE_SAFETY": providers.ContentFilter,
}

// finish completes a reply whose finish reason is set.
func finish(reason string, called bool, r *wire.Reply) error {
	known, ok := finishReasons[reason]
	switch {
	case reason == "" || reason == "FINISH_REASON_UNSPECIFIED":
		return nil
	case !ok:
		return &providers.Error{Kind: providers.InvalidResponse, Err: fmt.Errorf("read reply: the service ended it with finish reason %q", reason)}
	case known == providers.Stop && called:
		known = providers.ToolCalls
	}
	r.Finish(known)
	return nil
}

// errorKinds maps the statuses of errors and the reasons in their details.
// Source: https://ai.google.dev/gemini-api/docs/troubleshooting
var errorKinds = map[string]providers.ErrorKind{
	"api_key_invalid": providers.Authentication, "api_key_service_blocked": providers.Authentication, "service_disabled": providers.Authentication,
	"billing_disabled": providers.Billing, "user_location_invalid": providers.Billing, "failed_precondition": providers.Billing,
	"unauthenticated": providers.Authentication, "permission_denied": providers.Authentication, "not_found": providers.InvalidRequest,
	"resource_exhausted": providers.RateLimit, "deadline_exceeded": providers.Timeout, "unavailable": providers.ServerError,
	"internal": providers.ServerError, "unknown": providers.ServerError,
}
