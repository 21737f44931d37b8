package providers_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/providers"
)

var errCause = errors.New("the cause")

func TestErrorReadsKindThenCause(t *testing.T) {
	for want, err := range map[string]*providers.Error{
		"rate_limit":                     {Kind: providers.RateLimit},
		"rate_limit: the cause":          {Kind: providers.RateLimit, Err: errCause},
		"network: read reply: the cause": {Kind: providers.Network, Err: fmt.Errorf("read reply: %w", errCause)},
	} {
		require.EqualError(t, err, want)
	}
}

func TestErrorUnwrapsToItsCause(t *testing.T) {
	err := &providers.Error{Kind: providers.ServerError, Err: fmt.Errorf("read reply: %w", errCause)}
	require.ErrorIs(t, err, errCause)
	require.NoError(t, (&providers.Error{Kind: providers.ServerError}).Unwrap())
}

func TestAsError(t *testing.T) {
	typed := &providers.Error{Kind: providers.ContextOverflow, RetryAfter: time.Second, Err: errCause}
	for name, test := range map[string]struct {
		err  error
		want *providers.Error
	}{
		"nil":                 {nil, nil},
		"typed":               {typed, typed},
		"typed, wrapped":      {fmt.Errorf("speak: %w", typed), typed},
		"typed, joined":       {errors.Join(errCause, typed), typed},
		"deadline":            {context.DeadlineExceeded, &providers.Error{Kind: providers.Timeout, Err: context.DeadlineExceeded}},
		"cancelled":           {context.Canceled, &providers.Error{Kind: providers.ServerError, Err: context.Canceled}},
		"untyped":             {errCause, &providers.Error{Kind: providers.ServerError, Err: errCause}},
		"typed over deadline": {&providers.Error{Kind: providers.Network, Err: context.DeadlineExceeded}, &providers.Error{Kind: providers.Network, Err: context.DeadlineExceeded}},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, test.want, providers.AsError(test.err))
		})
	}
}

func TestAsErrorKeepsTheWrappedDeadline(t *testing.T) {
	err := fmt.Errorf("wait: %w", context.DeadlineExceeded)
	require.Equal(t, &providers.Error{Kind: providers.Timeout, Err: err}, providers.AsError(err))
}

func TestEndedNamesTheCauseOfTheContext(t *testing.T) {
	type end func(context.Context) (context.Context, func())
	cancelled := func(cause error) end {
		return func(ctx context.Context) (context.Context, func()) {
			ctx, cancel := context.WithCancelCause(ctx)
			cancel(cause)
			return ctx, func() {}
		}
	}
	expired := func(cause error) end {
		return func(ctx context.Context) (context.Context, func()) {
			ctx, cancel := context.WithTimeoutCause(ctx, time.Minute, cause)
			<-ctx.Done()
			return ctx, cancel
		}
	}
	for name, test := range map[string]struct {
		end   end
		kind  providers.ErrorKind
		cause error
	}{
		"cancelled":                       {cancelled(nil), providers.ServerError, context.Canceled},
		"cancelled with a cause":          {cancelled(errCause), providers.ServerError, errCause},
		"cancelled with a deadline error": {cancelled(context.DeadlineExceeded), providers.Timeout, context.DeadlineExceeded},
		"expired":                         {expired(nil), providers.Timeout, context.DeadlineExceeded},
		"expired, with a cause":           {expired(errCause), providers.Timeout, errCause},
		"cancelled with a typed error":    {cancelled(&providers.Error{Kind: providers.Network, Err: errCause}), providers.ServerError, errCause},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, stop := test.end(t.Context())
				defer stop()
				err := providers.ContextError(ctx, providers.Response{Text: "I was say"})
				require.Equal(t, test.kind, err.Kind)
				require.ErrorIs(t, err, test.cause)
				require.Equal(t, "I was say", err.Partial.Text)
			})
		})
	}
}
