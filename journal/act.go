package journal

// Act is what led to a change of a debate. The first entry of the change has it, and the entries up to the next one with an act follow
// from it.
type Act string

// The acts of people. Who has acted is in the entry, as far as it is known: TurnDone.Turn.By, or Decided.By.
const (
	ActCreate   Act = "create"
	ActEdit     Act = "edit"   // the configuration was replaced
	ActFork     Act = "fork"   // the entries before it are those of another debate
	ActStart    Act = "start"  // somebody, or an engine on its own, has started the debate
	ActPause    Act = "pause"  // or hold a debate that waits for people
	ActResume   Act = "resume" // or release it
	ActStop     Act = "stop"
	ActCancel   Act = "cancel"
	ActRetry    Act = "retry"
	ActReset    Act = "reset"
	ActDecide   Act = "decide"  // a question was answered
	ActAnswer   Act = "answer"  // a person has replied to a step
	ActDecline  Act = "decline" // a person gives no reply
	ActRemark   Act = "remark"
	ActAnnotate Act = "annotate"
)

// The acts of models and engines.
const (
	ActTurn    Act = "turn"    // a model has replied
	ActTools   Act = "tools"   // a model calls tools
	ActFailure Act = "failure" // a step has failed after all attempts
	ActClock   Act = "clock"   // the time for rounds was used up during a call
	ActBroken  Act = "broken"  // a protocol, a template or a hook fails, so that no step can be planned
	ActWait    Act = "wait"    // a step waits for a service
	ActCheck   Act = "check"   // the configuration was checked
	ActDrive   Act = "drive"   // the next round may begin, or another engine has what the one before it lacked
	ActSign    Act = "sign"    // the debate has ended, and was signed
)
