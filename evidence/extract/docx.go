package extract

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

// maxXML limits, in bytes, a part of a DOCX file when it is decompressed. Tests lower it.
var maxXML int64 = 64 << 20

// maxDepth limits how deeply the elements of a DOCX file are nested.
const maxDepth = 500

// The parts of a DOCX file that have text. The first one must be there.
var docxParts = []string{"word/document.xml", "word/footnotes.xml", "word/endnotes.xml"}

// readDOCX returns the text of a DOCX file: of its body, and of its notes.
func readDOCX(ctx context.Context, data []byte) (string, error) {
	files, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return "", fmt.Errorf("it is no valid DOCX: %w", err)
	}
	var b strings.Builder
	for i, name := range docxParts {
		part, err := files.Open(name)
		if err != nil && i == 0 {
			return "", fmt.Errorf("it is no valid DOCX: %w", err)
		}
		if err != nil {
			continue
		}
		err = writeText(ctx, &b, io.LimitReader(part, maxXML+1))
		err = errors.Join(err, part.Close())
		if err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
		b.WriteString("\n")
	}
	return b.String(), nil
}

// wordprocessing is the namespace of the elements with text; files of the strict format have the second one.
var wordprocessing = map[string]bool{
	"http://schemas.openxmlformats.org/wordprocessingml/2006/main": true, "http://purl.oclc.org/ooxml/wordprocessingml/main": true,
}

// withoutText are elements that hold settings, text that was moved away, or the same text for older programs. Deleted text is
// in elements of another name.
var withoutText = map[string]bool{"Fallback": true, "moveFrom": true, "pPr": true, "rPr": true, "sectPr": true, "tblPr": true}

// writeText writes the text of a part.
func writeText(ctx context.Context, b *strings.Builder, part io.Reader) error {
	d := xml.NewDecoder(part)
	depth := 0
	skipped := 0
	inText := false
	for {
		token, err := d.Token()
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case d.InputOffset() > maxXML:
			return fmt.Errorf("it has more than %d bytes when it is decompressed", maxXML)
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("it is no valid DOCX: %w", err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			depth++
			if depth > maxDepth {
				return fmt.Errorf("its elements are nested deeper than %d", maxDepth)
			}
			if skipped == 0 && withoutText[t.Name.Local] {
				skipped = depth
			}
			inText = wordprocessing[t.Name.Space] && t.Name.Local == "t"
			if skipped == 0 && wordprocessing[t.Name.Space] {
				b.WriteString(map[string]string{"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}[t.Name.Local])
			}
		case xml.EndElement:
			if skipped == 0 && wordprocessing[t.Name.Space] {
				b.WriteString(map[string]string{"p": "\n", "tc": "\t"}[t.Name.Local])
			}
			if depth == skipped {
				skipped = 0
			}
			depth--
			inText = false
		case xml.CharData:
			if inText && skipped == 0 {
				b.Write(t)
			}
		}
	}
}
