package actor_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/actor"
)

func TestNamesOfActors(t *testing.T) {
	for name, want := range map[string]string{
		"Ada Lovelace": "", "": `"" is not valid, use a name without leading or trailing blanks`, " Ada": `" Ada" is not valid, use a name without leading or trailing blanks`,
		"a/b": `"a/b" is not valid, remove '/', ':' and control characters`, "a\tb": `"a\tb" is not valid, remove '/', ':' and control characters`,
		strings.Repeat("x", 65): "65 bytes is too long, use at most 64",
	} {
		require.Equal(t, want, actor.CheckName(name))
	}
}
