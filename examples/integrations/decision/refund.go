package main

import "github.com/elenchus-go/debate/judge/reply"

// Refund is the judge's decision. The field with the tag decision:"choice" is the one that decides.
type Refund struct {
	Facts      []string `json:"facts" jsonschema:"minItems=1,maxItems=6,maxLength=300" jsonschema_description:"the facts that decide the case"`
	Open       []string `json:"open,omitempty" jsonschema:"maxItems=4,maxLength=300" jsonschema_description:"what is not known and would change the decision"`
	Letter     string   `json:"letter" jsonschema:"minLength=1,maxLength=1500" jsonschema_description:"a polite answer to the customer, with the reasons"`
	Percent    int      `json:"percent" decision:"choice" jsonschema:"minimum=0,maximum=100" jsonschema_description:"how much of the price is refunded, in percent"`
	Confidence float64  `json:"confidence" jsonschema:"minimum=0,maximum=100" jsonschema_description:"the probability that the decision is right, in percent"`
}

var contract = reply.New[Refund]("refund/1")
