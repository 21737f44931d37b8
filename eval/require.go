package eval

import (
	"fmt"
	"regexp"
	"strconv"
)

// requirement matches what Require accepts.
var requirement = regexp.MustCompile(`^\s*([\pL\pN._@-]+)\s*(>=|>)\s*([\pL\pN._@-]+)\s*$`)

// require says why a requirement is not shown to hold; see Evaluation.Require. It returns "" if it is, and an error if it
// cannot be read.
func (p *Report) require(text string) (unmet string, err error) {
	parts := requirement.FindStringSubmatch(text)
	if parts == nil {
		return "", fmt.Errorf("read requirement %q: want an arm, > or >=, and an arm or a number, such as \"vote > single\" or \"vote >= 0.8\"", text)
	}
	left := parts[1]
	sign := parts[2]
	right := parts[3]
	arm := p.named(left)
	if arm == nil {
		return "", fmt.Errorf("read requirement %q: no arm is called %q", text, left)
	}
	if least, err := strconv.ParseFloat(right, 64); err == nil && p.named(right) == nil {
		holds := arm.Accuracy.Above(least) || sign == ">=" && arm.Accuracy.Known() && arm.Accuracy.Low == least
		return unless(holds, text, fmt.Sprintf("the accuracy of %s is %s", left, arm.Accuracy)), nil
	}
	if p.named(right) == nil {
		return "", fmt.Errorf("read requirement %q: no arm is called %q", text, right)
	}
	for _, d := range p.Differences {
		switch {
		case d.Arm == left && d.Baseline == right:
			holds := d.Interval.Above(0) && d.Shown() || sign == ">=" && d.Interval.Known() && d.Interval.Low >= 0
			return unless(holds, text, fmt.Sprintf("the difference is %s, with a p-value of %.3f", d.Interval, d.Adjusted)), nil
		case d.Arm == right && d.Baseline == left:
			holds := d.Interval.Below(0) && d.Shown() || sign == ">=" && d.Interval.Known() && d.Interval.High <= 0
			return unless(holds, text, fmt.Sprintf("the difference of %s to %s is %s, with a p-value of %.3f", right, left, d.Interval, d.Adjusted)), nil
		}
	}
	return "", fmt.Errorf("read requirement %q: %s and %s are not compared, because the baseline is %s; list another one in Against", text, left, right, p.Baseline)
}

func (p *Report) named(name string) *ArmResult {
	for i := range p.Arms {
		if p.Arms[i].Name == name {
			return &p.Arms[i]
		}
	}
	return nil
}

func unless(holds bool, text, why string) string {
	if holds {
		return ""
	}
	return text + " is not shown: " + why
}
