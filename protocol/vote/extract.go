package vote

import (
	"cmp"
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/elenchus-go/debate/transcript"
)

// extractors are the built-in extractors by the values of Protocol.Extract. Each returns an answer in canonical form.
var extractors = map[string]func(string) string{"": normalizeText, "text": normalizeText, "number": lastNumber, "letter": optionLetter, "boxed": lastBoxed}

// answer returns the answer of a turn in canonical form. It returns "" if the turn is not a ballot, is a default, or has
// no answer.
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
	if len(p.Options) > 0 {
		if n := p.option(b.Answer); n > 0 {
			return p.Options[n-1]
		}
		return ""
	}
	return extract(b.Answer)
}

// normalizeText returns an answer in lower case with single spaces, and without the quotes, brackets and punctuation
// around its words. It keeps signs that may have a meaning, as in "-5", "C++" or "50%".
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

// numberPattern matches a number: a fraction of whole numbers, or a decimal with or without an exponent.
var numberPattern = regexp.MustCompile(`[-−–]?[$€£¥]?(?:\d[\d,]*/\d[\d,]*|(?:\d[\d,]*(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d{1,3}\b)?)`)

// numberSigns normalizes minus signs and removes thousands separators and currency symbols.
var numberSigns = strings.NewReplacer(",", "", "$", "", "€", "", "£", "", "¥", "", "−", "-", "–", "-")

// lastNumber returns the last number of an answer, such as 1250 for "1,250.0 km" and 0.75 for "3/4". Commas separate
// thousands, and units are ignored.
func lastNumber(answer string) string {
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

// lastBoxed returns the content of the last \boxed{} or \fbox{} of an answer: a number in canonical form, anything else
// without spaces.
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
				return cmp.Or(canonicalNumber(inside), inside)
			}
			return inside
		}
	}
	return "" // the box is not closed
}

// optionPattern matches the number of an option, such as "2", "Option 2" or "2. Refuse".
var optionPattern = regexp.MustCompile(`(?i)^(?:option\s*)?#?(\d{1,2})(?:$|[.):])`)

// option returns the number of the option that an answer names, by its number or by its text. It returns 0 if there is none.
func (p Protocol) option(answer string) int {
	answer = strings.TrimSpace(answer)
	if found := optionPattern.FindStringSubmatch(answer); found != nil {
		if n, err := strconv.Atoi(found[1]); err == nil && n >= 1 && n <= len(p.Options) {
			return n
		}
	}
	if at := slices.Index(p.Options, answer); at >= 0 {
		return at + 1
	}
	text, is := normalizeText(answer), 0
	for i, o := range p.Options {
		switch {
		case text == "" || normalizeText(o) != text:
		case is > 0: // two options differ only in what comparisons ignore
			return 0
		default:
			is = i + 1
		}
	}
	return is
}

// checkBallot sets the answer of a ballot to the text of the option that it names. It returns a violation if it names none.
// A ballot without an answer is valid and does not count.
func (p Protocol) checkBallot(v any) []string {
	b := v.(*Ballot)
	if b.Answer == "" {
		return nil
	}
	n := p.option(b.Answer)
	if n == 0 {
		return []string{fmt.Sprintf("/answer: %q is no option, give a number from 1 to %d", b.Answer, len(p.Options))}
	}
	b.Answer = p.Options[n-1]
	return nil
}

// ballotCheck returns the check of ballots, or nil if they are open.
func (p Protocol) ballotCheck() func(any) []string {
	if len(p.Options) == 0 {
		return nil
	}
	return p.checkBallot
}
