package quote_test

import (
	"fmt"

	"github.com/elenchus-go/debate/evidence/quote"
)

func ExampleText_Check() {
	document := "In 2021, 12.5 % of all trips were made by bicycle. In the city's centre it was twice as much."
	text := quote.New(document)
	for _, q := range []string{
		`"12.5% of all trips were made by bicycle"`,
		"of all trips … in the city’s centre",
		"125 % of all trips were made by bicycle",
	} {
		verdict, places := text.Check(q)
		fmt.Println(verdict)
		for _, p := range places {
			fmt.Println(" ", document[p.Start:p.End])
		}
	}
	// Output:
	// verified
	//   12.5 % of all trips were made by bicycle
	// elided
	//   of all trips
	//   In the city's centre
	// absent
}
