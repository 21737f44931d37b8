package judge_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/judge"
)

// "Debater a" is English as well: only a capital letter makes a label of it.
func TestTheWordDebaterBeforeAnArticleIsNoLabel(t *testing.T) {
	l := judge.Blind([]string{"Ann", "Bob"}, "d", "J", false)
	for _, text := range []string{"It gave the debater a chance.", "Neither debater a priori wins.", "Debater a and debater b"} {
		t.Log(l.Reveal(text), "|", l.Hide(text))
	}
	require.Equal(t, "It gave the debater a chance.", l.Reveal("It gave the debater a chance."))
}
