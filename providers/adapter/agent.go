package adapter

// heldBytes limits how much of an agent's message is held back until it is clear whether another message follows.
const heldBytes = 200

// AgentText passes on what an agent says. An agent that calls tools often says what it is about to do first; its last
// message is the reply. Because only the end of the agent's run shows which message is the last one, AgentText holds
// back the first 200 bytes of each message. It drops them if another message follows.
type AgentText struct {
	// Add receives the pieces of the reply.
	Add Add

	held   string
	passed bool // a part of the current message has been passed on
	spoken bool // a part of an earlier message has been passed on
}

// Next begins the next message of the agent.
func (a *AgentText) Next() {
	a.held = ""
	a.spoken = a.spoken || a.passed
	a.passed = false
}

// Say adds text to the message.
func (a *AgentText) Say(text string) error {
	a.held += text
	if !a.passed && len(a.held) < heldBytes {
		return a.Add(Chunk{})
	}
	return a.pass()
}

// End passes on what is held back, because the agent's run has ended.
func (a *AgentText) End() error { return a.pass() }

func (a *AgentText) pass() error {
	text := a.held
	if text == "" {
		return nil
	}
	if a.spoken && !a.passed {
		text = "\n\n" + text // the earlier message cannot be taken back
	}
	a.held, a.passed = "", true
	return a.Add(Chunk{Text: text})
}
