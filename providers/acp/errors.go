package acp

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/elenchus-go/debate/providers"
)

// Reason says what is wrong with an agent.
type Reason string

// The reasons. Other failures, such as a rate limit, have only the kind of their *providers.Error.
const (
	NotInstalled Reason = "not_installed" // there is no such program
	NotSignedIn  Reason = "not_signed_in" // the agent has no account, or its account is refused
	OtherVersion Reason = "other_version" // the agent speaks another version of the protocol
	Exited       Reason = "exited"        // the process has ended
	NotProtocol  Reason = "not_protocol"  // the process writes something else than JSON
	Silent       Reason = "silent"        // the agent sends nothing
	Insisting    Reason = "insisting"     // the agent asks for permission again and again
	Flooding     Reason = "flooding"      // the agent sends more than any reply explains
)

// kinds maps reasons to kinds of failures.
var kinds = map[Reason]providers.ErrorKind{
	NotInstalled: providers.InvalidRequest,
	NotSignedIn:  providers.Authentication,
	OtherVersion: providers.InvalidRequest,
	Exited:       providers.Network,
	NotProtocol:  providers.WrongAddress,
	Silent:       providers.Timeout,
	Insisting:    providers.InvalidResponse,
	Flooding:     providers.InvalidResponse,
}

// Error says what is wrong with an agent. It is the cause of a *providers.Error, so find it with errors.As.
type Error struct {
	Reason  Reason
	Command string // that starts the agent
	Help    string // what to run, such as "npm install -g opencode-ai"; empty if nothing helps
	Err     error
}

// Error returns the message, and what to run.
func (e *Error) Error() string {
	message := fmt.Sprintf("run agent %s: %v", e.Command, e.Err)
	if e.Help != "" {
		message += ": run " + e.Help
	}
	return message
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// failure returns the error of a call of an agent.
func (c *Config) failure(reason Reason, err error) *providers.Error {
	e := &Error{Reason: reason, Command: c.program(), Err: err}
	switch reason {
	case NotInstalled:
		e.Help = c.Install
	case NotSignedIn:
		e.Help = c.SignIn
	case OtherVersion, Exited, NotProtocol, Silent, Insisting, Flooding:
	}
	final := reason == NotInstalled || reason == OtherVersion
	return &providers.Error{Kind: kinds[reason], Final: final, Err: e}
}

// authRequired is the code of the error of an agent that has no account.
const authRequired = -32000

// errorKinds maps the kinds of errors that Claude's adapter reports beside the message.
var errorKinds = map[string]providers.ErrorKind{
	"rate_limit":            providers.RateLimit,
	"overloaded":            providers.ServerError,
	"server_error":          providers.ServerError,
	"billing_error":         providers.Billing,
	"invalid_request":       providers.InvalidRequest,
	"model_not_found":       providers.InvalidRequest,
	"authentication_failed": providers.Authentication,
	"oauth_org_not_allowed": providers.Billing,
}

// agentError is an error that an agent has answered. Package adapter finds its kind by its code or its words.
type agentError struct {
	code int
	kind providers.ErrorKind // if the agent reports one
	text string
}

func (e *agentError) Error() string { return e.text }

// HTTPCode returns the code of an agent that uses HTTP statuses as codes, and otherwise 0.
func (e *agentError) HTTPCode() int {
	if e.code >= 400 && e.code < 600 {
		return e.code
	}
	return 0
}

// answered returns the error of an agent that has answered a request with one.
func (c *Config) answered(err error) error {
	answer, ok := errors.AsType[*sdk.RequestError](err)
	if !ok {
		return err
	}
	e := &agentError{code: answer.Code, text: answer.Message}
	data, _ := json.Marshal(answer.Data)
	var known struct {
		Kind    string `json:"errorKind"`
		Details string `json:"details"`
		Message string `json:"message"`
	}
	_ = json.Unmarshal(data, &known) // other data is unknown
	for _, more := range []string{known.Details, known.Message} {
		if more != "" && !strings.Contains(e.text, more) {
			e.text += ": " + more
		}
	}
	e.kind = errorKinds[known.Kind]
	if e.code == authRequired || e.code == 401 || e.kind == providers.Authentication {
		return c.failure(NotSignedIn, e)
	}
	return e
}

// kindOf returns the kind of an error that an agent has answered, if the agent reports it.
func kindOf(err error) providers.ErrorKind {
	if e, ok := errors.AsType[*agentError](err); ok {
		return e.kind
	}
	return ""
}
