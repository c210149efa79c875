package review

import (
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

// maxBranches is the number of ways through the questions of a flow.
const maxBranches = 6

// Branches returns the flow of an oracle, and those with another listed value in the answer to an earlier
// question.
func (t *T) Branches(o *Oracle) []client.Flow {
	all := []client.Flow{o.Flow}
	for i, answers := range o.Flow.Rounds {
		stage := o.Flow
		stage.Rounds, stage.Last = o.Flow.Rounds[:i], nil
		_, question, err := t.Client.Mint(t.Context, stage, o.User)
		if err != nil {
			return all
		}
		for _, key := range jsondoc.SortedKeys(jsondoc.Members(answers)) {
			for name, property := range jsondoc.InOrder(jsondoc.ParseSchema(question.Questions[key].Form()).Properties) {
				for _, v := range jsondoc.ParseSchema(property).Values() {
					if own := o.Flow.Content(i, key)[name]; own != nil && !jsondoc.SameText(string(own), string(v)) {
						all = append(all, o.Flow.WithAnswer(i, key, name, v))
					}
				}
			}
		}
	}
	return all[:min(len(all), maxBranches)]
}
