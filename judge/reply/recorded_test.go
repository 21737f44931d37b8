package reply_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/judge/reply"
)

// ruling is the reply that the recorded judges were asked for.
type ruling struct {
	Winner string `json:"winner" jsonschema:"enum=PRO,enum=CON"`
	Scores struct {
		ArgumentQuality pair `json:"argument_quality"`
		Evidence        pair `json:"evidence"`
		Clash           pair `json:"clash"`
		Weighing        pair `json:"weighing"`
	} `json:"scores"`
	Confidence  float64 `json:"confidence" jsonschema:"minimum=0,maximum=1"`
	ShortReason string  `json:"short_reason" jsonschema:"minLength=1,maxLength=1000"`
}

type pair struct {
	Pro int `json:"PRO" jsonschema:"minimum=1,maximum=5"`
	Con int `json:"CON" jsonschema:"minimum=1,maximum=5"`
}

// TestRecordedReplies reads replies of real judges, of which some stand in prose, and compares them with what they are
// known to say.
func TestRecordedReplies(t *testing.T) {
	file, err := os.Open(filepath.Join(shared(t), "judge-replies.jsonl"))
	require.NoError(t, err)
	defer file.Close()

	rulings := reply.New[ruling]("ruling/1")
	var total, strict, usable, wrong int
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var recorded struct {
			Reply string
			Known ruling
		}
		require.NoError(t, json.Unmarshal(lines.Bytes(), &recorded))
		total++
		if json.Valid([]byte(recorded.Reply)) {
			strict++
		}
		r, err := rulings.Parse(recorded.Reply, nil)
		if err != nil {
			t.Logf("reply %d: %v", total, err)
			continue
		}
		usable++
		var got ruling
		require.NoError(t, json.Unmarshal(r.Data, &got))
		if got != recorded.Known {
			wrong++
			t.Errorf("reply %d says %+v, read as %+v", total, recorded.Known, got)
		}
	}
	require.NoError(t, lines.Err())
	t.Logf("%d replies: %d are JSON as they stand, %d usable, %d read wrongly", total, strict, usable, wrong)
	require.NotZero(t, total)
	require.Equal(t, total, usable)
	require.Zero(t, wrong)
}

// shared finds the folder of recorded data beside the checkout.
func shared(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	require.NoError(t, err)
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if found, err := os.Stat(filepath.Join(dir, "shared", "data")); err == nil && found.IsDir() {
			return filepath.Join(dir, "shared", "data")
		}
	}
	t.Skip("no recorded data: there is no shared/data in or above this folder")
	return ""
}
