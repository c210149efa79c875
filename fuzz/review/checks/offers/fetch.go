package offers

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/inputs"
	"sealab/fuzz/review/jsondoc"
)

// fetchChecks is the check of servers that open URLs of their clients.
var fetchChecks = []review.Check{
	{
		ID: "R-FETCH", Name: "a request of the server to this machine", Severity: review.Critical, Category: "security",
		Sent: "if the server lists no http resources: resources/read of the URL of a listener on this machine, in " +
			"several spellings; with --effects, the same URLs as arguments of read-only tools and of calls that are " +
			"carried out, and as answers that take a URL; the same beside the hosts that the texts of the tool, arguments and refusals name",
		Want: "sends no request to the listener; a server without credentials may open all of the URLs, but not " +
			"refuse 127.0.0.1 and localhost and open another spelling",
		Source: "CWE-918; security best practices, server-side request forgery",
		Impact: "clients reach hosts behind the server: its own ports, its network, the metadata service of its cloud",
		Fix: "connect only to hosts on a list, and refuse loopback and private addresses after the name is " +
			"resolved",
		Run: checkFetches,
	},
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
	return opensCanary(t, inputs.Input{Name: "resources/read", Send: func(u string) client.Answer { return t.Tried(t.Call(client.ReadResource(u))) }}, false)
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
	t.SkipUntried("no resource, and no tool that takes a URL and may be called; --effects calls such tools")
}

// urlInputs returns the arguments that take a URL, of tools that need no answers and of calls that are
// carried out, and the answers that do.
func urlInputs(t *review.T) []inputs.Input {
	var all []inputs.Input
	for _, tool := range slices.Concat(t.Readers(), inputs.Doers(t)) {
		if name := t.URLArgument(tool.Name); name != "" {
			all = append(all, inputs.Input{Name: tool.Name, Offer: tool, Send: func(u string) client.Answer {
				return t.Tried(t.Call(t.FlowOf(tool).WithArgument(name, jsondoc.Quote(u)).Call(client.FirstUser)))
			}})
		}
	}
	for _, o := range t.Oracles {
		if name := t.URLArgument(o.Flow.Target); name != "" && t.Options.Effects && o.Flow.Method == "tools/call" {
			all = append(all, inputs.Input{Name: o.Flow.Target, Offer: o.Flow.Offer, Send: func(u string) client.Answer {
				return t.Tried(t.Fresh(o.Flow.WithArgument(name, jsondoc.Quote(u)), o.User))
			}})
		}
	}
	for _, x := range inputs.Answers(t) {
		if x.URL && t.Options.Effects {
			all = append(all, x)
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
func textsAbout(t *review.T, x inputs.Input, refusal client.Answer) string {
	about := []string{x.Offer.Description, string(x.Offer.Input), refusal.ShownTexts()}
	for _, name := range jsondoc.SortedKeys(t.Options.Tools) {
		about = append(about, string(t.Options.Tools[name].Arguments))
	}
	return strings.Join(about, "\n")
}

// opensCanary makes calls with the URL of a listener, in several spellings. It records a finding if
// the listener receives a request. If own is set, the server may open the usual spellings, and
// must then refuse them again.
func opensCanary(t *review.T, x inputs.Input, own bool) bool {
	if !t.Selected(x.Name) {
		return false
	}
	c := inputs.NewCanary(t)
	if c == nil {
		return false
	}
	defer c.Close()
	number := 0
	opens := func(spelling string) (a client.Answer, asked bool) {
		number++
		return c.Opens(spelling, number, x.Send)
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
			t.Skip("%s: %v", x.Name, a)
			return false
		case !asked:
			continue
		case own && (i < usualHosts || !refusesUsual(opens, all)):
			return false
		}
		if a, asked = opens(spelling); !asked {
			continue
		}
		f := review.NewFinding(x.Name, review.Warning, "the server opens "+client.Short(c.Spelled(spelling, number), 80)+", an address of this machine", a)
		if strings.Contains(a.Text, c.Text) {
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
