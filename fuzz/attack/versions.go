package attack

import (
	"bytes"
	"fmt"
	"strings"

	"sealab/codecs"
)

// versions sets words and leading bytes to other values, with the body as it is
// and with its last byte changed, as a version without a tag would take it.
func versions(t *Trial) {
	p, tok, ok := t.base()
	if !ok {
		return
	}
	s := tok.shape()
	for i, piece := range s.pieces {
		if piece.coded {
			t.leadingBytes(p, tok, s, i)
			continue
		}
		for _, word := range otherWords(piece.text) {
			altered := s.withText(i, word)
			t.change(p, tok, altered, fmt.Sprintf("%q for %q", word, piece.text))
			for _, state := range [][]byte{t.state(24), []byte(`{"admin":true}`)} {
				t.unsigned(p, tok, word, state)
			}
		}
	}
}

// leadingBytes sets each of the first bytes of a piece to every value.
func (t *Trial) leadingBytes(p *Party, tok *Token, s shape, i int) {
	for at := range min(8, len(s.pieces[i].raw)) {
		for _, v := range t.sweep(256) {
			altered := bytes.Clone(s.pieces[i].raw)
			altered[at] = byte(v)
			t.change(p, tok, s.with(i, altered), fmt.Sprintf("byte %d of piece %d set to %d", at, i, v))
		}
	}
}

// otherWords are other values of a version, algorithm or separator.
func otherWords(word string) []string {
	words := []string{"", "none", "None", "nOne", "NONE", "null", "v0", "v1", "v2", "v3", "v4", "v9", "v1e", "v1s", "legacy", "plain", "dev", "test", "debug", "unsafe", "raw"}
	for i := range word {
		for _, c := range "0123456789" {
			if word[i] >= '0' && word[i] <= '9' {
				words = append(words, word[:i]+string(c)+word[i+1:])
			}
		}
		words = append(words, word[:i]+"X"+word[i+1:], word[:i]+word[i+1:])
	}
	for _, sep := range ".-_:" {
		if strings.HasSuffix(word, string(sep)) {
			words = append(words, "v0"+string(sep), "none"+string(sep), "plain"+string(sep), "legacy"+string(sep), "test"+string(sep))
		}
	}
	return words
}

// unsigned presents a state of the attacker's choice under a word, without tag.
func (t *Trial) unsigned(p *Party, tok *Token, word string, state []byte) {
	for _, sep := range []string{"", ".", ":"} {
		for _, body := range []string{base64URL.encode(state), string(state)} {
			for _, tail := range []string{"", sep} {
				t.change(p, tok, []byte(word+sep+body+tail), fmt.Sprintf("a state without tag after %q", word))
			}
		}
	}
}

// criticalHeader adds members to every piece that holds a JSON object.
func criticalHeader(t *Trial) {
	p, tok, ok := t.base()
	if !ok {
		return
	}
	s := tok.shape()
	for _, i := range s.coded() {
		raw := s.pieces[i].raw
		if !bytes.HasPrefix(raw, []byte("{")) {
			continue
		}
		for _, member := range []string{`"crit":["x"],"x":1,`, `"b64":false,"crit":["b64"],`, `"zip":"DEF",`, `"kid":"../../dev/null",`, `"alg":"none",`} {
			altered := append([]byte("{"+member), raw[1:]...)
			t.change(p, tok, s.with(i, altered), fmt.Sprintf("%s added to piece %d", member, i))
			tail := append(bytes.TrimSuffix(bytes.Clone(raw), []byte("}")), ","+strings.TrimSuffix(member, ",")+"}"...)
			t.change(p, tok, s.with(i, tail), fmt.Sprintf("%s added at the end of piece %d", member, i))
		}
	}
	if t.trials[codecs.Integrity] == 0 {
		t.skip("no piece of the token is a readable JSON object")
	}
}
