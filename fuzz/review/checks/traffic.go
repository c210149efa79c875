package checks

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

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
	"sealab/fuzz/review/tokens"
)

// A Captured token is a requestState in recorded traffic.
type Captured struct {
	Token string
	Call  string    // method, name and arguments of the request, if known
	At    time.Time // time of the response; zero if unknown
}

// maxTrafficLine is the length of the longest line of a log, in bytes.
const maxTrafficLine = 64 << 20

// ReadTraffic returns the tokens in recorded traffic, one for each response. It reads an HTTP
// archive (HAR 1.2), the file of --record, or a log with one JSON-RPC message or server-sent event
// per line. It skips lines without JSON.
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

// fromLine reads one line of a log. It reports whether the line is JSON, and records calls by ID.
func fromLine(line []byte, calls map[string]string) ([]Captured, bool) {
	start := bytes.IndexByte(line, '{')
	if start < 0 {
		return nil, false
	}
	line = line[start:]
	m := jsondoc.Members(line)
	if m == nil {
		return nil, false
	}
	sent, isSent := jsondoc.Text(m["sent"])
	received, isReceived := jsondoc.Text(m["received"])
	if isSent && isReceived {
		name, _ := callOf([]byte(afterHeader(sent)))
		return tokensOf([]byte(afterHeader(received)), name, time.Time{}), true
	}
	for _, wrapper := range []string{"message", "data", "payload", "msg"} { // events in logs of sessions
		if inner := jsondoc.Members(m[wrapper]); inner["jsonrpc"] != nil {
			line, m = m[wrapper], inner
		}
	}
	if name, id := callOf(line); name != "" {
		calls[id] = name
		return nil, true
	}
	return tokensOf(line, calls[string(m["id"])], time.Time{}), true
}

// afterHeader returns the body of an HTTP message, or any other text unchanged.
func afterHeader(text string) string {
	if _, body, ok := strings.Cut(text, "\r\n\r\n"); ok {
		return body
	}
	return text
}

// callOf returns the name and the ID of a request.
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

// tokensOf returns the tokens in a body: JSON, chunked JSON, or server-sent events.
func tokensOf(body []byte, call string, at time.Time) []Captured {
	var all []Captured
	for line := range bytes.Lines(body) {
		line = bytes.TrimPrefix(bytes.TrimSpace(line), []byte("data:"))
		if state := stateIn(line); state != "" {
			all = append(all, Captured{state, call, at})
		}
	}
	if state := stateIn(body); len(all) == 0 && state != "" {
		all = append(all, Captured{state, call, at})
	}
	return all
}

// stateIn returns the requestState in a response, or "".
func stateIn(response []byte) string {
	state, _ := jsondoc.Text(jsondoc.At(response, "result", "requestState"))
	return state
}

// passive are the checks that need only tokens.
var passive = []string{"RS-CLEAR", "RS-KEY", "RS-TAG", "RS-FRESH", "RS-NONCE", "RS-GUESS", "RS-EXP"}

// Traffic runs the passive checks on captured tokens. It sends no requests.
func Traffic(all []Captured, secrets, only []string) *review.Report {
	r := &review.Report{Server: review.Server{Transport: "recorded", Revisions: []string{client.Modern}, Risk: "unknown"}}
	checks := map[string]review.Check{}
	for _, c := range All() {
		checks[c.ID] = c
	}
	for _, id := range passive {
		if len(only) > 0 && !slices.Contains(only, id) {
			continue
		}
		outcome, findings := checks[id].Judge(func(t *review.T) {
			if len(all) == 0 {
				t.Skip("the traffic holds no requestState")
			} else {
				judgePassively(t, id, all, secrets)
			}
		})
		r.Outcomes, r.Findings = append(r.Outcomes, outcome), append(r.Findings, findings...)
	}
	return r
}

func judgePassively(t *review.T, id string, all []Captured, secrets []string) {
	first := all[0].Token
	t.Trials = len(all)
	refute := func(severity review.Severity, issue, evidence string) {
		t.Refute(review.Finding{Case: "recorded", Severity: severity, Issue: issue, Evidence: evidence, Want: "see the check", Got: issue})
	}
	readableState := slices.ContainsFunc(all, func(c Captured) bool { return len(tokens.Views(c.Token)) > 0 })
	switch id {
	case "RS-CLEAR":
		for _, c := range all {
			text := tokens.InTheOpen(c.Token)
			if i := slices.IndexFunc(secrets, func(s string) bool { return strings.Contains(text, s) }); i >= 0 {
				refute(review.Warning, "a text that was named a secret can be read in the token", client.Short(c.Token, 200))
				return
			}
		}
		if readableState {
			refute(review.Suggestion, "the state can be read without a key", client.Short(first, 160)+" holds "+client.Short(strings.TrimPrefix(tokens.Readable(first), first), 200))
		}
	case "RS-KEY":
		for _, k := range tokens.Keylesses() {
			if i := slices.IndexFunc(all, func(c Captured) bool { return !k.Tags(c.Token) }); readableState && i < 0 {
				refute(review.Critical, k.Issue, fmt.Sprintf("%s, tag %s", client.Short(first, 160), k.Name))
				return
			}
		}
		if !readableState {
			t.Skip("the state cannot be read, so that no tag can be computed")
		}
	case "RS-TAG":
		n, ok := tokens.TagLength(first)
		switch {
		case !ok:
			t.Skip("the state cannot be read, so that the length of its tag is unknown")
		case n < tokens.MinTag:
			refute(review.Warning, fmt.Sprintf("the tag of the token has %d bytes", n), client.Short(first, 200))
		}
	case "RS-EXP":
		now := time.Now()
		for _, c := range all {
			if !c.At.IsZero() {
				now = c.At
			}
			if issue := tokens.FaultOfTime(c.Token, now); issue != "" {
				refute(review.Warning, issue, client.Short(first, 200))
				return
			}
		}
		if !readableState {
			t.Skip("the state cannot be read, so that its expiry is unknown")
		}
	default:
		compareTokens(t, id, all, readableState, refute)
	}
}

// compareTokens runs the checks that compare several tokens.
func compareTokens(t *review.T, id string, all []Captured, readableState bool, refute func(review.Severity, string, string)) {
	if readableState {
		t.Skip("the state can be read, so that equal tokens show no nonce")
		return
	}
	if len(all) < 8 {
		t.Skip("%d tokens; at least 8 are needed", len(all))
		return
	}
	var texts []string
	heads, calls := map[string]string{}, map[string]bool{}
	for _, c := range all {
		texts = append(texts, c.Token)
		raw := tokens.LongestSegment(c.Token)
		if len(raw) < 28 {
			continue
		}
		head := string(raw[:12])
		if other, ok := heads[head]; ok && id == "RS-NONCE" && other != c.Token {
			refute(review.Critical, "two different tokens begin with the same 12 bytes, which may be a nonce", client.Short(other, 100)+" and "+client.Short(c.Token, 100))
			return
		}
		heads[head] = c.Token
		if calls[c.Token] && id == "RS-FRESH" {
			refute(review.Suggestion, "one token was given twice", client.Short(c.Token, 200))
			return
		}
		calls[c.Token] = true
	}
	if id != "RS-GUESS" {
		return
	}
	switch bits := tokens.VaryingBits(texts); {
	case tokens.CountUp(texts):
		refute(review.Critical, "tokens count up", strings.Join(texts[:4], ", "))
	case bits < 64:
		refute(review.Warning, fmt.Sprintf("tokens differ in %.0f bits", bits), strings.Join(texts[:4], ", "))
	}
}
