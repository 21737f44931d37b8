package offline

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"

	"github.com/elenchus-go/debate/providers/scripted"
)

// limited returns values that are within the limits that the prompt states for the fields of the reply. The schemas of requests
// lack most limits.
func (p prompt) limited() scripted.Values {
	values := scripted.Values{}
	for where, limit := range outlineLimits(p.task) {
		data, err := json.Marshal(limit)
		if err != nil {
			continue
		}
		if value, err := (scripted.Values{"": cannotJudge}).Fill(data); err == nil {
			values[where] = value
		}
	}
	return values
}

// outlineField matches the line of a field in the outline of a reply, and fieldBounds the bounds in it.
var (
	outlineField = regexp.MustCompile(`^( *)- (\S+) \((.*?)\)(?:: .*)?$`)
	fieldBounds  = regexp.MustCompile(`^(number|whole number|text)(?: from (\S+) to ([^\s,]+)| of at least ([^\s,]+)| of at most ([^\s,]+))`)
)

// outlineLimits returns the limits of required fields in the outline of a reply, as schemas by path.
func outlineLimits(task string) map[string]map[string]any {
	limits := map[string]map[string]any{}
	var parents []string // the paths of the fields that contain the line, by indentation
	_, outline, _ := strings.Cut(task, "Its fields:\n")
	for line := range strings.Lines(outline) {
		m := outlineField.FindStringSubmatch(strings.TrimRight(line, "\n"))
		depth := 0
		if m != nil {
			depth = len(m[1]) / 2
		}
		if m == nil || depth > len(parents) {
			continue
		}
		parents = parents[:depth]
		if strings.HasSuffix(m[3], ", optional") || strings.HasSuffix(m[3], ", or null") {
			continue // its fields are deeper than parents
		}
		where := path(m[2])
		if depth > 0 {
			where = parents[depth-1] + where
		}
		kinds := strings.Split(m[3], ", each ")
		where += strings.Repeat("/*", len(kinds)-1)
		parents = append(parents, where)
		if b := fieldBounds.FindStringSubmatch(kinds[len(kinds)-1]); b != nil {
			limits[where] = bounds(b)
		}
	}
	return limits
}

// bounds returns the schema for a match of fieldBounds.
func bounds(m []string) map[string]any {
	low, high := "minimum", "maximum"
	s := map[string]any{"type": "number"}
	switch m[1] {
	case "text":
		s["type"] = "string"
		low = "minLength"
		high = "maxLength"
	case "whole number":
		s["type"] = "integer"
	}
	for keyword, text := range map[string]string{low: m[2] + m[4], high: m[3] + m[5]} {
		if n, err := strconv.ParseFloat(text, 64); err == nil {
			s[keyword] = n
		}
	}
	return s
}
