// Package debateeino joins debates and Eino. Chat models and agents of Eino speak in debates:
//
//	providers := map[string]providers.Provider{
//		"deepseek":   debateeino.FromModel(model),
//		"researcher": debateeino.FromAgent(agent),
//	}
package debateeino
