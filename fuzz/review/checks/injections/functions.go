package injections

import (
	"fmt"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/inputs"
)

// queryFunctions are functions that all databases have, each with a name of the same length that none has.
var queryFunctions = []struct{ known, unknown string }{{"lower", "lowqr"}, {"upper", "upqer"}, {"trim", "trqm"}, {"ltrim", "ltrqm"}, {"rtrim", "rtrqm"}}

// functionCondition is a condition behind an apostrophe that never holds. A query that has it finds
// nothing, and changes nothing.
const functionCondition = "%s' and %s('sealab')='none' and 'a' like 'a"

// functionPairs is the number of times that an answer must follow the names of functions.
const functionPairs = 8

// knowsFunctions reports whether an input becomes a part of a query: all calls of functions that SQL has
// are answered alike, and all calls of unknown ones are answered alike, but otherwise. A text that the
// server searches, quotes or refuses as such has the same answer for both. The query need not find
// anything, and its error may have any text.
func knowsFunctions(t *review.T, x inputs.Input) bool {
	send := func(function string) (a client.Answer, shown string) {
		text := fmt.Sprintf(functionCondition, x.Given, function)
		a = x.Send(text)
		if !a.Conclusive() {
			return a, ""
		}
		return a, fmt.Sprint(a.Kind, a.Code, strings.ReplaceAll(a.ShownTexts(), text, x.Given))
	}
	if x.Query {
		return false
	}
	var known, unknown string
	var last client.Answer
	for i := range functionPairs {
		pair := queryFunctions[i%len(queryFunctions)]
		a, one := send(pair.known)
		if a.Refused() {
			return false // the input may refuse such texts in several ways
		}
		b, two := send(pair.unknown)
		if i == 0 {
			known, unknown = one, two
		}
		if one == "" || two == "" || one == two || one != known || two != unknown || !b.Refused() && !failsInside(b) {
			return false
		}
		last = b
	}
	x.Refute(t, review.Critical, "functions that SQL has are called behind an apostrophe, and unknown ones are refused: "+client.Short(fmt.Sprintf(functionCondition, x.Given, queryFunctions[0].unknown), 80), "a function is called", last)
	return true
}
