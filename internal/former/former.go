// Package former knows the names that protocols of the library had in earlier versions. Stored debates, configurations and
// links still have them.
package former

import (
	"iter"
	"maps"
	"strings"
)

// protocols maps each former name to the present one. The rules and their versions are the same.
var protocols = map[string]string{
	"critique-refine":  "refine",
	"pro-con":          "procon",
	"proposer-skeptic": "skeptic",
}

// Protocol returns the present name of a protocol, with the version that the name has, if it has one. A name that is not
// a former name is returned as it is.
func Protocol(name string) string {
	base, version, versioned := strings.Cut(name, "/")
	now, ok := protocols[base]
	switch {
	case !ok:
		return name
	case versioned:
		return now + "/" + version
	}
	return now
}

// Protocols yields each former name with the present one, both without a version.
func Protocols() iter.Seq2[string, string] { return maps.All(protocols) }
