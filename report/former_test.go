package report_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/report"
)

func TestAReportMayHaveTheFormerNameOfAProtocol(t *testing.T) {
	var r report.Report
	require.NoError(t, json.Unmarshal([]byte(`{"format": 1, "result": {"protocol": "pro-con/1", "answer": {"type": "pro-con/1"}}}`), &r))
	require.Equal(t, "procon/1", r.Result.Protocol)
	require.Equal(t, "procon/1", r.Result.Answer.Type)
}
