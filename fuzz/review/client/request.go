package client

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"sealab/internal/rawmcp"
)

// A Request is an HTTP request of which a check may change any part.
type Request struct {
	Verb, Path string
	Headers    []rawmcp.Header
	Body       []byte
	ID         int
	Length     *int
	Head       bool // read only the header of the response
	Start      bool // end at the first message of a stream
}

// WithHeader returns an alteration that sets a header.
func WithHeader(name, value string) func(*Request) {
	return func(w *Request) { w.Set(name, value) }
}

// WithoutHeader returns an alteration that removes a header.
func WithoutHeader(name string) func(*Request) {
	return func(w *Request) { w.Drop(name) }
}

// Replacing returns an alteration that replaces the first occurrence of a text in the body.
func Replacing(old, new string) func(*Request) {
	return func(w *Request) { w.Replace(old, new) }
}

// Set replaces a header or adds it.
func (w *Request) Set(name, value string) {
	for i, h := range w.Headers {
		if strings.EqualFold(h.Name, name) {
			w.Headers[i].Value = value
			return
		}
	}
	w.Add(name, value)
}

// Add adds a header, even if one of the same name exists.
func (w *Request) Add(name, value string) {
	w.Headers = append(w.Headers, rawmcp.Header{Name: name, Value: value})
}

// Drop removes a header.
func (w *Request) Drop(name string) {
	w.Headers = slices.DeleteFunc(slices.Clone(w.Headers), func(h rawmcp.Header) bool { return strings.EqualFold(h.Name, name) })
}

// Replace replaces the first occurrence of a text in the body.
func (w *Request) Replace(old, new string) {
	w.Body = bytes.Replace(w.Body, []byte(old), []byte(new), 1)
}

// Ends reports whether a message ends the exchange.
func (w *Request) Ends(message []byte) bool { return w.Start || IsAnswer(w.ID)(message) }

// Raw returns the request for package rawmcp.
func (w *Request) Raw() rawmcp.Request {
	return rawmcp.Request{Verb: w.Verb, Path: w.Path, Headers: w.Headers, Body: w.Body, Length: w.Length, Head: w.Head, Done: w.Ends}
}

// Curl returns a command that sends the request, without credentials. It returns "" if the body is
// too long for a command.
func (c *Client) Curl(w *Request) string {
	if len(w.Body) >= 2000 {
		return ""
	}
	var b strings.Builder
	body := " --data-binary " + shellQuote(string(w.Body))
	if octal := octalEscapes(w.Body); octal != "" {
		fmt.Fprintf(&b, "printf %s | ", shellQuote(octal))
		body = " --data-binary @-"
	}
	if w.Verb == "HEAD" {
		b.WriteString("curl -sS --head")
	} else {
		fmt.Fprintf(&b, "curl -sS -i -X %s", w.Verb)
	}
	own := []string{"Accept"} // headers that curl adds unless they are set
	if len(w.Body) > 0 {
		own = append(own, "Content-Type")
		b.WriteString(body)
	}
	for _, h := range w.Headers {
		if h.Name == "Connection" || h.Name == "User-Agent" {
			continue
		}
		line := h.Name + ": " + h.Value
		if h.Value == "" {
			line = h.Name + ";" // the syntax of curl for a header without a value
		}
		own = slices.DeleteFunc(own, func(name string) bool { return strings.EqualFold(name, h.Name) })
		fmt.Fprintf(&b, " -H %s", shellQuote(line))
	}
	for _, name := range own {
		fmt.Fprintf(&b, " -H %s", shellQuote(name+":"))
	}
	scheme, _, _ := strings.Cut(c.Target.URL, "://")
	fmt.Fprintf(&b, " %s", shellQuote(scheme+"://"+c.HTTP.Host()+w.Path))
	return string(c.Target.Masked([]byte(b.String())))
}

// octalEscapes returns a printf format for a body with control or non-ASCII characters, which a
// report cannot show. It returns "" for any other body.
func octalEscapes(body []byte) string {
	special := func(c byte) bool { return c < ' ' && c != '\n' || c >= 0x7f }
	if !slices.ContainsFunc(body, special) {
		return ""
	}
	var b strings.Builder
	for _, c := range body {
		switch {
		case special(c):
			fmt.Fprintf(&b, `\%03o`, c)
		case c == '%' || c == '\\':
			b.Write([]byte{c, c})
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

func shellQuote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
