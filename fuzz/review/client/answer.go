package client

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"sealab/fuzz/review/jsondoc"
	"sealab/fuzz/review/tokens"
	"sealab/internal/rawmcp"
)

// A Kind is the class of an answer.
type Kind string

// The kinds of answers.
const (
	Completed Kind = "completed" // a result
	Asked     Kind = "asked"     // a result that asks for input
	ToolError Kind = "error of the tool"
	Failed    Kind = "refused"      // a JSON-RPC error
	HTTPError Kind = "HTTP error"   // a status of 400 to 499 without a JSON-RPC error
	Broken    Kind = "broken"       // anything else: no response, status 500, not JSON
	Throttled Kind = "rate-limited" // still, after all retries
	NoBudget  Kind = "not sent"     // the budget of exchanges is used up
)

// An Answer is the response to one request.
type Answer struct {
	Kind      Kind
	Status    int
	Code      int
	Message   string
	Data      json.RawMessage
	Result    json.RawMessage
	State     *string
	Carrier   string // the member of _meta that holds the state; "": requestState
	Questions map[string]Question
	Text      string // of a complete result
	Cause     error  // the error of a broken exchange
	Exchange  *rawmcp.Exchange
}

// A Question is one input request.
type Question struct {
	Method string `json:"method"`
	Params struct {
		Mode    string          `json:"mode"`
		Message string          `json:"message"`
		Schema  json.RawMessage `json:"requestedSchema"`
		URL     string          `json:"url"`
	} `json:"params"`
}

// Form returns the schema of the form of a question, without references.
func (q Question) Form() json.RawMessage { return jsondoc.Inline(q.Params.Schema) }

type rpcResponse struct {
	ID     json.RawMessage `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int             `json:"code"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data"`
	} `json:"error"`
}

// ReadAnswer returns the response to the request with an ID in an exchange.
func ReadAnswer(e *rawmcp.Exchange, id int) Answer {
	a := Answer{Kind: Broken, Status: e.Status, Cause: e.Err, Exchange: e}
	if e.Status == 429 || e.Status == 503 {
		a.Kind = Throttled
		return a
	}
	r, ok := findResponse(e.Messages, id)
	switch {
	case ok && r.Error != nil:
		a.Kind, a.Code, a.Message, a.Data = Failed, r.Error.Code, r.Error.Message, r.Error.Data
		if rateLimited.MatchString(r.Error.Message) {
			a.Kind = Throttled
		}
	case ok:
		a.readResult(r.Result)
	case e.Status >= 400 && e.Status < 500:
		a.Kind, a.Message = HTTPError, string(e.Body[:min(len(e.Body), 300)])
	case e.Err == nil:
		a.Cause = fmt.Errorf("no JSON-RPC response with the id of the request in %s", Short(string(e.Body), 100))
	}
	return a
}

var rateLimited = regexp.MustCompile(`(?i)\brate.?limit|too many requests|throttl`)

// findResponse returns the response with an ID, or an error response without an ID.
func findResponse(messages [][]byte, id int) (rpcResponse, bool) {
	for _, raw := range messages {
		var r rpcResponse
		if json.Unmarshal(raw, &r) != nil || r.Result == nil && r.Error == nil {
			continue
		}
		if is := string(r.ID); is == fmt.Sprint(id) || r.Error != nil && (is == "" || is == "null") {
			return r, true
		}
	}
	return rpcResponse{}, false
}

func (a *Answer) readResult(raw json.RawMessage) {
	var r struct {
		Type      string              `json:"resultType"`
		Questions map[string]Question `json:"inputRequests"`
		State     json.RawMessage     `json:"requestState"`
		IsError   bool                `json:"isError"`
		Meta      map[string]any      `json:"_meta"`
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		a.Cause = fmt.Errorf("reading the result: %w", err)
		return
	}
	a.Result, a.Questions = raw, r.Questions
	if state, ok := jsondoc.Text(r.State); ok {
		a.State = &state
	}
	switch {
	case r.Type == "input_required":
		if a.Kind = Asked; r.State == nil {
			a.Carrier, a.State = CarriedState(r.Meta)
		}
	case r.IsError:
		a.Kind = ToolError
		a.Message = resultTexts(raw)
	default:
		a.Kind = Completed
		a.Text = resultTexts(raw)
	}
}

// stateMember matches the names of members of _meta that may hold a state.
var stateMember = regexp.MustCompile(`(?i)state|token|continu|resum`)

// CarriedState returns the first member of _meta that may hold a state. Its name matches
// stateMember, and its text is at least as long as a token.
func CarriedState(meta map[string]any) (name string, state *string) {
	for _, name := range jsondoc.SortedKeys(meta) {
		if text, _ := meta[name].(string); len(text) >= tokens.MinCoded && stateMember.MatchString(name) && !strings.HasPrefix(name, "io.modelcontextprotocol/") {
			return name, &text
		}
	}
	return "", nil
}

// resultTexts returns all texts of a result, one per line.
func resultTexts(raw json.RawMessage) string {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return ""
	}
	var all []string
	collectTexts(v, &all)
	return strings.Join(all, "\n")
}

func collectTexts(v any, all *[]string) {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range jsondoc.SortedKeys(v) {
			if s, ok := v[k].(string); ok && (k == "text" || k == "message") {
				*all = append(*all, s)
				continue
			}
			if k != "_meta" {
				collectTexts(v[k], all)
			}
		}
	case []any:
		for _, x := range v {
			collectTexts(x, all)
		}
	}
}

// Refused reports whether the answer is an error of the protocol, a tool or HTTP.
func (a Answer) Refused() bool { return a.Kind == Failed || a.Kind == ToolError || a.Kind == HTTPError }

// Conclusive reports whether the server answered the request.
func (a Answer) Conclusive() bool {
	return a.Kind != Broken && !a.Withheld()
}

// GoesOn reports whether an answer to a question is a result or another question.
func (a Answer) GoesOn(question Answer) bool {
	return a.Kind == Completed || a.Kind == Asked && a.Class() != question.Class()
}

// Class returns the class of an answer: the keys and methods of its questions, or its kind.
func (a Answer) Class() string {
	if a.Kind != Asked {
		return string(a.Kind)
	}
	var keys []string
	for k, q := range a.Questions {
		keys = append(keys, Blank(k)+" "+q.Method)
	}
	slices.Sort(keys)
	return "asked " + strings.Join(keys, ", ")
}

// Refusal returns the class of a refusal: the parts that a client sees, with varying parts blanked.
func (a Answer) Refusal() string {
	return fmt.Sprintf("%s, status %d, code %d, %q, data %s%s", a.Kind, a.Status, a.Code, Blank(a.Message), Blank(string(a.Data)), a.telling())
}

// tellingHeader matches the names of headers that may reveal the cause of an error.
var tellingHeader = regexp.MustCompile(`(?i)error|reason|cause|detail|debug`)

// telling returns the headers of an answer that may reveal its cause.
func (a Answer) telling() string {
	var all []string
	if a.Exchange != nil {
		for _, name := range jsondoc.SortedKeys(a.Exchange.Headers) {
			if tellingHeader.MatchString(name) {
				all = append(all, fmt.Sprintf(", %s %q", name, Blank(a.Exchange.Header(name))))
			}
		}
	}
	return strings.Join(all, "")
}

// String returns a description of an answer for one line of evidence.
func (a Answer) String() string {
	switch a.Kind {
	case Completed:
		return fmt.Sprintf("completed %s", Short(a.Text, 120))
	case Asked:
		return a.Class()
	case Failed:
		return fmt.Sprintf("refused with %d %s", a.Code, Short(a.Message, 120))
	case ToolError:
		return fmt.Sprintf("error of the tool %s", Short(a.Message, 120))
	case HTTPError:
		return fmt.Sprintf("HTTP status %d", a.Status)
	case Broken:
		return a.silence()
	default:
		return string(a.Kind)
	}
}

// silence returns the reason why there is no answer.
func (a Answer) silence() string {
	dial, ok := errors.AsType[*net.OpError](a.Cause)
	switch {
	case ok && dial.Op == "dial":
		where := ""
		if dial.Addr != nil { // the name was resolved
			where = " at " + dial.Addr.String()
		}
		return fmt.Sprintf("no server answers%s: %v", where, rootCause(dial.Err))
	case errors.Is(a.Cause, context.DeadlineExceeded) && a.Exchange != nil:
		return fmt.Sprintf("no answer after %v", a.Exchange.Took.Round(100*time.Millisecond))
	case a.Status == 0:
		return fmt.Sprintf("no answer: %v", a.Cause)
	default:
		return fmt.Sprintf("no answer (status %d): %v", a.Status, a.Cause)
	}
}

// rootCause returns the innermost of wrapped errors.
func rootCause(err error) error {
	for next := err; next != nil; next = errors.Unwrap(next) {
		err = next
	}
	return err
}

// Advice returns a hint if the address may be wrong or the server requires credentials.
func (a Answer) Advice() string {
	if a.Exchange == nil {
		return ""
	}
	if a.Exchange.Err != nil {
		if _, ok := errors.AsType[tls.RecordHeaderError](a.Exchange.Err); ok {
			return "; the server does not speak TLS: try http"
		}
		return ""
	}
	where := a.Exchange.Header("Location")
	switch status := a.Exchange.Status; {
	case status >= 300 && status < 400 && where != "":
		return fmt.Sprintf("; it redirects to %s, which is not followed", Short(where, 120))
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return "; it wants valid credentials: give them with --header or --header-file"
	case status == http.StatusNotFound || status == http.StatusMethodNotAllowed:
		return "; want the URL of its MCP endpoint"
	case strings.HasPrefix(a.Exchange.Header("Content-Type"), "text/html"):
		return "; it answers with HTML: want the URL of its MCP endpoint"
	}
	return ""
}

// Succeeded reports whether the answer is a completion or a question.
func (a Answer) Succeeded() bool { return a.Kind == Completed || a.Kind == Asked }

// Withheld reports whether the request was not sent, or met a rate limit.
func (a Answer) Withheld() bool { return a.Kind == NoBudget || a.Kind == Throttled }

// HasState reports whether the answer has a state that is not empty.
func (a Answer) HasState() bool { return a.State != nil && *a.State != "" }

// LastMessage returns the last message of the answer, or nil.
func (a Answer) LastMessage() []byte {
	if a.Exchange == nil || len(a.Exchange.Messages) == 0 {
		return nil
	}
	return a.Exchange.Messages[len(a.Exchange.Messages)-1]
}

// Pushes reports whether the server sent a question in the stream of the response.
func (a Answer) Pushes() bool {
	return a.Exchange != nil && slices.ContainsFunc(a.Exchange.Messages, IsQuestion)
}

// Contains reports whether the body of an answer contains a text.
func (a Answer) Contains(text string) bool {
	return a.Exchange != nil && bytes.Contains(a.Exchange.Body, []byte(text))
}

// OffersIn returns the offers of a page and the cursor of the next page.
func OffersIn(a Answer, member string) (page []Offer, next string) {
	m := jsondoc.Members(a.Result)
	_ = json.Unmarshal(m[member], &page) // empty if it is of another type
	_ = json.Unmarshal(m["nextCursor"], &next)
	return page, next
}

// QuestionTexts returns the messages of all questions, one per line and blanked.
func (a Answer) QuestionTexts() string {
	var all []string
	for _, q := range jsondoc.InOrder(a.Questions) {
		all = append(all, Blank(q.Params.Message))
	}
	return strings.Join(all, "\n")
}

// ShownTexts returns the texts that a user sees, and completions.
func (a Answer) ShownTexts() string {
	all := append(a.Completions(), a.Text, a.Message)
	for _, q := range jsondoc.InOrder(a.Questions) {
		all = append(all, q.Params.Message)
	}
	return strings.Join(all, "\n")
}

// VersionOf returns the revision in a result of initialize, or "".
func VersionOf(a Answer) string {
	version, _ := jsondoc.Text(jsondoc.At(a.Result, "protocolVersion"))
	return version
}

// BodyOf returns the body of the request that an answer belongs to.
func BodyOf(a Answer) []byte {
	if a.Exchange == nil {
		return nil
	}
	if _, body, ok := strings.Cut(string(a.Exchange.Sent), "\r\n\r\n"); ok {
		return []byte(body)
	}
	return a.Exchange.Sent
}

// Served reports whether the answer is a result.
func Served(a Answer) bool { return a.Kind == Completed || a.Kind == Asked || a.Kind == ToolError }

// varyingText matches the parts of texts that differ between equal requests: numbers, times, and
// hexadecimal identifiers.
var varyingText = regexp.MustCompile(`(?i)\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b|\b[0-9a-f]*[0-9][0-9a-f]*\b`)

// Blank returns a text with its varying parts replaced by #.
func Blank(text string) string { return varyingText.ReplaceAllString(text, "#") }

// SameWords reports whether two results have the same text but for the parts that vary.
func (a Answer) SameWords(other Answer) bool { return Blank(a.Text) == Blank(other.Text) }

// Words returns the runs of letters and digits in a text.
func Words(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// HasWord reports whether a text has a word between other characters than letters and digits.
func HasWord(text, word string) bool {
	inWord := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }
	for from := 0; from <= len(text); {
		i := strings.Index(text[from:], word)
		if i < 0 {
			return false
		}
		start := from + i
		before, _ := utf8.DecodeLastRuneInString(text[:start]) // RuneError at the start
		after, _ := utf8.DecodeRuneInString(text[start+len(word):])
		if !inWord(before) && !inWord(after) {
			return true
		}
		from = start + 1
	}
	return false
}

// digitRun matches the digits of a word.
var digitRun = regexp.MustCompile(`\pN+`)

// ShowsValue reports whether a text has a value as a word. A number may stand with letters, such as a
// unit, but not with other digits: a random identifier contains most short numbers.
func ShowsValue(text, value string) bool {
	if HasWord(text, value) {
		return true
	}
	return digitRun.FindString(value) == value && slices.ContainsFunc(Words(text), func(word string) bool {
		all := digitRun.FindAllString(word, -1)
		return len(all) == 1 && all[0] == value
	})
}

// Short quotes the first n bytes of a text, in ASCII.
func Short(text string, n int) string {
	if len(text) > n {
		return fmt.Sprintf("%+q... (%d bytes)", text[:n], len(text))
	}
	return fmt.Sprintf("%+q", text)
}

// Completions returns the values of a result of completion/complete.
func (a Answer) Completions() []string {
	var r struct {
		Completion struct{ Values []string }
	}
	_ = json.Unmarshal(a.Result, &r) // empty if it is of another type
	return r.Completion.Values
}

// SetCookies returns the cookies that the answer sets, as a Cookie header value.
func (a Answer) SetCookies() string {
	var pairs []string
	if a.Exchange != nil {
		for _, cookie := range a.Exchange.Headers["Set-Cookie"] {
			pair, _, _ := strings.Cut(cookie, ";")
			pairs = append(pairs, pair)
		}
	}
	return strings.Join(pairs, "; ")
}
