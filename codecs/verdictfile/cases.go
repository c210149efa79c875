package verdictfile

import (
	"encoding/json"
	"errors"
	"fmt"

	"sealab/codecs"
	"sealab/codecs/worker"
	"sealab/internal/lab"
)

// caseSystem is the system whose lines name a design of the catalog and ask
// their question in the words of the worker protocol.
const caseSystem = "sealab"

// replayCase asks the line's question of the design that it names.
func replayCase(l Line, find func(string) (codecs.Design, error)) (got Answer, agrees bool, err error) {
	name, err := l.text("design")
	if err != nil {
		return got, false, err
	}
	d, err := find(name)
	if err != nil {
		return got, false, err
	}
	for _, part := range []string{"open", "answer"} {
		if _, err := l.field(part); err != nil {
			return got, false, err
		}
	}
	var c worker.Case
	if err := json.Unmarshal([]byte(l.Text), &c); err != nil {
		return got, false, fmt.Errorf("sealab: %w", err)
	}
	v, agrees, err := c.Replay(d)
	return answerOf(v), agrees, err
}

// answerOf returns a verdict as an answer. What is neither acceptance nor
// refusal has its text for a reason.
func answerOf(v lab.Answer) Answer {
	switch r := codecs.Rejected(v.Err); {
	case r != nil:
		return Answer{Reason: r.Reason}
	case errors.Is(v.Err, codecs.ErrUnsupported):
		return Answer{Reason: "unsupported"}
	case v.Err != nil:
		return Answer{Reason: v.Err.Error()}
	default:
		return Answer{Accept: true, State: v.Payload}
	}
}
