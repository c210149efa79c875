package review

import (
	"regexp"
	"slices"
	"strings"
)

var (
	// exampleText matches what follows words that announce examples, up to the end of a sentence.
	exampleText = regexp.MustCompile(`(?i)(?:\be\.g\.,?|\bfor example,?|\bsuch as|\bone of:?|\beither|\bexamples?:|\bvalues?:)\s*([^;()\n]{2,100})`)
	// bracketText matches a text in parentheses, which may be a list.
	bracketText = regexp.MustCompile(`\(([^()\n]{3,100})\)`)
	// betweenValues matches what separates the values of a list in prose.
	betweenValues = regexp.MustCompile(`\s*(?:,\s*(?:or|and)\s|[,|]|\s/\s|\s(?:or|and)\s)\s*`)
	// aboutValues matches words about values, which are no values.
	aboutValues = regexp.MustCompile(`(?i)(?:^|[\s(,])(?:optional|required|default|at|up|in|of|the|an?|to|for|if|no|not|only|any|other|max|min|maximum|minimum|inclusive|characters|digits|see|etc|more)(?:[\s),:]|$)`)
)

// longestDescribed is the length of the longest value in a description, in bytes.
const longestDescribed = 40

// describedValues returns the values that the description of an argument lists or gives as examples.
func describedValues(description string) []string {
	var all []string
	for _, m := range exampleText.FindAllStringSubmatch(description, -1) {
		sentence, _, _ := strings.Cut(m[1], ". ")
		values := valuesIn(sentence)
		all = append(all, values[:min(len(values), 1)]...)
		if rest := values[min(len(values), 1):]; !slices.ContainsFunc(rest, aboutValues.MatchString) {
			all = append(all, rest...)
		}
	}
	for _, m := range bracketText.FindAllStringSubmatch(description, -1) {
		if values := valuesIn(m[1]); len(values) > 1 && !aboutValues.MatchString(m[1]) && !exampleText.MatchString(m[1]) {
			all = append(all, values...)
		}
	}
	return slices.DeleteFunc(all, func(v string) bool {
		return v == "" || len(v) > longestDescribed || len(strings.Fields(v)) > 3 || aboutValues.MatchString(v)
	})
}

// valuesIn returns the values of a list in prose, without quotation marks.
func valuesIn(list string) []string {
	var all []string
	for _, v := range betweenValues.Split(list, -1) {
		v = strings.Trim(strings.TrimSpace(v), "\"'`“”„‘’")
		all = append(all, strings.Trim(strings.TrimRight(v, ".!?:"), "\"'`“”„‘’"))
	}
	return all
}

// listedBehind returns the values in parentheses behind the name of an argument in a text about a tool or
// prompt.
func listedBehind(name, text string) []string {
	m := regexp.MustCompile(`(?i)\b` + regexp.QuoteMeta(name) + `\s*(\([^()\n]{3,100}\))`).FindStringSubmatch(text)
	if m == nil {
		return nil
	}
	return describedValues(m[1])
}
