package offers

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

// fetchChecks is the check of servers that open URLs of their clients.
var fetchChecks = []review.Check{
	{
		ID: "R-FETCH", Name: "a request of the server to this machine", Severity: review.Critical, Category: "security",
		Sent: "if the server lists no http resources: resources/read of the URL of a listener on this machine, in " +
			"several spellings; with --effects, the same URLs as arguments of read-only tools and of calls that are " +
			"carried out; the same beside the hosts that the texts of the tool, arguments and refusals name",
		Want: "sends no request to the listener; a server without credentials may open all of the URLs, but not " +
			"refuse 127.0.0.1 and localhost and open another spelling",
		Source: "CWE-918; security best practices, server-side request forgery",
		Impact: "clients reach hosts behind the server: its own ports, its network, the metadata service of its cloud",
		Fix: "connect only to hosts on a list, and refuse loopback and private addresses after the name is " +
			"resolved",
		Run: checkFetches,
	},
}

// A canary is a listener on this machine that serves a text of its own. It knows requests by the
// number at the end of their path.
type canary struct {
	port, path, text string
	mu               sync.Mutex
	asked            map[string]bool
	server           *http.Server
}

// newCanary starts a listener, for IPv6 as well if the machine has it. It skips the check and
// returns nil on failure.
func newCanary(t *review.T) *canary {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skip("listening: %v", err)
		return nil
	}
	_, port, _ := net.SplitHostPort(l.Addr().String()) // an address of our own
	c := &canary{port: port, path: "/" + t.Word() + "/", text: t.Word(), asked: map[string]bool{}}
	c.server = &http.Server{ReadTimeout: 10 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		number, ok := strings.CutPrefix(r.URL.Path, c.path)
		if !ok {
			http.NotFound(w, r)
			return
		}
		c.mu.Lock()
		c.asked[number] = true
		c.mu.Unlock()
		w.Header().Set("Content-Type", "text/plain")
		_, _ = io.WriteString(w, c.text) // the server may have closed the connection
	})}
	go func() { _ = c.server.Serve(l) }() // until Close
	if six, err := net.Listen("tcp", net.JoinHostPort("::1", port)); err == nil {
		go func() { _ = c.server.Serve(six) }() // until Close
	}
	return c
}

// url returns the URL of the listener with a spelling of its host and a number.
func (c *canary) url(host string, number int) string {
	return c.spelled("http://"+host+":PORT/PATH", number)
}

// spelled returns a URL with the port of the listener for PORT, and its path with a number for /PATH.
func (c *canary) spelled(spelling string, number int) string {
	return strings.NewReplacer("PORT", c.port, "/PATH", c.path+fmt.Sprint(number)).Replace(spelling)
}

// wasAsked reports whether the listener received the request with a number.
func (c *canary) wasAsked(number int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.asked[fmt.Sprint(number)]
}

func checkFetches(t *review.T) {
	if t.Client.HTTP != nil && !t.OnLoopback() {
		t.Skip("the server is on another machine, which has no listener")
		return
	}
	if !readsAnyURL(t) {
		fetchWithTools(t)
	}
}

// readsAnyURL reads the URL of a listener as a resource.
func readsAnyURL(t *review.T) bool {
	s := t.Report.Server
	if !s.Has("resources") && len(s.Resources)+len(s.Templates) == 0 {
		return false
	}
	var offered []string
	for _, x := range s.Resources {
		offered = append(offered, x.URI)
	}
	for _, x := range s.Templates {
		offered = append(offered, x.URI)
	}
	if slices.ContainsFunc(offered, func(uri string) bool {
		return strings.HasPrefix(strings.ToLower(uri), "http") || strings.HasPrefix(uri, "{")
	}) {
		return false
	}
	return opensCanary(t, input{name: "resources/read", send: func(u string) client.Answer { return t.Call(client.Call{Method: "resources/read", Target: u}) }}, false)
}

// fetchWithTools gives the URL of a listener to read-only tools and to calls that ask first. A
// server without credentials belongs to the user of this machine, who may read its addresses
// anyway. So it is only tested if it refuses some of them.
func fetchWithTools(t *review.T) {
	for _, x := range urlInputs(t) {
		own := t.Client.HTTP == nil || len(t.Options.Target.Headers) == 0 || !t.Authenticates()
		if opensCanary(t, x, own) {
			return
		}
	}
	if t.Trials == 0 {
		t.Skip("no resource, and no tool that takes a URL and may be called; --effects calls such tools")
	}
}

// urlInputs returns the arguments that take a URL, of read-only tools and of calls that are carried
// out.
func urlInputs(t *review.T) []input {
	var all []input
	with := func(arguments json.RawMessage, name, u string) json.RawMessage {
		return jsondoc.WithMember(arguments, name, jsondoc.Quote(u))
	}
	for _, tool := range t.Readers() {
		if name := t.URLArgument(tool.Name); name != "" {
			all = append(all, input{name: tool.Name, offer: tool, send: func(u string) client.Answer {
				return t.Call(client.Call{Method: "tools/call", Target: tool.Name, Arguments: with(t.Sample(tool), name, u)})
			}})
		}
	}
	for _, o := range t.Oracles {
		if name := t.URLArgument(o.Flow.Target); name != "" && t.Options.Effects && o.Flow.Method == "tools/call" {
			all = append(all, input{name: o.Flow.Target, offer: o.Flow.Offer, send: func(u string) client.Answer { return t.Fresh(o.Flow.With(with(o.Flow.Arguments, name, u)), o) }})
		}
	}
	return all
}

// loopbackHosts are spellings of this machine that filters may miss. The first two are usual.
var loopbackHosts = []string{"127.0.0.1", "localhost", "0.0.0.0", "[::ffff:127.0.0.1]", "[::1]", "[::ffff:7f00:1]", "127.1", "2130706433", "0x7f000001",
	"0177.0.0.1", "017700000001", "0", "localhost.", "127.0.0.1.", "www.example.com@127.0.0.1"}

const usualHosts = 2

// hostInText matches a host with at least one dot, and the scheme before it if there is one.
var hostInText = regexp.MustCompile(`(?i)(?:https?://)?\b([a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,})\b`)

// maxAllowedHosts is the number of named hosts that spellingsFor takes.
const maxAllowedHosts = 4

// spellingsFor returns spellings of the URL of a listener that pass a comparison with a host that a
// text names: of the beginning, of the end, and of a host that another reader finds.
func spellingsFor(text string) []string {
	var hosts, all []string
	for _, m := range hostInText.FindAllStringSubmatch(text, -1) {
		if host := strings.ToLower(m[1]); !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
	}
	for _, host := range hosts[:min(len(hosts), maxAllowedHosts)] {
		all = append(all, "http://"+host+"@127.0.0.1:PORT/PATH", "http://"+host+":80@127.0.0.1:PORT/PATH", "http://127.0.0.1:PORT/PATH?http://"+host,
			"http://127.0.0.1:PORT/PATH#@"+host, "http://127.0.0.1:PORT/PATH#."+host, `http://127.0.0.1:PORT\@`+host+"/PATH")
	}
	return all
}

// textsAbout returns the texts in which an input may name hosts: of its offer, of the arguments that
// the user gave, and of a refusal.
func textsAbout(t *review.T, x input, refusal client.Answer) string {
	about := []string{x.offer.Description, string(x.offer.Input), refusal.ShownTexts()}
	for _, name := range jsondoc.SortedKeys(t.Options.Tools) {
		about = append(about, string(t.Options.Tools[name].Arguments))
	}
	return strings.Join(about, "\n")
}

// opensCanary makes calls with the URL of a listener, in several spellings. It records a finding if
// the listener receives a request. If own is set, the server may open the usual spellings, and
// must then refuse them again.
func opensCanary(t *review.T, x input, own bool) bool {
	if !t.Selected(x.name) {
		return false
	}
	c := newCanary(t)
	if c == nil {
		return false
	}
	defer c.server.Close()
	number := 0
	opens := func(spelling string) (a client.Answer, asked bool) {
		number++
		a = t.Tried(x.send(c.spelled(spelling, number)))
		return a, c.wasAsked(number)
	}
	var all []string
	for _, host := range loopbackHosts {
		all = append(all, "http://"+host+":PORT/PATH")
	}
	for i := 0; i < len(all); i++ {
		spelling := all[i]
		a, asked := opens(spelling)
		if i == 0 {
			all = append(all, spellingsFor(textsAbout(t, x, a))...)
		}
		switch {
		case !a.Conclusive() && !asked && a.Kind != "":
			t.Skip("%s: %v", x.name, a)
			return false
		case !asked:
			continue
		case own && i < usualHosts:
			return false
		case own && !refusesUsual(opens, all):
			return false
		}
		if a, asked = opens(spelling); !asked {
			continue
		}
		f := review.NewFinding(x.name, review.Warning, "the server opens "+client.Short(c.spelled(spelling, number), 80)+", an address of this machine", a)
		if strings.Contains(a.Text, c.text) {
			f.Severity, f.Issue = review.Critical, f.Issue+", and returns its text"
		}
		f.Evidence = fmt.Sprintf("%s; the listener was asked; before that, the server did not open %s", f.Evidence, strings.Join(all[:i], ", "))
		t.Refute(f)
		return true
	}
	return false
}

// refusesUsual reports whether a server opens none of the usual spellings.
func refusesUsual(opens func(spelling string) (client.Answer, bool), all []string) bool {
	for _, spelling := range all[:usualHosts] {
		if a, asked := opens(spelling); asked || !a.Conclusive() {
			return false
		}
	}
	return true
}
