package injections

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/inputs"
	"sealab/fuzz/review/jsondoc"
)

var (
	// columnNames are parts of names of arguments that name a column of a query.
	columnNames = []string{"sort", "order", "column", "field", "group", "direction"}
	// queryNames are parts of texts of tools that are meant to evaluate a query or an expression.
	queryNames = []string{"sql", "expression", "formula", "query language", "filter syntax"}
)

// columnWord matches words in the texts of a tool that may name a column.
var columnWord = regexp.MustCompile(`\b[a-z][a-z0-9_]+\b`)

// maxColumns is the number of words that columnConditions takes for columns.
const maxColumns = 12

// usualRows are texts that a search with rows may take in place of those that are not its order.
var usualRows = []string{"", "a", "e"}

// columnConditions returns terms of a query that fail or sort in another order if two numbers
// differ. SQLite, PostgreSQL and MySQL refuse the first number, and other databases the second.
func columnConditions(x inputs.Input) []string {
	all := []string{
		"(case when %d=%d then 1 else abs(-9223372036854775807-1) end)",
		"(case when %d=%d then 1 else 1/0 end)",
		"asc, (case when %d=%d then 1 else abs(-9223372036854775807-1) end)",
	}
	var words []string
	for _, word := range columnWord.FindAllString(x.Offer.Description+" "+string(x.Offer.Input), -1) {
		if !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	for _, word := range words[:min(len(words), maxColumns)] {
		all = append(all, "(case when %d=%d then "+word+" else null end)")
	}
	return all
}

// columnInputs returns the texts that name columns in arguments of read-only tools, for several
// values of the other texts.
func columnInputs(t *review.T) []inputs.Input {
	var all []inputs.Input
	for _, tool := range t.Readers() {
		properties := jsondoc.ParseSchema(tool.Input).Properties
		for name, property := range jsondoc.InOrder(properties) {
			if _, free := inputs.FreeText(nil, property); !free || !client.Mentions(name, columnNames) || client.Mentions(tool.Name+tool.Description, queryNames) {
				continue
			}
			samples := []json.RawMessage{t.Sample(tool)}
			for _, text := range usualRows {
				samples = append(samples, withTexts(samples[0], properties, text))
			}
			slices.SortFunc(samples, func(a, b json.RawMessage) int { return strings.Compare(string(a), string(b)) })
			for _, sample := range slices.CompactFunc(samples, func(a, b json.RawMessage) bool { return string(a) == string(b) }) {
				all = append(all, inputs.Argument(t, t.FlowOf(tool).With(sample), name))
			}
		}
	}
	return all[:min(len(all), inputs.Max)]
}

// withTexts returns arguments with another text in place of each free one.
func withTexts(arguments json.RawMessage, properties map[string]json.RawMessage, text string) json.RawMessage {
	given := jsondoc.Members(arguments)
	for name, v := range given {
		if _, free := inputs.FreeText(v, properties[name]); free {
			given = jsondoc.With(given, name, jsondoc.Quote(text))
		}
	}
	return jsondoc.Object(given)
}

// sortsByCondition reports whether an input is evaluated as a column: for numbers that differ, the
// answer is a refusal, or has the same lines in another order.
func sortsByCondition(t *review.T, x inputs.Input) bool {
	for _, condition := range columnConditions(x) {
		shown := func(one, two int) (client.Answer, string) {
			text := fmt.Sprintf(condition, one, two)
			a := x.Send(text)
			return a, strings.ReplaceAll(a.ShownTexts(), text, "")
		}
		usual, text := shown(7919, 7919)
		if !usual.Conclusive() || usual.Refused() {
			continue
		}
		holds := func(one, two int) (bool, client.Answer) {
			a, other := shown(one, two)
			if !a.Refused() && !sameLines(text, other) {
				a.Kind = client.Broken // other lines are no evidence
			}
			return !a.Refused() && other == text, a
		}
		if followsCondition(holds) {
			a, _ := shown(7919, 7921)
			x.Refute(t, review.Critical, "a condition in place of a column decides about the answer: "+client.Short(fmt.Sprintf(condition, 7919, 7919), 80), "a condition is evaluated", a)
			return true
		}
	}
	return false
}

// sameLines reports whether two texts have the same lines in some order.
func sameLines(one, two string) bool {
	lines := func(text string) []string { return slices.Sorted(strings.Lines(strings.TrimSpace(text) + "\n")) }
	return slices.Equal(lines(one), lines(two))
}
