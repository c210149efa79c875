// Package casefile reads and replays cases: tokens that were presented to an
// SDK or design, with the answers that they got.
//
// A case file is JSON Lines. Every line names the system that answered. It
// gives a token, with the keys, the time and the context in which it was
// presented:
//
//	system  question                                                 answer
//	mcp-ts  key, now, bind (text or null), token                     accept; payload (any JSON) or reason
//	mcp-py  keys, now, method, params, principal, audience, token    accept; state or reason
//	mcp-d   key, mode, bind, now, subject, tool, token               accept; state
//	mcp-rb  key, now, method, target, digest, audience, token        accept; state or reason
//	sealab  design, open, ask                                        answer
//
// Keys are hexadecimal, and now is in Unix seconds. The first four systems are
// SDKs. A design agrees with such a line if it accepts or refuses as the SDK
// did, with the same state and, if the line has one, the same reason. A reason
// that begins with "crash:" means that the SDK crashed; the design then only
// has to refuse the token.
//
// Lines of the system sealab name a design of the catalog. open and ask are
// requests of the worker protocol, and answer is the response (worker.Case). A
// design agrees if stage and reason are the same.
//
// Strings are read from the raw line, so that lone surrogates are preserved.
package casefile

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"sealab/codecs"
	"sealab/codecs/internal/compactjson"
	"sealab/codecs/internal/rawjson"
	"sealab/codecs/worker"
	"sealab/internal/lab"
)

// written is the JSON dialect of case files. Python writes infinities for
// numbers out of range.
var written = rawjson.Dialect{NonFinite: true}

// maxLine is the maximum length of a line in bytes.
const maxLine = 1 << 26

// own is the system whose lines contain requests of the worker protocol.
const own = "sealab"

// A Case is one line of a case file.
type Case struct {
	Line   int    // line number, from 1
	Text   string // excludes the line end
	System string // the system that answered
	Design string // the design of the catalog that must give the same answer
	Note   string // describes how the token was changed; may be empty

	ask func(codecs.Design) (got Answer, agrees bool, err error)
}

// An Answer is the answer of a system or a design to a token.
type Answer struct {
	Accept bool
	State  []byte // state of an accepted token, or the JSON text of its payload
	Reason string // why a token was refused
}

// String describes the answer.
func (a Answer) String() string {
	if a.Accept {
		return fmt.Sprintf("accepted with %q", a.State)
	}
	return fmt.Sprintf("refused with %q", a.Reason)
}

// Ask presents the token to a design and reports whether the answer agrees with
// the case. It fails if the case does not apply to the design.
func (c *Case) Ask(d codecs.Design) (got Answer, agrees bool, err error) { return c.ask(d) }

// Read reads all cases. Errors begin with the number of the line. A file
// without cases is an error.
func Read(r io.Reader) ([]Case, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	var all []Case
	for lines.Scan() {
		c, err := parse(lines.Text())
		if err != nil {
			return nil, fmt.Errorf("%d: %w", len(all)+1, err)
		}
		c.Line = len(all) + 1
		all = append(all, c)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%d: %w", len(all)+1, err)
	}
	if len(all) == 0 {
		return nil, errors.New(" the file is empty, want cases, one JSON object a line")
	}
	return all, nil
}

func parse(text string) (c Case, err error) {
	c.Text = text
	l := &line{raw: text}
	if l.object, err = written.Parse([]byte(text)); err != nil {
		return c, err
	}
	if l.object.Kind != rawjson.Object {
		return c, errors.New("want a JSON object")
	}
	c.System = l.text("system")
	if l.object.Lookup("note") != nil {
		c.Note = l.text("note")
	}
	if l.err != nil {
		return c, l.err
	}
	if c.System == own {
		return c, c.readOwn(l)
	}
	read, known := systems[c.System]
	if !known {
		return c, fmt.Errorf("no system %q; there are %s, %s", c.System, strings.Join(slices.Sorted(maps.Keys(systems)), ", "), own)
	}
	p := read(l)
	agrees := p.agrees(l)
	if l.err != nil {
		return c, l.err
	}
	c.Design = p.design
	c.ask = func(d codecs.Design) (got Answer, same bool, err error) {
		if got, err = p.ask(d); err != nil {
			return got, false, err
		}
		same, err = agrees(got)
		return got, same, err
	}
	return c, nil
}

// readOwn reads a line of the system sealab.
func (c *Case) readOwn(l *line) error {
	c.Design = l.text("design")
	l.field("open")
	l.field("answer")
	if l.err != nil {
		return l.err
	}
	var asked worker.Case
	if err := json.Unmarshal([]byte(l.raw), &asked); err != nil {
		return err
	}
	c.ask = func(d codecs.Design) (Answer, bool, error) {
		v, agrees, err := asked.Replay(d)
		return answerOf(v), agrees, err
	}
	return nil
}

// answerOf converts an answer of a design. For other errors than refusals the
// reason is the text of the error.
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

// sameText compares a state with that of the line, as far as JSON can write it:
// two adjacent surrogates are equal to the character that they encode.
func sameText(l line, state []byte) (bool, error) {
	want := l.text("state")
	if l.err != nil {
		return false, l.err
	}
	got, err := written.Parse(compactjson.AppendString(nil, state))
	return err == nil && want == string(got.Text), err
}

// samePayload compares JSON values. A missing value on both sides is
// JavaScript's undefined.
func samePayload(l line, state []byte) (bool, error) {
	want := l.object.Lookup("payload")
	if len(state) == 0 || want == nil {
		return len(state) == 0 && want == nil, nil
	}
	got, err := rawjson.Parse(state)
	return err == nil && sameValue(want, &got), err
}

// sameValue compares values as JavaScript does: numbers are floats, the last of
// several members with one name counts, and their order is ignored.
func sameValue(a, b *rawjson.Value) bool {
	if a.Kind == rawjson.Number {
		return b.Kind == rawjson.Number && a.Float() == b.Float()
	}
	return a.Kind == b.Kind && bytes.Equal(a.Text, b.Text) &&
		slices.EqualFunc(a.Items, b.Items, func(a, b rawjson.Value) bool { return sameValue(&a, &b) }) &&
		slices.EqualFunc(rawjson.ByName(a.Members), rawjson.ByName(b.Members), func(a, b rawjson.Member) bool {
			return bytes.Equal(a.Name, b.Name) && sameValue(&a.Value, &b.Value)
		})
}
