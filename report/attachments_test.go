package report

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAReportNamesAttachmentsWithoutTheirContent(t *testing.T) {
	config, names := withoutContent([]byte(`{"topic": "Why?", "attachments": [{"name": "a.png", "media_type": "image/png", "data": "c2VjcmV0", "readers": ["A"]}]}`))
	require.Equal(t, []string{"a.png (image/png, 6 bytes)"}, names)
	require.JSONEq(t, `{"topic": "Why?", "attachments": [{"name": "a.png", "media_type": "image/png", "readers": ["A"]}]}`, string(config))
	for _, same := range []string{`{"topic": "Why?"}`, `{"attachments": 7}`, `x`} {
		config, names = withoutContent([]byte(same))
		require.Equal(t, same, string(config))
		require.Empty(t, names)
	}
}
