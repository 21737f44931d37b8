package former_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/former"
)

func TestProtocol(t *testing.T) {
	for name, want := range map[string]string{
		"pro-con": "procon", "pro-con/1": "procon/1", "proposer-skeptic/1": "skeptic/1", "critique-refine/2": "refine/2",
		"procon/1": "procon/1", "panel/1": "panel/1", "": "", "pro-con-2/1": "pro-con-2/1", "mine/pro-con": "mine/pro-con",
	} {
		require.Equal(t, want, former.Protocol(name), name)
	}
}
