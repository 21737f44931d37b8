package vote

import (
	"math/big"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/elenchus-go/debate/transcript"
)

// extractors read an answer in a canonical form, by the names of Protocol.Extract.
var extractors = map[string]func(string) string{"": normalizeText, "text": normalizeText, "number": lastNumber, "letter": optionLetter, "boxed": lastBoxed}

// answer is what a turn answers; empty where it is no ballot, where a fallback stands in, and where nothing was found.
func (p Protocol) answer(t transcript.Turn) string {
	if t.Kind != transcript.Speech || slices.Contains(t.Flags, transcript.Defaulted) {
		return ""
	}
	if p.Extractor != nil {
		return p.Extractor(t)
	}
	extract := extractors[p.Extract]
	b, err := transcript.Decode[Ballot](t)
	if err != nil || extract == nil {
		return ""
	}
	return extract(b.Answer)
}

// normalizeText is an answer without case, runs of blanks, and the quotes, brackets and sentence marks around its words. Signs
// that may mean something stay, as in "-5", "C++" or "50%".
func normalizeText(answer string) string {
	var words []string
	for w := range strings.FieldsSeq(strings.ToLower(answer)) {
		w = strings.TrimRight(strings.TrimLeft(w, "\"'`“”„‘’«»([{*_¿¡"), "\"'`“”„‘’«»)]}*_.,;:!?…")
		if w != "" {
			words = append(words, w)
		}
	}
	return strings.Join(words, " ")
}

// numberPattern is a number: a fraction of whole numbers, or a decimal with or without an exponent.
var numberPattern = regexp.MustCompile(`[-−–]?[$€£¥]?(?:\d[\d,]*/\d[\d,]*|(?:\d[\d,]*(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d{1,3}\b)?)`)

// numberSigns are written in several ways, and what is no part of a number's value goes.
var numberSigns = strings.NewReplacer(",", "", "$", "", "€", "", "£", "", "¥", "", "−", "-", "–", "-")

// lastNumber is the last lastNumber of an answer: 1,250.0 is 1250, 3/4 is 0.75, units are left out. Commas are for thousands.
func lastNumber(answer string) string {
	for _, at := range slices.Backward(numberPattern.FindAllStringIndex(answer, -1)) {
		found := answer[at[0]:at[1]]
		if at[0] > 0 && strings.IndexByte("0123456789)", answer[at[0]-1]) >= 0 {
			found = strings.TrimLeft(found, "-−–") // a dash between numbers, as in a range, is no sign
		}
		if n := canonicalNumber(found); n != "" {
			return n
		}
	}
	return ""
}

// canonicalNumber writes a figure as a decimal, or as a fraction where no decimal is exact; empty where it has no value, or
// more digits than anybody means.
func canonicalNumber(found string) string {
	if len(found) > 100 {
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
	if digits, exact := n.FloatPrec(); exact {
		return n.FloatString(digits)
	}
	return n.RatString()
}

// boxPattern begins an answer in TeX. Where a model forgets to double the backslash in JSON, \b and \f are control characters.
var boxPattern = regexp.MustCompile(`(?:\\boxed|\x08oxed|\\fbox|\x0cbox)\s*\{`)

// lastBoxed is what stands in the last \lastBoxed{} of an answer: as a number where it is one, else without blanks.
func lastBoxed(answer string) string {
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
				return canonicalNumber(inside)
			}
			return inside
		}
	}
	return "" // it was not closed
}

var (
	letterAlone      = regexp.MustCompile(`^[^\pL\pN]*(\pL)[^\pL\pN]*$`) // "(b)", "B."
	letterFirst      = regexp.MustCompile(`^[^\pL\pN]*(\pL)[).:\]]`)     // "B) Paris", "(B) Paris"
	letterInBrackets = regexp.MustCompile(`[(\[](\pL)[)\]]`)             // "It is (B)"
)

// optionLetter is the optionLetter of an option: the only one of the answer, the one that it begins with, the last one in brackets,
// or the last capital that stands alone. "A" and "I" are words but at the end.
func optionLetter(answer string) string {
	for _, re := range []*regexp.Regexp{letterAlone, letterFirst, letterInBrackets} {
		if all := re.FindAllStringSubmatch(answer, -1); len(all) > 0 {
			return strings.ToUpper(all[len(all)-1][1])
		}
	}
	words := strings.FieldsFunc(answer, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' && r != '’' })
	for i, w := range slices.Backward(words) {
		if len(w) == 1 && w >= "A" && w <= "Z" && (i == len(words)-1 || w != "A" && w != "I") {
			return w
		}
	}
	return ""
}
