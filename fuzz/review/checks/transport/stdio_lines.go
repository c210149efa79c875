package transport

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

// malformedLines returns lines that are not requests, by name.
func malformedLines(effects bool) map[string]string {
	all := map[string]string{
		"no JSON": "this is not JSON", "a number": "1", "NUL": "{\"a\":\"\x00\"}", "invalid UTF-8": "{\"jsonrpc\":\"2.0\",\"method\":\"\xff\xfe\"}",
		"an empty line": "", "CR LF": "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\r", "an empty batch": "[]",
		"half a surrogate pair": `{"jsonrpc":"2.0","method":"notifications/\ud800"}`, "10,000 nested arrays": strings.Repeat("[", 10000),
		"100 KB": strings.Repeat("x", 100_000), "half an object": `{"jsonrpc":"2.0","id":"sealab`,
	}
	if effects {
		all["3 MB"] = strings.Repeat("x", 3<<20)
	}
	return all
}

// lineSeparators are characters at which some libraries end a line. JSON strings may contain them
// unescaped (RFC 8259, section 7).
var lineSeparators = []string{"\u2028", "\u2029", "\u0085"}

// sendLineSeparators sends requests with such a character in the name of the client. It records a
// finding if one is not answered, and the same request with an escape is.
func sendLineSeparators(t *review.T) {
	for _, end := range lineSeparators {
		name := fmt.Sprintf("%U in a text", []rune(end)[0])
		if !t.Selected(name) || len(t.Findings) > 0 {
			continue
		}
		p := t.ProcessWithin(answerWait)
		if p == nil {
			return
		}
		in := func(text string) func([]byte) []byte {
			return func(body []byte) []byte {
				return bytes.Replace(body, []byte("sealab-review"), []byte("sealab"+text+"review"), 1)
			}
		}
		whole := sendLine(t, p, in(fmt.Sprintf(`\u%04x`, []rune(end)[0])))
		if a := sendLine(t, p, in(end)); client.Served(whole) && !client.Served(a) && a.Kind != client.NoBudget {
			t.Refute(review.Finding{Case: name, Severity: review.Warning, Issue: "a line is ended at " + name,
				Evidence: fmt.Sprintf("%s; escaped: %v", review.ExchangeText(a), whole), Want: "answered", Got: string(client.Broken)})
		}
		p.Stop(client.StopGrace)
	}
}

// shortPause is the time between the parts of a line, and after a line that needs no answer.
const shortPause = 50 * time.Millisecond

// sendLineInParts sends a request in two parts with a pause between them. It records a finding if
// the request is not answered, twice, although undivided ones are.
func sendLineInParts(t *review.T) {
	const name = "a line in two parts"
	if !t.Selected(name) {
		return
	}
	for range 2 {
		p := t.ProcessWithin(answerWait)
		if p == nil {
			return
		}
		defer p.Stop(client.StopGrace)
		parted := sendLine(t, p, func(body []byte) []byte {
			if p.Part(t.Context, body[:len(body)/2]) != nil || client.SystemClock().Sleep(t.Context, shortPause) != nil {
				return body
			}
			return body[len(body)/2:]
		})
		if client.Served(parted) || !client.Served(sendLine(t, p, bytes.Clone)) {
			return
		}
		if parted.Kind == client.Broken || parted.Kind == client.Failed {
			continue
		}
		return
	}
	t.Refute(review.Finding{Case: name, Severity: review.Warning, Issue: "a request that comes in two parts is not served",
		Evidence: fmt.Sprintf("tools/list, %v between its halves: no result, twice; whole: served", shortPause), Want: "answered", Got: string(client.Broken)})
}

func checkMalformedLines(t *review.T) {
	all := malformedLines(t.Options.Effects)
	if !t.Selected("lines") {
		clear(all)
	}
	var dead []string
	var evidence string
	for name, line := range jsondoc.InOrder(all) {
		p := t.Process()
		if p == nil {
			return
		}
		e := p.Do(t.Context, []byte(line), nil)
		t.Client.Keep(e)
		t.Trials++
		if reason := t.Pings(p); reason != "" {
			dead = append(dead, name)
			if !p.Alive() {
				reason = fmt.Sprintf("%s; the process ended: %v; standard error: %s", reason, p.State(), client.Short(string(p.Stderr()), 200))
			}
			evidence = fmt.Sprintf("line %s, then an honest request: %s", client.Short(line, 60), reason)
		} else if len(t.Findings) == 0 {
			judgeLines(t, p.Output(), name)
		}
		p.Stop(client.StopGrace)
	}
	if t.Modern() {
		sendLineSeparators(t)
		sendLineInParts(t)
	}
	if len(dead) > 0 {
		t.Refute(review.Finding{Case: "lines", Severity: review.Warning, Issue: "the server does not answer after " + strings.Join(dead, ", "), Evidence: evidence, Want: "answered", Got: "broken"})
	}
}
