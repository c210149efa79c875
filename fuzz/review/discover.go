package review

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
	"sealab/internal/rawmcp"
)

// A Server is the information that a server gives about itself.
type Server struct {
	Transport    string         `json:"transport"` // http or stdio
	Revisions    []string       `json:"revisions"`
	Name         string         `json:"name,omitempty"`
	Version      string         `json:"version,omitempty"`
	Capabilities []string       `json:"capabilities,omitempty"`
	Tools        []client.Offer `json:"tools,omitempty"`
	Prompts      []client.Offer `json:"prompts,omitempty"`
	Resources    []client.Offer `json:"resources,omitempty"`
	Templates    []Template     `json:"templates,omitempty"`
	Risk         string         `json:"risk"` // R0 to R3, by the names of the tools
	SDK          string         `json:"sdk,omitempty"`

	Lists   map[string]client.Answer   `json:"-"` // the first page of each list, by method
	Later   map[string][]client.Answer `json:"-"` // its other pages
	Endless map[string]client.Answer   `json:"-"` // of each list that does not end, the page that leads back
}

// A Template is a resource template.
type Template struct {
	URI         string `json:"uriTemplate"`
	Name        string `json:"name,omitempty"`
	Description string `json:"description,omitempty"`
}

// MaxTestedCalls is the number of resources or calls that most checks test.
const MaxTestedCalls = 6

// MaxPages is the number of pages that are read from one list.
const MaxPages = 50

// discover finds the revisions of the server and reads its lists.
func (r *Review) discover(ctx context.Context) error {
	s := &r.Report.Server
	s.Transport, s.Lists, s.Later, s.Endless = "http", map[string]client.Answer{}, map[string][]client.Answer{}, map[string]client.Answer{}
	if r.Client.HTTP == nil {
		s.Transport = "stdio"
	}
	a := r.Client.Call(ctx, client.Call{Method: "server/discover"})
	switch {
	case a.Unreached():
		return fmt.Errorf("%v%s", a, a.Advice())
	case !a.Conclusive():
		return fmt.Errorf("asking the server for its revision: %v%s%s", a, a.Advice(), r.Client.LastWords())
	}
	modernCodes := a.Kind == client.Failed && a.Code <= -32020 && a.Code >= -32022
	if a.Kind != client.Completed && !modernCodes {
		return r.legacy(ctx, a)
	}
	s.Revisions = []string{client.Modern}
	s.readDiscovery(a.Result)
	r.guessSDK(a.Exchange)
	if !r.Modern() && r.legacy(ctx, a) == nil { // servers with sessions answer server/discover only to name older revisions
		return nil
	}
	for _, l := range s.listings() {
		if err := r.list(ctx, l.method, l.member, l.into); err != nil {
			return err
		}
	}
	r.known()
	return nil
}

// A listing is a list of the server and the variable to decode it into.
type listing struct {
	method, member string
	into           any
}

func (s *Server) listings() []listing {
	return []listing{
		{"tools/list", "tools", &s.Tools}, {"prompts/list", "prompts", &s.Prompts},
		{"resources/list", "resources", &s.Resources}, {"resources/templates/list", "resourceTemplates", &s.Templates},
	}
}

// lacks reports whether the server does not have a method, according to the list of its kind.
func (s Server) lacks(method string) bool {
	kind, _, _ := strings.Cut(method, "/")
	return s.Lists[kind+"/list"].Code == -32601
}

// known derives facts from the lists.
func (r *Review) known() {
	s := &r.Report.Server
	r.Client.Listing = r.Client.Idle()
	for _, l := range slices.Backward(s.listings()[:3]) {
		if s.Lists[l.method].Kind == client.Completed {
			r.Client.Listing = client.Call{Method: l.method}
		}
	}
	s.Risk = riskOf(s.Tools)
	for i, t := range s.Tools {
		s.Tools[i].Raw, s.Tools[i].Input = t.Input, jsondoc.Inline(t.Input)
		r.Client.Repeated[t.Name] = client.RepeatedArguments(s.Tools[i].Input, nil)
	}
}

func (s *Server) readDiscovery(raw json.RawMessage) {
	var d struct {
		Versions     []string                   `json:"supportedVersions"`
		Capabilities map[string]json.RawMessage `json:"capabilities"`
		Info         serverInfo                 `json:"serverInfo"`
		Meta         struct {
			Info serverInfo `json:"io.modelcontextprotocol/serverInfo"`
		} `json:"_meta"`
	}
	if json.Unmarshal(raw, &d) != nil {
		return
	}
	if len(d.Versions) > 0 {
		s.Revisions = d.Versions
	}
	s.Capabilities = jsondoc.SortedKeys(d.Capabilities)
	if d.Info == (serverInfo{}) {
		d.Info = d.Meta.Info
	}
	s.Name, s.Version = d.Info.Name, d.Info.Version
}

type serverInfo struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// MaxEmptyPages is the number of successive empty pages after which a list counts as endless.
const MaxEmptyPages = 8

// list reads the pages of a list, up to MaxPages. If the server does not know the method, the list
// is empty.
func (r *Review) list(ctx context.Context, method, member string, into any) error {
	var all []json.RawMessage
	cursor, named, empty := "", map[string]bool{}, 0
	for page := range MaxPages {
		a := r.Client.Call(ctx, client.Call{Method: method, Cursor: cursor})
		if page == 0 {
			r.Report.Server.Lists[method] = a
		}
		if !a.Conclusive() {
			return fmt.Errorf("reading %s: %v", method, a)
		}
		if a.Kind != client.Completed {
			break
		}
		if page > 0 {
			r.Report.Server.Later[method] = append(r.Report.Server.Later[method], a)
		}
		m := jsondoc.Members(a.Result)
		var items []json.RawMessage
		_ = json.Unmarshal(m[member], &items)
		all = append(all, items...)
		next, _ := jsondoc.Text(m["nextCursor"])
		if next == "" {
			break
		}
		if empty++; len(items) > 0 {
			empty = 0
		}
		if named[next] || empty == MaxEmptyPages {
			r.Report.Server.Endless[method] = a
			break
		}
		cursor, named[next] = next, true
	}
	raw, err := json.Marshal(all)
	if err != nil {
		return fmt.Errorf("reading %s: %w", method, err)
	}
	_ = json.Unmarshal(raw, into) // skip items of another form
	return nil
}

// executingNames are parts of names of tools with the highest risk.
var executingNames = []string{"exec", "shell", "command", "eval", "run_", "sudo", "password", "credential", "secret", "payment", "pay"}

// fileNames are parts of names of tools that read or write files.
var fileNames = []string{"file", "read", "path", "dir", "log"}

// AskingWords are parts of names and descriptions of tools that ask before they act.
var AskingWords = []string{"confirm", "approv", "consent", "asks ", "ask_", "elicit", "interactive", "wizard", "guess", "survey",
	"prompts the user", "requires input", "authoriz", "multi_round", "multi-round"}

// quietNames are parts of names of tools that are unlikely to ask.
var quietNames = []string{"echo", "whoami", "slow", "sleep", "ping", "time", "version", "health", "status", "hello", "sum", "add", "list", "search", "get"}

// riskOf returns the risk profile, R0 to R3, according to the names of the tools.
func riskOf(tools []client.Offer) string {
	risk := "R0"
	for _, t := range tools {
		switch {
		case client.Mentions(t.Name, executingNames):
			return "R3"
		case t.IsDestructive() || client.Mentions(t.Name, client.Changing):
			risk = "R2"
		case risk == "R0" && client.Mentions(t.Name, fileNames) && !t.IsReadOnly():
			risk = "R1"
		}
	}
	return risk
}

// guessSDK guesses the SDK from the headers of a response.
func (r *Review) guessSDK(e *rawmcp.Exchange) {
	if e == nil {
		return
	}
	s := &r.Report.Server
	switch {
	case strings.Contains(e.Header("X-Powered-By"), "Express"):
		s.SDK = "typescript"
	case strings.Contains(e.Header("Server"), "uvicorn"):
		s.SDK = "python"
	case strings.Contains(e.Header("X-Powered-By"), "PHP"):
		s.SDK = "php"
	}
}

// legacy initializes a server that does not know the newest revision, and reads its lists.
func (r *Review) legacy(ctx context.Context, refusal client.Answer) error {
	a := r.Client.Initialize(ctx, client.Older, client.FirstUser)
	if a.Kind != client.Completed {
		return fmt.Errorf("the server answers neither server/discover (%v) nor initialize (%v)%s%s", refusal, a, a.Advice(), r.Client.LastWords())
	}
	var d struct {
		Version      string                     `json:"protocolVersion"`
		Capabilities map[string]json.RawMessage `json:"capabilities"`
		Info         serverInfo                 `json:"serverInfo"`
	}
	if err := json.Unmarshal(a.Result, &d); err != nil {
		return fmt.Errorf("reading the result of initialize: %w", err)
	}
	s := &r.Report.Server
	s.Revisions, s.Capabilities = []string{d.Version}, jsondoc.SortedKeys(d.Capabilities)
	s.Name, s.Version = d.Info.Name, d.Info.Version
	s.Lists["initialize"] = a
	r.Client.Begin(ctx, a, d.Version)
	for _, l := range s.listings() {
		if capability, _, _ := strings.Cut(l.method, "/"); capability != "tools" && !s.Has(capability) {
			continue
		}
		if err := r.list(ctx, l.method, l.member, l.into); err != nil {
			r.Report.Notes = append(r.Report.Notes, err.Error())
		}
	}
	r.known()
	return nil
}

// sealingOptions are the options of SDKs that protect a requestState.
var sealingOptions = map[string]string{
	"typescript": "createRequestStateCodec with its bind option, as ServerOptions.requestState.verify",
	"python":     "MCPServer's request_state_security, or RequestStateBoundary as a middleware of the low-level server",
	"php":        "a signed codec with the request in its context",
}

// Fix returns the fix of a check. It adds an option of the SDK if the SDK of the server is known.
func (s Server) Fix(c Check) string {
	if option := sealingOptions[s.SDK]; option != "" && (c.Fix == FixSeal || c.Fix == FixBind) {
		return c.Fix + "; in the SDK of this server: " + option
	}
	return c.Fix
}

// Has reports whether the server declares a capability.
func (s Server) Has(capability string) bool { return slices.Contains(s.Capabilities, capability) }
