package sessions

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/tokens"
	"sealab/internal/rawmcp"
)

// idChecks are the checks of the ids of sessions.
var idChecks = []review.Check{
	{
		ID: "S-ID", Name: "session ids that can be guessed", Over: "http", Era: "legacy", Severity: review.Warning, Category: "security",
		Sent: "initialize eight times",
		Want: "issues different ids of at least 16 visible ASCII characters that do not follow from a counter or " +
			"the time",
		Source: oldTransportSpec,
		Impact: "an attacker guesses the sessions of other users",
		Fix:    "draw 16 random bytes for each id",
		Run:    checkSessionIDs,
	},
	{
		ID: "S-MISSING", Name: "a session id that the server did not issue", Over: "http", Era: "legacy", Severity: review.Warning, Category: "security",
		Sent: "tools/list without a session id; with made-up ids and names such as constructor; with parts, " +
			"extensions and other spellings of an issued id; with two ids; with the id only in the URL, in a cookie, or in the cookies that the " +
			"server sets; GET with a made-up id",
		Want:   "answers status 400 or 404, and reveals no session id",
		Source: oldTransportSpec,
		Impact: "a client uses a session without its id; or ids remain in logs and browser histories",
		Fix:    "look up the exact id of the Mcp-Session-Id header, and answer 404 if it is unknown",
		Run:    checkUnknownSessions,
	},
	{
		ID: "S-END", Name: "a session that continues after DELETE", Over: "http", Era: "legacy", Severity: review.Critical, Category: "security",
		Sent: "DELETE of a session, then in it tools/list, a call of an unknown tool and GET; then a new session; " +
			"with --effects and --second a word to a tool in a session of the first user, DELETE, then read-only " +
			"tools in sessions of the second user that were opened before and afterwards",
		Want:   "answers DELETE with status 405, or answers 404 afterwards; does not issue the id again; shows no word of the ended session",
		Source: oldTransportSpec,
		Impact: "a user cannot end a session, or another user reads what it kept",
		Fix:    "delete the session and its data on DELETE, and do not reuse its id",
		Run:    checkEndedSession,
	},
}

// minSessionBits is the least estimated entropy of session IDs. For eight IDs of 64 random bits the
// estimate is 56 to 64.
const minSessionBits = 56

// timeUUID matches a UUID of a version that consists of the time and the machine (RFC 9562).
var timeUUID = regexp.MustCompile(`(?i)[0-9a-f]{8}-[0-9a-f]{4}-[126][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}`)

func checkSessionIDs(t *review.T) {
	var ids []string
	var before, after time.Time
	for range 8 {
		before = t.Options.Clock.Now()
		a := t.Client.Initialize(t.Context, client.Older, client.FirstUser)
		if after = t.Options.Clock.Now(); a.Kind != client.Completed {
			t.Skip("initialize: %v", a)
			return
		}
		t.Trials++
		if id := a.Exchange.Header("Mcp-Session-Id"); id != "" {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return // the server is stateless
	}
	last := ids[len(ids)-1]
	inOrder := slices.Clone(ids)
	slices.Sort(ids)
	bits := tokens.VaryingBits(ids)
	issue := ""
	switch {
	case tokens.CountUp(inOrder):
		issue = "ids count up"
	case len(slices.Compact(slices.Clone(ids))) < len(ids):
		issue = "two sessions have one id"
	case slices.ContainsFunc(ids, func(id string) bool { return len(id) < 16 }):
		issue = "an id has fewer than 16 characters"
	case slices.ContainsFunc(ids, func(id string) bool {
		return strings.ContainsFunc(id, func(r rune) bool { return r < '!' || r > '~' })
	}):
		issue = "an id has other characters than visible ASCII"
	case timeUUID.MatchString(ids[0]) && timeUUID.MatchString(last):
		issue = "ids are UUIDs of the time"
	case bits < minSessionBits:
		issue = fmt.Sprintf("ids differ in %.0f bits", bits)
	default:
		if text := t.HashedIn(last, before, after); text != "" {
			issue = "an id is the hash of " + text
		}
	}
	if issue != "" {
		t.Refute(review.Finding{Case: "ids", Severity: review.Warning, Issue: issue, Evidence: strings.Join(ids, ", "), Want: "random ids", Got: issue})
	}
}

// An unissuedID is an ID that the server did not issue.
type unissuedID struct {
	name, id string
	severity review.Severity
}

// unissuedIDs returns IDs other than that of a session: none, made-up ones, and parts and spellings
// of the ID.
func unissuedIDs(id string) []unissuedID {
	half := len(id) / 2
	all := []unissuedID{
		{"no session", "", review.Warning}, {"a made-up session", madeUpID(id), review.Warning}, {"a made-up UUID", "6ba7b814-9dad-41d1-80b4-00c04fd430c8", review.Warning},
		{"the name of a built-in member", "constructor", review.Warning}, {"the name of another built-in member", "__class__", review.Warning},
		{"the first half of an id", id[:half], review.Warning}, {"the first half of an id and made-up characters", id[:half] + madeUpID(id[half:]), review.Warning},
		{"the second half of an id behind made-up characters", madeUpID(id[:half]) + id[half:], review.Warning},
		{"an id behind a made-up one and a comma", madeUpID(id) + ", " + id, review.Warning}, {"an id before a comma and a made-up one", id + "," + madeUpID(id), review.Warning},
		{"an id with more characters", id + "0", review.Suggestion}, {"an id in quotes", strconv.Quote(id), review.Suggestion},
	}
	if swapped := tokens.SwapCase(id); swapped != id {
		severity := review.Suggestion // the case may be irrelevant, as in a UUID
		if strings.ToLower(id) != id && strings.ToUpper(id) != id {
			severity = review.Warning
		}
		all = append(all, unissuedID{"an id in the other case", swapped, severity})
	}
	return slices.DeleteFunc(all, func(o unissuedID) bool { return o.id == id })
}

// sessionParameters are URL parameters from which careless servers take IDs.
var sessionParameters = []string{"sessionId", "session_id", "sid", "mcp-session-id"}

func checkUnknownSessions(t *review.T) {
	s, ok := openSessionWithID(t)
	if !ok {
		return
	}
	for _, o := range unissuedIDs(s.ID) {
		other := s
		other.ID = o.id
		a := t.Tried(inSession(t, other, client.FirstUser, t.Client.ListBody()))
		if a.Kind == client.Completed {
			t.Refute(review.Finding{Case: o.name, Severity: o.severity,
				Issue:    o.name + ": a request in the session " + client.Short(o.id, 60) + ", which was not given, is served",
				Evidence: review.ExchangeText(a), Want: "400 or 404", Got: "served"})
			return
		}
		if slices.ContainsFunc(t.Client.SessionIDs, func(id string) bool { return !strings.Contains(o.id, id) && a.Contains(id) }) {
			t.Refute(review.Finding{Case: "an id in an answer", Severity: review.Critical, Issue: "the answer to " + o.name + " holds the id of a session",
				Evidence: review.SentText(a.Exchange) + " -> " + client.Short(string(a.Exchange.Body), 300), Want: "no id", Got: "an id"})
			return
		}
	}
	for _, name := range sessionParameters {
		c, without := t.Client, s
		without.ID = ""
		e := c.Raw(t.Context, rawmcp.Request{Verb: "POST", Path: c.PathWith(name, s.ID), Headers: t.Client.SessionHeaders(without, client.FirstUser), Body: []byte(t.Client.ListBody()), Done: client.IsAnswer(c.ID)})
		a := client.ReadAnswer(e, c.ID)
		t.Trials++
		if a.Kind == client.Completed {
			t.Refute(review.Finding{Case: "an id in the URL", Severity: review.Warning,
				Issue:    "the parameter " + name + " of the URL names the session, so that ids stand in logs and histories",
				Evidence: review.SentText(e) + " -> " + a.String(), Want: "400 or 404", Got: "served"})
			return
		}
	}
	var cookies []string
	for _, name := range append([]string{"Mcp-Session-Id", "mcp_session_id", "session"}, sessionParameters...) {
		cookies = append(cookies, name+"="+s.ID)
	}
	ownCookies := s.Answer.SetCookies()
	made, none := s, s
	made.ID, none.ID = madeUpID(s.ID), ""
	for _, c := range []struct {
		name    string
		session client.Session
		header  rawmcp.Header
	}{{"an id in a cookie", none, rawmcp.Header{Name: "Cookie", Value: strings.Join(cookies, "; ")}},
		{"a cookie that the server sets", none, rawmcp.Header{Name: "Cookie", Value: ownCookies}},
		{"a second header with an id", made, rawmcp.Header{Name: "Mcp-Session-Id", Value: s.ID}}} {
		a := t.Tried(t.Client.RawCall(t.Context, append(t.Client.SessionHeaders(c.session, client.FirstUser), c.header), []byte(t.Client.ListBody())))
		if a.Kind == client.Completed {
			t.Refute(review.Finding{Case: c.name, Severity: review.Warning, Issue: c.name + " names the session", Evidence: review.ExchangeText(a), Want: "400 or 404", Got: "served"})
			return
		}
	}
	if e := streamOf(t, made, client.FirstUser); e.Stream {
		t.Refute(review.Finding{Case: "the stream of a made-up session", Severity: review.Warning,
			Issue:    "GET opens the stream of a session that was not given",
			Evidence: review.SentText(e) + " -> status 200", Want: "404", Got: "200"})
	}
}

// madeUpID returns another ID of the same form.
func madeUpID(id string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= '0' && r < '9', r >= 'a' && r < 'f', r >= 'g' && r < 'z', r >= 'A' && r < 'Z' && r != 'F':
			return r + 1
		case r == '9':
			return '0'
		case r == 'f':
			return 'a'
		case r == 'z':
			return 'g'
		}
		return r
	}, id)
}

// unknownToolCall returns a call of a tool that does not exist, with the next ID.
func unknownToolCall(t *review.T) string { return requestOf(t, client.UnknownCall) }

// servesRequest reports whether a session serves a request. It tries tools/list, and a call of an
// unknown tool. The refusal of the latter must equal that in the user's live session and differ
// from that in a made-up session.
func servesRequest(t *review.T, s client.Session, as client.User, own client.Session, owner client.User) (client.Answer, bool) {
	if a := t.Tried(inSession(t, s, as, t.Client.ListBody())); a.Kind == client.Completed {
		return a, true
	}
	none := own
	none.ID = madeUpID(own.ID)
	live, dead := inSession(t, own, owner, unknownToolCall(t)), inSession(t, none, owner, unknownToolCall(t))
	b := t.Tried(inSession(t, s, as, unknownToolCall(t)))
	return b, live.Conclusive() && live.Refusal() != dead.Refusal() && b.Refusal() == live.Refusal()
}

func checkEndedSession(t *review.T) {
	s, ok := openSessionWithID(t)
	if !ok {
		return
	}
	inheritsWords(t)
	own, ok := openLiveSession(t)
	if !ok {
		return
	}
	inSession(t, s, client.FirstUser, unknownToolCall(t)) // some servers store a used session elsewhere
	e := deleteSession(t, s, client.FirstUser)
	t.Trials++
	if e.Status/100 != 2 {
		return
	}
	if a, lives := servesRequest(t, s, client.FirstUser, own, client.FirstUser); lives {
		t.Refute(review.Finding{Case: "DELETE", Severity: review.Warning, Issue: "a session goes on after DELETE was answered with success",
			Evidence: fmt.Sprintf("DELETE -> status %d; %s -> %v", e.Status, review.SentText(a.Exchange), a), Want: "404", Got: "served"})
	} else if next, ok := openLiveSession(t); ok && slices.Contains(t.Client.SessionIDs[:len(t.Client.SessionIDs)-1], next.ID) {
		t.Refute(review.Finding{Case: "the id of an ended session", Severity: review.Warning, Issue: "a new session has the id of an earlier one",
			Evidence: fmt.Sprintf("DELETE of %s, then initialize -> %s", s.ID, next.ID), Want: "a new id", Got: "an old id"})
	} else if after := streamOf(t, s, client.FirstUser); after.Stream {
		t.Refute(review.Finding{Case: "the stream after DELETE", Severity: review.Warning,
			Issue:    "the stream of a session opens after DELETE was answered with success",
			Evidence: review.SentText(after) + " -> status 200", Want: "404", Got: "200"})
	}
}

// deleteSession ends a session with the credentials of a user.
func deleteSession(t *review.T, s client.Session, as client.User) *rawmcp.Exchange {
	return t.Client.Raw(t.Context, rawmcp.Request{Verb: "DELETE", Path: t.Client.HTTP.Path(), Headers: t.Client.SessionHeaders(s, as)})
}
