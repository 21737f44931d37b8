package report_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/report"
	"github.com/elenchus-go/debate/store"
)

// own is a protocol that the library does not know.
type own struct{ panel.Protocol }

func (own) Name() string { return "own/1" }

func (o own) Answer(r *protocol.Record) protocol.Answer {
	return protocol.Answer{Text: "What it says.", Data: json.RawMessage(`[1, 2]`)}
}

func TestAProtocolOfOnesOwnIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := duel(own{}, says(t, "One."), says(t, "Two."), says(t, roundAssessment(false, 6, 6), `{"summary": "A draw.", "quality": 50}`))
		s.open(t)
		s.run(t, nil)
		require.Contains(t, markdown(t, s.collect(t)), "## Answer\n\n**The debate has ended by judge decided in round 1.**\n\n> What it says.\n\n")
	})
}

func TestAReportOfANewerFormatIsRefused(t *testing.T) {
	err := json.Unmarshal([]byte(`{"format": 2}`), &report.Report{})
	require.ErrorIs(t, err, debate.ErrUnsupported)
	require.EqualError(t, err, "read report: format is 2, this version of the library reads formats up to 1: not supported by this engine")
	require.ErrorContains(t, json.Unmarshal([]byte(`{"format": "x"}`), &report.Report{}), "read report: ")
}

func TestAReportFailsWithItsStore(t *testing.T) {
	full := errors.New("disk full")
	e := debatetest.Engine(t, debate.Options{Store: store.Memory()})
	d := debatetest.Create(t, e, duel(panel.Protocol{}, nil, nil, nil).config)
	ended, cancel := context.WithCancelCause(t.Context())
	cancel(full)
	_, err := report.Collect(ended, d)
	require.ErrorContains(t, err, "collect report of debate d: ")
	require.NoError(t, e.Delete(t.Context(), "d"))
	_, err = report.Collect(t.Context(), d)
	require.ErrorIs(t, err, store.ErrNotFound)
}
