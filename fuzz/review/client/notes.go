package client

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"mime"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"sealab/fuzz/review/jsondoc"
	"sealab/internal/rawmcp"
)

// Notes are facts about all exchanges, for checks to judge later.
type Notes struct {
	Ran   int // tools that ran to their end
	Ended int // processes that ended by themselves
	Last  *rawmcp.Exchange
	Lost  *rawmcp.Exchange // the first exchange of a check without a response
	// Codes maps each error code to its first message. Trace is the first error that reveals
	// internals.
	Codes      map[int]string
	Trace      string
	Repeats    string // the first result or question with the credential of its request
	SessionIDs []string
	// Environment is the first answer that shows the environment of the server.
	Environment string
	// Minted maps each token to the questions beside it. Newest are the questions beside the last
	// token.
	Minted map[string]map[string]Question
	Newest map[string]Question
	// Given holds each state that came with a question.
	Given  map[string]bool
	Notice string            // the longest run of notifications that were not requested
	Odd    map[string]string // malformed responses by fault
	// Uncached is the first result whose members for caches are malformed.
	Uncached   Answer
	UncachedBy string
	// Shared is the first answer for one user that shared caches may store.
	Shared   Answer
	SharedBy string
	// Repeated lists the arguments that are repeated in headers, by tool.
	Repeated map[string][]RepeatedArgument

	noisy int            // the length of Notice
	keys  map[string]int // keys of questions, with the number of questions that use each
	// sentIDs and gotIDs count requests and responses by ID, over standard streams.
	sentIDs, gotIDs map[string]int
}

func newNotes() Notes {
	return Notes{
		Codes: map[int]string{}, Minted: map[string]map[string]Question{}, Given: map[string]bool{}, Odd: map[string]string{},
		Repeated: map[string][]RepeatedArgument{}, keys: map[string]int{}, sentIDs: map[string]int{}, gotIDs: map[string]int{},
	}
}

// note counts tools that ran to their end and records error codes and faults.
func (c *Client) note(call Call, a Answer) {
	if call.Method == "tools/call" && a.Kind == Completed {
		c.Ran++
	}
	for key := range a.Questions {
		c.keys[key]++
	}
	c.NoteState(a)
	c.NoteCode(call.Method, a)
	c.noteEnvironment(call, a)
	if c.Repeats == "" && c.repeatsCredential(a) {
		c.Repeats = fmt.Sprintf("%s -> %v, with %s", strings.TrimSpace(call.Method+" "+call.Target), a, UsersCredential)
	}
	if fault := c.faultOf(call, a); fault != "" && c.Odd[fault] == "" {
		c.Odd[fault] = Short(string(a.Exchange.Sent), 300) + " -> " + Short(string(a.LastMessage()), 300)
	}
	if a.Kind == Completed && c.Uncached.Kind == "" && misleadsCaches(a.Result) {
		c.Uncached, c.UncachedBy = a, call.Method
	}
	if c.Shared.Kind == "" && a.isShared() {
		c.Shared, c.SharedBy = a, call.Method
	}
}

// NoteState records the state of a question.
func (c *Client) NoteState(a Answer) {
	if a.HasState() {
		c.Given[*a.State] = true
	}
}

// repeatsCredential reports whether a result or a question contains a credential that only the
// headers of its request contain.
func (c *Client) repeatsCredential(a Answer) bool {
	if !a.Succeeded() {
		return false
	}
	_, body, _ := bytes.Cut(a.Exchange.Sent, []byte("\r\n\r\n"))
	return c.Target.RepeatedIn(string(a.Exchange.Body)) && !bytes.Contains(body, []byte(maskedCredential)) && !bytes.Contains(body, []byte(maskedHeader))
}

// faultOf returns the fault in the form of an answer of the newest revision, or "". A separate
// check covers lists.
func (c *Client) faultOf(call Call, a Answer) string {
	switch response := jsondoc.Members(a.LastMessage()); {
	case c.Older != "" || a.LastMessage() == nil:
	case slices.Contains(nonListMethods, call.Method) && a.IsUntyped():
		return Untyped
	case a.Kind == Failed && (a.Code == -32601 || a.Code == -32602) && string(response["id"]) == "null" && response["error"] != nil:
		return Unnamed
	}
	return ""
}

// IsUntyped reports whether a completion lacks resultType, which the newest revision requires.
func (a Answer) IsUntyped() bool {
	return a.Kind == Completed && jsondoc.Members(a.Result)["resultType"] == nil
}

// nonListMethods are methods whose results are not lists.
var nonListMethods = []string{"tools/call", "prompts/get", "resources/read", "completion/complete"}

// isShared reports whether Cache-Control allows shared caches to store an answer for one user. Such
// an answer has cacheScope private, or is a question with a state.
func (a Answer) isShared() bool {
	if a.Exchange == nil || string(jsondoc.Members(a.Result)["cacheScope"]) != `"private"` && (a.Kind != Asked || a.State == nil) {
		return false
	}
	public := false
	for _, directive := range strings.Split(strings.ToLower(strings.Join(a.Exchange.Headers["Cache-Control"], ",")), ",") {
		switch name, value, _ := strings.Cut(strings.TrimSpace(directive), "="); {
		case name == "private", name == "no-store", name == "no-cache", name == "max-age" && strings.Trim(value, `0"`) == "":
			return false
		case name == "public":
			public = true
		}
	}
	return public
}

// misleadsCaches reports whether a result has a malformed ttlMs or cacheScope.
func misleadsCaches(result json.RawMessage) bool {
	m := jsondoc.Members(result)
	var ttl float64
	scope := string(m["cacheScope"])
	return m["ttlMs"] != nil && (json.Unmarshal(m["ttlMs"], &ttl) != nil || ttl < 0) || scope != "" && scope != `"public"` && scope != `"private"`
}

// NoteCode records the code of an error with its first message, and the first error that reveals
// internals.
func (c *Client) NoteCode(method string, a Answer) {
	if a.Kind == Failed && c.Codes[a.Code] == "" {
		c.Codes[a.Code] = fmt.Sprintf("%s -> %v", method, a)
	}
	c.NoteTrace(method, a)
}

// NoteTrace records the first error that reveals internals.
func (c *Client) NoteTrace(method string, a Answer) {
	if a.Kind != Completed && a.Kind != Asked && a.Exchange != nil && c.Trace == "" {
		if c.Target.RepeatedIn(string(a.Exchange.Body)) {
			c.Trace = fmt.Sprintf("%s -> %v, with %s", method, a, UsersCredential)
		} else if name := c.Target.variableIn(string(a.Exchange.Body), string(a.Exchange.Sent)); name != "" {
			c.Trace = fmt.Sprintf("%s -> %v, with the variable %s of the environment", method, a, name)
		} else if found := a.insides(); found != nil {
			c.Trace = fmt.Sprintf("%s -> %v, with %s", method, a, Short(string(found), 80))
		}
	}
}

// Keep masks the credentials in an exchange and records it.
func (c *Client) Keep(e *rawmcp.Exchange) {
	e.Sent, c.Last = c.Target.Masked(e.Sent), e
	if c.Lost == nil && c.HTTP != nil && e.Status == 0 {
		c.Lost = e
	}
	c.hasten(e)
	c.firstDocument(e)
	c.noteNotices(e)
	c.noteAnswers(e)
	if c.record != nil {
		kept := *e
		kept.Received = c.Target.Masked(e.Received)
		c.record(&kept)
	}
}

// noteNotices records the longest run of logs and progress beside an answer, and the first response
// of each malformed kind. A review asks for logs and progress only in calls with Progress, which
// are skipped here.
func (c *Client) noteNotices(e *rawmcp.Exchange) {
	if c.Older == "" && !bytes.Contains(e.Sent, []byte(`"`+MetaVersion+`":"`+Modern+`"`)) || bytes.Contains(e.Sent, []byte(`"progressToken":`)) {
		return
	}
	var one string
	n := 0
	for i, m := range e.Messages {
		all := jsondoc.Members(m)
		if fault := messageFault(e, i, all); fault != "" && c.Odd[fault] == "" {
			c.Odd[fault] = Short(string(e.Sent), 300) + " -> " + Short(string(m), 300)
		}
		var method string
		if _ = json.Unmarshal(all["method"], &method); method == "notifications/message" || method == "notifications/progress" {
			n++
			one = cmp.Or(one, Short(string(m), 200))
		}
	}
	if n > c.noisy {
		c.noisy, c.Notice = n, fmt.Sprintf("%s -> %d, the first %s", Short(string(e.Sent), 300), n, one)
	}
}

// The faults in the form of responses.
const (
	BothMembers   = "a response has both a result and an error"
	Followed      = "a response is followed by more data"
	InPieces      = "a response is cut into several events"
	Misnamed      = "a response has another id than its request"
	AnsweredTwice = "a request is answered twice"
	NoNumbers     = "a response has NaN or Infinity, which JSON has not"
	OtherCoding   = "a response is not UTF-8"
	TypedAsOther  = "a response is neither of the type JSON nor a stream"
	Untyped       = "a result has no resultType"
	Unnamed       = "an error of a request that was read has the id null"
	NamedEvent    = "a response stands in an event of another name than message, which clients pass over"
)

// messageFault returns the fault in the form of the i-th message of an exchange, or "". Only
// responses have such faults.
func messageFault(e *rawmcp.Exchange, i int, response map[string]json.RawMessage) string {
	media, _, _ := mime.ParseMediaType(e.Header("Content-Type"))
	switch {
	case i < len(e.Names) && e.Names[i] != "" && e.Names[i] != "message" && (response["result"] != nil || response["error"] != nil):
		return NamedEvent
	case response["result"] != nil && response["error"] != nil:
		return BothMembers
	case e.Cut:
		return InPieces
	case e.Mended:
		return NoNumbers
	case (response["result"] != nil || response["error"] != nil) && !utf8.Valid(e.Body):
		return OtherCoding
	case (response["result"] != nil || response["error"] != nil) && e.Status != 0 && media != "application/json" && media != "text/event-stream":
		return TypedAsOther
	}
	return ""
}

// ofAnotherID reads the only message of an exchange as the answer, if it is a response with another
// ID. It records the fault.
func (c *Client) ofAnotherID(a Answer) Answer {
	m := jsondoc.Members(a.Exchange.Messages[0])
	if m["result"] == nil && m["error"] == nil || m["id"] == nil {
		return a
	}
	if c.Odd[Misnamed] == "" {
		c.Odd[Misnamed] = Short(string(a.Exchange.Sent), 600) + " -> " + Short(string(a.Exchange.Messages[0]), 300)
	}
	renamed := *a.Exchange
	renamed.Messages = [][]byte{jsondoc.Object(jsondoc.With(m, "id", json.RawMessage(fmt.Sprint(c.ID))))}
	return ReadAnswer(&renamed, c.ID)
}

// firstDocument drops the data after a JSON-RPC response from the messages of an exchange. It
// records the first response that is followed by more data.
func (c *Client) firstDocument(e *rawmcp.Exchange) {
	if e.Status == 0 || e.Stream || len(e.Messages) != 1 || json.Valid(e.Body) {
		return
	}
	first, rest, ok := jsondoc.Prefix(bytes.TrimSpace(e.Body))
	if !ok || jsondoc.Members(first)["jsonrpc"] == nil {
		return
	}
	e.Messages = [][]byte{first}
	if c.Odd[Followed] == "" {
		c.Odd[Followed] = Short(string(e.Sent), 300) + " -> " + Short(string(rest), 100)
	}
}

// sentID matches the ID of a request.
var sentID = regexp.MustCompile(`"id":(\d+)`)

// SentID reports whether a request with an ID was sent over standard streams.
func (c *Client) SentID(id string) bool { return c.sentIDs[id] > 0 }

// noteAnswers records the first response whose ID has been answered more often than it was sent.
// Over HTTP it counts within one exchange, over standard streams across all of them.
func (c *Client) noteAnswers(e *rawmcp.Exchange) {
	sent, got := c.sentIDs, c.gotIDs
	if c.HTTP != nil {
		sent, got = map[string]int{}, map[string]int{}
	}
	for _, id := range sentID.FindAllSubmatch(e.Sent, -1) {
		sent[string(id[1])]++
	}
	for _, m := range e.Messages {
		all := jsondoc.Members(m)
		id := string(all["id"])
		if _, err := strconv.Atoi(id); err != nil || sent[id] == 0 || all["method"] != nil || all["result"] == nil && all["error"] == nil {
			continue
		}
		if got[id]++; got[id] > sent[id] && c.Odd[AnsweredTwice] == "" {
			c.Odd[AnsweredTwice] = "again: " + Short(string(m), 300)
		}
	}
}
