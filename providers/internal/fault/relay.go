package fault

import (
	"net/http"
	"strconv"
	"strings"
)

// innerStatus matches the HTTP status that a relay quotes from the service behind it.
var innerStatus = pattern{text: `(?i)\b(?:status(?:[ _-]?code)?|code|error|http|upstream|returned)\b[^\d]{0,20}\b(401|402|403|429)\b ?(?:tokens?|bytes|characters|items|rows|m?s\b|seconds)?`}

// refusedAccess matches what services say about a key or an account that may not do something.
var refusedAccess = pattern{text: `(?i)(?:incorrect|invalid|wrong|missing|expired|revoked|no valid|unknown) (?:api[ _-]?key|access[ _-]?key|credentials?|access token)|` +
	`\b(?:api[ _-]?)?key (?:is |was |has been )?(?:not valid|invalid|incorrect|expired|revoked|disabled)|\bunauthori[sz]ed\b|\bforbidden\b|permission[ _]denied|` +
	`\baccess\b.{0,30}\b(?:is|was|has been) (?:denied|refused|forbidden|revoked)|access denied|` +
	`(?:n't|not|no longer) have (?:the )?(?:access|permissions?)|(?:not|un)[ -]?(?:authori[sz]ed|allowed|permitted) to (?:access|use|call|invoke)|` +
	`authentication (?:failed|error|is required)`}

// innerFault returns the fault of the service behind a relay, if a fault of the relay says that the service has refused access.
func (f *Fault) innerFault() *Fault {
	if f.Status < http.StatusInternalServerError {
		return nil
	}
	inner := *f
	if m := innerStatus.compiled().FindStringSubmatch(f.words); m != nil && strings.HasSuffix(strings.TrimRight(m[0], " "), m[1]) {
		inner.Status, _ = strconv.Atoi(m[1]) // it has digits
		return &inner
	}
	if refusedAccess.compiled().MatchString(f.words) {
		inner.Status = http.StatusUnauthorized
		return &inner
	}
	return nil
}
