package answers

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

// Texts of forms and calls about prices.
var (
	// priceName matches the words of names of members that hold a price, in small letters.
	priceName = regexp.MustCompile(`(^| )(prices?|totals?|costs?|fees?|discounts?|tax|vat|shipping|postage|preis|gesamt\w*|kosten|rabatt|prix|tarif)( |$)`)
	totalName = regexp.MustCompile(`(^| )(totals?|gesamt\w*)( |$)`)
	// buyingText matches texts of calls by which the user pays a price of the server.
	buyingText = regexp.MustCompile(`(?i)\bcharg|\bpa(y|id)|\border|\bcheck ?out|purchas|\bbuy|\bbought|\brent|\bdebit|subscri|bestell|kauf|zahl|\bcommand|\bachet`)
	// chosenText matches texts about a price that the user may choose.
	chosenText = regexp.MustCompile(`(?i)limit|\bmax|\bmin\b|budget|\btips?\b|donat|\bbids?\b|offer|suggest|propos|estimat|recommend|choos|choice|adjust|\bchang|\bedit|correct|overrid|how much|` +
		`sell|\blist(s|ed|ing)?\b|publish|quot|negotiat|expens|\brecord|market|stock|own price|your price|(which|what) (price|total|cost|fee|rate)`)
)

// A priceMember is a number of a form with a default that the server computes from the arguments of the call.
type priceMember struct {
	stage     client.Flow // that ends at the answer to the form
	key, name string
	schema    json.RawMessage
	value     float64 // the default
}

// replacePrices answers forms with other prices than their defaults. It records a finding if the default depends
// on the arguments of the call, the user may not choose it by the texts, and the result tells the given value in
// its place, for two values.
func replacePrices(t *review.T) {
	for _, o := range t.Oracles {
		if !o.Completes() || o.Mask == nil {
			continue
		}
		for _, stage := range o.Flow.Stages() {
			for _, m := range priceMembers(t, o, stage) {
				label := fmt.Sprintf("the default of %s in round %d of %s", m.name, len(stage.Rounds)+1, stage.Target)
				if t.Selected(label) && dependsOnArguments(t, o, m) && replacesPrice(t, o, m, label) {
					return
				}
			}
		}
	}
}

// priceMembers returns the members of forms at the end of a flow that hold a price with a default, and that the
// result of the flow tells.
func priceMembers(t *review.T, o *review.Oracle, stage client.Flow) (all []priceMember) {
	_, question, err := t.Client.Mint(t.Context, stage, o.User)
	if err != nil {
		return nil
	}
	for key, q := range jsondoc.InOrder(question.Questions) {
		for name, s := range jsondoc.Fields(q.Form()) {
			m := priceMember{stage: stage, key: key, name: name, schema: s.Raw}
			words := strings.ToLower(client.NameWords(name))
			texts := strings.Join([]string{name, s.Title, s.About, q.Params.Message, stage.Offer.About()}, " ")
			switch n, ok := m.defaultIn(question); {
			case !ok || !priceName.MatchString(words) || chosenText.MatchString(texts) || !buyingText.MatchString(texts+" "+o.Good.Text):
			case !totalName.MatchString(words) && formShown(q.Params.Message, n) < 0:
			default:
				m.value = n
				all = append(all, m)
			}
		}
	}
	return all
}

// defaultIn returns the default of a member in a question, if it is a number of at least 1.
func (m priceMember) defaultIn(question client.Answer) (n float64, ok bool) {
	raw := jsondoc.ParseSchema(question.Questions[m.key].Form()).Properties[m.name]
	s := jsondoc.ParseSchema(raw)
	isNumber := s.TypeOf() == "integer" || s.TypeOf() == "number"
	return n, isNumber && s.Default != nil && json.Unmarshal(s.Default, &n) == nil && n >= 1
}

// dependsOnArguments reports whether the default of a member is the same for the same arguments, and another one
// for others.
func dependsOnArguments(t *review.T, o *review.Oracle, m priceMember) bool {
	defaultOf := func(arguments json.RawMessage) (float64, bool) {
		_, question, err := t.Client.Mint(t.Context, m.stage.With(arguments), o.User)
		if err != nil {
			return 0, false
		}
		return m.defaultIn(question)
	}
	if again, ok := defaultOf(m.stage.Arguments); !ok || again != m.value {
		return false
	}
	return slices.ContainsFunc(otherCalls(m.stage), func(arguments json.RawMessage) bool {
		n, ok := defaultOf(arguments)
		return ok && n != m.value
	})
}

// otherCalls returns arguments that differ from those of a flow in one of them.
func otherCalls(f client.Flow) []json.RawMessage {
	var all []json.RawMessage
	if f.Other != nil {
		all = append(all, f.Other)
	}
	given, input := jsondoc.Members(f.Arguments), f.Offer.InputSchema()
	properties := jsondoc.ParseSchema(input).Properties
	for _, name := range jsondoc.SortedKeys(given) {
		one := jsondoc.Object(jsondoc.Arguments{"properties": jsondoc.Object(jsondoc.Arguments{name: properties[name]})})
		if properties[name] == nil {
			continue
		}
		if other := jsondoc.OtherArguments(jsondoc.Object(jsondoc.Arguments{name: given[name]}), one); other != nil {
			all = append(all, f.WithArgument(name, jsondoc.Members(other)[name]).Arguments)
		}
	}
	return all[:min(len(all), review.MaxTestedCalls)]
}

// replacesPrice answers with two other values of a member. It records a finding if the result tells each of them
// in the place and the form of the default, and the default if that is given.
func replacesPrice(t *review.T, o *review.Oracle, m priceMember, label string) bool {
	answer := func(n float64) client.Answer {
		return t.Tried(t.Fresh(o.Flow.WithAnswer(len(m.stage.Rounds), m.key, m.name, json.RawMessage(numberText(n))), o.User))
	}
	honest := answer(m.value)
	form := formShown(honest.Text, m.value)
	if honest.Kind != client.Completed || form < 0 {
		return false
	}
	evidence, told := "", 0
	for _, n := range []float64{107, 1907, 29.03, m.value + 113, m.value - 7} {
		if told == 2 {
			break
		}
		if n <= 0 || !jsondoc.Fits(m.schema, json.RawMessage(numberText(n))) || shows(honest.Text, moneyForms(n)[form]) {
			continue
		}
		a := answer(n)
		if a.Kind != client.Completed || !o.Alike(a) || !shows(a.Text, moneyForms(n)[form]) || shows(a.Text, moneyForms(m.value)[form]) {
			return false
		}
		told++
		evidence = fmt.Sprintf("%s = %s, the default -> %v; %s -> %v", client.Short(m.name, 60), numberText(m.value), honest, numberText(n), a)
	}
	if told < 2 {
		return false
	}
	t.Refute(review.Finding{Case: label, Severity: review.Warning, Issue: fmt.Sprintf("%s, which the server computes, is carried out as the client sends it back", client.Short(m.name, 40)),
		Evidence: evidence, Want: "the computed value, or a refusal", Got: "the value of the client", Flow: &o.Flow})
	return true
}

// numberText returns a number in JSON.
func numberText(n float64) string {
	raw, _ := json.Marshal(n) // finite numbers always encode
	return string(raw)
}

// moneyForms returns the texts in which a result may tell a price: as it is, with two decimals, and cents as units,
// each with a point and with a comma.
func moneyForms(n float64) []string {
	forms := []string{numberText(n), fmt.Sprintf("%.2f", n), fmt.Sprintf("%.2f", math.Round(n)/100)}
	for _, text := range forms[:3] {
		forms = append(forms, strings.ReplaceAll(text, ".", ","))
	}
	return forms
}

// formShown returns the index of the form in which a text tells a price, or -1.
func formShown(text string, n float64) int {
	return slices.IndexFunc(moneyForms(n), func(form string) bool { return shows(text, form) })
}

// shows reports whether a text tells a number that is not part of a longer one.
func shows(text, number string) bool {
	return regexp.MustCompile(`(^|[^\d.,]|[^\d][.,])` + regexp.QuoteMeta(number) + `($|[^\d.,]|[.,]($|[^\d]))`).MatchString(text)
}
