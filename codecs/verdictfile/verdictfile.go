// Package verdictfile replays verdict files: what real SDKs answered to tokens.
//
// A verdict file is JSON Lines. Every line names its system, gives a token with
// the keys, the time and the context it was presented in, and says what the SDK
// answered:
//
//	system  presentation                                             answer
//	mcp-ts  key, now, bind (text or null), token                     accept; payload (any JSON) or reason
//	mcp-py  keys, now, method, params, principal, audience, token    accept; state or reason
//	mcp-d   key, mode, bind, now, subject, tool, token               accept; state
//	mcp-rb  key, now, method, target, digest, audience, token        accept; state or reason
//	sealab  design, open, ask                                        accept; answer
//
// Keys are hexadecimal, now is in Unix seconds. A line agrees when the scheme
// that answers as the system does gives the same accept or refuse, the same state
// and, where the line has one, the same reason. A reason that begins with
// "crash:" says that the SDK died; then the token only has to be refused.
//
// Lines of the system sealab name any design of the catalog; open and ask are
// requests of the worker protocol and answer is the response of whoever differed
// (package worker, Case). They agree where stage and reason do.
//
// Strings are read from the raw line, so that lone surrogates survive.
package verdictfile

import (
	"bufio"
	"fmt"
	"io"

	"sealab/codecs/internal/rawjson"
)

// written is what verdict files are written in: JSON, with the infinities that
// Python makes of numbers out of range.
var written = rawjson.Dialect{NonFinite: true}

// maxLine is the longest line, in bytes, that is read.
const maxLine = 1 << 26

// A Line is one line of a verdict file.
type Line struct {
	Number int    // from 1
	Text   string // without the line end
	object rawjson.Value
}

// Read calls each for every line of a file and returns how many there were. It
// ends at the first error, that of a line which is not a JSON object included;
// errors about a line begin with its number.
func Read(r io.Reader, each func(Line) error) (int, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	n := 0
	for lines.Scan() {
		n++
		line := Line{Number: n, Text: lines.Text()}
		var err error
		if line.object, err = written.Parse([]byte(line.Text)); err == nil && line.object.Kind != rawjson.Object {
			err = fmt.Errorf("sealab: want a JSON object")
		}
		if err == nil {
			err = each(line)
		}
		if err != nil {
			return n, fmt.Errorf("%d: %w", n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return n, fmt.Errorf("%d: %w", n+1, err)
	}
	return n, nil
}

// System returns the name of the system that answered.
func (l Line) System() (string, error) { return l.text("system") }

// Note returns the remark that says what was done to the token, if there is one.
func (l Line) Note() string {
	note, _ := l.text("note") //nolint:errcheck // a remark is for people and may be missing
	return note
}
