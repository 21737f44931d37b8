package reply_test

import (
	"strings"
	"testing"
)

// BenchmarkHostile reads texts made to be slow, each at half and at full size: a reader in linear time takes twice as
// long for the second.
func BenchmarkHostile(b *testing.B) {
	for _, bm := range []struct{ name, unit string }{
		{"objects", `{"a":{"b":1}}`},
		{"braces", `{`},
		{"keys", `{"a":`},
		{"quotes", `{"`},
		{"escapes", `{"\"`},
		{"spaced braces", `{        `},
		{"lists in lists", `{"a":[[[[]]]],`},
		{"reasoning", `</think><think>`},
	} {
		for _, size := range []struct {
			name  string
			bytes int
		}{{"32 KiB", 32 << 10}, {"64 KiB", 64 << 10}} {
			text := strings.Repeat(bm.unit, size.bytes/len(bm.unit))
			b.Run(bm.name+"/"+size.name, func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					_, _ = votes.Parse(text, names)
				}
			})
		}
	}
}
