package answers

import (
	"fmt"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

// pollutedPlaces are the places in which checkPrototypeAnswers adds prototype members.
var pollutedPlaces = []struct {
	name string
	insertPlace
}{{"an answer", insertPlaces[1]}, {"content", insertPlaces[0]}, {"the answers", insertPlaces[2]}}

// checkPrototypeAnswers completes calls whose answers have members that a careless merge copies
// into the prototype of all JavaScript objects.
func checkPrototypeAnswers(t *review.T) {
	f := t.Oracle.Flow
	for _, place := range pollutedPlaces {
		token, reason := t.Mint()
		if t.SkipFor(reason) {
			return
		}
		f.Last = jsondoc.Object(place.add(jsondoc.Members(t.Oracle.Flow.Last), review.Polluting))
		var a client.Answer
		if after, is := t.Pollutes(func() { a = t.Tried(t.PresentIn(f, jsondoc.Quote(token))) }); is {
			t.Refute(review.Finding{Case: place.name, Severity: review.Critical, Issue: "members of " + place.name + " named __proto__ and constructor change how requests of everybody are read",
				Evidence: fmt.Sprintf("answers %s -> %v; then %s, refused before", f.Last, a, review.ExchangeText(after)), Want: "refused", Got: "accepted", Flow: &f})
			return
		}
	}
}
