package vocabulary_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/context/vocabulary"
	"github.com/elenchus-go/debate/context/window"
)

var _ window.TokenCounter = vocabulary.TokenCounter{}

func ExampleTokenCounter() {
	fmt.Println(vocabulary.TokenCounter{}.Count("gpt-4o", "人人生而自由，在尊严和权利上一律平等。"))
	fmt.Println(vocabulary.TokenCounter{}.Count("gpt-4", "人人生而自由，在尊严和权利上一律平等。"))
	// Output:
	// 15
	// 21
}

func TestTokensAreTheModelsOwn(t *testing.T) {
	const text = "人人生而自由"
	newer, older := vocabulary.TokenCounter{}.Count("gpt-4o", text), vocabulary.TokenCounter{}.Count("gpt-4", text)
	require.NotEqual(t, newer, older)
	for _, tt := range []struct {
		model string
		want  int
	}{
		{"gpt-4", older},
		{"gpt-4-turbo", older},
		{"gpt-4:2023", older},
		{"ft:gpt-4:acme", older},
		{"ft:gpt-4o:acme", newer},
		{"gpt-3.5-turbo-0125", older},
		{"gpt-35-turbo", older},
		{"openai/gpt-4-turbo", older},
		{"openai/gpt-4o", newer},
		{"gpt-4o-mini", newer},
		{"gpt-4.1-nano", newer},
		{"gpt-4.5-preview", newer},
		{"gpt-5", newer},
		{"o3-mini", newer},
		{"claude-sonnet-4-5", newer},
		{"", newer},
	} {
		t.Run(tt.model, func(t *testing.T) {
			require.Equal(t, tt.want, vocabulary.TokenCounter{}.Count(tt.model, text))
		})
	}
}

func TestWhatIsNoTextHasTokensToo(t *testing.T) {
	require.Zero(t, vocabulary.TokenCounter{}.Count("gpt-4o", ""))
	for _, text := range []string{" ", "\x00", "\xff\xfe", "a\xffb", "<|endoftext|>", "🙂"} {
		require.Positive(t, vocabulary.TokenCounter{}.Count("gpt-4o", text), "%q", text)
	}
}

func TestManyCountAtOnce(t *testing.T) {
	want := vocabulary.TokenCounter{}.Count("gpt-4o", "All human beings are born free and equal.")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				if got := (vocabulary.TokenCounter{}).Count("gpt-4o", "All human beings are born free and equal."); got != want {
					t.Errorf("%d tokens, want %d", got, want)
				}
			}
		})
	}
	wg.Wait()
}
