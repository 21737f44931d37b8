package protocols

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/protocol"
)

// plain is a protocol that JSON holds completely, and calling one that JSON does not.
type (
	plain struct {
		protocol.Protocol `json:"-"`

		Turns int `json:"turns,omitempty"`
	}
	calling struct {
		protocol.Protocol `json:"-"`

		Turns int    `json:"turns,omitempty"`
		Call  func() `json:"-"`
	}
)

func (plain) Name() string { return "own/1" }

func (calling) Name() string { return "calling/1" }

func TestAProtocolWithFunctionsServesItsOwnDebate(t *testing.T) {
	r := NewRegistry(calling{})
	lax := func(protocol.Protocol) bool { return false }
	called := false
	undo := r.Add("a", calling{Turns: 2, Call: func() { called = true }})
	p, err := r.Decode("a", json.RawMessage(`{"name": "calling/1", "turns": 2}`), lax)
	require.NoError(t, err)
	p.(calling).Call()
	require.True(t, called)
	p, err = r.Decode("a", json.RawMessage(`{"name": "calling/1", "turns": 3}`), lax)
	require.NoError(t, err)
	require.Equal(t, 3, p.(calling).Turns, "the journal has another parameter")
	p, err = r.Decode("b", json.RawMessage(`{"name": "calling/1", "turns": 2}`), lax)
	require.NoError(t, err)
	require.Nil(t, p.(calling).Call, "another debate")
	undo()
	require.Nil(t, r.Given("a"))
}

func TestWhatIsStoredIsDecoded(t *testing.T) {
	tests := map[string]struct {
		stored string
		strict bool
		name   string
		err    string
		known  bool
	}{
		"a known one":             {stored: `{"name": "own/1", "turns": 2}`, name: "own/1", known: true},
		"an unknown one":          {stored: `{"name": "other/1"}`, name: "other/1"},
		"no name":                 {stored: `{"turns": 2}`, err: "use an object with a name"},
		"another type":            {stored: `{"name": "own/1", "turns": "two"}`, err: "cannot unmarshal"},
		"a field of a newer one":  {stored: `{"name": "own/1", "pauses": 2}`, name: "own/1", known: true},
		"a field that is damaged": {stored: `{"name": "own/1", "pauses": 2}`, strict: true, err: "unknown field"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p, err := NewRegistry(plain{}).Decode("d", json.RawMessage(tt.stored), func(protocol.Protocol) bool { return tt.strict })
			if tt.err != "" {
				require.ErrorContains(t, err, tt.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, tt.name, p.Name())
			_, unknown := p.(Unknown)
			require.Equal(t, tt.known, !unknown)
		})
	}
}

func TestPresetsHaveTheirNames(t *testing.T) {
	for _, p := range presets {
		require.Equal(t, p.Protocol.Name(), p.name)
	}
	require.Len(t, NewRegistry().Known(), len(presets))
}
