package injections

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

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
// The words of about may name columns.
func columnConditions(about string) []string {
	all := []string{
		"(case when %d=%d then 1 else abs(-9223372036854775807-1) end)",
		"(case when %d=%d then 1 else 1/0 end)",
		"asc, (case when %d=%d then 1 else abs(-9223372036854775807-1) end)",
	}
	var words []string
	for _, word := range columnWord.FindAllString(about, -1) {
		if !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	for _, word := range words[:min(len(words), maxColumns)] {
		all = append(all, "(case when %d=%d then "+word+" else null end)")
	}
	return all
}

// A columnInput is an input that names a column. Columns are the texts of an answer that may name columns; it is
// empty for an argument.
type columnInput struct {
	inputs.Input
	Columns string
}

// columnInputs returns the texts that name columns in arguments of read-only tools, for several
// values of the other texts.
func columnInputs(t *review.T) []columnInput {
	var all []columnInput
	for _, tool := range t.Readers() {
		properties := jsondoc.ParseSchema(tool.Input).Properties
		for name, s := range jsondoc.Fields(tool.Input) {
			if _, free := inputs.FreeText(nil, s.Raw); !free || !client.Mentions(name, columnNames) || client.Mentions(tool.Name+tool.Description, queryNames) {
				continue
			}
			samples := []json.RawMessage{t.Sample(tool)}
			for _, text := range usualRows {
				samples = append(samples, withTexts(samples[0], properties, text))
			}
			slices.SortFunc(samples, func(a, b json.RawMessage) int { return strings.Compare(string(a), string(b)) })
			for _, sample := range slices.CompactFunc(samples, func(a, b json.RawMessage) bool { return string(a) == string(b) }) {
				all = append(all, columnInput{Input: inputs.Argument(t, t.FlowOf(tool).With(sample), name)})
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

// columnAnswers returns the members of forms that name columns, also those that list their values. The numbers in the
// other answers are usual ones, or the largest that their forms allow, because a bound may leave no lines.
func columnAnswers(t *review.T) []columnInput {
	var all []columnInput
	for _, o := range t.Oracles {
		if o.Good.Kind != client.Completed {
			continue
		}
		flows := sync.OnceValue(func() []client.Flow { return withLargest(t, o) })
		for _, stage := range o.Flow.Stages() {
			_, question, err := t.Client.Mint(t.Context, stage, o.User)
			if err != nil {
				continue
			}
			for key, q := range jsondoc.InOrder(question.Questions) {
				for name, s := range jsondoc.Fields(q.Form()) {
					if _, is := jsondoc.Text(o.Flow.Content(len(stage.Rounds), key)[name]); is && s.Format == "" && client.Mentions(name+" "+q.Params.Message, columnNames) {
						all = append(all, columnAnswer(t, o, flows(), len(stage.Rounds), key, name, s)...)
					}
				}
			}
		}
	}
	return all[:min(len(all), inputs.Max)]
}

// columnAnswer returns the inputs of one member of a form of a round, in the flows of withLargest.
func columnAnswer(t *review.T, o *review.Oracle, flows []client.Flow, round int, key, name string, s jsondoc.Schema) []columnInput {
	var all []columnInput
	columns := name + " " + string(s.Raw)
	if s.Listed() {
		columns = fmt.Sprintf("%s", jsondoc.Samples(s.Raw, 0))
	}
	for i, f := range flows {
		label := fmt.Sprintf("the column %s of %s", name, f.Target)
		if i > 0 {
			label += ", with the largest numbers"
		}
		all = append(all, columnInput{Columns: columns, Input: inputs.Input{Name: label, Offer: f.Offer, Flow: &o.Flow, Send: func(text string) client.Answer {
			return t.Tried(t.Fresh(f.WithAnswer(round, key, name, jsondoc.Quote(text)), o.User))
		}}})
	}
	return all
}

// withLargest returns the flow of an oracle and, if it differs, the same one with the largest number for each in its
// answers whose form has a maximum.
func withLargest(t *review.T, o *review.Oracle) []client.Flow {
	f := o.Flow
	for _, stage := range o.Flow.Stages() {
		_, question, err := t.Client.Mint(t.Context, stage, o.User)
		if err != nil {
			continue
		}
		for key, q := range jsondoc.InOrder(question.Questions) {
			round := len(stage.Rounds)
			for name, s := range jsondoc.Fields(q.Form()) {
				if s.Maximum != nil && f.Content(round, key)[name] != nil {
					f = f.WithAnswer(round, key, name, fmt.Append(nil, *s.Maximum))
				}
			}
		}
	}
	if fmt.Sprintf("%s", f.Answers()) == fmt.Sprintf("%s", o.Flow.Answers()) {
		return []client.Flow{o.Flow}
	}
	return []client.Flow{o.Flow, f}
}

// sortsByCondition reports whether an input is evaluated as a column: for numbers that differ, the
// answer is a refusal, or has the same lines in another order.
func sortsByCondition(t *review.T, x columnInput) bool {
	for _, condition := range columnConditions(cmp.Or(x.Columns, x.Offer.Description+" "+string(x.Offer.Input))) {
		shown := func(one, two int) (client.Answer, string) {
			text := fmt.Sprintf(condition, one, two)
			a := x.Send(text)
			return a, strings.ReplaceAll(a.ShownTexts(), text, "")
		}
		usual, text := shown(7919, 7919)
		if !usual.Conclusive() || usual.Refused() || x.Columns != "" && usual.Kind != client.Completed {
			continue
		}
		holds := func(one, two int) (bool, client.Answer) {
			a, other := shown(one, two)
			refused := a.Refused() || x.Columns != "" && a.Kind == client.Asked // again
			if !refused && !sameLines(text, other) {
				a.Kind = client.Broken // other lines are no evidence
			}
			return !refused && other == text, a
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
