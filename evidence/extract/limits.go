package extract

import (
	"errors"
	"fmt"
)

// The limits of documents.
const (
	MaxSize = 64 << 20 // bytes of a file
	MaxText = 64 << 20 // bytes of a text
	maxHTML = 16 << 20 // bytes of an HTML file
)

// ErrNoText is the error for a document without text, such as a scanned one. Recognize its text with another program first.
var ErrNoText = errors.New("the document has no text")

func tooLong() error { return fmt.Errorf("its text has more than %d bytes", MaxText) }
