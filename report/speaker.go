package report

import (
	"github.com/elenchus-go/debate/internal/readmodel"
)

// speaker is how a page shows who speaks.
type speaker struct {
	readmodel.Speaker
	Class string // color and place, as CSS classes
}

// cast holds the speakers of a report by name.
type cast map[string]*speaker

// otherClass holds the class of judges and of all others who are not participants.
const otherClass = "other"

// cast returns the participants, judges and all others who have turns.
func (r *Report) cast() cast {
	c := cast{}
	s := r.shownConfig()
	for _, one := range readmodel.CastOf(&r.Result, s.Participants, s.Judges) {
		class := otherClass
		if one.Color >= 0 {
			class = colorClass(one.Color) + " " + one.Place
		}
		c[one.Name] = &speaker{one, class}
	}
	return c
}

// of returns the speaker of that name, or one without a color if there is none.
func (c cast) of(name string) *speaker {
	s := c[name]
	if s == nil {
		s = &speaker{readmodel.Speaker{Name: name, Initials: readmodel.Initials(name, nil)}, otherClass}
	}
	return s
}
