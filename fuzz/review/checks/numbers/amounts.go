package numbers

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
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

// buyingNames are parts of names of tools that take a price.
var buyingNames = []string{"buy", "order", "purchase", "rent", "reserve", "ship", "ticket"}

// giftNames are parts of texts of tools for which a small amount may are free.
var giftNames = []string{"free", "round", "at least", "gift", "donat", "sample"}

// moneyName matches names of arguments that are a sum of money themselves.
var moneyName = regexp.MustCompile(`(?i)(?:^|_)(?:euros?|eur|dollars?|cents?|usd|money|sum|price|credits?|points|coins)(?:_|$)`)

// smallAmounts are amounts of which ten make an amount that may have a price.
var smallAmounts = []string{"0.1", "0.01", "0.001"}

// tenfoldAmounts are ten times the small amounts.
var tenfoldAmounts = map[string]string{"0.1": "1", "0.01": "0.1", "0.001": "0.01"}

// manyFractions is the number of small amounts that are taken one after the other.
const manyFractions = 10

// fractionInputs returns the numbers that are not integers, of tools that take a price and may be
// carried out.
func fractionInputs(t *review.T) []numberInput {
	var all []numberInput
	add := func(f client.Flow, o *review.Oracle) {
		says := strings.ToLower(f.Target + " " + f.Offer.Description + " " + string(f.Offer.Input))
		for name, s := range jsondoc.Fields(f.Offer.Input) {
			if s.TypeOf() == "number" && !s.Listed() && client.Mentions(f.Target, buyingNames) && !client.Mentions(says, giftNames) && !moneyName.MatchString(name) {
				all = append(all, numberInput{name, f, o})
			}
		}
	}
	for _, o := range t.Oracles {
		if o.Flow.Method == "tools/call" && o.Flow.Last != nil {
			add(o.Flow, o)
		}
	}
	for _, tool := range t.Changers() {
		add(t.FlowOf(tool), nil)
	}
	return all[:min(len(all), review.MaxTestedCalls)]
}

// takesFractions takes ten small amounts, and two of ten times the amount. It reports whether, twice,
// the small ones are free and the others do.
func takesFractions(t *review.T, x numberInput) bool {
	for _, small := range smallAmounts {
		if _, free := areFree(t, x, small, 2); !free {
			continue
		}
		if _, free := areFree(t, x, small, manyFractions); !free {
			return false
		}
		a, free := areFree(t, x, small, manyFractions)
		if free {
			f := review.NewFinding(x.label(), review.Warning, fmt.Sprintf("%s: %d times %s costs nothing, and %s does not", x.label(), manyFractions, small, tenfoldAmounts[small]), a)
			f.Got = "free"
			t.Refute(f)
		}
		return free
	}
	return false
}

// areFree takes a small amount n times, and ten times the amount twice. It reports whether the small
// ones are free, and the others do.
func areFree(t *review.T, x numberInput, small string, n int) (last client.Answer, free bool) {
	var sums [][]float64
	around := ""
	for i := range n + 2 {
		amount := small
		if i >= n {
			amount = tenfoldAmounts[small]
		}
		var a client.Answer
		if f, fits := x.withRaw(amount); fits {
			_, a = x.carryOut(t, f)
		}
		if i < n {
			last = a
		}
		text := a.ShownTexts()
		if i == 0 {
			around = withoutNumbers(text)
		}
		sums = append(sums, sumsIn(text+"\n"+readTexts(t)))
		if a.Kind != client.Completed || len(sums[i]) != len(sums[0]) || withoutNumbers(text) != around {
			return last, false
		}
	}
	for place := range sums[0] {
		costs, known := costAt(sums, place, n)
		if !known {
			return last, false
		}
		free = free || costs
	}
	return last, free
}

// costAt reports whether the sum at a place shows that the last two amounts cost more than the first
// n, which are free: a price, or an account. It is known for these, and for sums that do not
// change.
func costAt(sums [][]float64, place, n int) (costs, known bool) {
	first, one, two := sums[0][place], sums[n][place], sums[n+1][place]
	for _, s := range sums[:n] {
		if s[place] != first {
			return false, false
		}
	}
	price, account := first == 0 && one > 0 && one == two, first > one && one > two && first-one == one-two
	return price || account, price || account || first == one && one == two
}

// readTexts returns the texts of read-only tools that show a sum of money.
func readTexts(t *review.T) string {
	var all []string
	for _, tool := range t.Readers() {
		if a := t.Call(t.FlowOf(tool).Call(client.FirstUser)); len(sumsIn(a.Text)) > 0 {
			all = append(all, a.Text)
		}
	}
	return strings.Join(all, "\n")
}

// sumOfMoney matches a sum of money.
var sumOfMoney = regexp.MustCompile(`(?i)(?:(?:€|\$|£|\b(?:EUR|USD|GBP|CHF)) ?(\d+(?:\.\d+)?)|(\d+(?:\.\d+)?) ?(?:€|\$|£|(?:cents?|ct|eur|euros?|usd|dollars?|gbp|pence|chf|francs?|credits?|points|coins)\b))`)

// sumsIn returns the sums of money in a text.
func sumsIn(text string) []float64 {
	var all []float64
	for _, m := range sumOfMoney.FindAllStringSubmatch(text, -1) {
		if v, err := strconv.ParseFloat(m[1]+m[2], 64); err == nil {
			all = append(all, v)
		}
	}
	return all
}
