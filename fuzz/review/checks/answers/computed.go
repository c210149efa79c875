package answers

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
)

// doubleOf returns twice a number, or null for another value.
func doubleOf(v json.RawMessage) json.RawMessage {
	var n float64
	if json.Unmarshal(v, &n) != nil {
		return json.RawMessage("null")
	}
	return fmt.Append(nil, 2*n)
}

// signedNumber matches a number with its sign and its fraction.
var signedNumber = regexp.MustCompile(`[-\x{2212}]?\d+(?:[.,]\d+)*`)

// wordsButNumbers returns the words of a text, with # in place of each number. Blank of the client leaves
// signs, and leaves texts alike only if the numbers have the same form.
func wordsButNumbers(text string) []string {
	words := strings.Fields(text)
	for i, word := range words {
		words[i] = client.Blank(signedNumber.ReplaceAllString(word, "#"))
	}
	return words
}

// alikeButNumbers reports whether a completion has the words of a good token's, apart from numbers and the words
// that vary.
func alikeButNumbers(o *review.Oracle, a client.Answer) bool {
	good, other := wordsButNumbers(o.Good.Text), wordsButNumbers(a.Text)
	if a.Kind != client.Completed || len(good) != len(other) || len(good) != len(o.Mask) {
		return false
	}
	for i, same := range o.Mask {
		if same && good[i] != other[i] {
			return false
		}
	}
	return true
}

// computesWith reports whether the server computes with an excluded value v, to which a is the answer. Its text
// then has a number that is equal in honest texts, comes again with v, and is another one with twice v. A
// number that shows the value itself does not count, because servers may quote it beside the one that they take.
func computesWith(t *review.T, o *review.Oracle, a client.Answer, v json.RawMessage, with func(json.RawMessage) client.Flow) bool {
	double := doubleOf(v)
	all := [][]string{strings.Fields(o.Good.Text), strings.Fields(a.Text)}
	for _, f := range []client.Flow{o.Flow, with(v), with(double)} {
		x := t.Fresh(f, o.User)
		if !alikeButNumbers(o, x) {
			return false
		}
		all = append(all, strings.Fields(x.Text))
	}
	good, first, honest, again, more := all[0], all[1], all[2], all[3], all[4]
	for i := range good {
		quotes := client.ShowsValue(first[i], string(v)) || client.ShowsValue(more[i], string(double))
		if good[i] == honest[i] && first[i] == again[i] && first[i] != good[i] && more[i] != good[i] && more[i] != first[i] && !quotes && signedNumber.MatchString(first[i]) {
			return true
		}
	}
	return false
}
