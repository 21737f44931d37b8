// Package debateadk joins debates and Google's Agent Development Kit (ADK). A debate is a tool or an agent of ADK, see
// [NewTools] and [NewAgent]. Models and agents of ADK speak in debates, and [FromTool] lets participants and judges call its tools:
//
//	providers := map[string]providers.Provider{
//		"gemini":     debateadk.FromModel(model),
//		"researcher": debateadk.FromAgent(agent),
//	}
package debateadk
