package clients

import "testing"

func TestAGUI(t *testing.T) {
	runScript(t, "agui.mjs", "DEBATE_URL="+startExample(t, "agui", "-stop-on-cancel"))
}
