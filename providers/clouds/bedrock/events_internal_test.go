package bedrock

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"
	"github.com/stretchr/testify/require"
)

// message returns an encoded message.
func message(t testing.TB, payload string, headers ...string) []byte {
	m := eventstream.Message{Payload: []byte(payload)}
	for i := 0; i < len(headers); i += 2 {
		m.Headers.Set(headers[i], eventstream.StringValue(headers[i+1]))
	}
	var raw bytes.Buffer
	require.NoError(t, eventstream.NewEncoder().Encode(&raw, m))
	return raw.Bytes()
}

func read(raw []byte) (string, error) {
	text, err := io.ReadAll(newEvents(io.NopCloser(bytes.NewReader(raw))))
	return string(text), err
}

func TestMessages(t *testing.T) {
	chunk := message(t, `{"bytes": "eyJhIjoKMX0="}`, ":message-type", "event", ":event-type", "chunk") // {"a":\n1}
	damaged := bytes.Clone(chunk)
	damaged[len(damaged)-6]++
	for name, test := range map[string]struct {
		raw       []byte
		want, err string
	}{
		"nothing":           {nil, "", ""},
		"a line break":      {chunk, `data: {"a": 1}` + "\n\n", ""},
		"two":               {append(bytes.Clone(chunk), chunk...), strings.Repeat(`data: {"a": 1}`+"\n\n", 2), ""},
		"an unknown event":  {message(t, `{}`, ":message-type", "event", ":event-type", "metadata"), "", ""},
		"an exception":      {message(t, `{"message": "slow"}`, ":message-type", "exception", ":exception-type", "throttlingException"), `data: {"type":"error","error":{"type":"throttlingException","message":"slow","code":429}}` + "\n\n", ""},
		"without a message": {message(t, `oops`, ":message-type", "exception", ":exception-type", "x"), `data: {"type":"error","error":{"type":"x","message":"oops"}}` + "\n\n", ""},
		"an error":          {message(t, ``, ":message-type", "error", ":error-code", "InternalError", ":error-message", "broken"), `data: {"type":"error","error":{"type":"InternalError","message":"broken"}}` + "\n\n", ""},
		"cut in a message":  {chunk[:len(chunk)-1], "", "unexpected EOF"},
		"cut at the start":  {chunk[:3], "", "unexpected EOF"},
		"damaged":           {damaged, "", "decode event stream: message checksum mismatch"},
		"no bytes":          {message(t, `[]`, ":message-type", "event", ":event-type", "chunk"), "", "decode event stream: json"},
		"another form":      {[]byte(`{"message": "this is no event stream"}`), "", "decode event stream"},
	} {
		t.Run(name, func(t *testing.T) {
			text, err := read(test.raw)
			require.Equal(t, test.want, text)
			if test.err == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, test.err)
		})
	}
}

func FuzzEvents(f *testing.F) {
	chunk := message(f, `{"bytes": "e30="}`, ":message-type", "event", ":event-type", "chunk")
	f.Add(chunk)
	f.Add(chunk[:20])
	f.Add(append(message(f, `{"message": "slow"}`, ":message-type", "exception", ":exception-type", "throttlingException"), chunk...))
	f.Add([]byte("{}"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		text, err := read(raw)
		for event := range strings.SplitSeq(strings.TrimSuffix(text, "\n\n"), "\n\n") {
			if event != "" && !strings.HasPrefix(event, "data: ") {
				t.Fatalf("%q is no event (%v)", event, err)
			}
		}
	})
}
