package main

import (
	"github.com/spf13/cobra"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/store"
)

// completedIDs limits the debates that a shell offers.
const completedIDs = 50

// completeFlags tells the shell which values the flags of a command have.
func (p *program) completeFlags(c *cobra.Command) {
	for name, complete := range map[string]cobra.CompletionFunc{
		"protocol":    fixed(sortedKeys(presets)...),
		"for":         completePurposes,
		"state":       fixed(append([]string{"running"}, namesOf(states)...)...),
		"outcome":     fixed(namesOf(outcomes)...),
		"failure":     fixed(namesOf(failures)...),
		"model":       completeModels,
		"judge-model": completeModels,
		"report":      files("md", "html"),
		"background":  files("md", "txt"),
		"config":      files("json", "jsonc"),
		"prices":      files("json"),
		"prompts": func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
	} {
		if c.Flags().Lookup(name) != nil {
			_ = c.RegisterFlagCompletionFunc(name, complete) // the flag exists and has no other function
		}
	}
}

// completePurposes offers the purposes with what they mean.
func completePurposes(*cobra.Command, []string, string) (list []cobra.Completion, _ cobra.ShellCompDirective) {
	for _, name := range sortedKeys(purposes) {
		list = append(list, cobra.CompletionWithDesc(name, purposes[name]))
	}
	return list, cobra.ShellCompDirectiveNoFileComp
}

// fixed completes a flag that has one of these values.
func fixed(values ...string) cobra.CompletionFunc {
	return cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)
}

// files completes a flag with the names of files that have one of these extensions.
func files(extensions ...string) cobra.CompletionFunc {
	return cobra.FixedCompletions(extensions, cobra.ShellCompDirectiveFilterFileExt)
}

// completeModels offers the models that have a built-in price, and the demo model.
func completeModels(*cobra.Command, []string, string) (list []cobra.Completion, _ cobra.ShellCompDirective) {
	known, err := listPrices()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	for _, l := range known {
		list = append(list, l.Service+"/"+l.Model)
	}
	return append(list, offlineKind), cobra.ShellCompDirectiveNoFileComp
}

// completeIDs offers the ids of the newest stored debates, with their topics.
func (p *program) completeIDs(_ *cobra.Command, given []string, _ string) (list []cobra.Completion, directive cobra.ShellCompDirective) {
	directive = cobra.ShellCompDirectiveNoFileComp
	if len(given) > 0 {
		return nil, directive
	}
	err := p.withConfigFile(func(s configFile) error {
		p.chooseStore(s)
		if !fileExists(p.storePath) {
			return nil
		}
		var o debate.Options
		done, err := p.openStore(&o)
		if err != nil {
			return err
		}
		defer done()
		for status, err := range o.Store.List(p.ctx, store.Query{Limit: completedIDs}) {
			if err == nil && harmless.MatchString(status.ID) {
				list = append(list, cobra.CompletionWithDesc(status.ID, string(status.State)+": "+truncateTopic(status.Topic)))
			}
		}
		return nil
	})
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return list, directive
}
