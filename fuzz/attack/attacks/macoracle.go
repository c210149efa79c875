package attacks

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"sealab/codecs"
	"sealab/fuzz/attack"
	"sealab/fuzz/attack/fields"
	"sealab/fuzz/attack/tokenfmt"
	"sealab/internal/verdict"
)

// macOracle makes the server compute the tag of a body of the attacker's choice. It mints under
// contexts whose fields contain that body, reads every value of 16 to 64 bytes in the token,
// and tries each as the tag.
func (t trial) macOracle(in *attack.Instance, tok *attack.Token) {
	if !t.Readable(tok) {
		t.Skip("the state is not readable, so that no body can be written without the key")
		return
	}
	f := tok.Format()
	known := map[string]bool{}
	for _, v := range tagCandidates(tok.Text) {
		known[string(v)] = true
	}
	for _, w := range stateSubstitutions(tok.State) {
		for _, l := range f.Holding(w.state) {
			body := bytes.Replace(l.Body, w.state, w.evil, 1)
			t.askFor(in, tok, l, body, known)
		}
	}
}

// askFor mints in contexts that contain the authenticated message of a body, so that the server
// may compute its tag.
func (t trial) askFor(in *attack.Instance, tok *attack.Token, l tokenfmt.Layout, body []byte, known map[string]bool) {
	for _, message := range l.Messages(body) {
		for _, c := range contextsCarrying(tok.Under, string(message)) {
			t.asTag(in, tok, l, body, c, known)
		}
	}
}

// A substitution is a state as a body may contain it, and the attacker's state to put in its
// place.
type substitution struct{ state, evil []byte }

// stateSubstitutions returns the forms in which a body may contain a state. The attacker's state is
// that of the token with its letters in upper case, so it has the same length.
func stateSubstitutions(state []byte) []substitution {
	letters := attack.LettersOf(state)
	evil := bytes.Replace(state, letters, bytes.ToUpper(letters), 1)
	all := []substitution{{letters, bytes.ToUpper(letters)}}
	for _, c := range tokenfmt.Encodings {
		all = append(all, substitution{[]byte(c.Encode(state)), []byte(c.Encode(evil))})
	}
	return all
}

// contextsCarrying returns contexts that carry the message in one of their fields.
func contextsCarrying(c codecs.Context, message string) []codecs.Context {
	var all []codecs.Context
	for _, f := range fields.All {
		v := message
		if f.Property == codecs.BindsArguments {
			v = string(asJSON(message))
		}
		all = append(all, f.Put(c, v))
	}
	return all
}

// asJSON returns the text if it is valid JSON, else the JSON string with that value.
func asJSON(text string) []byte {
	if json.Valid([]byte(text)) {
		return []byte(text)
	}
	return []byte(fields.QuoteJSON(text))
}

// asTag mints in c and tries every value that it can read in the token as the tag of the body.
func (t trial) asTag(in *attack.Instance, tok *attack.Token, l tokenfmt.Layout, body []byte, c codecs.Context, known map[string]bool) {
	minted := in.Seal([]byte(`{"step":"mine"}`), c)
	t.Try(codecs.Integrity, codecs.KeySeparation)
	if minted.Answer.Outcome != verdict.Done {
		return
	}
	for _, value := range tagCandidates(minted.Answer.Out) {
		if known[string(value)] {
			continue
		}
		for _, tag := range [][]byte{value, value[:min(len(value), len(l.Tag))], value[max(0, len(value)-len(l.Tag)):]} {
			call, ok := in.Accepts(l.Build(body, tag), tok.Under)
			if !ok {
				continue
			}
			t.Refute(codecs.Integrity, fmt.Sprintf("the server, asked to mint in a context that holds the text %.120q, publishes the tag of that text: a "+
				"token with a state of the attacker's choice (%q) is accepted",
				body, call.Answer.Out), minted, call)
			t.Refute(codecs.KeySeparation, "one key makes the values that tokens publish and the tags of tokens", minted, call)
			return
		}
	}
}

// tagCandidates returns the readable values of a token that have the length of a tag.
func tagCandidates(token []byte) [][]byte {
	var all [][]byte
	for _, v := range tokenfmt.Readings(token) {
		if len(v) >= 16 && len(v) <= 64 && !slices.ContainsFunc(all, func(x []byte) bool { return bytes.Equal(x, v) }) {
			all = append(all, v)
		}
	}
	return all
}
