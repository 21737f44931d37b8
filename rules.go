package debate

import (
	"reflect"
	"runtime"
)

// rulesNumber is the Number of the rules of this version. Raise it whenever the same journal leads to other prompts, windows,
// pseudonyms or transitions than before. TestTheRulesHaveANumber fails if it was forgotten.
const rulesNumber = 1

// Rules name what shapes a debate besides its configuration, its models and the templates of its prompts. An engine with
// equal rules makes the same requests and transitions from the same journal.
type Rules struct {
	// Number changes whenever a version of the library makes other prompts, windows, pseudonyms or transitions.
	Number int `json:"number"`
	// Counter names the type of Options.TokenCounter. It is empty for window.Estimate.
	Counter string `json:"counter,omitempty"`
	// Extractor names the function Options.ExtractAnswer. It is empty if there is none.
	Extractor string `json:"extractor,omitempty"`
}

// typeName returns the name of the type of a value, with its package. It is empty for nil.
func typeName(v any) string {
	if v == nil {
		return ""
	}
	t, star := reflect.TypeOf(v), ""
	for ; t.Kind() == reflect.Pointer; t = t.Elem() {
		star += "*"
	}
	if t.Name() == "" || t.PkgPath() == "" {
		return star + t.String()
	}
	return star + t.PkgPath() + "." + t.Name()
}

// functionName returns the name of a function, with its package. It is empty for nil.
func functionName(f any) string {
	v := reflect.ValueOf(f)
	if v.IsNil() {
		return ""
	}
	if known := runtime.FuncForPC(v.Pointer()); known != nil {
		return known.Name()
	}
	return v.Type().String()
}
