package attack

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"sealab/codecs"
	"sealab/internal/verdict"
)

// macOracle lets the server make the tag of a body of the attacker's choice: it
// mints under contexts whose fields are that body, reads every value of 16 bytes
// and more out of what comes, and tries each as the tag.
func macOracle(t *Trial) {
	p, tok, ok := t.base()
	if !ok {
		return
	}
	if !t.readable(tok) {
		t.skip("the state is not readable, so that no body can be written without the key")
		return
	}
	s := tok.shape()
	known := map[string]bool{}
	for _, v := range candidates(tok.Text) {
		known[string(v)] = true
	}
	for _, w := range exchanges(tok.State) {
		for _, l := range s.bodies(w.state) {
			body := bytes.Replace(l.body, w.state, w.evil, 1)
			t.askFor(p, tok, l, body, known)
		}
	}
}

// askFor lets the server make the tag of a body, by minting in contexts that hold
// what is authenticated of it.
func (t *Trial) askFor(p *Party, tok *Token, l tagged, body []byte, known map[string]bool) {
	for _, message := range l.messages(body) {
		for _, c := range carrying(tok.Under, string(message)) {
			t.asTag(p, tok, l, body, c, known)
		}
	}
}

// An exchange is a state as it may stand in a body, and the attacker's in its place.
type exchange struct{ state, evil []byte }

// exchanges are the ways in which a state may be written in a body. The attacker's
// state is that of the token with other letters, of the same length.
func exchanges(state []byte) []exchange {
	letters := state[9 : len(state)-2]
	evil := bytes.Replace(state, letters, bytes.ToUpper(letters), 1)
	all := []exchange{{letters, bytes.ToUpper(letters)}}
	for _, c := range textCodes {
		all = append(all, exchange{[]byte(c.encode(state)), []byte(c.encode(evil))})
	}
	return all
}

// bodies are the readings of the token in which the body holds the state.
func (s shape) bodies(state []byte) []tagged {
	var all []tagged
	for _, n := range []int{32, 16, 20, 64} {
		for _, l := range s.tagged(n) {
			if bytes.Contains(l.body, state) {
				all = append(all, l)
			}
		}
	}
	return all
}

// carrying are the contexts that carry the text in one of their fields.
func carrying(c verdict.Context, message string) []verdict.Context {
	return []verdict.Context{
		with(c, func(c *verdict.Context) { c.Principal = &message }),
		with(c, func(c *verdict.Context) { c.Target = message }),
		with(c, func(c *verdict.Context) { c.Audience = &message }),
		with(c, func(c *verdict.Context) { c.Method = message }),
		with(c, func(c *verdict.Context) { c.Arguments = asJSON(message) }),
	}
}

// asJSON is the text where it is JSON, and else the JSON text that says it.
func asJSON(text string) []byte {
	if json.Valid([]byte(text)) {
		return []byte(text)
	}
	return []byte(quoted(text))
}

// asTag mints in c and tries what it can read there as the tag of the body.
func (t *Trial) asTag(p *Party, tok *Token, l tagged, body []byte, c verdict.Context, known map[string]bool) {
	minted := p.seal([]byte(`{"step":"mine"}`), c)
	t.try(codecs.Integrity, codecs.KeySeparation)
	if minted.Answer.Outcome != verdict.Done {
		return
	}
	for _, value := range candidates(minted.Answer.Out) {
		if known[string(value)] {
			continue
		}
		for _, tag := range [][]byte{value, value[:min(len(value), len(l.tag))], value[max(0, len(value)-len(l.tag)):]} {
			call, ok := p.accepts(l.build(body, tag), tok.Under)
			if !ok {
				continue
			}
			t.refute(codecs.Integrity, fmt.Sprintf("the server, asked to mint in a context that holds the text %.120q, publishes the tag of that text: a token with a state of the attacker's choice (%q) is accepted",
				body, call.Answer.Out), minted, call)
			t.refute(codecs.KeySeparation, "one key makes the values that tokens publish and the tags of tokens", minted, call)
			return
		}
	}
}

// candidates are the values of a token that may be tags.
func candidates(token []byte) [][]byte {
	var all [][]byte
	for _, v := range values(token) {
		if len(v) >= 16 && len(v) <= 64 && !slices.ContainsFunc(all, func(x []byte) bool { return bytes.Equal(x, v) }) {
			all = append(all, v)
		}
	}
	return all
}
