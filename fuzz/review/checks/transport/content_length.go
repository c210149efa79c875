package transport

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
	"sealab/internal/rawmcp"
)

// A doubleFraming gives the body of a request two lengths. A server that uses the shorter one takes
// the rest, which is a complete request, for the next request of the connection.
type doubleFraming struct {
	name  string
	frame func(w *client.Request, rest []byte)
}

var doubleFramings = []doubleFraming{
	{"Content-Length beside chunks", func(w *client.Request, rest []byte) {
		size := fmt.Sprintf("%x\r\n", len(rest))
		w.Add("Transfer-Encoding", "chunked")
		w.Body = fmt.Appendf(nil, "%s%s\r\n0\r\n\r\n", size, rest)
		w.Length = new(len(size))
	}},
	{"Content-Length twice", func(w *client.Request, rest []byte) {
		w.Add("Content-Length", "0")
		w.Body = rest
	}},
}

// checkTwoLengths records a finding if the server answers the rest of a body, twice.
func checkTwoLengths(t *review.T) {
	if t.SkipFor(t.Control()) {
		return
	}
	for _, f := range doubleFramings {
		if !t.Selected(f.name) {
			continue
		}
		if evidence, is := answersRest(t, f); is {
			if _, again := answersRest(t, f); again {
				t.Refute(review.Finding{Case: f.name, Severity: review.Suggestion, Issue: f.name + ": a part of the body is answered as a request of its own",
					Evidence: evidence, Want: "one answer", Got: "two answers"})
			}
		}
	}
}

// answersRest sends a request with two lengths, and an honest one over the same connection. It
// reports whether the request in the body of the first is answered as well.
func answersRest(t *review.T, f doubleFraming) (evidence string, is bool) {
	c := t.Client
	conn, err := c.HTTP.Dial(t.Context)
	if t.SkipOn(err) {
		return "", false
	}
	defer conn.Close()
	send := func(w *client.Request) *rawmcp.Exchange {
		e := c.HTTP.DoOver(t.Context, conn, w.Raw())
		c.Keep(e)
		return e
	}
	rest, outer, next := openRequest(t), openRequest(t), openRequest(t)
	f.frame(outer, rest.Raw().Text())
	one, two := send(outer), send(next)
	t.Trials++
	// The answer to the rest may have arrived with the first one.
	in := bufio.NewReader(io.MultiReader(bytes.NewReader(one.Received), bytes.NewReader(two.Received)))
	for {
		response, err := http.ReadResponse(in, nil)
		if err != nil {
			return "", false
		}
		body, _ := io.ReadAll(response.Body) // a partial body is not an answer
		if hasResult(body, rest.ID) {
			return fmt.Sprintf("%s -> status %d; then, on this connection, the answer %s", client.Short(string(one.Sent), 700), one.Status, client.Short(string(body), 100)), true
		}
	}
}

// hasResult reports whether a body, or an event in it, is the result of a request.
func hasResult(body []byte, id int) bool {
	for line := range bytes.Lines(body) {
		message := bytes.TrimSpace(bytes.TrimPrefix(line, []byte("data:")))
		if client.IsAnswer(id)(message) && jsondoc.Members(message)["result"] != nil {
			return true
		}
	}
	return false
}

// openRequest returns an honest request that leaves its connection open.
func openRequest(t *review.T) *client.Request {
	w := t.Request(t.Client.Listing)
	w.Drop("Connection")
	return w
}
