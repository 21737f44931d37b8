package seal

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/cryptotest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestMacIsHMAC(t *testing.T) {
	for n := range 600 {
		secret, text := New().Secret, strings.Repeat("x", n)
		h := hmac.New(sha256.New, secret[:])
		h.Write([]byte(text))
		is := mac(secret, text)
		require.Equal(t, h.Sum(nil), is[:], "of %d bytes", n)
	}
}

func TestEachHashHasAKeyOfItsOwn(t *testing.T) {
	a := New()
	b := New()
	digest := sha256.Sum256([]byte("yes"))
	require.NotEqual(t, a.Secret, b.Secret)
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	seen := map[string]bool{}
	for _, k := range []*Keys{a, b} {
		for _, id := range []string{CallID("1/1/speech/A/", at), CallID("1/1/speech/A/", at.Add(1)), CallID("1/1/speech/B/", at), ReplyID("1/1/speech/A/")} {
			key, ok := k.Of(id)
			require.True(t, ok)
			again, _ := k.Of(id)
			require.True(t, key == again)
			hash := key.Hash(digest)
			require.Len(t, hash, 43)
			require.Less(t, len(`"hash":"",`+hash), 64, "bytes of a call in the journal")
			require.False(t, seen[hash])
			seen[hash] = true
			require.NotEqual(t, hash, key.Hash(sha256.Sum256([]byte("no"))))
		}
	}
	_, ok := (&Keys{}).Of("x")
	require.False(t, ok)
}

func TestAForkHasKeysWithoutTheSecret(t *testing.T) {
	parent, fork := New(), New()
	key, _ := parent.Of("reply a")
	fork.CopiedKeys = map[string]Key{"reply a": key}
	copied, _ := fork.Of("reply a")
	require.True(t, copied == key)
	own, _ := fork.Of("reply b")
	other, _ := parent.Of("reply b")
	require.False(t, own == other)
}

func TestSecretsInJSON(t *testing.T) {
	k := New()
	k.CopiedKeys = map[string]Key{"a": {1}}
	raw, err := json.Marshal(k)
	require.NoError(t, err)
	var again Keys
	require.NoError(t, json.Unmarshal(raw, &again))
	require.True(t, k.Secret == again.Secret && k.CopiedKeys["a"] == again.CopiedKeys["a"])
	for _, wrong := range []string{`{"secret":""}`, `{"secret":"AAAA"}`, `{"secret":"AAAAAAAAAAAAAAAAAAAAA!"}`, `{"secret":"AAAAAAAAAAAAAAAAAAAAAB"}`, `{"secret":"` + strings.Repeat("A", 43) + `"}`, `{"copied_keys":{"a":"x"}}`} {
		err := json.Unmarshal([]byte(wrong), &again)
		require.ErrorContains(t, err, "want 16 bytes in base64url", wrong)
	}
}

func TestPrintingShowsNoSecret(t *testing.T) {
	k := New()
	k.CopiedKeys = map[string]Key{"a": Key(k.Secret)}
	text, err := k.Secret.MarshalText()
	require.NoError(t, err)
	hex := fmt.Sprintf("%x", [16]byte(k.Secret))
	bytes := strings.Trim(fmt.Sprint([16]byte(k.Secret)), "[]")
	var out strings.Builder
	log := slog.New(slog.NewTextHandler(&out, nil))
	log.Info("m", "keys", fmt.Sprintf("%v", *k))
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d"} {
		_, _ = fmt.Fprintf(&out, verb+"\n", k.Secret)
		_, _ = fmt.Fprintf(&out, verb+"\n", *k)
	}
	for _, shown := range []string{string(text), hex, strings.ToUpper(hex), bytes} {
		require.NotContains(t, out.String(), shown)
	}
}

func TestSecretsCanBeRepeatedInTests(t *testing.T) {
	cryptotest.SetGlobalRandom(t, 1)
	a := New()
	cryptotest.SetGlobalRandom(t, 1)
	require.True(t, a.Secret == New().Secret)
}

func TestAKeyAllocatesNothing(t *testing.T) {
	k := New()
	id := CallID("1/20/speech/A participant with a name/", time.Now())
	require.Zero(t, testing.AllocsPerRun(100, func() { _, _ = k.Of(id) }))
}

func TestAReplyThatIsGivenAgainIsRecognized(t *testing.T) {
	a := New()
	b := New()
	hidden := &Keys{}
	hash := a.Reply("1/1/speech/A/", "yes\n")
	require.Equal(t, a.Reply("1/1/speech/A/", " yes"), hash, "blanks at the ends do not count")
	require.NotEqual(t, a.Reply("1/1/speech/B/", "yes"), hash)
	require.NotEqual(t, b.Reply("1/1/speech/A/", "yes"), hash)
	require.True(t, a.IsReply(hash, "1/1/speech/A/", "yes"))
	require.False(t, a.IsReply(hash, "1/1/speech/A/", "no"))
	require.False(t, a.IsReply("", "1/1/speech/A/", "yes"))
	require.Empty(t, hidden.Reply("1/1/speech/A/", "yes"))
	require.False(t, hidden.IsReply("", "1/1/speech/A/", "yes"))
}
