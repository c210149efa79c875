package review

import (
	"context"
	"slices"

	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

// maxBranches is the number of ways through the questions of a flow.
const maxBranches = 6

// Branches returns the flow of an oracle, and those with another listed value in the answer to an earlier
// question. Where such an answer leads to other questions, they have the most likely answers. If the question comes
// again, its values are guesses, which a server may count, and no more of them are tried.
func (r *Review) Branches(ctx context.Context, o *Oracle) []client.Flow {
	all := []client.Flow{o.Flow}
	for i, answers := range o.Flow.Rounds {
		stage := o.Flow
		stage.Rounds, stage.Last = o.Flow.Rounds[:i], nil
		_, question, err := r.Client.Mint(ctx, stage, o.User)
		if err != nil {
			return all
		}
		for _, key := range jsondoc.SortedKeys(jsondoc.Members(answers)) {
			for name, s := range jsondoc.Fields(question.Questions[key].Form()) {
				for _, v := range s.Values() {
					own := o.Flow.Content(i, key)[name]
					if own == nil || jsondoc.SameText(string(own), string(v)) || len(all) == maxBranches {
						continue
					}
					f := o.Flow.WithAnswer(i, key, name, v)
					stage.Rounds = f.Rounds[:i+1]
					_, next, err := r.Client.Mint(ctx, stage, o.User)
					if err == nil && !next.GoesOn(question) {
						break
					}
					if err == nil && (r.goesThrough(ctx, f, o.User) || r.completes(ctx, &f, i+1, o.User)) {
						all = append(all, f)
					}
				}
			}
		}
	}
	return all
}

// goesThrough reports whether a flow has a question for each of its answers, and a result after the last one.
func (r *Review) goesThrough(ctx context.Context, f client.Flow, as client.User) bool {
	a, answered := r.Client.Walk(ctx, f, as)
	return a.Kind == client.Completed && answered == len(f.Answers())
}

// completes gives the most likely answers to the questions that follow n rounds of a flow, until it completes.
func (r *Review) completes(ctx context.Context, f *client.Flow, n int, as client.User) bool {
	f.Rounds = f.Rounds[:n]
	for before := (client.Answer{}); len(f.Rounds) <= maxRounds; {
		_, question, err := r.Client.Mint(ctx, f.WithLast(nil), as)
		if err != nil || !question.GoesOn(before) {
			return false
		}
		if f.Last = AnswersTo(question.Questions)[0]; r.goesThrough(ctx, *f, as) {
			return true
		}
		f.Rounds, before = f.Answers(), question
	}
	return false
}

// runInBranches carries out the checks of states that found nothing on the other branches of each flow, as long as
// there is room: other checks come after it, and a slow server would take too long.
func (r *Review) runInBranches(ctx context.Context, checks []Check) {
	if !r.Options.Effects || r.Options.Case != "" {
		return
	}
	oracles := r.Oracles
	defer func() { r.Oracles = oracles }()
	for _, o := range oracles {
		if !o.Completes() || !r.hasRoom() {
			continue
		}
		for _, f := range r.Branches(ctx, o)[1:] {
			branch, reason := r.NewOracle(ctx, f, o.User)
			if reason != "" || !branch.Completes() {
				continue
			}
			r.Options.Log("branch of %s: %s", f, f.Rounds)
			r.Oracles = []*Oracle{branch}
			for _, long := range []bool{false, true} {
				for _, check := range checks {
					if check.Family() == "RS" && !check.Once && !check.Last && !check.Locks && check.Long == long && r.hasRoom() {
						r.runAgain(ctx, check)
					}
				}
			}
		}
	}
}

// hasRoom reports whether a quarter of the exchanges is left, and a quarter of the time is not over.
func (r *Review) hasRoom() bool {
	return r.Client.Left() > r.Options.Budget/4 && (r.Options.Time <= 0 || r.Client.Clock.Now().Sub(r.began) < r.Options.Time/4)
}

// runAgain runs a check again if it has found nothing but suggestions. What it finds that is worse replaces its outcome.
func (r *Review) runAgain(ctx context.Context, check Check) {
	i := slices.IndexFunc(r.Report.Outcomes, func(o Outcome) bool { return o.Check == check.ID })
	grave := func(f Finding) bool { return f.Check == check.ID && f.Severity != Suggestion }
	if slices.ContainsFunc(r.Report.Findings, grave) {
		return
	}
	t := r.carryOut(ctx, check)
	if r.Report.Outcomes[i].Outcome == Refuted {
		t.Findings = slices.DeleteFunc(t.Findings, func(f Finding) bool { return !grave(f) })
	}
	if len(t.Findings) > 0 {
		r.Report.Outcomes[i] = t.outcome()
		r.Report.Findings = append(r.Report.Findings, t.Findings...)
	}
}
