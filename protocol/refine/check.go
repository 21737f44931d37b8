package refine

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/internal/settings"
	"github.com/elenchus-go/debate/protocol"
)

// Check requires two to eight participants with known roles, one judge, a system prompt for each new role, and valid
// policies.
func (p Protocol) Check(r *protocol.Record) []protocol.Problem {
	problems := protocol.Problems(p.flow().Check(r))
	known := p.roleNames()
	for i, s := range r.Participants {
		if s.Role != "" && !slices.Contains(known, s.Role) {
			problems.Add(fmt.Sprintf("participants[%d].role", i), "%q of %s is unknown, the roles are %q", s.Role, s.Name, known)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Roles)) {
		if name == "" || strings.TrimSpace(name) != name {
			problems.Add("protocol.roles", "%q: use a name that is not empty, without leading or trailing spaces", name)
		} else if !slices.Contains(builtInRoles, name) {
			settings.NotBlank(&problems, "protocol.roles."+name+".system", p.Roles[name].System, "describe the role and its focus")
		}
	}
	p.SummaryPolicy.check("protocol.summary_policy", defaultThreshold, &problems)
	for _, name := range slices.Sorted(maps.Keys(p.AgentSummaryPolicies)) {
		p.AgentSummaryPolicies[name].check("protocol.agent_summary_policies."+name, defaultThreshold, &problems)
		if r.Cursor.Round == 0 { // the policy of a participant who drops out later has no effect
			problems = append(problems, r.UnknownNames("protocol.agent_summary_policies", name)...)
		}
	}
	p.FinalSummaryPolicy.check("protocol.final_summary_policy", defaultFinalThreshold, &problems)
	return problems
}

// roleNames returns the names of all roles, sorted.
func (p Protocol) roleNames() []string {
	names := slices.Concat(builtInRoles, slices.Collect(maps.Keys(p.Roles)))
	slices.Sort(names)
	return slices.Compact(names)
}

// check adds the problems of a policy.
func (l SummaryPolicy) check(field string, above int, problems *protocol.Problems) {
	full := l.withDefaults(above)
	switch {
	case full.Threshold < 0:
		problems.Add(field+".threshold", "%d, use 1 or more, or leave it out for %d", full.Threshold, above)
	case full.TargetLength < 1 || full.TargetLength > full.Threshold:
		problems.Add(field+".target_length", "%d, use 1 to %d, the threshold", full.TargetLength, full.Threshold)
	}
}
