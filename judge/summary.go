package judge

import (
	"math"
	"strconv"
	"strings"
)

// summary is a text of lines, each a label with what it is about. Lines about nothing are left out.
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

func formatNumber(f float64) string { return strconv.FormatFloat(math.Round(f*10)/10, 'f', -1, 64) }

func roundToHundredths(f float64) float64 { return math.Round(100*f) / 100 }
