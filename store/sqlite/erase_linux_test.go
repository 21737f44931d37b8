package sqlite

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseLocks(t *testing.T) {
	const locks = `1: POSIX  ADVISORY  READ  31 08:01:77 124 124
2: POSIX  ADVISORY  WRITE 32 08:01:77 120 120
2: -> POSIX  ADVISORY  WRITE 33 08:01:77 120 120
3: POSIX  ADVISORY  READ  34 08:01:77 128 128
4: POSIX  ADVISORY  READ  35 08:01:78 124 124
5: FLOCK  ADVISORY  WRITE 36 08:01:77 0 EOF
6: POSIX  ADVISORY  READ  31 08:01:77 123 123
7: POSIX
`
	require.Equal(t, []string{"31", "32", "36"}, parseLocks(locks, 77), "not who waits, is only connected, or locks another file")
	require.Empty(t, parseLocks("", 77))
}
