package numbers

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/inputs"
	"sealab/fuzz/review/jsondoc"
	"sealab/fuzz/review/tokens"
)

// smallAmount and largeAmounts are amounts as texts. A limit may be between them.
const smallAmount = "2"

var largeAmounts = []string{"1000", "10000", "100000"}

// numericText matches texts that are numbers.
var numericText = regexp.MustCompile(`^\d+(?:[.,']\d+)*$`)

// spelledInputs returns the texts, of calls that ask and are carried out, that are amounts.
func spelledInputs(t *review.T) []numberInput {
	var all []numberInput
	for _, o := range t.Oracles {
		given := jsondoc.Members(o.Flow.Arguments)
		for name, s := range jsondoc.Fields(o.Flow.Offer.Input) {
			text, free := inputs.FreeText(given[name], s.Raw)
			if free && o.Flow.Last != nil && o.Flow.Method == "tools/call" && (amountName.MatchString(name) || numericText.MatchString(text)) {
				all = append(all, numberInput{name, o.Flow, o})
			}
		}
	}
	return all[:min(len(all), review.MaxTestedCalls)]
}

// spellingsOf returns other texts for a number of at least four digits.
func spellingsOf(n string) []string {
	head := n[:len(n)-3]
	return []string{
		head + ".000", head + ",000", head + "'000", head + "_000", head + " 000", head + "\u00a0000", head + ".000,00", head + ",000.00",
		n + ".0", n + ",0", n + ".00", n + ",00", head + "e3", head + "E+3", " " + n, n + " ", "+" + n, "0" + n, tokens.FullWidth(n),
		strings.Map(func(r rune) rune { return r - '0' + '٠' }, n),
	}
}

// asked returns the answer to an amount, apart from the numbers in it. It returns "" if the schema does not
// allow the amount or the answer shows nothing.
func (x numberInput) asked(t *review.T, amount string) string {
	f, fits := x.withRaw(string(jsondoc.Quote(amount)))
	if !fits {
		return ""
	}
	a := t.Tried(t.Call(f.Call(client.FirstUser)))
	if !a.Conclusive() {
		return ""
	}
	return a.Class() + " " + withoutNumbers(strings.ReplaceAll(a.ShownTexts(), amount, "0"))
}

// shows carries an amount out and reports whether the result shows a number that is not the amount as it
// was sent.
func (x numberInput) shows(t *review.T, amount, number string) (client.Answer, bool) {
	f, _ := x.withRaw(string(jsondoc.Quote(amount)))
	a := t.Tried(t.Fresh(f, x.oracle.User))
	text := a.Text
	if !strings.Contains(amount, number) {
		text = strings.ReplaceAll(text, amount, "")
	}
	head := number[:len(number)-3]
	shown := regexp.MustCompile(`(?:^|[^\d.,])(?:` + number + `(?:[.,]\d{1,2})?|` + head + `[.,' \x{a0}]000[.,]\d{2})(?:$|[^\d.,]|[.,](?:\s|$))`)
	return a, a.Kind == client.Completed && shown.MatchString(text)
}

// misreadsSpelling reports whether another spelling of a large amount is asked about like a small one, and
// carried out as the large one, twice. The plain large amount must be refused, or asked about otherwise.
func misreadsSpelling(t *review.T, x numberInput) bool {
	small := x.asked(t, smallAmount)
	if small == "" || x.asked(t, smallAmount) != small {
		return false
	}
	for _, n := range largeAmounts {
		large := x.asked(t, n)
		if large == "" || large == small || x.asked(t, n) != large {
			continue
		}
		a, is := x.shows(t, smallAmount, n)
		return !is && a.Kind == client.Completed && slices.ContainsFunc(spellingsOf(n), func(spelled string) bool {
			return x.asked(t, spelled) == small && x.passesAs(t, spelled, n, small, large)
		})
	}
	return false
}

// passesAs records a finding if a spelling is carried out as a large amount, twice.
func (x numberInput) passesAs(t *review.T, spelled, n, small, large string) bool {
	if _, is := x.shows(t, spelled, n); !is || x.asked(t, n) != large || x.asked(t, spelled) != small {
		return false
	}
	a, is := x.shows(t, spelled, n)
	if is {
		f := review.NewFinding(x.label(), review.Warning, fmt.Sprintf("%s: %q is asked about like %s, and carried out as %s, which is not", x.label(), spelled, smallAmount, n), a)
		f.Got = "two readings"
		t.Refute(f)
	}
	return is
}
