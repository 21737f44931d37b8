package reply_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/judge/reply"
)

// A check may tell a word of the reply that the reply has written with escapes.
func TestRulesHaveNoWordThatTheReplyEscapes(t *testing.T) {
	type secret struct {
		Winner string `json:"winner"`
	}
	c := reply.New[secret]("secret/1").WithCheck(func(v any) []string {
		return []string{"/winner: " + v.(*secret).Winner + " is nobody"}
	})
	_, err := c.Parse(`{"winner":"M\u00fcllersecret"}`, nil)
	var invalid *reply.Invalid
	require.ErrorAs(t, err, &invalid)
	require.Equal(t, []string{"/winner: the value is not valid"}, invalid.Rules)
}
