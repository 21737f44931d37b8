package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
)

// readSSE reads server-sent events. An event ends with an empty line. A server that leaves the empty lines out is
// understood if each of its data lines is a JSON value, or empty.
// Source: https://html.spec.whatwg.org/multipage/server-sent-events.html
func (l *lines) readSSE(event func([]byte) error) error {
	s := sse{event: event}
	for {
		line, err := l.next()
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		failed := s.read(line, err != nil)
		if failed == nil && err != nil {
			failed = s.send()
		}
		if failed != nil || err != nil {
			return failed
		}
	}
}

// sse is what readSSE holds of a stream.
type sse struct {
	event   func([]byte) error
	begun   bool   // an event has begun
	several bool   // it has several data lines
	data    []byte // its data
	value   []byte // the lines of a JSON value outside of events, such as an error of Google
}

// maxValue limits the length of a JSON value outside of events, in bytes.
const maxValue = 64 << 10

// read reads a line. last reports whether it is the last one, which may be cut off.
func (s *sse) read(line []byte, last bool) error {
	data, isData := bytes.CutPrefix(line, []byte("data:"))
	data = bytes.TrimPrefix(data, []byte(" "))
	switch {
	case len(s.value) > 0:
		return s.extend(line, isData)
	case last && isData && !json.Valid(data) && string(data) != doneMark: // cut off
		s.begun = false
	case isData && s.begun && (s.several || !isWhole(s.data)):
		s.several = true
		s.data = append(append(s.data, '\n'), data...)
		if len(s.data) > maxLine {
			return errTooLong()
		}
	case isData:
		err := s.send()
		s.data = append(s.data[:0], data...)
		s.begun = true
		s.several = false
		return err
	case len(line) == 0:
		return s.send()
	case line[0] == '{', line[0] == '<', string(line) == "[": // not an event
		if err := s.send(); err != nil {
			return err
		}
		if line[0] == '<' || json.Valid(line) {
			return s.event(line)
		}
		s.value = append(s.value, line...)
	case isError(line):
		return s.event(slices.Concat([]byte(`{"error":`), line[len(errorField):], []byte("}")))
	}
	return nil
}

// extend adds a line to the value. A value that is followed by data is malformed, and so is a long one.
func (s *sse) extend(line []byte, isData bool) error {
	if !isData {
		s.value = append(append(s.value, '\n'), line...)
	}
	ends := len(line) > 0 && (line[0] == '}' || line[0] == ']') // without indentation, so that not each line is checked
	if isData || len(s.value) > maxValue || ends && json.Valid(s.value) {
		value := s.value
		s.value = nil
		return s.event(value)
	}
	return nil
}

// send passes on the event that has begun.
func (s *sse) send() error {
	if !s.begun {
		return nil
	}
	s.begun = false
	return dispatch(s.data, s.event)
}

// errorField is a field of events that is not in their specification. llama.cpp used it for errors until September 2025.
// Source: https://github.com/ggml-org/llama.cpp/pull/16109
const errorField = "error:"

// isError reports whether a line is a field with an error.
func isError(line []byte) bool {
	return bytes.HasPrefix(line, []byte(errorField)) && json.Valid(line[len(errorField):])
}

// isWhole reports whether the first data line of an event can be the whole event.
func isWhole(data []byte) bool { return len(bytes.TrimSpace(data)) == 0 || json.Valid(data) }

// doneMark is the data of the event with which OpenAI ends a stream.
const doneMark = "[DONE]"

// dispatch passes the data of an event on. Events without data keep the connection alive.
func dispatch(data []byte, event func([]byte) error) error {
	switch text := bytes.TrimSpace(data); {
	case len(text) == 0:
		return nil
	case string(text) == doneMark:
		return ErrDone
	}
	return event(data)
}
