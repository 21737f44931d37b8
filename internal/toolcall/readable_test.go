package toolcall

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestArgumentsAreReadable(t *testing.T) {
	require.Equal(t, "{\n  \"a\": \"x < y & z\\n\\\\u003c\"\n}", Readable([]byte(` {"a":"x \u003c y \u0026 z\n\\u003c"} `)))
	require.Equal(t, "no JSON <", Readable([]byte(`no JSON \u003c`)))
}
