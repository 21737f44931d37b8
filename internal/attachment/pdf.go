package attachment

import (
	"bytes"
	"compress/zlib"
	"io"
	"regexp"
	"strconv"
	"sync"
)

// The patterns are compiled on first use: most programs never see a PDF, and the repetitions of these make the start of all longer.
var (
	pageObject = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`/Type\s*/Page[^s\w]`) })
	pageCount  = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`/Type\s*/Pages\b[^>]{0,400}?/Count\s+(\d{1,9})|/Count\s+(\d{1,9})[^>]{0,400}?/Type\s*/Pages\b`)
	})
	objects = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`/ObjStm\b[^>]{0,400}>>\s*stream\r?\n`) })
)

// maxObjects limits the bytes of objects that are decompressed.
const maxObjects = 32 << 20

// Pages returns the number of pages of a PDF, or more if the file has older versions of them. It returns 0 if it finds
// none, as in an encrypted file.
func Pages(data []byte) (pages int) {
	pages = pagesIn(data)
	left := int64(maxObjects)
	for _, at := range objects().FindAllIndex(data, -1) {
		packed, err := zlib.NewReader(bytes.NewReader(data[at[1]:]))
		if err != nil {
			continue
		}
		plain, _ := io.ReadAll(io.LimitReader(packed, left)) // what was read of a damaged stream counts too
		left -= int64(len(plain))
		pages += pagesIn(plain)
	}
	return pages
}

// pagesIn returns the number of pages in uncompressed objects: that of their tree, or of the pages if that is greater.
func pagesIn(data []byte) int {
	most := len(pageObject().FindAllIndex(data, -1))
	for _, m := range pageCount().FindAllSubmatch(data, -1) {
		n, _ := strconv.Atoi(string(m[1]) + string(m[2]))
		most = max(most, n)
	}
	return most
}
