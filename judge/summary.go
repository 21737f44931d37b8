package judge

import (
	"math"
	"strconv"
	"strings"
)

// summary builds a text of labeled lines. Lines without content are omitted.
type summary struct{ strings.Builder }

func (s *summary) line(label string, parts ...string) {
	if len(parts) == 0 || parts[0] == "" {
		return
	}
	if s.Len() > 0 {
		s.WriteByte('\n')
	}
	s.WriteString(label + strings.Join(parts, "; "))
}

// formatNumber formats a number with at most one decimal.
func formatNumber(f float64) string { return strconv.FormatFloat(math.Round(f*10)/10, 'f', -1, 64) }

func roundToHundredths(f float64) float64 { return math.Round(100*f) / 100 }
