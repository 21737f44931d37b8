package debate_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

func TestFailuresSayWhoFailedWhereAndWhy(t *testing.T) {
	f := debate.Failure{Key: transcript.Key{Run: 1, Round: 2, Phase: "respond", Actor: "Ada"}, Message: "network: reset"}
	require.EqualError(t, &f, "run step respond of Ada in round 2: network: reset")
	f.Provider, f.Model, f.Attempts = "openai", "gpt-9", 4
	require.EqualError(t, &f, "run step respond of Ada in round 2: call provider openai, model gpt-9 (4 attempts): network: reset")
	require.NoError(t, errors.Unwrap(&f), "read from the store it has no cause")
}

func TestAFailureLeadsToItsCause(t *testing.T) {
	d := panelOf(t, 1, nil)
	cause := &providers.Error{Kind: providers.Validation, Err: errors.New("no such model")}
	_, err := run(t, d.In(t, fails{cause}))
	require.ErrorIs(t, err, cause)
}
