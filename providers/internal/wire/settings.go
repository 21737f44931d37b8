package wire

import "github.com/elenchus-go/debate/providers"

// Names are a service's names of the settings of a request. A setting without a name is not sent.
type Names struct {
	Temperature, TopP, Seed, Stop string

	// Penalty is for repetitions, and Raised its value for a model that has repeated itself.
	Penalty string
	Raised  float64
}

// Write writes the settings that a request has into an object.
func (n Names) Write(to Object, r providers.Request) {
	if n.Temperature != "" && r.Temperature != nil {
		to[n.Temperature] = *r.Temperature
	}
	if n.TopP != "" && r.TopP > 0 {
		to[n.TopP] = r.TopP
	}
	if n.Seed != "" && r.Seed != nil {
		to[n.Seed] = *r.Seed
	}
	if n.Penalty != "" && r.AvoidRepetition {
		to[n.Penalty] = n.Raised
	}
	if n.Stop != "" && len(r.Stop) > 0 {
		to[n.Stop] = r.Stop
	}
}
