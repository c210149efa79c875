package transport

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
	"sealab/internal/rawmcp"
)

// impersonationChecks is the check of users that a request names beside its credential.
var impersonationChecks = []review.Check{
	{
		ID: "A-NAME", Name: "a user named by the request instead of the credential", Over: "http", Era: "modern", Severity: review.Critical, Category: "security",
		Sent: "lists, calls that ask and, with --effects, read-only tools, with members such as user and userId in " +
			"_meta, in params and in the query, which name a made-up user and the second user; with the credential of " +
			"each user the other headers of the other one, or headers and values that the texts of the server name",
		Want:   "answers for the user of the credential",
		Source: authorizationSpec + "; CWE-639, CWE-290",
		Impact: "any user acts as any other",
		Fix:    "take the user only from the credential",
		Run:    checkNamedUsers,
	},
}

// userMembers are names of members in which careless servers look for the user.
var userMembers = []string{"user", "userId", "user_id", "username", "sub", "principal"}

// withClaim runs f while every call has members that name a user.
func withClaim(t *review.T, x client.Claim, f func()) {
	t.Client.Claim = &x
	defer func() { t.Client.Claim = nil }()
	f()
}

func checkNamedUsers(t *review.T) {
	if !requiresCredentials(t) {
		return
	}
	values := []string{"sealab-user"}
	if name := client.NameOf(t.Options.Target, client.SecondUser); name != "" {
		values = append(values, name)
	}
	for _, place := range []string{"_meta", "params", "query"} {
		for _, value := range values {
			x := client.Claim{Place: place, Value: value, Names: userMembers}
			if !t.Selected(x.Place) {
				continue
			}
			if claimBindsTokens(t, x) || claimChangesAnswers(t, x) {
				return
			}
		}
	}
	headersNameUsers(t)
}

// unreadClaim returns the claim under a name that servers do not read.
func unreadClaim(x client.Claim) client.Claim {
	x.Names = []string{"sealabNone"}
	return x
}

// claimBindsTokens mints tokens with a claim. It records a finding if they are refused without the
// claim, and tokens with an unrelated member are accepted.
func claimBindsTokens(t *review.T, x client.Claim) bool {
	if len(t.Oracles) == 0 {
		return false
	}
	o := t.Oracles[0]
	var a client.Answer
	mintedWith := func(x client.Claim) (token string) {
		withClaim(t, x, func() { token, _, _ = t.Client.Mint(t.Context, o.Flow, client.FirstUser) }) // "" if the call is refused
		return token
	}
	for range 2 {
		token, other := mintedWith(x), ""
		if token == "" {
			return false
		}
		withClaim(t, x, func() { a = t.Client.Present(t.Context, o.Flow, jsondoc.Quote(token), client.FirstUser) })
		if o.Verdict(a) != review.Accepted {
			return false
		}
		if token = mintedWith(x); token == "" {
			return false
		}
		a = t.Tried(t.Client.Present(t.Context, o.Flow, jsondoc.Quote(token), client.FirstUser))
		if o.Verdict(a) != review.Refused {
			return false
		}
		if other = mintedWith(unreadClaim(x)); other == "" || o.Verdict(t.Client.Present(t.Context, o.Flow, jsondoc.Quote(other), client.FirstUser)) != review.Accepted {
			return false
		}
	}
	t.Fault(x.Place, review.Critical, fmt.Sprintf("a member of %s such as %s names the user of a good credential", x.Place, x.Names[0]), a)
	return true
}

// claimChangesAnswers makes calls with a claim. It records a finding if an answer names the claimed
// user, twice. It must not do so without the claim or with an unrelated member.
func claimChangesAnswers(t *review.T, x client.Claim) bool {
	for _, call := range userCalls(t) {
		names := func() bool {
			a := t.Tried(t.Call(call))
			return client.Served(a) && strings.Contains(string(a.Result), x.Value)
		}
		with := func(x client.Claim) (is bool) {
			withClaim(t, x, func() { is = names() })
			return is
		}
		if with(x) && !names() && !with(unreadClaim(x)) && with(x) {
			var a client.Answer
			withClaim(t, x, func() { a = t.Call(call) })
			t.Fault(x.Place, review.Critical, fmt.Sprintf("%s answers for the user that a member of %s such as %s names", strings.TrimSpace(call.Method+" "+call.Target), x.Place, x.Names[0]), a)
			return true
		}
	}
	return false
}

// maxUserCalls is the number of calls that are made for each claim.
const maxUserCalls = 8

// userCalls returns calls whose answers may name their user: lists, a flow and, with effects,
// read-only tools.
func userCalls(t *review.T) []client.Call {
	var all []client.Call
	for _, capability := range []string{"resources", "tools", "prompts"} {
		if t.Report.Server.Has(capability) {
			all = append(all, client.Call{Method: capability + "/list"})
		}
	}
	for _, f := range t.Flows[:min(len(t.Flows), 1)] {
		all = append(all, f.Call(client.FirstUser))
	}
	for _, tool := range t.Readers() {
		all = append(all, t.FlowOf(tool).Call(client.FirstUser))
	}
	// A tool without arguments is the most likely to answer by its user.
	slices.SortStableFunc(all, func(a, b client.Call) int { return len(a.Arguments) - len(b.Arguments) })
	return all[:min(len(all), maxUserCalls)]
}

// Headers and texts of servers whose users belong to organizations, teams or the like.
var (
	headerInText = regexp.MustCompile(`\bX-[A-Z][A-Za-z]*(?:-[A-Za-z]+)*`)
	wordInText   = regexp.MustCompile(`[\pL\d_-]{2,40}`)
	// otherHeader matches names of headers that hold secrets, or wishes for the form of an answer.
	otherHeader = regexp.MustCompile(`(?i)key|token|auth|secret|cookie|session|sign|passw|lang|locale|zone|region|currency|unit|format|version|trace|request|theme|forwarded|-ip$`)
	// callersText matches texts of tools whose answers belong to their caller.
	callersText = regexp.MustCompile(`(?i)(?:\b|_)(?:your|my|own)(?:\b|_)`)
)

// The numbers of headers, values and calls that are tried.
const (
	maxNamedHeaders = 3
	maxNamedValues  = 16
	maxPrivateCalls = 2
)

// A privateCall is a call with another answer for each user, that is the same each time.
type privateCall struct {
	client.Call
	texts map[client.User]string
}

// privateCalls returns the first calls with an answer of its own for each user.
func privateCalls(t *review.T) []privateCall {
	var all []privateCall
	for _, call := range userCalls(t) {
		texts := map[client.User]string{}
		for _, as := range client.BothUsers {
			if text := servedText(t, call, as); text == servedText(t, call, as) {
				texts[as] = text
			}
		}
		if texts[client.FirstUser] != "" && texts[client.SecondUser] != "" && texts[client.FirstUser] != texts[client.SecondUser] {
			all = append(all, privateCall{call, texts})
		}
	}
	return all[:min(len(all), maxPrivateCalls)]
}

// servedText returns the text of an answer to a user, or "" if the call is not served.
func servedText(t *review.T, call client.Call, as client.User) string {
	a := t.Tried(t.Call(call.By(as)))
	switch {
	case !client.Served(a):
		return ""
	case call.Method == "tools/call":
		return a.ShownTexts()
	default:
		return string(a.Result)
	}
}

// showsOther reports whether a user gets the answer of the other one with a header.
func (p privateCall) showsOther(t *review.T, as, other client.User, h rawmcp.Header) bool {
	own := t.Client.Target
	defer func() { t.Client.Target = own }()
	headers := &t.Client.Target.Headers
	if as == client.SecondUser {
		headers = &t.Client.Target.Second
	}
	kept := slices.DeleteFunc(slices.Clone(*headers), func(given rawmcp.Header) bool { return strings.EqualFold(given.Name, h.Name) })
	*headers = append(kept, h)
	return servedText(t, p.Call, as) == p.texts[other]
}

// headersNameUsers makes calls with the credential of one user and a header of the other one, or one that
// texts of the server name. It records a finding if each user gets the answer of the other, twice.
func headersNameUsers(t *review.T) {
	if len(t.Options.Target.Second) == 0 || !t.Selected("headers") {
		return
	}
	calls := privateCalls(t)
	for _, p := range calls {
		given := givenHeaders(t)
		for _, name := range jsondoc.SortedKeys(given) {
			if reportsHeader(t, p, review.Critical, name, given[name][:1], given[name][1:]) {
				return
			}
		}
	}
	named := headersIn(t, serverText(t))
	for _, p := range calls {
		if !slices.ContainsFunc(t.Report.Server.Tools, func(o client.Offer) bool { return o.Name == p.Target && callersText.MatchString(o.About()) }) {
			continue
		}
		for _, name := range jsondoc.SortedKeys(named) {
			if reportsHeader(t, p, review.Warning, name, named[name], named[name]) {
				return
			}
		}
	}
}

// reportsHeader records a finding if one of the values of a header gives the first user the answer of the
// second, and one of the others gives the second user that of the first. Neither an unread header nor a
// made-up value may do so.
func reportsHeader(t *review.T, p privateCall, severity review.Severity, name string, values, others []string) bool {
	find := func(as, other client.User, values []string) int {
		return slices.IndexFunc(values, func(v string) bool { return p.showsOther(t, as, other, rawmcp.Header{Name: name, Value: v}) })
	}
	i := find(client.FirstUser, client.SecondUser, values)
	if i < 0 || p.showsOther(t, client.FirstUser, client.SecondUser, rawmcp.Header{Name: "X-Sealab-None", Value: values[i]}) ||
		p.showsOther(t, client.FirstUser, client.SecondUser, rawmcp.Header{Name: name, Value: "sealab-none"}) ||
		find(client.SecondUser, client.FirstUser, others) < 0 || find(client.FirstUser, client.SecondUser, values[i:i+1]) < 0 {
		return false
	}
	t.Refute(review.Finding{Case: "headers", Severity: severity, Issue: fmt.Sprintf("the header %s gives each user the answer of the other", name),
		Evidence: fmt.Sprintf("%s %s with the credential of the first user and %s: %s -> %s", p.Method, p.Target, name, values[i], client.Short(p.texts[client.SecondUser], 200)),
		Want:     "the answer of the first user, or a refusal", Got: "the answer of the second user"})
	return true
}

// givenHeaders returns the headers, other than credentials, in which the users differ: the value of the
// second user and that of the first. There is none if the users differ in one header alone.
func givenHeaders(t *review.T) map[string][]string {
	all := map[string][]string{}
	differ := 0
	for _, h := range t.Options.Target.Headers {
		i := slices.IndexFunc(t.Options.Target.Second, func(o rawmcp.Header) bool { return strings.EqualFold(o.Name, h.Name) && o.Value != h.Value })
		if i < 0 {
			continue
		}
		if differ++; !otherHeader.MatchString(h.Name) {
			all[h.Name] = []string{t.Options.Target.Second[i].Value, h.Value}
		}
	}
	if differ < 2 {
		return nil
	}
	return all
}

// serverText returns the instructions of the server and the texts of its tools.
func serverText(t *review.T) string {
	all := []string{t.Instructions()}
	for _, o := range t.Report.Server.Tools {
		all = append(all, o.About()+" "+string(o.Input))
	}
	return strings.Join(all, "\n")
}

// headersIn returns headers that a text names and the users do not send, each with the words behind it.
func headersIn(t *review.T, text string) map[string][]string {
	all := map[string][]string{}
	for _, at := range headerInText.FindAllStringIndex(text, -1) {
		name := text[at[0]:at[1]]
		given := slices.ContainsFunc(t.Options.Target.Headers, func(h rawmcp.Header) bool { return strings.EqualFold(h.Name, name) })
		if words := wordInText.FindAllString(text[at[1]:], maxNamedValues); len(all) < maxNamedHeaders && len(words) > 0 && !given && !otherHeader.MatchString(name) {
			all[name] = words
		}
	}
	return all
}
