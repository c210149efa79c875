package targets

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf8"

	"sealab/codecs/worker"
	"sealab/fuzz/campaign/harness"
	"sealab/fuzz/program"
)

var servingTarget = Target{
	Name: "serving", Layer: layerProtocol,
	Doc:   "the worker protocol's server fed anything: one answer per line, each one JSON object that says ok or why not",
	Check: runServing,
	Seeds: servingSeeds,
}

func runServing(p *program.Program) error {
	s := pickInstance(p)
	input := p.Rest()
	server := worker.Server{Design: s.Design, Version: "fuzz"}
	var out answerCounter
	if err := server.Serve(bytes.NewReader(input), &out); err != nil {
		return harness.Fail(s.Name, "the server of the worker protocol fails", "%v: %q", err, input)
	}
	want := bytes.Count(input, []byte("\n"))
	if len(input) > 0 && input[len(input)-1] != '\n' {
		want++
	}
	if out.answers != want {
		return harness.Fail(s.Name, "the server of the worker protocol gives another number of answers", "%d for %d lines: %q", out.answers, want, input)
	}
	return nil
}

// An answerCounter counts the answers of a server, one per write. It fails at the first invalid
// answer.
type answerCounter struct{ answers int }

// validAnswers are the beginnings of valid answers.
var validAnswers = [][]byte{
	[]byte(`{"ok":true`), []byte(`{"ok":false,"rejected":"`), []byte(`{"ok":false,"unsupported":true}`),
	[]byte(`{"ok":false,"refused":"`), []byte(`{"ok":false,"fault":"`),
}

// Write implements io.Writer.
func (l *answerCounter) Write(answer []byte) (int, error) {
	l.answers++
	if bytes.IndexByte(answer, '\n') != len(answer)-1 || !json.Valid(answer) || !utf8.Valid(answer) {
		return 0, fmt.Errorf("the answer %q is not one line of JSON", answer)
	}
	if !slices.ContainsFunc(validAnswers, func(o []byte) bool { return bytes.HasPrefix(answer, o) }) {
		return 0, fmt.Errorf("the answer %q does not say whether it is ok, or why not", answer)
	}
	return len(answer), nil
}

// workerConversation is the client's side of a conversation with a worker. The secret has 32
// bytes.
const workerConversation = `{"op":"hello","protocol":1}
{"op":"open","keys_b64":["ZnV6eiBzZWNyZXQgMDsgZnV6eiBzZWNyZXQgMDsgZnU"],"ttl":600,"options":{}}
{"op":"mint","handle":1,"now":1795132800.25,"state_b64":"InN0YXRlIg","binding":{"method":"tools/call","target":"deploy","arguments":{"env":"prod"},"principal":"alice","audience":null}}
{"op":"seal","handle":1,"payload_b64":"cGF5bG9hZA"}
{"op":"verify","handle":1,"now":1795132800.25,"token":"v1.AAAA","binding":{}}
{"op":"unseal","handle":1,"tokens":["v1.AAAA","\ud800"]}
{"op":"verify","handle":1,"now":1e300,"tokens":[],"binding":null}
{"op":"bench","handle":1,"do":"verify","n":1}
{"op":"close","handle":1}
{"op":"close","handle":-1}
{"op":"nothing"}
`

// servingSeeds returns the conversation, whole and line by line, for each design.
func servingSeeds() ([][]byte, error) {
	return seedEach(instances(), func(_ *instance, begin func() *program.Writer) [][]byte {
		own := [][]byte{begin().Raw([]byte(workerConversation)).Program()}
		for line := range bytes.Lines([]byte(workerConversation)) {
			own = append(own, begin().Raw(line).Program())
		}
		return own
	}), nil
}
