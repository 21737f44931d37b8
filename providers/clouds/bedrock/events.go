package bedrock

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"
	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream/eventstreamapi"
)

// events reads an event stream of AWS as server-sent events.
// Source: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ResponseStream.html
type events struct {
	body    io.Closer
	from    *bufio.Reader
	decoder eventstream.Decoder
	payload []byte // of the last message
	text    bytes.Buffer
}

func newEvents(body io.ReadCloser) *events { return &events{body: body, from: bufio.NewReader(body)} }

func (e *events) Read(p []byte) (int, error) {
	for e.text.Len() == 0 {
		if err := e.next(); err != nil {
			return 0, err
		}
	}
	return e.text.Read(p)
}

func (e *events) Close() error { return e.body.Close() }

// next decodes one message.
func (e *events) next() error {
	start := &counter{r: e.from}
	m, err := e.decoder.Decode(start, e.payload)
	switch {
	case err == nil:
	case errors.Is(start.failed, io.EOF) && start.n > 0:
		return io.ErrUnexpectedEOF
	case start.failed != nil: // the stream has ended, or the connection failed
		return start.failed
	default:
		return fmt.Errorf("decode event stream: %w", err)
	}
	e.payload = m.Payload
	event, err := eventOf(m)
	if err != nil {
		return fmt.Errorf("decode event stream: %w", err)
	}
	e.text.Reset()
	if event != nil {
		e.text.WriteString("data: ")
		e.text.Write(bytes.ReplaceAll(event, []byte("\n"), []byte(" "))) // between the tokens of JSON
		e.text.WriteString("\n\n")
	}
	return nil
}

// counter counts the bytes that were read.
type counter struct {
	r      io.Reader
	n      int
	failed error
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += n
	c.failed = err
	return n, err
}

// statuses are the HTTP statuses that the service gives to the exceptions in a stream.
var statuses = map[string]int{
	"internalServerException": http.StatusInternalServerError, "modelStreamErrorException": http.StatusFailedDependency,
	"modelTimeoutException": http.StatusRequestTimeout, "serviceUnavailableException": http.StatusServiceUnavailable,
	"throttlingException": http.StatusTooManyRequests, "validationException": http.StatusBadRequest,
}

// eventOf returns the event in a message, or nil if the message has none.
func eventOf(m eventstream.Message) ([]byte, error) {
	header := func(name string) string {
		if v := m.Headers.Get(name); v != nil {
			return v.String()
		}
		return ""
	}
	switch header(eventstreamapi.MessageTypeHeader) {
	case eventstreamapi.ExceptionMessageType:
		kind := header(eventstreamapi.ExceptionTypeHeader)
		return errorEvent(kind, statuses[kind], m.Payload), nil
	case eventstreamapi.ErrorMessageType:
		return errorEvent(header(eventstreamapi.ErrorCodeHeader), 0, []byte(header(eventstreamapi.ErrorMessageHeader))), nil
	}
	var chunk struct {
		Bytes []byte `json:"bytes"`
	}
	if header(eventstreamapi.EventTypeHeader) != "chunk" {
		return nil, nil
	}
	err := json.Unmarshal(m.Payload, &chunk)
	return chunk.Bytes, err
}
