package inspector

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/elenchus-go/debate/integrations/launch"
)

// template is the name of the purpose of a debate that is the template of a new one, if it is of no purpose of the offer.
const templatePurpose = "as-before"

// choicesCookie names the cookie with what this browser has chosen last. It has no texts.
const choicesCookie = "debate-choices"

// The limits of the cookie.
const (
	maxChoices = 3000 // bytes
	keepFor    = 365 * 24 * time.Hour
)

// choices is what a browser has chosen last.
type choices struct {
	Purpose string   `json:"p"`
	Model   string   `json:"m,omitempty"`
	Seats   []string `json:"s,omitempty"`
	Rounds  string   `json:"r,omitempty"`
	Cost    string   `json:"c,omitempty"`
}

// remember keeps what a draft chooses in the browser. The cookie is for the folder of the page, wherever the inspector is.
func (v *visit) remember(d draft) {
	last := choices{Purpose: d.Purpose, Model: d.Model, Seats: d.Of[d.Purpose].Seats, Rounds: d.Rounds, Cost: d.Cost}
	if d.Purpose == templatePurpose {
		return
	}
	b, err := json.Marshal(last)
	if err != nil || len(b) > maxChoices {
		return
	}
	http.SetCookie(v.w, &http.Cookie{ //nolint:gosec // it is no secret, and Secure would lose it at loopback addresses
		Name: choicesCookie, Value: base64.RawURLEncoding.EncodeToString(b), MaxAge: int(keepFor / time.Second),
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: v.r.TLS != nil,
	})
}

// remembered returns a draft with what this browser has chosen last, as far as the offer still has it, and whether there is anything.
func (v *visit) remembered(o *launch.Offer) (draft, bool) {
	d := draft{Of: map[string]ofPurpose{}}
	cookie, err := v.r.Cookie(choicesCookie)
	if err != nil {
		return d, false
	}
	b, err := base64.RawURLEncoding.DecodeString(cookie.Value)
	if err != nil {
		return d, false
	}
	var last choices
	if json.Unmarshal(b, &last) != nil {
		return d, false
	}
	p, ok := o.Purpose(last.Purpose)
	if !ok {
		return d, false
	}
	own := ofPurpose{}
	for i := range len(p.Config.Participants) + len(p.Config.Judges) {
		value := ""
		if i < len(last.Seats) && (last.Seats[i] == personValue || isOffered(o, last.Seats[i])) {
			value = last.Seats[i]
		}
		own.Seats = append(own.Seats, value)
		own.Positions = append(own.Positions, "")
	}
	d.Purpose = last.Purpose
	d.Rounds = asNumber(last.Rounds)
	d.Cost = asNumber(last.Cost)
	if isOffered(o, last.Model) {
		d.Model = last.Model
	}
	d.Of[p.Name] = own
	return d, true
}

func isOffered(o *launch.Offer, id string) bool {
	return slices.ContainsFunc(o.Models, func(m launch.Model) bool { return m.ID() == id })
}

// asNumber returns a text if it is a number, because a browser may send anything.
func asNumber(text string) string {
	if _, err := strconv.ParseFloat(text, 64); err != nil {
		return ""
	}
	return text
}

// defaultCost returns the limit of costs that the form begins with.
func defaultCost(o *launch.Offer) string {
	amount := cmp.Or(o.Cost, o.Limits.Cost)
	if amount == 0 {
		return ""
	}
	return strconv.FormatFloat(amount, 'f', 2, 64)
}
