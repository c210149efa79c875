package client

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"sealab/fuzz/review/jsondoc"
)

// A Flow is the way to a token: the call, and the answers of the rounds before the one that gives
// the token. It is a scheme without a key: Mint walks the flow, and Present sends a token in the
// next round.
type Flow struct {
	Method    string          `json:"method"`
	Target    string          `json:"target"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Other     json.RawMessage `json:"other,omitempty"` // other arguments of the same call
	// Rounds holds the answers of the rounds before the token. Last holds the answers that are sent
	// with the token; it is nil if the flow stops at the token.
	Rounds []json.RawMessage `json:"rounds,omitempty"`
	Last   json.RawMessage   `json:"last,omitempty"`
	// Carrier is the member of _meta that holds the state; it is "" for requestState.
	Carrier string `json:"carrier,omitempty"`

	Offer Offer `json:"-"` // the target of the call; empty if the server does not list it
	Named bool  `json:"-"` // the user named it
}

// String returns the method and the target of a flow.
func (f Flow) String() string { return strings.TrimSpace(f.Method + " " + f.Target) }

// Call returns the first call of a flow.
func (f Flow) Call(as User) Call {
	return Call{Method: f.Method, Target: f.Target, Arguments: f.Arguments, Carrier: f.Carrier, As: as}
}

// With returns the flow with other arguments.
func (f Flow) With(arguments json.RawMessage) Flow {
	f.Arguments = arguments
	return f
}

// Sharing returns the flow with the arguments of another one for those that it has as well.
func (f Flow) Sharing(other Flow) Flow {
	properties := jsondoc.ParseSchema(f.Offer.InputSchema()).Properties
	for name, v := range jsondoc.InOrder(jsondoc.Members(other.Arguments)) {
		if properties[name] != nil {
			f = f.WithArgument(name, v)
		}
	}
	return f
}

// WithLast returns the flow with other last answers, or without any if answers is nil.
func (f Flow) WithLast(answers json.RawMessage) Flow {
	f.Last = answers
	return f
}

// WithArgument returns the flow with another value of one argument.
func (f Flow) WithArgument(name string, v json.RawMessage) Flow {
	return f.With(jsondoc.WithMember(f.Arguments, name, v))
}

// ArgumentsWith returns the arguments with a text in the first one that takes any text of that length,
// or nil.
func (f Flow) ArgumentsWith(text string) json.RawMessage {
	return jsondoc.WithText(f.Arguments, f.Offer.InputSchema(), text)
}

// AnswersAlone returns the first call of a flow with the last answers, and without a state.
func (f Flow) AnswersAlone(as User) Call {
	call := f.Call(as)
	call.Answers = f.Last
	return call
}

// Mint walks the flow and returns its token.
func (c *Client) Mint(ctx context.Context, f Flow, as User) (string, Answer, error) {
	a, rounds := c.Walk(ctx, f.WithLast(nil), as)
	switch {
	case a.Kind != Asked:
		return "", a, fmt.Errorf("round %d of %s: %v, want a question", rounds+1, f, a)
	case !a.HasState():
		return "", a, fmt.Errorf("round %d of %s: a question without a state", rounds+1, f)
	}
	c.Minted[*a.State], c.Newest = a.Questions, a.Questions
	return *a.State, a, nil
}

// Walk makes the call of a flow and answers its questions. It returns the last answer and the number
// of questions that it answered.
func (c *Client) Walk(ctx context.Context, f Flow, as User) (Answer, int) {
	call := f.Call(as)
	return c.Continue(ctx, call, c.Call(ctx, call), f.Answers())
}

// Continue answers question a of a call, and those that follow, as Walk does.
func (c *Client) Continue(ctx context.Context, call Call, a Answer, rounds []json.RawMessage) (Answer, int) {
	for i, answers := range rounds {
		if a.Kind != Asked {
			return a, i
		}
		a = c.Call(ctx, c.Reply(call, a, answers))
	}
	return a, len(rounds)
}

// Reply returns the call with the state of question a and with answers under its keys.
func (c *Client) Reply(call Call, a Answer, answers json.RawMessage) Call {
	call.Answers, call.State = c.Rekeyed(answers, a.Questions), nil
	if a.State != nil {
		call.State = jsondoc.Quote(*a.State)
	}
	return call
}

// Rekeyed returns answers under the keys of questions, for servers that draw new keys for each
// question. It changes only keys that occurred in exactly one question.
func (c *Client) Rekeyed(answers json.RawMessage, questions map[string]Question) json.RawMessage {
	own := jsondoc.Members(answers)
	if len(own) == 0 || len(own) != len(questions) {
		return answers
	}
	all, keys := map[string]json.RawMessage{}, jsondoc.SortedKeys(questions)
	for i, key := range jsondoc.SortedKeys(own) {
		if _, ok := questions[key]; ok || c.keys[key] != 1 {
			return answers
		}
		all[keys[i]] = own[key]
	}
	return jsondoc.Object(all)
}

// Present presents a token in the last round of a flow.
func (c *Client) Present(ctx context.Context, f Flow, state json.RawMessage, as User) Answer {
	return c.Call(ctx, c.Presenting(f, state, as))
}

// Presenting returns the call that presents a state in the last round of a flow.
func (c *Client) Presenting(f Flow, state json.RawMessage, as User) Call {
	call := f.Call(as)
	token, _ := jsondoc.Text(state) // "" if it is not a string
	questions, ok := c.Minted[token]
	if !ok {
		questions = c.Newest
	}
	call.State, call.Answers = state, c.Rekeyed(f.Last, questions)
	return call
}

// Stages returns the flow and the flows that end at its earlier rounds, each with the answers of
// that round.
func (f Flow) Stages() []Flow {
	all := []Flow{f}
	for i := range f.Rounds {
		earlier := f
		earlier.Rounds, earlier.Last = f.Rounds[:i], f.Rounds[i]
		all = append(all, earlier)
	}
	return all
}

// Answers returns the answers of the rounds, and the last ones if the flow has any.
func (f Flow) Answers() []json.RawMessage {
	all := slices.Clone(f.Rounds)
	if f.Last != nil {
		all = append(all, f.Last)
	}
	return all
}

// Content returns the content of the answer to one question of a round.
func (f Flow) Content(round int, key string) map[string]json.RawMessage {
	return jsondoc.Members(jsondoc.At(f.Answers()[round], key, "content"))
}

// WithContent returns the flow with other content in the answer to one question of a round.
func (f Flow) WithContent(round int, key string, content map[string]json.RawMessage) Flow {
	all := jsondoc.Members(f.Answers()[round])
	form := jsondoc.With(jsondoc.Members(all[key]), "content", jsondoc.Object(content))
	return f.WithAnswers(round, jsondoc.Object(jsondoc.With(all, key, jsondoc.Object(form))))
}

// WithAnswers returns the flow with other answers in one round.
func (f Flow) WithAnswers(round int, answers json.RawMessage) Flow {
	if round == len(f.Rounds) {
		return f.WithLast(answers)
	}
	f.Rounds = append([]json.RawMessage(nil), f.Rounds...)
	f.Rounds[round] = answers
	return f
}

// WithAnswer returns the flow with one member of the answer to one question of a round replaced.
func (f Flow) WithAnswer(round int, key, name string, v json.RawMessage) Flow {
	return f.WithContent(round, key, jsondoc.With(f.Content(round, key), name, v))
}
