package numbers

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

// givingNames are parts of names of tools that carry something in one direction.
var givingNames = []string{"give", "send", "transfer", "donate", "buy", "order", "reserve", "withdraw", "purchase", "lend", "ticket", "pay"}

// amountName matches names of arguments that say how much it carries.
var amountName = regexp.MustCompile(`(?i)(?:^|_)(?:amount|count|quantity|qty|pieces|euros?|eur|dollars?|cents?|usd|money|sum|credits?|points|coins|units|seats|tickets|items|persons|nights)(?:_|$)`)

// signedNames are parts of texts of tools that are meant to take negative numbers.
var signedNames = []string{"negative", "minus", "correct", "adjust", "refund", "signed", "below", "revers", "list_", "get_"}

// maxGivingSamples is the number of arguments of a tool that givingInputs returns.
const maxGivingSamples = 3

// givingInputs returns the integers of tools that do not ask, carry something in one direction and
// may be called: all with effects, or those that the user names.
func givingInputs(t *review.T) []numberInput {
	var all []numberInput
	for _, tool := range t.Changers() {
		samples := []json.RawMessage{t.Sample(tool)}
		if t.Options.Tools[tool.Name].Arguments == nil {
			samples = append(samples, jsondoc.Samples(tool.Input, 0)[1:]...)
		}
		for _, arguments := range samples[:min(len(samples), maxGivingSamples)] {
			for _, name := range integersOf(tool) {
				all = append(all, numberInput{name, t.FlowOf(tool).With(arguments), nil})
			}
		}
	}
	return all[:min(len(all), maxGivingSamples*review.MaxTestedCalls)]
}

// integersOf returns the names of the integer arguments of a tool.
func integersOf(tool client.Offer) []string {
	var all []string
	for name, s := range jsondoc.Fields(tool.Input) {
		if s.TypeOf() == "integer" && !s.Listed() {
			all = append(all, name)
		}
	}
	return all
}

// takesNegative reports whether a tool that carries something in one direction is carried out with a
// negative number like with a positive one, twice.
func takesNegative(t *review.T, x numberInput) bool {
	says := strings.ToLower(x.flow.Target + " " + x.flow.Offer.Description + " " + string(x.flow.Offer.Input))
	if !t.Options.Effects || !client.Mentions(x.flow.Target, givingNames) || !amountName.MatchString(x.name) || client.Mentions(says, signedNames) {
		return false
	}
	two, _ := x.with(2)
	minusTwo, fits := x.with(-2)
	if !fits {
		return false
	}
	var last client.Answer
	for range 2 {
		asked, a := x.carryOut(t, two)
		positive := asked + a.ShownTexts()
		asked, last = x.carryOut(t, minusTwo)
		negative := asked + last.ShownTexts()
		if a.Kind != client.Completed || last.Kind != client.Completed || withoutNumbers(positive) != withoutNumbers(negative) || !negativeTwo.MatchString(negative) {
			return false
		}
	}
	f := review.NewFinding(x.label(), review.Critical, fmt.Sprintf("%s: -2 is carried out like 2", x.label()), last)
	f.Got = "carried out"
	t.Refute(f)
	return true
}

// negativeTwo matches the negative number.
var negativeTwo = regexp.MustCompile(`[-−]2\b`)

// withoutNumbers returns a text without its numbers.
func withoutNumbers(text string) string { return shownNumber.ReplaceAllLiteralString(text, "#") }
