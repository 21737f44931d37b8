package quote

// minShared is the share of the words of a quote, in percent, that a similar passage has.
const minShared = 70

// Resembles reports whether the text has a passage with most of the words of a quote, in any order. It tells a quote that was
// altered from one that was invented, after [Text.Check] has not found it. It takes time in proportion to the length of the
// text.
func (t *Text) Resembles(quote string) bool {
	words := t.reduce(quote)
	missing := map[string]int{} // of each word of the quote, how many more of it the passage could have
	for _, w := range words.words {
		missing[words.lettersOf(w)]++
	}
	need := (len(words.words)*minShared + 99) / 100
	shared, length := 0, len(words.words)
	for i, w := range t.words {
		in := t.lettersOf(w)
		if n, ok := missing[in]; ok {
			missing[in] = n - 1
			if n > 0 {
				shared++
			}
		}
		if i >= length {
			out := t.lettersOf(t.words[i-length])
			if n, ok := missing[out]; ok {
				missing[out] = n + 1
				if n >= 0 {
					shared--
				}
			}
		}
		if shared >= max(need, 1) {
			return true
		}
	}
	return false
}

// lettersOf returns a word in the form in which it is compared.
func (r *reduced) lettersOf(w word) string { return r.letters[w.start:w.end] }
