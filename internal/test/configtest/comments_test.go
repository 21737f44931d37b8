package configtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"testing"

	"github.com/stretchr/testify/require"
)

const commented = `// Package shop sells things.
package shop

// Cart holds what somebody buys.
type Cart struct {
	// Items are bought. See [Cart.MaxItems].
	// In
	// JSON: items, as a list.
	Items    []string
	MaxItems int // at most so many
	// Carrier brings the items, and Sender packs them.
	Carrier string
	Sender  string

	Note string
}

// Speed says how fast.
type Speed string

// The speeds.
const (
	// Fast takes a day.
	Fast Speed = "fast"
	Slow Speed = "slow" // takes a week
)

const plainWord = "word"
`

func readCommented(t *testing.T) *source {
	t.Helper()
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "shop.go", commented, parser.ParseComments)
	require.NoError(t, err)
	return readSource(t, fset, []*ast.File{f}, "example.com/shop")
}

func TestCommentsAreRead(t *testing.T) {
	s := readCommented(t)
	require.Equal(t, "Cart holds what somebody buys.\n", s.typeComment("Cart"))
	require.Equal(t, fieldComment{
		name: "Items", text: "Items are bought. See [Cart.MaxItems].\n", json: "items", shared: []string{"Items"},
	}, s.comment("Cart", "Items"))
	require.Equal(t, "at most so many\n", s.comment("Cart", "MaxItems").text)
	sender := s.comment("Cart", "Sender")
	require.Equal(t, "Carrier brings the items, and Sender packs them.\n", sender.text, "a field right below shares a comment")
	require.Equal(t, []string{"Carrier", "Sender"}, sender.shared)
	require.Equal(t, sender.shared, s.comment("Cart", "Carrier").shared)
	require.Empty(t, s.comment("Cart", "Note").text, "a blank line ends a group")
	require.Equal(t, []constant{
		{"Fast", "Speed", "fast", "Fast takes a day.\n"},
		{"Slow", "Speed", "slow", "takes a week\n"},
		{"plainWord", "string", "word", ""},
	}, s.constants)
}

func TestGoNamesBecomeJSONNames(t *testing.T) {
	x := text{
		src: readCommented(t), own: []string{"Items"}, links: map[string]string{"shop.Cart": "[Cart](#cart)"},
		names: map[string]string{
			"Items": "items", "MaxItems": "max_items", "Cart.MaxItems": "cart.max_items", "Fast": "fast",
			"Carrier": "carrier", "Sender": "sender",
		},
	}
	for _, tt := range []struct{ comment, want string }{
		{"Items are bought.", "`items` are bought."},
		{"See [Cart.MaxItems] and [MaxItems].", "See `cart.max_items` and `max_items`."},
		{"See [shop.Cart], [Speed] and Cart.MaxItems.", "See [Cart](#cart), `Speed` and `cart.max_items`."},
		{"MaxItems bounds them; Carrier does not.", "`max_items` bounds them; `carrier` does not."},
		{"It is Fast. Fast cars are rare.", "It is `fast`. Fast cars are rare."},
		{"Carrier and Sender are names. Sender, Carrier too.", "`carrier` and `sender` are names. `sender`, `carrier` too."},
		{"It is \"Fast\", as Multi-Carrier and docs/Fast say.", "It is \"Fast\", as Multi-Carrier and docs/Fast say."},
		{"Options.Providers and rate_limit are names.", "`Options.Providers` and `rate_limit` are names."},
		{"Carrier is a name, as in {\"carrier\": \"post\"}.", "`carrier` is a name, as in `{\"carrier\": \"post\"}`."},
		{"One line\nand another.\n\nA paragraph:\n\n  - Fast: one\n  - Slow: two\n", "One line and another. A paragraph: - Fast: one - Slow: two"},
	} {
		require.Equal(t, tt.want, x.line(tt.comment))
	}
	require.Equal(t, "At most so many.", x.sentence("at most so many\n"))
	x.plain, x.links = true, nil
	require.Equal(t, "max_items bounds what shop.Cart holds.", x.sentence("MaxItems bounds what [shop.Cart] holds."))
}

func TestDefaultsAreCutOut(t *testing.T) {
	for _, tt := range []struct{ comment, meaning, value string }{
		{"It is a cap.", "It is a cap.", ""},
		{"It is a cap. Defaults to 3.", "It is a cap.", "3"},
		{"It is a cap. Defaults to 0.5. More is better.", "It is a cap. More is better.", "0.5"},
		{"between rounds; defaults to 5 minutes", "Between rounds.", "5 minutes"},
		{"defaults to `free-form`", "", "`free-form`"},
		{"It is a cap. It defaults to 3.", "It is a cap.", "3"},
		{"`manager` defaults to `hybrid`.", "", "`hybrid`"},
		{"It is a cap. Defaults to 3; a negative number means none.", "It is a cap. A negative number means none.", "3"},
		{"Defaults to 0.7 for debaters; to 0.2 for judges.", "", "0.7 for debaters; 0.2 for judges"},
		{"Defaults to X, or to Y if that is more.", "", "X, or Y if that is more"},
		{"What it leaves out defaults to 3.", "What it leaves out defaults to 3.", ""},
	} {
		meaning, value := splitDefault(tt.comment)
		require.Equal(t, [2]string{tt.meaning, tt.value}, [2]string{meaning, value}, tt.comment)
	}
}
