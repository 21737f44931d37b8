package main

// The assumed size of a terminal that does not report its size.
const defaultColumns, defaultRows = 80, 24

// truncateLeft returns the end of a text that fits into the given number of columns.
func truncateLeft(text string, room int) string {
	if displayWidth(text) <= room {
		return text
	}
	r := []rune(text)
	for len(r) > 0 && displayWidth(string(r)) > room-displayWidth("…") {
		r = r[1:]
	}
	return "…" + string(r)
}

// truncateRight returns the beginning of a text that fits into the given number of columns.
func truncateRight(text string, room int) string {
	if displayWidth(text) <= room {
		return text
	}
	r := []rune(text)
	for len(r) > 0 && displayWidth(string(r)) > room-displayWidth("…") {
		r = r[:len(r)-1]
	}
	return string(r) + "…"
}

// displayWidth returns the maximum number of columns of a text. It counts two for each rune of scripts with wide
// characters.
func displayWidth(text string) (n int) {
	for _, r := range text {
		n++
		if r >= 0x1100 {
			n++
		}
	}
	return n
}
