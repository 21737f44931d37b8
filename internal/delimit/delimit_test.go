package delimit

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestIsPlain(t *testing.T) {
	for b := range 256 {
		want := b >= ' ' && b <= '~' && b != '<' && b != '>' || b == '\n' || b == '\t'
		for _, around := range []string{" ", "a", "~", "\n", "="} { // borrows and carries reach no other byte
			for n := range 20 {
				text := strings.Repeat(around, n) + string([]byte{byte(b)}) + strings.Repeat(around, 20-n)
				require.Equal(t, want, IsPlain(text), "%q", text)
				require.Equal(t, want, IsPlain(text[:n+1]), "%q", text[:n+1])
			}
		}
	}
}

func BenchmarkIsPlain(b *testing.B) {
	text := strings.Repeat("A statement of a debate has some sentences. ", 30)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		IsPlain(text)
	}
}
