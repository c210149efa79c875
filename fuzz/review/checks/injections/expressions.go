package injections

import (
	"fmt"
	"slices"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/inputs"
)

// A typeExpression multiplies a number with the length of the name of a type, which takes more than
// arithmetic.
type typeExpression struct {
	text    string
	lengths []int // of the name, by language
}

// typeExpressions are expressions of Python, JavaScript, Ruby and languages on the Java virtual
// machine, PHP and Perl. They are numbers, because some tools return only numbers.
var typeExpressions = []typeExpression{
	{"().__class__.__name__.__len__()*%d", []int{len("tuple")}},
	{`"".constructor.constructor("return typeof this.isNaN")().length*%d`, []int{len("function")}},
	{"''.class.name.length()*%d", []int{len("String"), len("java.lang.String")}},
	{"strlen(gettype([]))*%d", []int{len("array")}},
	{"length(ref([]))*%d", []int{len("ARRAY")}},
}

// expressionFactors are factors whose products with a short length have few digits, so that no
// tool rounds them.
var expressionFactors = [2]int{20011, 30013}

// codeNames are parts of texts of tools that are meant to run programs.
var codeNames = []string{"code", "script", "python", "javascript", "ruby", "php", "perl", "program", "snippet", "repl", "sandbox", "interpret", "notebook"}

// evaluatesText reports whether an input is evaluated in a programming language, with two factors. A
// calculator evaluates arithmetic, and a tool for programs all of them.
func evaluatesText(t *review.T, x inputs.Input) bool {
	if client.Mentions(x.Name+" "+x.Offer.Description+" "+string(x.Offer.Input), codeNames) {
		return false
	}
	for _, e := range typeExpressions {
		if a, does := confirmedTwice(func(number int) (client.Answer, bool) { return e.evaluated(x, expressionFactors[number]) }); does {
			x.Refute(t, review.Critical, fmt.Sprintf(e.text, expressionFactors[1])+" is evaluated", "evaluated", a)
			return true
		}
	}
	return false
}

// evaluated sends an expression and reports whether the answer has its value.
func (e typeExpression) evaluated(x inputs.Input, factor int) (client.Answer, bool) {
	a := x.Send(fmt.Sprintf(e.text, factor))
	shown := strings.ReplaceAll(a.ShownTexts(), ",", "") // between groups of digits
	return a, slices.ContainsFunc(e.lengths, func(n int) bool { return strings.Contains(shown, fmt.Sprint(n*factor)) })
}
