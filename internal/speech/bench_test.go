package speech_test

import (
	"strings"
	"testing"

	"github.com/elenchus-go/debate/internal/speech"
)

func BenchmarkSpeech(b *testing.B) {
	text := strings.Repeat("Caches hold what most people ask for: pages, pictures and prices. The origin never sees those requests.\n\n",
		20)
	short := text[:1200]
	for name, text := range map[string]string{"2 KB": text, "1.2 KB": short} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if seats.Read(text).Dialogue || speech.IsRefusal(text) {
					b.Fatal("it is a speech")
				}
			}
		})
	}
}
