package inspector

import (
	"encoding/json"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/elenchus-go/debate/internal/markup"
)

// formatTime returns a time in UTC for readers and machines.
func formatTime(t time.Time) template.HTML {
	if t.IsZero() {
		return ""
	}
	t = t.UTC()
	return template.HTML(fmt.Sprintf(`<time datetime="%s">%s</time>`, t.Format(time.RFC3339), t.Format("2006-01-02 15:04:05"))) //nolint:gosec // no text of others
}

// formatDuration returns a duration with at most two units, such as "1.5s", "12s" or "3m20s".
func formatDuration(d time.Duration) string {
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < 10*time.Second:
		return d.Round(100 * time.Millisecond).String()
	case d < time.Hour:
		d = d.Round(time.Second)
	default:
		d = d.Round(time.Minute)
	}
	text := d.String()
	if short, ok := strings.CutSuffix(text, "m0s"); ok {
		text = short + "m"
	}
	if short, ok := strings.CutSuffix(text, "h0m"); ok {
		text = short + "h"
	}
	return text
}

// formatNumber returns a number with a comma between groups of three digits.
func formatNumber(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// formatCost returns an amount with at least two decimals, and four if it is small.
func formatCost(amount float64) string {
	if amount != 0 && math.Abs(amount) < 1 {
		return strconv.FormatFloat(amount, 'f', 4, 64)
	}
	return strconv.FormatFloat(amount, 'f', 2, 64)
}

// words returns a name of the library, such as "running.awaiting_responses" or "round_limit", in words.
func words(name any) string {
	_, last, nested := strings.Cut(fmt.Sprint(name), ".")
	if !nested {
		last = fmt.Sprint(name)
	}
	return strings.ReplaceAll(last, "_", " ")
}

// initials returns one or two letters that stand for a name.
func initials(name string) string {
	var letters []rune
	for _, word := range strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		letters = append(letters, unicode.ToUpper([]rune(word)[0]))
	}
	if len(letters) > 2 {
		letters = []rune{letters[0], letters[len(letters)-1]}
	}
	return string(letters)
}

// short returns a topic for a list.
func short(topic string) string { return cut(topic, 200) }

// formatPercent returns a percentage.
func formatPercent(p float64) string {
	return strconv.FormatFloat(math.Round(10*p)/10, 'f', -1, 64) + " %"
}

// maxBackground limits the background of a debate on a page, in bytes.
const maxBackground = 6 << 10

// cutBackground returns the background that a page shows.
func cutBackground(text string) string { return cut(text, maxBackground) }

// isCut reports whether a page shows only the beginning of a background.
func isCut(background string) bool { return len(background) > maxBackground }

// cut returns a text, or its beginning if it has more bytes, without a broken character.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && text[most]&0xC0 == 0x80 {
		most--
	}
	return text[:most] + " …"
}

// markdown returns a text of a model or of a person as HTML. Its headings are below those of the page's parts.
func markdown(text string) template.HTML { return markup.HTML(text, 4) }

// encodeJSON returns a value as JSON for an attribute.
func encodeJSON(v any) (string, error) {
	b, err := json.Marshal(v)
	return string(b), err
}

// ownLabels begins the names of labels that the library and the command set for themselves.
var ownLabels = []string{"debate.", "idempotency_digest", "openai_request"}

// shownLabels returns the labels that people set.
func shownLabels(labels map[string]string) map[string]string {
	shown := map[string]string{}
	for name, value := range labels {
		if !slices.ContainsFunc(ownLabels, func(own string) bool { return strings.HasPrefix(name, own) }) {
			shown[name] = value
		}
	}
	return shown
}
