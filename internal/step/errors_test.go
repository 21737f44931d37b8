package step_test

import (
	"errors"
	"testing"

	"github.com/elenchus-go/debate/journal"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/step"
	"github.com/elenchus-go/debate/providers"
)

func TestErrorsHaveTheirCauses(t *testing.T) {
	doubt := &providers.Error{Kind: providers.InvalidResponse, Err: &step.Doubtful{Doubts: []string{"Ada wins", "Bo has the better scores"}}}
	failed := error(&journal.Failure{Cause: doubt, Message: "Ada failed"})
	require.ErrorContains(t, failed, "Ada failed")
	cause, ok := errors.AsType[*providers.Error](failed)
	require.True(t, ok)
	require.Equal(t, providers.InvalidResponse, cause.Kind)
	why, ok := errors.AsType[*step.Doubtful](failed)
	require.True(t, ok)
	require.EqualError(t, why, "the reply is doubtful: Ada wins; Bo has the better scores")
}
