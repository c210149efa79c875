package review

import (
	"bytes"
	"fmt"
	"strings"
	"time"
)

// lines are lines that are no request.
func lines(effects bool) map[string]string {
	all := map[string]string{
		"no JSON": "this is not JSON", "a number": "1", "NUL": "{\"a\":\"\x00\"}", "invalid UTF-8": "{\"jsonrpc\":\"2.0\",\"method\":\"\xff\xfe\"}",
		"an empty line": "", "CR LF": "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\r", "an empty batch": "[]", "half a surrogate pair": `{"jsonrpc":"2.0","method":"notifications/\ud800"}`, "10,000 nested arrays": strings.Repeat("[", 10000),
		"100 KB": strings.Repeat("x", 100_000), "half an object": `{"jsonrpc":"2.0","id":"sealab`,
	}
	if effects {
		all["3 MB"] = strings.Repeat("x", 3<<20)
	}
	return all
}

// endsOfLines are characters at which some libraries end a line. In a text of JSON they stand
// as they are (RFC 8259, section 7).
var endsOfLines = []string{"\u2028", "\u2029", "\u0085"}

// endedTexts sends requests with such a character in the name of the client. It refutes if
// one is not answered, and the same one with an escape is.
func (t *T) endedTexts() {
	for _, end := range endsOfLines {
		name := fmt.Sprintf("%U in a text", []rune(end)[0])
		if t.only != "" && t.only != name || len(t.findings) > 0 {
			continue
		}
		p := t.processWithin(silence)
		if p == nil {
			return
		}
		in := func(text string) func([]byte) []byte {
			return func(body []byte) []byte {
				return bytes.Replace(body, []byte("sealab-review"), []byte("sealab"+text+"review"), 1)
			}
		}
		whole := t.lineTo(p, in(fmt.Sprintf(`\u%04x`, []rune(end)[0])))
		if a := t.lineTo(p, in(end)); served(whole) && !served(a) && a.Kind != noBudget {
			t.refute(Finding{Case: name, Severity: Warning, Issue: "a line is ended at " + name, Evidence: fmt.Sprintf("%s -> %v; escaped: %v", sent(a.Exchange), a, whole), Want: "answered", Got: string(broken)})
		}
		p.Stop(stopGrace)
	}
}

// pause is the time between the parts of a line, and after a line that wants no answer.
const pause = 50 * time.Millisecond

// partedLine sends a request in two parts with a pause between them. It refutes if that is not
// answered, twice, and whole ones are.
func (t *T) partedLine() {
	const name = "a line in two parts"
	if t.only != "" && t.only != name {
		return
	}
	for range 2 {
		p := t.processWithin(silence)
		if p == nil {
			return
		}
		defer p.Stop(stopGrace)
		parted := t.lineTo(p, func(body []byte) []byte {
			if p.Part(t.ctx, body[:len(body)/2]) != nil || SystemClock().Sleep(t.ctx, pause) != nil {
				return body
			}
			return body[len(body)/2:]
		})
		if served(parted) || !served(t.lineTo(p, bytes.Clone)) {
			return
		}
		if parted.Kind == broken || parted.Kind == failed {
			continue
		}
		return
	}
	t.refute(Finding{Case: name, Severity: Warning, Issue: "a request that comes in two parts is not served", Evidence: fmt.Sprintf("tools/list, %v between its halves: no result, twice; whole: served", pause), Want: "answered", Got: string(broken)})
}

func hostileLines(t *T) {
	all := lines(t.r.opts.Effects)
	var dead []string
	var evidence string
	for _, name := range sortedKeys(all) {
		if t.only != "" && t.only != "lines" {
			continue
		}
		p := t.process()
		if p == nil {
			return
		}
		e := p.Do(t.ctx, []byte(all[name]), nil)
		t.r.client.kept(e)
		t.trials++
		if reason := t.pings(p); reason != "" {
			dead = append(dead, name)
			if !p.Alive() {
				reason = fmt.Sprintf("%s; the process ended: %v; standard error: %s", reason, p.State(), short(string(p.Stderr()), 200))
			}
			evidence = fmt.Sprintf("line %s, then an honest request: %s", short(all[name], 60), reason)
		} else if len(t.findings) == 0 {
			t.noise(p, name)
		}
		p.Stop(stopGrace)
	}
	if t.r.modern() {
		t.endedTexts()
		t.partedLine()
	}
	if len(dead) > 0 {
		t.refute(Finding{Case: "lines", Severity: Warning, Issue: "the server does not answer after " + strings.Join(dead, ", "), Evidence: evidence, Want: "answered", Got: "broken"})
	}
}
