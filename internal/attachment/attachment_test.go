package attachment_test

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"image"
	"image/png"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/attachment"
)

func webP(chunk string, header ...byte) []byte {
	b := append([]byte("RIFF\x00\x00\x00\x00WEBP"+chunk+"\x00\x00\x00\x00"), header...)
	return append(b, make([]byte, 20)...)
}

func TestPixels(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, image.NewGray(image.Rect(0, 0, 300, 200))))
	for name, test := range map[string]struct {
		mediaType     string
		data          []byte
		width, height int
		want          string // the error
	}{
		"png":             {attachment.PNG, b.Bytes(), 300, 200, ""},
		"another type":    {attachment.JPEG, b.Bytes(), 300, 200, "it is an image of type png"},
		"no image":        {attachment.PNG, []byte("x"), 0, 0, "image: unknown format"},
		"webp, lossy":     {attachment.WebP, webP("VP8 ", 0, 0, 0, 0x9d, 1, 0x2a, 0x2c, 1, 0xc8, 0), 300, 200, ""},
		"webp, lossless":  {attachment.WebP, webP("VP8L", 0x2f, 0x2b, 0xc1, 0x31, 0), 300, 200, ""},
		"webp, extended":  {attachment.WebP, webP("VP8X", 0, 0, 0, 0, 0x2b, 1, 0, 0xc7, 0, 0), 300, 200, ""},
		"webp, cut":       {attachment.WebP, webP("VP8X")[:20], 0, 0, "it is no WebP image"},
		"webp, new chunk": {attachment.WebP, webP("VP9X"), 0, 0, "it is no WebP image"},
	} {
		t.Run(name, func(t *testing.T) {
			width, height, err := attachment.Pixels(test.mediaType, test.data)
			if test.want != "" {
				require.EqualError(t, err, test.want)
				return
			}
			require.NoError(t, err)
			require.Equal(t, []int{test.width, test.height}, []int{width, height})
		})
	}
}

func TestPages(t *testing.T) {
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	_, _ = z.Write([]byte("1 0 2 60 <</Type/Pages/Count 7/Kids[2 0 R]>> <</Type/Page/Parent 1 0 R>>"))
	require.NoError(t, z.Close())
	stream := fmt.Sprintf("<</Type /ObjStm /N 2 /First 9 /Filter /FlateDecode /Length %d>>\nstream\n%s\nendstream", packed.Len(), packed.String())
	for data, want := range map[string]int{
		"%PDF-1.4": 0,
		"%PDF-1.4 <</Type /Pages /Kids [1 0 R] /Count 3>>":                3,
		"%PDF-1.4 " + strings.Repeat("<</Type /Page /Parent 1 0 R>> ", 4): 4,
		"%PDF-1.4 <</Type/Page>> <</Type /Pages>>":                        1,
		"%PDF-1.5 " + stream:                                     7,
		"%PDF-1.5 " + stream[:len(stream)-30]:                    7, // damaged
		"%PDF-1.4 <</Type /Outlines /Count 30>> <</Type /Page>>": 1,
	} {
		require.Equal(t, want, attachment.Pages([]byte(data)), data)
	}
}

func TestTokens(t *testing.T) {
	size := func(width, height int) []byte {
		var b bytes.Buffer
		require.NoError(t, png.Encode(&b, image.NewGray(image.Rect(0, 0, width, height))))
		return b.Bytes()
	}
	require.Equal(t, 1_120, attachment.Tokens(attachment.PNG, size(10, 10), 0))
	require.Equal(t, 4_096, attachment.Tokens(attachment.PNG, size(1024, 1024), 0))
	require.Equal(t, 5_000, attachment.Tokens(attachment.PNG, size(4000, 3000), 0))
	require.Equal(t, 5_000, attachment.Tokens(attachment.PNG, nil, 0), "by URL")
	require.Equal(t, 15_000, attachment.Tokens(attachment.PDF, nil, 3))
}

func FuzzAttachment(f *testing.F) {
	f.Add([]byte("%PDF-1.4 <</Type /Pages /Count 3>>"))
	f.Add(webP("VP8X", 0, 0, 0, 0, 0x2b, 1, 0, 0xc7, 0, 0))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, mediaType := range attachment.MediaTypes {
			require.Positive(t, attachment.Tokens(mediaType, data, 0))
		}
		require.GreaterOrEqual(t, attachment.Pages(data), 0)
	})
}
