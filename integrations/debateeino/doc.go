// Package debateeino joins debates and Eino. A debate is a tool or an agent of Eino, see [NewTool] and [NewAgent]. Chat
// models and agents of Eino speak in debates, and [FromTool] lets participants and judges call its tools:
//
//	providers := map[string]providers.Provider{
//		"deepseek":   debateeino.FromModel(model),
//		"researcher": debateeino.FromAgent(agent),
//	}
package debateeino
