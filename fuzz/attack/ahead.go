package attack

import (
	"sealab/codecs"
	"sealab/internal/lab"
	"sealab/internal/verdict"
)

// Ahead reports whether the instance answers many calls in different contexts faster together
// than one by one, as a scheme in another process does.
func (in *Instance) Ahead() bool {
	_, seals := in.opened.Opened().(lab.Sealer)
	_, verifies := in.opened.Opened().(lab.Verifier)
	return seals && verifies
}

// UnsealEach presents texts in order, each in its own context, and returns the calls.
func (in *Instance) UnsealEach(texts [][]byte, contexts []codecs.Context) []verdict.Call {
	answers := in.answersAhead(texts, contexts)
	calls := make([]verdict.Call, len(texts))
	for i, text := range texts {
		if answers == nil {
			calls[i] = in.Unseal(text, contexts[i])
			continue
		}
		calls[i] = answered(in.unsealing(text, contexts[i]), answers[i])
	}
	return calls
}

// answersAhead presents all texts before it reads the answers. It returns nil if each text has
// to be presented alone, for example after a breach: a breach among many calls does not show
// which call caused it.
func (in *Instance) answersAhead(texts [][]byte, contexts []codecs.Context) []lab.Answer {
	v, ok := in.opened.Opened().(lab.Verifier)
	if !ok || len(texts) < 2 || in.t.Broken() {
		return nil
	}
	pointers := make([]*codecs.Context, len(contexts))
	for i := range contexts {
		if in.hangsAt(texts[i], contexts[i]) {
			return nil
		}
		pointers[i] = &contexts[i]
	}
	in.t.ask(len(texts))
	said := len(in.t.Design.Breaches())
	answers, err := v.VerifyEach(texts, pointers)
	if err == nil {
		return answers
	}
	in.t.Design.Excuse(said)
	return nil
}
