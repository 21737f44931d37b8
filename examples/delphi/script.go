package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
)

// script extends the offline demo model with estimates. They come closer to one another from round to round.
type script struct{ providers.Provider }

// Generate implements providers.Provider.
func (s script) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	if r.SchemaName != contract.Name() {
		return s.Provider.Generate(ctx, r)
	}
	distance := 0.0
	switch system := r.Messages[0].Text; {
	case strings.Contains(system, "You are Ada"):
		distance = -160
	case strings.Contains(system, "You are Bo"):
		distance = 240
	}
	round := 1
	_, _ = fmt.Sscanf(r.Messages[len(r.Messages)-1].Text, "Round %d", &round) // it stays 1 in another text
	distance /= math.Pow(4, float64(round-1))
	b, _ := json.Marshal(estimate{400 + distance, "There are about as many as people."}) // a plain struct always encodes
	return scripted.Text(string(b)).Generate(ctx, r)
}
