package agreement_test

import (
	"fmt"

	"github.com/elenchus-go/debate/judge/agreement"
)

func ExampleCalibrate() {
	var items []agreement.Item // pairs of answers, with the decisions of two judges in both orders
	for i := range 40 {
		careful, hasty := agreement.A, agreement.A
		if i%4 == 0 {
			hasty = agreement.B
		}
		items = append(items, agreement.Item{ID: fmt.Sprint(i), Gold: agreement.A, Decisions: map[string][]agreement.Decision{
			"careful": {careful, careful}, "hasty": {hasty, agreement.A},
		}})
	}
	c, err := agreement.Calibrate(items, .8, "careful", "hasty")
	fmt.Println(c.Margin, "of", c.Decisions, "decisions,", err)

	_, err = agreement.Calibrate(items[:10], .8, "careful", "hasty")
	fmt.Println(err)
	// Output:
	// 1 of 4 decisions, <nil>
	// calibrate jury: the jury must not decide alone: of 10 items it decides 7 unanimously, 0 of them wrongly, so up to 35 % of such decisions may be wrong, and the target allows 20 %; it takes at least 14 such decisions, all right, to show the target
}
