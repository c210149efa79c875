package review

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// impersonating is the check of users that a request names beside its credential.
var impersonating = []Check{
	{ID: "A-NAME", Name: "a user that the request names", Over: "http", Era: "modern", Severity: Critical, Category: "security",
		Sent: "lists, calls that ask and, with --effects, tools that read only with members such as user and userId in _meta, in params and in the query, that name a made-up user and the second one", Want: "the answer for the user of the credential", Source: authorization + "; CWE-639, CWE-290",
		Impact: "each user acts as every other", Fix: "take the user from the credential alone", Run: namedUsers},
}

// userMembers are the names by which careless servers find the user in a request.
var userMembers = []string{"user", "userId", "user_id", "username", "sub", "principal"}

// A userClaim are members of every request that name a user.
type userClaim struct {
	place string // _meta, params or query
	value string
	names []string
}

// body adds the members to a request.
func (x *userClaim) body(body []byte) []byte {
	if x == nil || x.place == "query" {
		return body
	}
	var all strings.Builder
	for _, name := range x.names {
		fmt.Fprintf(&all, "%s:%s,", quote(name), quote(x.value))
	}
	begin := `"` + x.place + `":{`
	return []byte(strings.Replace(string(body), begin, begin+all.String(), 1))
}

// path adds the members to the path of a request.
func (x *userClaim) path(path string) string {
	if x == nil || x.place != "query" {
		return path
	}
	query := url.Values{}
	for _, name := range x.names {
		query.Set(name, x.value)
	}
	separator := "?"
	if strings.Contains(path, "?") {
		separator = "&"
	}
	return path + separator + query.Encode()
}

// claiming runs f while every call has members that name a user.
func (t *T) claiming(x userClaim, f func()) {
	t.r.client.claim = &x
	defer func() { t.r.client.claim = nil }()
	f()
}

func namedUsers(t *T) {
	if !t.wanting() {
		return
	}
	values := []string{"sealab-user"}
	if name := nameOf(t.r.opts.Target, second); name != "" {
		values = append(values, name)
	}
	for _, place := range []string{"_meta", "params", "query"} {
		for _, value := range values {
			x := userClaim{place, value, userMembers}
			if t.only != "" && t.only != x.place {
				continue
			}
			if t.namedInTokens(x) || t.namedInAnswers(x) {
				return
			}
		}
	}
}

// unlike returns the claim under names that no server reads.
func (x userClaim) unlike() userClaim {
	x.names = []string{"sealabNone"}
	return x
}

// namedInTokens mints tokens with a claim. It refutes if they are refused without it, and
// those with a member that tells nothing are accepted.
func (t *T) namedInTokens(x userClaim) bool {
	if len(t.r.oracles) == 0 {
		return false
	}
	o := t.r.oracles[0]
	var a Answer
	mintedWith := func(x userClaim) (token string) {
		t.claiming(x, func() { token, _, _ = t.r.client.mint(t.ctx, o.flow, first) }) // "" if it is refused
		return token
	}
	for range 2 {
		token, other := mintedWith(x), ""
		if token == "" {
			return false
		}
		t.claiming(x, func() { a = t.r.client.present(t.ctx, o.flow, quote(token), first) })
		if o.verdict(a) != accepted {
			return false
		}
		if token = mintedWith(x); token == "" {
			return false
		}
		a = t.r.client.present(t.ctx, o.flow, quote(token), first)
		if t.seen(variant{name: x.place}, a); o.verdict(a) != refused {
			return false
		}
		if other = mintedWith(x.unlike()); other == "" || o.verdict(t.r.client.present(t.ctx, o.flow, quote(other), first)) != accepted {
			return false
		}
	}
	t.fault(x.place, Critical, fmt.Sprintf("a member of %s such as %s names the user of a good credential", x.place, x.names[0]), a)
	return true
}

// namedInAnswers makes calls with a claim. It refutes if an answer names that user: twice,
// and it does not without the claim, nor with a member that tells nothing.
func (t *T) namedInAnswers(x userClaim) bool {
	for _, call := range t.personal() {
		names := func() bool {
			a := t.r.client.call(t.ctx, call)
			t.seen(variant{name: x.place}, a)
			return served(a) && strings.Contains(string(a.Result), x.value)
		}
		with := func(x userClaim) (is bool) {
			t.claiming(x, func() { is = names() })
			return is
		}
		if with(x) && !names() && !with(x.unlike()) && with(x) {
			var a Answer
			t.claiming(x, func() { a = t.r.client.call(t.ctx, call) })
			t.fault(x.place, Critical, fmt.Sprintf("%s answers for the user that a member of %s such as %s names", strings.TrimSpace(call.Method+" "+call.Target), x.place, x.names[0]), a)
			return true
		}
	}
	return false
}

// maxPersonal is the number of calls that are made under each claim.
const maxPersonal = 8

// personal are calls whose answers may name their user: lists, calls that ask, and with
// effects tools that read only.
func (t *T) personal() []Call {
	var all []Call
	for _, capability := range []string{"resources", "tools", "prompts"} {
		if t.r.Report.Server.has(capability) {
			all = append(all, Call{Method: capability + "/list"})
		}
	}
	for _, f := range t.r.flows[:min(len(t.r.flows), 1)] {
		all = append(all, f.call(first))
	}
	for _, tool := range t.r.Report.Server.Tools {
		if t.r.opts.Effects && tool.readOnly() && tool.Name != t.r.opts.Slow {
			all = append(all, Call{Method: "tools/call", Target: tool.Name, Arguments: samples(tool.Input, 0)[0]})
		}
	}
	// A tool without arguments answers by its user, if by anything.
	slices.SortStableFunc(all, func(a, b Call) int { return len(a.Arguments) - len(b.Arguments) })
	return all[:min(len(all), maxPersonal)]
}

// commonNames are names of users that texts may hold for other reasons.
var commonNames = []string{"admin", "user", "root", "test", "tester", "guest", "demo", "service", "client", "owner", "token", "none", "default", "system"}

// nameOf is the name of a user, as the credential tells it: the subject of a JWT, or a
// credential that is a word; "" if it does not.
func nameOf(target Target, as user) string {
	target.Headers = target.credentials(as)
	_, secret := target.authorization()
	name := secret
	if parts := strings.Split(secret, "."); len(parts) == 3 {
		claims, _ := base64.RawURLEncoding.DecodeString(parts[1])
		name = ""
		_ = json.Unmarshal(members(claims)["sub"], &name) // no subject: ""
	}
	if len(name) < 3 || len(name) > 20 || strings.Trim(strings.ToLower(name), "abcdefghijklmnopqrstuvwxyz") != "" || slices.Contains(commonNames, strings.ToLower(name)) {
		return ""
	}
	return name
}
