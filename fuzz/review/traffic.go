package review

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// A Captured token is a requestState in recorded traffic.
type Captured struct {
	Token string
	Call  string    // method and name of the request, if it is known
	At    time.Time // of the response; zero if it is unknown
}

// maxTrafficLine is the longest line of a log.
const maxTrafficLine = 64 << 20

// ReadTraffic returns the tokens of recorded traffic, each text once for each
// response: an HTTP archive (HAR 1.2), the file of --record, or a log with one
// JSON-RPC message or event of one a line. Lines without JSON are skipped.
func ReadTraffic(in io.Reader) ([]Captured, error) {
	data, err := io.ReadAll(io.LimitReader(in, 1<<30))
	if err != nil {
		return nil, fmt.Errorf("reading traffic: %w", err)
	}
	var archive struct {
		Log *struct{ Entries []harEntry }
	}
	if json.Unmarshal(data, &archive) == nil && archive.Log != nil {
		return fromArchive(archive.Log.Entries), nil
	}
	var all []Captured
	calls := map[string]string{}
	lines, read := bufio.NewScanner(bytes.NewReader(data)), 0
	lines.Buffer(nil, maxTrafficLine)
	for lines.Scan() {
		found, ok := fromLine(lines.Bytes(), calls)
		if ok {
			read++
		}
		all = append(all, found...)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("reading traffic: %w", err)
	}
	if read == 0 {
		return nil, errors.New("reading traffic: no line is JSON; want an HTTP archive, a record of sealab review, or a log of JSON-RPC messages")
	}
	return all, nil
}

type harEntry struct {
	Started time.Time `json:"startedDateTime"`
	Request struct {
		Post struct{ Text string } `json:"postData"`
	}
	Response struct {
		Content struct{ Text, Encoding string }
	}
}

func fromArchive(entries []harEntry) []Captured {
	var all []Captured
	for _, e := range entries {
		text := []byte(e.Response.Content.Text)
		if e.Response.Content.Encoding == "base64" {
			text, _ = base64.StdEncoding.DecodeString(string(text))
		}
		name, _ := callOf([]byte(e.Request.Post.Text))
		all = append(all, tokensOf(text, name, e.Started)...)
	}
	return all
}

// fromLine reads one line of a log. Calls are remembered by id.
func fromLine(line []byte, calls map[string]string) ([]Captured, bool) {
	start := bytes.IndexByte(line, '{')
	if start < 0 {
		return nil, false
	}
	line = line[start:]
	m := members(line)
	if m == nil {
		return nil, false
	}
	var sent, received string
	if json.Unmarshal(m["sent"], &sent) == nil && json.Unmarshal(m["received"], &received) == nil && m["sent"] != nil {
		name, _ := callOf([]byte(afterHeader(sent)))
		return tokensOf([]byte(afterHeader(received)), name, time.Time{}), true
	}
	for _, wrapper := range []string{"message", "data", "payload", "msg"} { // events of session logs
		if inner := members(m[wrapper]); inner["jsonrpc"] != nil {
			line, m = m[wrapper], inner
		}
	}
	if name, id := callOf(line); name != "" {
		calls[id] = name
		return nil, true
	}
	return tokensOf(line, calls[string(m["id"])], time.Time{}), true
}

// afterHeader returns the body of an HTTP message, or all of another text.
func afterHeader(text string) string {
	if _, body, ok := strings.Cut(text, "\r\n\r\n"); ok {
		return body
	}
	return text
}

// callOf names the call of a request.
func callOf(raw []byte) (name, id string) {
	var r struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params struct {
			Name, URI string
			Arguments json.RawMessage
		} `json:"params"`
	}
	if json.Unmarshal(raw, &r) != nil || r.Method == "" {
		return "", ""
	}
	return strings.TrimSpace(fmt.Sprintf("%s %s%s %s", r.Method, r.Params.Name, r.Params.URI, r.Params.Arguments)), string(r.ID)
}

// tokensOf returns the tokens of the results in a body: JSON, chunks of it, or
// server-sent events.
func tokensOf(body []byte, call string, at time.Time) []Captured {
	var all []Captured
	for line := range bytes.Lines(body) {
		line = bytes.TrimPrefix(bytes.TrimSpace(line), []byte("data:"))
		var r struct {
			Result struct {
				State string `json:"requestState"`
			} `json:"result"`
		}
		if json.Unmarshal(line, &r) == nil && r.Result.State != "" {
			all = append(all, Captured{r.Result.State, call, at})
		}
	}
	if len(all) == 0 {
		var r struct {
			Result struct {
				State string `json:"requestState"`
			} `json:"result"`
		}
		if json.Unmarshal(body, &r) == nil && r.Result.State != "" {
			all = append(all, Captured{r.Result.State, call, at})
		}
	}
	return all
}

// Passive are the checks that need nothing but tokens.
var Passive = []string{"RS-CLEAR", "RS-KEY", "RS-TAG", "RS-FRESH", "RS-NONCE", "RS-GUESS", "RS-EXP"}

// Traffic judges captured tokens. It sends nothing.
func Traffic(all []Captured, secrets, only []string) *Report {
	r := &Report{Server: Server{Transport: "recorded", Revisions: []string{modern}, Risk: "unknown"}}
	checks := map[string]Check{}
	for _, c := range Checks() {
		checks[c.ID] = c
	}
	for _, id := range Passive {
		if len(only) > 0 && !slices.Contains(only, id) {
			continue
		}
		t := &T{r: &Review{opts: Options{Clock: Clock{Now: time.Now}}}, check: checks[id]}
		if len(all) == 0 {
			t.skip("the traffic holds no requestState")
		} else {
			t.passive(id, all, secrets)
		}
		r.Outcomes, r.Findings = append(r.Outcomes, t.outcome()), append(r.Findings, t.findings...)
	}
	return r
}

func (t *T) passive(id string, all []Captured, secrets []string) {
	first := all[0].Token
	t.trials = len(all)
	refute := func(severity Severity, issue, evidence string) {
		t.refute(Finding{Case: "recorded", Severity: severity, Issue: issue, Evidence: evidence, Want: "see the check", Got: issue})
	}
	readableState := slices.ContainsFunc(all, func(c Captured) bool { return len(views(c.Token)) > 0 })
	switch id {
	case "RS-CLEAR":
		for _, c := range all {
			text := inTheOpen(c.Token)
			if i := slices.IndexFunc(secrets, func(s string) bool { return strings.Contains(text, s) }); i >= 0 {
				refute(Warning, "a text that was named a secret can be read in the token", short(c.Token, 200))
				return
			}
		}
		if readableState {
			refute(Suggestion, "the state can be read without a key", short(first, 160)+" holds "+short(strings.TrimPrefix(readable(first), first), 200))
		}
	case "RS-KEY":
		for _, k := range keylesses() {
			if i := slices.IndexFunc(all, func(c Captured) bool { return !k.tags(c.Token) }); readableState && i < 0 {
				refute(Critical, k.issue, fmt.Sprintf("%s, tag %s", short(first, 160), k.name))
				return
			}
		}
		if !readableState {
			t.skip("the state cannot be read, so that no tag can be computed")
		}
	case "RS-TAG":
		n, ok := tagLength(first)
		switch {
		case !ok:
			t.skip("the state cannot be read, so that the length of its tag is unknown")
		case n < minTag:
			refute(Warning, fmt.Sprintf("the tag of the token has %d bytes", n), short(first, 200))
		}
	case "RS-EXP":
		if issue := t.recordedLife(all); issue != "" {
			refute(Warning, issue, short(first, 200))
		} else if !readableState {
			t.skip("the state cannot be read, so that its expiry is unknown")
		}
	default:
		t.statistics(id, all, readableState, refute)
	}
}

// recordedLife is the fault of the times in captured tokens.
func (t *T) recordedLife(all []Captured) string {
	for _, c := range all {
		if !c.At.IsZero() {
			t.r.opts.Clock.Now = func() time.Time { return c.At }
		}
		t.r.client = &client{clock: t.r.opts.Clock}
		if issue := t.written(c.Token); issue != "" {
			return issue
		}
	}
	return ""
}

// statistics are the checks of several tokens.
func (t *T) statistics(id string, all []Captured, readableState bool, refute func(Severity, string, string)) {
	if readableState {
		t.skip("the state can be read, so that equal tokens show no nonce")
		return
	}
	if len(all) < 8 {
		t.skip("%d tokens; at least 8 are needed", len(all))
		return
	}
	var texts []string
	heads, calls := map[string]string{}, map[string]bool{}
	for _, c := range all {
		texts = append(texts, c.Token)
		raw := longest(c.Token)
		if len(raw) < 28 {
			continue
		}
		head := string(raw[:12])
		if other, ok := heads[head]; ok && id == "RS-NONCE" && other != c.Token {
			refute(Critical, "two different tokens begin with the same 12 bytes, which may be a nonce", short(other, 100)+" and "+short(c.Token, 100))
			return
		}
		heads[head] = c.Token
		if calls[c.Token] && id == "RS-FRESH" {
			refute(Suggestion, "one token was given twice", short(c.Token, 200))
			return
		}
		calls[c.Token] = true
	}
	if id != "RS-GUESS" {
		return
	}
	switch bits := varyingBits(texts); {
	case counted(texts):
		refute(Critical, "tokens count up", strings.Join(texts[:4], ", "))
	case bits < 64:
		refute(Warning, fmt.Sprintf("tokens differ in %.0f bits", bits), strings.Join(texts[:4], ", "))
	}
}
