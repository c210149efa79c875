package timing

import (
	"bytes"
	"crypto/hmac"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"sealab/codecs"
	"sealab/codecs/catalog"
	"sealab/internal/lab"
	"sealab/internal/runfile"
)

// serverDelay is the delay in nanoseconds of the leaking control over HTTP. It is measurable on a local
// network.
const serverDelay = 20_000

// remoteClient ends requests that a server does not answer.
var remoteClient = &http.Client{Timeout: time.Minute}

// A remotePair is a rule about tokens that a server issued and that are sent back with one byte changed.
// In A it is the first byte of the tag.
type remotePair struct {
	rule
	expect runfile.Expectation
	// changed returns the index of the byte to change in B, in a token of size bytes that ends with a tag.
	changed func(size, tag int) int
}

func tagBegin(size, tag int) int { return size - tag }
func tagEnd(size, _ int) int     { return size - 1 }
func keyIDBegin(_, _ int) int    { return 0 }

var remotePairs = []remotePair{
	{rule: rule{pair: "same", a: "tag wrong in its first byte", b: "tag wrong in its first byte", tells: "nothing: a control"},
		expect: runfile.Clean, changed: tagBegin},
	{rule: rule{pair: "tag-ends", a: "tag wrong in its first byte", b: "tag wrong in its last byte",
		tells: "how much of a guessed tag is right", refutes: codecs.SteadyTiming}, changed: tagEnd},
	{rule: rule{pair: "key-id", a: "tag wrong in its first byte", b: "key not in the ring",
		tells: "whether a key is in the ring; its id is in every token"}, changed: keyIDBegin},
}

// Remote returns the comparisons for a server of the Model Context Protocol at a URL that behaves as the
// example server does. Tokens that the server issued are sent back over HTTP with their tag or key ID
// changed. Controls use HTTP within this process.
func Remote(url string) []Comparison {
	comparisons := []Comparison{
		httpControl("http-same-class", runfile.Clean, 0),
		httpControl("http-delay-20us", runfile.Leaks, serverDelay),
	}
	for _, p := range remotePairs {
		comparisons = append(comparisons, p.comparison(url))
	}
	return comparisons
}

func (p remotePair) comparison(url string) Comparison {
	c := &client{url: url}
	return Comparison{
		Probe: runfile.Probe{Subject: "http-server", Pair: p.pair, A: p.a, B: p.b, Tells: p.tells,
			Property: string(p.refutes), Channel: "http", Expect: p.expect},
		check: func() error { return c.err },
		prepare: func(random *rand.Rand) (*classPair, error) {
			token, err := c.token()
			if err != nil {
				return nil, err
			}
			a, b, err := p.bodies(token, random)
			return sameOperation(a, b, c.present), err
		},
	}
}

// bodies returns the request bodies that present a token as the pair changes it.
func (p remotePair) bodies(token string, random *rand.Rand) (a, b [][]byte, err error) {
	prefix, raw, tag, err := splitToken(token)
	if err != nil {
		return nil, nil, err
	}
	changed := func(at int) []byte {
		other := bytes.Clone(raw)
		other[at] ^= byte(1 + random.IntN(255))
		return requestBody(prefix + base64.RawURLEncoding.EncodeToString(other))
	}
	for range poolSize {
		a = append(a, changed(tagBegin(len(raw), tag)))
		b = append(b, changed(p.changed(len(raw), tag)))
	}
	return a, b, nil
}

// splitToken splits a token of a design of the catalog into its prefix text and the remaining bytes. It
// also returns the length of the tag at their end.
func splitToken(token string) (prefix string, raw []byte, tag int, err error) {
	for _, d := range catalog.All() {
		fields, err := lab.HooksOf(d).Inspect([]byte(token))
		if d.Prefix == "" || err != nil {
			continue
		}
		last := fields[len(fields)-1]
		raw, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(token, d.Prefix))
		if err == nil && last.Name == lab.WireTag && bytes.HasSuffix(raw, last.Bytes) {
			return d.Prefix, raw, len(last.Bytes), nil
		}
	}
	return "", nil, 0, fmt.Errorf("%w: the server's tokens are not of a design that ends with a tag", errNotApplicable)
}

// requestBody returns the request that presents a token in the second round of the example server's tool.
// Without a token it is the first round.
func requestBody(token string) []byte {
	const arguments = `{"workItemId":4522,"fields":{"System.State":"Resolved"}}`
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s,`+
		`"inputResponses":{"resolution":{"action":"accept","content":{"resolution":"Duplicate"}}},%s"_meta":{`+
		`"io.modelcontextprotocol/protocolVersion":%q,"io.modelcontextprotocol/clientInfo":{"name":"sealab","version":"1"},`+
		`"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}}}`, toolName, arguments, stateMember(token), protocolRevision)
}

const (
	toolName         = "update_work_item"
	protocolRevision = "2026-07-28"
)

func stateMember(token string) string {
	if token == "" {
		return ""
	}
	return fmt.Sprintf(`"requestState":%q,`, token)
}

// A client presents bodies to a server. It keeps the first error.
type client struct {
	url   string
	err   error
	close func() // of the server, if it is in this process
}

// present posts a body and reads the whole response.
func (c *client) present(body []byte) {
	if _, err := c.post(body); err != nil && c.err == nil {
		c.err = err
	}
}

func (c *client) post(body []byte) ([]byte, error) {
	request, err := http.NewRequest(http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"Mcp-Protocol-Version": protocolRevision, "Mcp-Method": "tools/call", "Mcp-Name": toolName,
	} {
		request.Header.Set(name, value)
	}
	response, err := remoteClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	return io.ReadAll(response.Body)
}

// token asks the server for a token.
func (c *client) token() (string, error) {
	answer, err := c.post(requestBody(""))
	if err != nil {
		return "", err
	}
	if _, data, stream := bytes.Cut(answer, []byte("data: ")); stream {
		answer = data
	}
	var message struct {
		Result struct {
			RequestState string `json:"requestState"`
		} `json:"result"`
	}
	if err := json.Unmarshal(answer, &message); err != nil || message.Result.RequestState == "" {
		return "", fmt.Errorf("%s: want an answer with a requestState, got %.200q", c.url, answer)
	}
	return message.Result.RequestState, nil
}

// httpControl returns a control with a server in this process. The server checks a tag and then spends the
// added time for B.
func httpControl(name string, expect runfile.Expectation, added float64) Comparison {
	c := new(client)
	t := newControl(name, expect, func(random *rand.Rand) (*classPair, error) {
		v := newVerifier(random, shortMessage, hmac.Equal)
		steps := int(added / stepCost())
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			tag, err := io.ReadAll(r.Body)
			if err != nil || len(tag) <= tagSize {
				http.Error(w, "no tag", http.StatusBadRequest)
				return
			}
			v.check(tag)
			w.Write([]byte{spin(int(tag[tagSize])*steps, v.sum[0])}) //nolint:errcheck // the client sees it
		}))
		c.url, c.close = server.URL, server.Close
		return sameOperation(v.marked(random, 0), v.marked(random, 1), c.present), nil
	})
	t.Channel, t.Added = "http", added
	t.check = func() error {
		c.close()
		return c.err
	}
	return t
}
