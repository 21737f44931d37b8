package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/elenchus-go/debate/store"
)

// unavailableCodes begin the codes of errors whose cause may pass: lost connections, too few resources (also a full disk), a
// server that starts or ends, and failures of its disk. See https://www.postgresql.org/docs/current/errcodes-appendix.html.
var unavailableCodes = []string{"08", "53", "57P", "58"}

// Unavailable adds store.ErrUnavailable to an error of pgx if the database cannot be reached or cannot work at the moment. It
// returns other errors as they are. Use it for transactions of yours that contain [Store.CommitTx].
func Unavailable(err error) error {
	if err == nil || errors.Is(err, store.ErrUnavailable) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || !mayPass(err) {
		return err
	}
	return fmt.Errorf("%w: %w", store.ErrUnavailable, err)
}

// mayPass reports whether the cause of an error is outside the statement.
func mayPass(err error) bool {
	if failed, ok := errors.AsType[*pgconn.PgError](err); ok {
		return slices.ContainsFunc(unavailableCodes, func(code string) bool { return strings.HasPrefix(failed.Code, code) })
	}
	_, connecting := errors.AsType[*pgconn.ConnectError](err)
	_, network := errors.AsType[*net.OpError](err)
	return connecting || network || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) || pgconn.SafeToRetry(err)
}
