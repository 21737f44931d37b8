// Package attachment reads the size of images and documents, and estimates the tokens that they have for a model.
package attachment

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	_ "image/gif" // registers the formats
	_ "image/jpeg"
	_ "image/png"
)

// The media types.
const (
	PNG  = "image/png"
	JPEG = "image/jpeg"
	GIF  = "image/gif"
	WebP = "image/webp"
	PDF  = "application/pdf"
)

// MediaTypes lists the media types that a debate may have.
var MediaTypes = []string{PNG, JPEG, GIF, WebP, PDF}

// Tokens of images and documents. Each service counts in its own way. The rule is an upper one for the services of
// package providers, except that OpenAI bills up to 48,169 tokens for an image in a prompt of gpt-4o-mini.
//
//   - Pixtral has a token for every 16 × 16 pixels, the most of all, and scales images down to 1024 × 1024.
//   - Claude has a token for every 750 pixels, and at most 4,784 for an image. A page of a PDF has up to 3,000 tokens of
//     text, and its image.
//   - Gemini 3 has 1,120 tokens for an image and 560 for a page; earlier versions have 258 for each tile of 768 × 768.
//   - OpenAI has at most 85 + 8 × 170 tokens with tiles, and at most 1,536 × 2.46 with patches.
//
// Sources: https://docs.mistral.ai/capabilities/vision, https://platform.claude.com/docs/en/build-with-claude/vision,
// https://platform.claude.com/docs/en/build-with-claude/pdf-support, https://ai.google.dev/gemini-api/docs/media-resolution
// and https://developers.openai.com/api/docs/guides/images-vision
const (
	pixelsPerToken = 16 * 16
	leastTokens    = 1_120
	mostTokens     = 5_000 // also of an image of unknown size, and of a page
)

// Tokens returns the most tokens that an attachment has for a model: for an image, one for every 256 pixels, but at least
// 1,120 and at most 5,000; for a PDF, 5,000 for each page. If pages is 0, those of the PDF are counted.
func Tokens(mediaType string, data []byte, pages int) int {
	if mediaType == PDF {
		if pages == 0 {
			pages = max(Pages(data), 1)
		}
		return pages * mostTokens
	}
	width, height, err := Pixels(mediaType, data)
	if err != nil || width > 1<<16 || height > 1<<16 {
		return mostTokens
	}
	return min(max(width*height/pixelsPerToken, leastTokens), mostTokens)
}

var errNoWebP = errors.New("it is no WebP image")

// Pixels returns the size of an image. It decodes only its header.
func Pixels(mediaType string, data []byte) (width, height int, err error) {
	if mediaType == WebP {
		return webP(data)
	}
	c, format, err := image.DecodeConfig(bytes.NewReader(data))
	if err == nil && "image/"+format != mediaType {
		err = fmt.Errorf("it is an image of type %s", format)
	}
	return c.Width, c.Height, err
}

// webP returns the size of a WebP image.
// Source: https://developers.google.com/speed/webp/docs/riff_container
func webP(b []byte) (width, height int, err error) {
	const header = 30
	if len(b) < header || string(b[:4]) != "RIFF" || string(b[8:12]) != "WEBP" {
		return 0, 0, errNoWebP
	}
	le := binary.LittleEndian
	switch string(b[12:16]) {
	case "VP8 ":
		return int(le.Uint16(b[26:]) & 0x3FFF), int(le.Uint16(b[28:]) & 0x3FFF), nil
	case "VP8L":
		bits := le.Uint32(b[21:])
		return int(bits&0x3FFF) + 1, int(bits>>14&0x3FFF) + 1, nil
	case "VP8X":
		return int(le.Uint32(b[24:])&0xFFFFFF) + 1, int(le.Uint32(b[26:])>>8) + 1, nil
	}
	return 0, 0, errNoWebP
}
