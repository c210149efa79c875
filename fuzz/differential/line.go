package differential

import (
	"encoding/json"
	"fmt"

	"sealab/codecs/worker"
)

// System is the name under which disagreements stand in verdict files.
const System = "sealab"

// A verdictLine is a line of a verdict file: a question to a design of the
// catalog, and what the peer answered to it.
type verdictLine struct {
	System string `json:"system"`
	Design string `json:"design"`
	Source string `json:"source"` // who answered
	Note   string `json:"note"`
	Accept bool   `json:"accept"`
	worker.Case
}

// Line returns the disagreement as a line of a verdict file, without a line
// break: one JSON object with the design, the peer, the question and the peer's
// answer. What this side answers stands in the note. The line holds the keys,
// which come from the seed.
func (d Disagreement) Line() ([]byte, error) {
	c, err := d.ask()
	if err != nil {
		return nil, err
	}
	note := fmt.Sprintf("%s; %s: %s", d.Note, d.HereName, answer(d.Here))
	return json.Marshal(verdictLine{System, d.HereName, d.PeerVersion, note, d.There.Err == nil, c})
}

func (d Disagreement) ask() (worker.Case, error) {
	if d.question == opened {
		return worker.OpenCase(d.Config, d.There.Err)
	}
	c, err := worker.OpenCase(d.Config, nil)
	if err != nil {
		return c, err
	}
	b := &d.Context
	if d.question == minted {
		return c.Make(d.kind, d.State, b, d.There.Err)
	}
	return c.Judge(d.kind, d.Token, b, d.There)
}
