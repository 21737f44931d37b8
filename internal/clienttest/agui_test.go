package clienttest

import (
	"bufio"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// startExample builds and runs an example that serves, and returns its address.
func startExample(t *testing.T, name string, args ...string) string {
	t.Helper()
	needClients(t)
	program := filepath.Join(t.TempDir(), name)
	runProgram(t, ".", nil, "go", "build", "-o", program, "github.com/elenchus-go/debate/examples/"+name)
	c := exec.Command(program, append([]string{"-listen", "127.0.0.1:0"}, args...)...)
	stderr, err := c.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	t.Cleanup(func() { _, _ = c.Process.Kill(), c.Wait() })
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		if address, ok := strings.CutPrefix(lines.Text(), "listening on "); ok {
			go func() { // whatever else it says
				for lines.Scan() {
				}
			}()
			return address
		}
	}
	require.Fail(t, "the example does not listen")
	return ""
}

func TestAGUI(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "")
	t.Setenv("ANTHROPIC_API_KEY", "")
	t.Setenv("OLLAMA_HOST", "")
	runScript(t, "agui.mjs", "DEBATE_URL="+startExample(t, "agui", "-stop-on-cancel"))
}
