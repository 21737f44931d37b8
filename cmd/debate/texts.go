package main

import "unsafe"

// textBlock is the length of a block of texts, in bytes. It is a multiple of the length of a huge page, 2 MB in most systems.
const textBlock = 4 << 20

// A textRoom holds the texts of many files in few blocks. For each new page of memory, the system takes about as long as for reading a
// small file, so large pages save a fifth of the time that a large repository takes.
type textRoom struct{ block []byte }

// keep returns a text that does not change with the bytes given.
func (r *textRoom) keep(text []byte) string {
	if len(text) > textBlock/8 {
		return string(text)
	}
	if len(text) > cap(r.block)-len(r.block) {
		r.block = make([]byte, 0, textBlock)
		useLargePages(r.block[:textBlock])
	}
	start := len(r.block)
	r.block = append(r.block, text...)
	kept := r.block[start:]
	return unsafe.String(unsafe.SliceData(kept), len(kept)) //nolint:gosec // nothing writes to these bytes again
}
