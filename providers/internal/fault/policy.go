package fault

import "slices"

// policyCode matches codes of content that a policy forbids, such as cyber_policy and content_policy_violation.
var policyCode = pattern{text: `^[a-z_]+_policy(?:_violation)?$`}

// violatedPolicy matches what services say about a policy that a request violates.
var violatedPolicy = pattern{text: `(?i)violat\w+ .{0,40}?polic(?:y|ies)`}

// otherPolicies matches the names of policies that are not about content.
var otherPolicies = pattern{text: `(?i)(?:\b|_)(?:rate|retry|quota|limit|billing|cache|access|network|iam|org|data|key|token|cors|origin)`}

// namesPolicy reports whether the error names a policy about content that a request violates.
func (f *Fault) namesPolicy() bool {
	if text := violatedPolicy.compiled().FindString(f.words); text != "" && !otherPolicies.compiled().MatchString(text) {
		return true
	}
	return slices.ContainsFunc(f.codes, func(code string) bool {
		return policyCode.compiled().MatchString(code) && !otherPolicies.compiled().MatchString(code)
	})
}
