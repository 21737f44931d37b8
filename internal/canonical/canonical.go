// Package canonical brings answers into a canonical form, in which equal answers are equal texts.
package canonical

import (
	"cmp"
	"math/big"
	"regexp"
	"slices"
	"strings"
)

// Text returns an answer in lower case with single spaces, and without the quotes, brackets and punctuation
// around its words. It keeps signs that may have a meaning, as in "-5", "C++" or "50%".
func Text(answer string) string {
	var words []string
	for w := range strings.FieldsSeq(strings.ToLower(answer)) {
		w = strings.TrimRight(strings.TrimLeft(w, "\"'`“”„‘’«»([{*_¿¡"), "\"'`“”„‘’«»)]}*_.,;:!?…")
		if w != "" {
			words = append(words, w)
		}
	}
	return strings.Join(words, " ")
}

// numberPattern matches a number: a fraction of whole numbers, or a decimal with or without an exponent.
var numberPattern = regexp.MustCompile(`[-−–]?[$€£¥]?(?:\d[\d,]*/\d[\d,]*|(?:\d[\d,]*(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d{1,3}\b)?)`)

// numberSigns normalizes minus signs and removes thousands separators and currency symbols.
var numberSigns = strings.NewReplacer(",", "", "$", "", "€", "", "£", "", "¥", "", "−", "-", "–", "-")

// Number returns the last number of an answer, such as 1250 for "1,250.0 km" and 0.75 for "3/4". Commas separate
// thousands, and units are ignored.
func Number(answer string) string {
	for _, at := range slices.Backward(numberPattern.FindAllStringIndex(answer, -1)) {
		found := answer[at[0]:at[1]]
		if at[0] > 0 && strings.IndexByte("0123456789)", answer[at[0]-1]) >= 0 {
			found = strings.TrimLeft(found, "-−–") // a dash between numbers, as in a range, is not a sign
		}
		if n := canonicalNumber(found); n != "" {
			return n
		}
	}
	return ""
}

const maxNumber = 100 // characters of a number, before and after it is canonical

// canonicalNumber returns a number as a decimal, or as a fraction if no decimal is exact. It returns "" if the number has
// no value or more than maxNumber characters.
func canonicalNumber(found string) string {
	if len(found) > maxNumber {
		return ""
	}
	over, under, fraction := strings.Cut(numberSigns.Replace(found), "/")
	n, ok := new(big.Rat).SetString(over)
	if !ok {
		return ""
	}
	if fraction {
		d, ok := new(big.Rat).SetString(under)
		if !ok || d.Sign() == 0 {
			return ""
		}
		n.Quo(n, d)
	}
	number := n.RatString()
	if digits, exact := n.FloatPrec(); exact {
		number = n.FloatString(digits)
	}
	if len(number) > maxNumber { // such as 1e200
		return ""
	}
	return number
}

// boxPattern matches the beginning of a boxed answer in TeX. If a model does not double the backslash in JSON, \b and \f
// are control characters.
var boxPattern = regexp.MustCompile(`(?:\\boxed|\x08oxed|\\fbox|\x0cbox)\s*\{`)

// Boxed returns the content of the last \boxed{} or \fbox{} of an answer: a number in canonical form, anything else
// without spaces.
func Boxed(answer string) string {
	all := boxPattern.FindAllStringIndex(answer, -1)
	if len(all) == 0 {
		return ""
	}
	inside, depth := answer[all[len(all)-1][1]:], 1
	for i, r := range inside {
		switch r {
		case '{':
			depth++
		case '}':
			depth--
		}
		if depth == 0 {
			inside = strings.Join(strings.Fields(inside[:i]), "")
			if numberPattern.FindString(inside) == inside {
				return cmp.Or(canonicalNumber(inside), inside)
			}
			return inside
		}
	}
	return "" // the box is not closed
}
