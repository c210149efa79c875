// Package numbers has the check of numbers that the schema of a tool allows and that careless handlers
// compute wrongly with.
package numbers

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/inputs"
	"sealab/fuzz/review/jsondoc"
)

// Checks returns the check of numbers.
func Checks() []review.Check { return numberChecks }

// numberChecks is the check of numbers.
var numberChecks = []review.Check{
	{
		ID: "T-NUMBER", Name: "numbers at the bounds of their type", Severity: review.Critical, Category: "reliability",
		Sent: "calls of tools that ask and, with --effects, of read-only tools, with small integers and with large ones " +
			"for which a proportional number in the answer exceeds 16 or 32 bits; with --effects, calls that are " +
			"carried out with 0, -1, the bounds of the schema and of 32 bits, and tools that give, send or order " +
			"with 2 and -2, and tools that buy or order with 0.1, 0.01 and 0.001, ten times each, and with ten times as " +
			"much; amounts that are texts in other spellings, if a plain one is asked about otherwise than a small one; all as far as the schema allows",
		Want: "computes the number for large integers as for small ones, or refuses them; gives and orders no " +
			"negative number, and nothing for no money; reads a text as the same number everywhere; answers and goes on",
		Source: "CWE-190, CWE-20, CWE-839",
		Impact: "a client pays a small sum for a large order, takes what it should give, or ends the server for " +
			"all of its clients",
		Fix: "compute in integers that hold the largest result, parse a text once, and write the bounds into the schema and check them",
		Run: checkNumbers,
	},
}

// A numberInput is an integer argument of a call.
type numberInput struct {
	name   string // of the argument
	flow   client.Flow
	oracle *review.Oracle // of a call that asks first
}

// with returns the flow with another number, and whether the schema allows it.
func (x numberInput) with(n int64) (client.Flow, bool) { return x.withRaw(fmt.Sprint(n)) }

// withRaw returns the flow with another number in JSON, and whether the schema allows it.
func (x numberInput) withRaw(number string) (client.Flow, bool) {
	f := x.flow.WithArgument(x.name, json.RawMessage(number))
	return f, f.Offer.Allows(f.Arguments)
}

// carryOut carries a flow of the input out, and returns the last answer. If the call asks first, it
// returns the texts of the question as well.
func (x numberInput) carryOut(t *review.T, f client.Flow) (asked string, a client.Answer) {
	if a = t.Tried(t.Call(f.Call(client.FirstUser))); a.Kind == client.Asked && x.oracle != nil && f.Last != nil {
		return a.ShownTexts(), t.Fresh(f, x.oracle.User)
	}
	return "", a
}

func (x numberInput) label() string { return x.flow.Target + ": " + x.name }

func checkNumbers(t *review.T) {
	all := numberInputs(t)
	t.Oracle = nil // a finding belongs to a call
	for _, x := range all {
		if t.Selected(x.label()) && (wrapsAround(t, x) || failsAtBound(t, x)) {
			return
		}
	}
	for _, x := range append(all, givingInputs(t)...) {
		if t.Selected(x.label()) && takesNegative(t, x) {
			return
		}
	}
	for _, x := range spelledInputs(t) {
		if t.Selected(x.label()) && t.Options.Effects && misreadsSpelling(t, x) {
			return
		}
	}
	for _, x := range fractionInputs(t) {
		if t.Selected(x.label()) && takesFractions(t, x) {
			return
		}
	}
	t.SkipUntried("no tool that asks takes an integer; --effects allows tools that read only")
}

// numberInputs returns the integers of tools that ask and of read-only tools.
func numberInputs(t *review.T) []numberInput {
	var all []numberInput
	add := func(f client.Flow, o *review.Oracle) {
		for _, name := range integersOf(f.Offer) {
			if f.Target != t.Options.Slow {
				all = append(all, numberInput{name, f, o})
			}
		}
	}
	for _, o := range t.Oracles {
		if o.Flow.Method == "tools/call" {
			add(o.Flow, o)
		}
	}
	for _, tool := range t.Readers() {
		add(t.FlowOf(tool), nil)
	}
	return all[:min(len(all), review.MaxTestedCalls)]
}

// boundNumbers are numbers that careless handlers fail on.
var boundNumbers = []float64{0, -1, math.MinInt32, math.MaxInt32}

// durationNames are parts of names of arguments for which a large number takes long.
var durationNames = []string{"ms", "sec", "min", "hour", "wait", "delay", "time", "duration", "sleep", "interval", "every"}

// failsAtBound carries a call out with numbers at the bounds. It reports whether one is a fault or
// ends the server.
func failsAtBound(t *review.T, x numberInput) bool {
	if !t.Options.Effects || x.oracle == nil || x.flow.Last == nil {
		return false
	}
	s := jsondoc.ParseSchema(jsondoc.ParseSchema(x.flow.Offer.Input).Properties[x.name])
	numbers := slices.Clone(boundNumbers)
	for _, bound := range []*float64{s.Minimum, s.Maximum} {
		if bound != nil {
			numbers = append(numbers, *bound)
		}
	}
	for _, n := range numbers {
		f, fits := x.with(int64(n))
		if !fits || math.Abs(n) > 1<<53 || n > 1<<20 && client.Mentions(x.name, durationNames) {
			continue
		}
		v := inputs.AwkwardValue{Name: fmt.Sprintf("%.0f", n), Kind: "integer"}
		a, severity, issue := v.Confirmed(func() client.Answer { return t.Tried(t.Fresh(f, x.oracle.User)) }, func() bool { return v.Handled(t.Fresh(x.flow, x.oracle.User)) })
		if issue != "" {
			t.Fault(x.label(), severity, x.label()+": "+v.Name+" is "+issue, a)
			return true
		}
		if after := t.Call(t.Client.Listing); after.Kind == client.Broken {
			t.Refute(review.Finding{Case: x.label(), Severity: review.Warning, Issue: "the server ends or hangs after a call with " + x.name + " " + v.Name,
				Evidence: fmt.Sprintf("%s carried out with %s; then %s", x.flow.Target, f.Arguments, review.ExchangeText(after)), Want: "answered", Got: string(client.Broken)})
			return true
		}
	}
	return false
}

// wrappingNames are parts of texts of tools that are meant to compute modulo a power of two.
var wrappingNames = []string{"modulo", "bitwise", "hash", "checksum", "crc", "uint", "int32", "overflow", "wrap", "16-bit", "32-bit"}

// wrapsAround reports whether a number in the answers is proportional to an argument, and for two
// large ones differs from the product by a multiple of 2^32 or 2^16.
func wrapsAround(t *review.T, x numberInput) bool {
	if client.Mentions(x.flow.Target+" "+x.flow.Offer.Description, wrappingNames) {
		return false
	}
	for _, other := range otherTexts(x) {
		for _, p := range productsOf(t, other) {
			for _, bits := range []int{32, 16} {
				for _, from := range []int64{1 << (bits - 1), 1 << bits} {
					if p.wraps(t, other, bits, from) {
						return true
					}
				}
			}
		}
	}
	return false
}

// maxWords is the number of words of a description that replace a text.
const maxWords = 12

// valueWord matches words of descriptions that may be values.
var valueWord = regexp.MustCompile(`[\pL\d_-]{3,}`)

// otherTexts returns the input and inputs with another text among the arguments: words from its
// description, since another product has another price.
func otherTexts(x numberInput) []numberInput {
	all := []numberInput{x}
	given, properties := jsondoc.Members(x.flow.Arguments), jsondoc.ParseSchema(x.flow.Offer.Input).Properties
	for _, name := range jsondoc.SortedKeys(given) {
		if _, free := inputs.FreeText(given[name], properties[name]); !free {
			continue
		}
		for _, w := range valueWord.FindAllString(jsondoc.ParseSchema(properties[name]).About, maxWords) {
			y := x
			y.flow = x.flow.WithArgument(name, jsondoc.Quote(w))
			all = append(all, y)
		}
	}
	return all[:min(len(all), maxWords)]
}

// shownNumber matches numbers in texts, with a sign and separators.
var shownNumber = regexp.MustCompile(`[-−]?\d+(?:[.,']\d+)*`)

// numbersFor returns the numbers in the answer to a number, without their separators, and the text
// around them. There is none if the call is refused.
func numbersFor(t *review.T, x numberInput, n int64) (numbers []int64, around string, a client.Answer) {
	f, fits := x.with(n)
	if !fits {
		return nil, "", a
	}
	if a = t.Tried(t.Call(f.Call(client.FirstUser))); !a.Succeeded() {
		return nil, "", a
	}
	text := a.ShownTexts()
	for _, s := range shownNumber.FindAllString(text, -1) {
		v, err := strconv.ParseInt(strings.NewReplacer("−", "-", ".", "", ",", "", "'", "").Replace(s), 10, 64)
		if err != nil {
			return nil, "", a
		}
		numbers = append(numbers, v)
	}
	return numbers, shownNumber.ReplaceAllLiteralString(text, "#"), a
}

// A product is a number in an answer that is factor*n + offset for small n.
type product struct {
	place          int // among the numbers
	factor, offset int64
	around         string
}

// productsOf returns the products in the answers to three small numbers.
func productsOf(t *review.T, x numberInput) []product {
	first := int64(1)
	if s := jsondoc.ParseSchema(jsondoc.ParseSchema(x.flow.Offer.Input).Properties[x.name]); s.Minimum != nil && *s.Minimum > 1 && *s.Minimum < 1<<20 {
		first = int64(*s.Minimum)
	}
	one, around, _ := numbersFor(t, x, first)
	if len(one) == 0 {
		return nil
	}
	two, aroundTwo, _ := numbersFor(t, x, first+1)
	four, aroundFour, _ := numbersFor(t, x, first+3)
	if around != aroundTwo || around != aroundFour || len(one) != len(two) || len(one) != len(four) {
		return nil
	}
	var all []product
	for i := range one {
		if factor := two[i] - one[i]; factor > 0 && factor < 1<<32 && four[i]-one[i] == 3*factor {
			all = append(all, product{i, factor, one[i] - factor*first, around})
		}
	}
	return all
}

// wraps reports whether a product is wrong by a multiple of 2^bits for two numbers behind the one
// that gives from. A limit would give equal results for both.
func (p product) wraps(t *review.T, x numberInput, bits int, from int64) bool {
	var evidence []string
	var last client.Answer
	before := int64(math.MaxInt64)
	for _, more := range []int64{1, 5} {
		n := max((from-p.offset)/p.factor, 0) + more
		numbers, around, a := numbersFor(t, x, n)
		if around != p.around || p.place >= len(numbers) {
			return false
		}
		want := p.factor*n + p.offset
		got := numbers[p.place]
		if got == want || got == before || (want-got)%(1<<bits) != 0 || max(got, -got) > 1<<bits {
			return false
		}
		evidence, last, before = append(evidence, fmt.Sprintf("%d gives %d, want %d", n, got, want)), a, got
	}
	f := review.NewFinding(x.label(), review.Critical, fmt.Sprintf("%s: a number in the answer is computed modulo 2^%d: %s", x.label(), bits, strings.Join(evidence, "; ")), last)
	f.Evidence = fmt.Sprintf("%d times the argument for small ones; %s; %s", p.factor, strings.Join(evidence, "; "), f.Evidence)
	f.Got = "a wrapped number"
	t.Refute(f)
	return true
}
