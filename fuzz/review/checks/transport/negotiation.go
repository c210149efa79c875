package transport

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
	"sealab/internal/rawmcp"
)

// negotiationChecks are the checks of Mcp-Param headers, Accept, the handshake of older revisions,
// credentials in URLs, and credentials for other servers.
var negotiationChecks = []review.Check{
	{
		ID: "H-PARAM", Name: "an Mcp-Param header that differs from its argument", Over: "http", Era: "modern", Severity: review.Warning, Category: "transport",
		Sent: "the first call of each tool that asks, and with effects the call of other tools, for each argument " +
			"whose schema has x-mcp-header: without the Mcp-Param header, with another value of the same type, and " +
			"with another text or the right text in base64; a state with another Mcp-Param",
		Want:   "answers error -32020; accepts the right value in base64",
		Source: transportSpec,
		Impact: "a client passes a gateway that routes by the header",
		Fix:    "compare each Mcp-Param header with its argument, and answer -32020",
		Run:    checkParamHeaders,
	},
	{
		ID: "H-ACCEPT", Name: "other media types in Accept, and no compression", Over: "http", Era: "modern", Severity: review.Warning, Category: "transport",
		Sent: "tools/list with an Accept header of only application/json, only text/event-stream, and text/html, " +
			"and without the header; lists, prompts, resources, and calls with a long text, with Accept-Encoding " +
			"identity",
		Want:   "answers the request, or status 406 or 400; compresses no answer if only identity is accepted",
		Source: transportSpec + "; RFC 9110, sections 12.5.1 and 12.5.3",
		Impact: "a mistake of a client causes an internal failure of the server, or clients cannot read long answers",
		Fix:    "answer 406; compress answers only with a coding that Accept-Encoding names",
		Run:    checkAccept,
	},
	{
		ID: "H-INIT", Name: "the handshake of an older revision", Over: "http", Era: "modern", Severity: review.Suggestion, Category: "transport",
		Sent:   "initialize with revision 2025-11-25",
		Want:   "answers with a result or a JSON-RPC error",
		Source: "revision 2026-07-28, basic/versioning",
		Impact: "a client of an older revision does not learn why it is refused",
		Fix:    "answer initialize with an error that names the supported revisions",
		Run:    checkInitialize,
	},
	{
		ID: "A-QUERY", Name: "credentials in the URL", Over: "http", Era: "modern", Severity: review.Warning, Category: "security",
		Sent: "tools/list without the Authorization header, with its credential as the query parameter " +
			"access_token, token or api_key",
		Want:   "refuses the request",
		Source: "RFC 6750, section 5.3; RFC 9700, section 4.3.2",
		Impact: "credentials remain in logs, browser histories and Referer headers",
		Fix:    "accept credentials only from the Authorization header",
		Run:    checkQueryCredentials,
	},
	{
		ID: "A-AUD", Name: "credentials that were issued for another server", Over: "http", Severity: review.Critical, Category: "security",
		Sent: "tools/list with the credentials of --foreign; if the credential of --header is a JWT, also that JWT " +
			"with another audience, without a signature, with alg none and nOnE, and signed with HS256 under an " +
			"empty and a well-known key",
		Want: "answers status 401 or 403",
		Source: "revision 2026-07-28, basic/authorization, MUST validate that a token was issued for this server; " +
			"RFC 8707, section 2; RFC 9068, section 4",
		Impact: "another server that received a user's token acts as that user on this server",
		Fix:    "verify the signature of access tokens, and compare aud with the URL of this server",
		Run:    checkForeignCredentials,
	},
}

func checkAccept(t *review.T) {
	var all []review.Case
	for _, v := range []string{"application/json", "text/event-stream", "text/html", ""} {
		all = append(all, review.Case{Name: "Accept " + v, Alter: func(w *client.Request) {
			if w.Set("Accept", v); v == "" {
				w.Drop("Accept")
			}
		}, Judge: func(a client.Answer) (review.Severity, string) {
			if a.Kind == client.Broken && (a.Status == 0 || a.Status >= 500) {
				return review.Suggestion, fmt.Sprintf("no answer, status %d", a.Status)
			}
			return "", ""
		}})
	}
	if t.Cases(all...); t.Reason == "" {
		checkCoding(t)
	}
}

// checkCoding makes calls whose answers may be long as a client that cannot decompress.
func checkCoding(t *review.T) {
	for _, call := range longCalls(t) {
		name := strings.TrimSpace("Accept-Encoding identity, " + call.Method + " " + call.Target)
		if !t.Selected(name) {
			continue
		}
		t.RunCase(review.Case{Name: name, Call: call, Alter: client.WithHeader("Accept-Encoding", "identity"),
			Judge: func(a client.Answer) (review.Severity, string) {
				if coding := a.Exchange.Header("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
					return review.Warning, "answered in the coding " + client.Short(coding, 30)
				}
				return "", ""
			}})
		if t.HasFinding(name) {
			return
		}
	}
}

// maxLongCalls is the number of prompts and resources, and of calls with a text, that are tried for
// a long answer.
const maxLongCalls = 12

// longCalls returns calls without effects whose answers may be long.
func longCalls(t *review.T) []client.Call {
	var all []client.Call
	for _, method := range jsondoc.SortedKeys(t.Report.Server.Lists) {
		all = append(all, client.Call{Method: method})
	}
	reads, wordy := t.Reads(), t.Wordy()
	for _, f := range reads[:min(len(reads), maxLongCalls)] {
		all = append(all, f.Call(client.FirstUser))
	}
	for _, f := range wordy[:min(len(wordy), maxLongCalls)] {
		if long := f.ArgumentsWith(strings.Repeat("sealab ", 1000)); long != nil {
			all = append(all, f.With(long).Call(client.FirstUser))
		}
	}
	return all
}

func checkInitialize(t *review.T) {
	a := t.Client.Initialize(t.Context, client.Older, client.FirstUser)
	if a.Withheld() {
		t.Skip("%v", a)
		return
	}
	t.Trials++
	if a.Kind != client.Completed && a.Kind != client.Failed && a.Kind != client.ToolError {
		t.Fault(client.Older, review.Suggestion, "initialize is not answered by a JSON-RPC response", a)
	}
}

// queryNames are URL parameters from which careless servers take credentials.
var queryNames = []string{"access_token", "token", "api_key"}

func checkQueryCredentials(t *review.T) {
	_, secret := t.Options.Target.Authorization()
	if secret == "" {
		t.Skip("no credentials are known; --header gives some")
		return
	}
	if !t.Authenticates() {
		return
	}
	c := t.Client
	for _, name := range queryNames {
		w := t.Request(c.Listing.By(client.Nobody))
		w.Path = c.PathWith(name, secret)
		a := client.ReadAnswer(c.Raw(t.Context, w.Raw()), w.ID)
		t.Trials++
		if client.Served(a) {
			t.Fault(name, review.Warning, "a credential in the query parameter "+name+" is accepted", a)
			return
		}
	}
}

func checkForeignCredentials(t *review.T) {
	target := t.Options.Target
	_, secret := target.Authorization()
	altered := alteredJWT(secret)
	if len(target.Foreign) == 0 && len(altered) == 0 {
		t.Skip("no credential for another server is known; --foreign gives one")
		return
	}
	if own := t.ListedAs(target.Headers); !client.Served(own) {
		t.Skip("control: the server's own credentials: %v", own)
		return
	}
	if !t.Authenticates() {
		return
	}
	all := map[string][]rawmcp.Header{}
	for name, token := range altered {
		all[name] = []rawmcp.Header{{Name: "Authorization", Value: "Bearer " + token}}
	}
	if len(target.Foreign) > 0 {
		all["a credential for another server"] = target.Foreign
	}
	for _, name := range jsondoc.SortedKeys(all) {
		a := t.ListedAs(all[name])
		if !t.CountedAs(name, a) {
			return
		}
		if client.Served(a) {
			t.Fault(name, review.Critical, name+" is accepted", a)
		}
	}
}

// alteredJWT returns forms of a JWT (RFC 7519) that a server must refuse, or nil if the credential
// is not a JWT.
func alteredJWT(token string) map[string]string {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return nil
	}
	header, err := base64.RawURLEncoding.DecodeString(parts[0])
	claims, also := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil || also != nil || jsondoc.Members(header)["alg"] == nil || jsondoc.Members(claims) == nil {
		return nil
	}
	encode := base64.RawURLEncoding.EncodeToString
	body := encode(jsondoc.WithMember(claims, "aud", jsondoc.Quote("https://other.example/mcp")))
	none := encode(jsondoc.WithMember(header, "alg", jsondoc.Quote("none")))
	under := func(key string) string {
		text := encode(jsondoc.WithMember(header, "alg", jsondoc.Quote("HS256"))) + "." + parts[1]
		mac := hmac.New(sha256.New, []byte(key))
		mac.Write([]byte(text))
		return text + "." + encode(mac.Sum(nil))
	}
	return map[string]string{
		"a JWT with another audience":   parts[0] + "." + body + "." + parts[2],
		"a JWT without its signature":   parts[0] + "." + parts[1] + ".",
		"a JWT under the alg none":      none + "." + parts[1] + ".",
		"a JWT under the alg nOnE":      encode(jsondoc.WithMember(header, "alg", jsondoc.Quote("nOnE"))) + "." + parts[1] + ".",
		"a JWT under an empty key":      under(""),
		"a JWT under the key of a page": under("secret"),
	}
}
