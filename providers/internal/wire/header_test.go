package wire

import (
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestUserAgent(t *testing.T) {
	at := func(path, version string) debug.Module { return debug.Module{Path: path, Version: version} }
	dependency := at(module, "v0.3.0")
	for want, info := range map[string]*debug.BuildInfo{
		"elenchus-debate":        {Main: at(module, "(devel)")},
		"elenchus-debate/v0.2.0": {Main: at(module, "v0.2.0")},
		"elenchus-debate/v0.3.0": {Main: at("example.com/program", "v9.0.0"), Deps: []*debug.Module{{Path: "example.com/x", Version: "v1.0.0"}, &dependency}},
	} {
		require.Equal(t, want, agentOf(info))
	}
	require.Equal(t, "elenchus-debate", agentOf(nil))
	require.Regexp(t, `^elenchus-debate(/v\S+)?$`, userAgent())
}
