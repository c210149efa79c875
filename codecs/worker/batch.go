package worker

import (
	"errors"
	"fmt"

	"sealab/codecs"
	"sealab/internal/lab"
)

// judgeAll judges many tokens: in one request if the worker has the ability, else
// one by one. Tokens that cannot cross get codecs.ErrUnsupported.
func (h *handle) judgeAll(name string, result member, tokens [][]byte, complete func(*line)) ([]lab.Answer, error) {
	if !h.client.Has(AbilityBatch) {
		return h.judgeEach(name, result, tokens, complete)
	}
	var context line
	if complete(&context); context.err != nil {
		return nil, context.err
	}
	verdicts := make([]lab.Answer, len(tokens))
	var crossing [][]byte
	var place []int // in verdicts, of each crossing token
	for i, t := range tokens {
		if _, err := appendText(nil, t); err != nil {
			verdicts[i].Err = err
			continue
		}
		crossing, place = append(crossing, t), append(place, i)
	}
	_, err := h.ask(name, len(crossing), func(l *line) {
		complete(l)
		texts(l, "tokens", crossing)
	}, func(r *response) error {
		if len(r.Verdicts) != len(crossing) {
			return breached(Garbage, "%s: got %s for %d tokens", name, counted(r.Verdicts, len(crossing)), len(crossing))
		}
		return fill(verdicts, place, r.Verdicts, result)
	})
	if errors.Is(err, codecs.ErrUnsupported) {
		return nil, h.client.lied(name + ": it has the ability batch and does not support a batch")
	}
	if err != nil {
		return nil, err
	}
	return verdicts, nil
}

// counted says how many verdicts an answer has, which are read up to one too many.
func counted(verdicts []response, tokens int) string {
	if len(verdicts) > tokens {
		return "more verdicts than tokens"
	}
	return fmt.Sprintf("%d verdicts", len(verdicts))
}

// fill writes the answers to their places. A breach in one voids them all.
func fill(verdicts []lab.Answer, place []int, answers []response, result member) error {
	for i := range answers {
		err := answers[i].outcome()
		var payload []byte
		if err == nil {
			payload, err = result(&answers[i])
		}
		var b *breach
		if errors.As(err, &b) {
			return b
		}
		verdicts[place[i]] = lab.Answer{Payload: payload, Err: err}
	}
	return nil
}

// lied records that the worker lacks an ability that it claimed.
func (c *Client) lied(detail string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.record(breached(Lied, "%s", detail), nil)
}
