package review

import (
	"fmt"
	"strings"

	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
	"sealab/fuzz/review/tokens"
)

// A Hit is a variant that was accepted.
type Hit struct {
	tokens.Variant
	Token  string
	Answer client.Answer
}

// blockSize is the number of variants between two controls. Each block has its own token.
const blockSize = 16

// Sweep presents every variant of a token that vary returns, and returns those that the server
// accepted. A block ends with the unchanged token. If the server refuses that, each variant of the
// block is presented again with a token of its own.
func (t *T) Sweep(vary func(token string) []tokens.Variant) (hits []Hit, tried int, reason string) {
	token, reason := t.Mint()
	if reason != "" {
		return nil, 0, reason
	}
	var names []string
	for _, v := range vary(token) {
		if t.Selected(v.Name) {
			names = append(names, v.Name)
		}
	}
	for len(names) > 0 {
		n := min(blockSize, len(names))
		found, count, reason := t.block(vary, names[:n])
		if reason != "" {
			for _, name := range names[:n] {
				again, one, reason := t.block(vary, []string{name})
				if reason != "" {
					return hits, tried, reason
				}
				found, count = append(found, again...), count+one
			}
		}
		hits, tried = append(hits, found...), tried+count
		names = names[n:]
	}
	return hits, tried, ""
}

// block presents the named variants of a token and then the token itself.
func (t *T) block(vary func(token string) []tokens.Variant, names []string) (hits []Hit, tried int, reason string) {
	token, reason := t.Mint()
	if reason != "" {
		return nil, 0, reason
	}
	by := map[string]tokens.Variant{}
	for _, v := range vary(token) {
		by[v.Name] = v
	}
	for _, name := range names {
		v, ok := by[name]
		if !ok || v.Raw == nil && (v.Text == token || t.honest[v.Text]) {
			continue
		}
		a := t.Present(v.State())
		if a.Kind == client.NoBudget {
			return nil, 0, a.Cause.Error()
		}
		tried++
		t.Trials++
		switch t.Oracle.Judge(v.Text, a) {
		case Accepted:
			hits = append(hits, Hit{v, token, a})
		case Unclear:
			t.Unclear++
		}
	}
	if a := t.PresentText(token); t.Oracle.Verdict(a) != Accepted {
		if len(names) == 1 && len(hits) == 1 && (t.spends() || t.outlastsGarbage()) {
			return hits, tried, "" // the variant used the token up, or was carried out in its place
		}
		return nil, 0, fmt.Sprintf("the unchanged token is not accepted afterwards: %v", a)
	}
	if len(hits) == 0 {
		hits = t.afterToken(token, by, names)
	}
	return hits, tried + len(hits), ""
}

// spends reports whether a token is accepted once and then refused, for two tokens.
func (t *T) spends() bool {
	for range 2 {
		if _, spent := t.UsedToken(); !spent {
			return false
		}
	}
	return true
}

// outlastsGarbage reports whether a token is accepted after a text that is refused, for two tokens.
func (t *T) outlastsGarbage() bool {
	for range 2 {
		token, reason := t.Mint()
		if reason != "" || t.VerdictOn(GarbageState) != Refused || t.VerdictOn(token) != Accepted {
			return false
		}
	}
	return true
}

// UsedToken presents a fresh token twice. It reports whether the token is accepted and then refused.
func (t *T) UsedToken() (token string, spent bool) {
	token, reason := t.Mint()
	return token, reason == "" && t.VerdictOn(token) == Accepted && t.VerdictOn(token) == Refused
}

// maxCached is the number of variants of a block that afterToken presents again.
const maxCached = 2

// afterToken presents variants again that share the beginning or the end of a token, after the
// token itself. Some servers cache the verdict by a part of the text.
func (t *T) afterToken(token string, by map[string]tokens.Variant, names []string) (hits []Hit) {
	const part = 16
	n := 0
	for _, name := range names {
		v, ok := by[name]
		same := len(v.Text) > 2*part && len(token) > 2*part && (v.Text[:part] == token[:part] || v.Text[len(v.Text)-part:] == token[len(token)-part:])
		if !ok || v.Raw != nil || !same || v.Text == token || t.honest[v.Text] || n == maxCached {
			continue
		}
		n++
		if a := t.Present(v.State()); t.Oracle.Judge(v.Text, a) == Accepted {
			hits = append(hits, Hit{v, token, a})
		}
	}
	return hits
}

// Mint returns a fresh token and records it as honest.
func (t *T) Mint() (token, reason string) {
	token, _, err := t.Client.Mint(t.Context, t.Oracle.Flow, t.Oracle.User)
	if err != nil {
		return "", "control: " + err.Error()
	}
	t.honest[token] = true
	return token, ""
}

// MintWithText mints a token for a text argument. It returns false if no argument accepts the text.
func (t *T) MintWithText(text string) (token string, ok bool) {
	f := t.Oracle.Flow
	args := f.ArgumentsWith(text)
	if args == nil {
		return "", false
	}
	token, _, err := t.Client.Mint(t.Context, f.With(args), t.Oracle.User)
	return token, err == nil
}

// CanBeRead reports whether a token reveals the marker argument or JSON.
func (t *T) CanBeRead() (bool, string) {
	token, reason := t.Mint()
	if reason != "" {
		return false, reason
	}
	marked, ok := t.MintWithText(MarkerA)
	return tokens.Shows(token) || ok && strings.Contains(tokens.InTheOpen(marked), MarkerA), ""
}

// Confirm presents a variant of two more fresh tokens, and garbage, which must be refused, after
// each. It reports whether the variant was accepted both times.
func (t *T) Confirm(h Hit, vary func(token string) []tokens.Variant) bool {
	if t.Oracle.Presence {
		return true
	}
	for range 2 {
		found, _, reason := t.block(vary, []string{h.Name})
		if reason != "" || len(found) == 0 {
			return false
		}
		if a := t.PresentText(GarbageState); t.Oracle.Verdict(a) != Refused {
			return false
		}
	}
	return true
}

// OtherToken returns a token for other arguments, or another token of the flow if it has none.
func (t *T) OtherToken() (token, reason string) {
	f := t.Oracle.Flow
	if f.Other != nil {
		f = f.With(f.Other)
	}
	token, _, err := t.Client.Mint(t.Context, f, t.Oracle.User)
	if err != nil {
		return t.Mint()
	}
	t.honest[token] = true
	return token, ""
}

// PresentOtherText presents a text of the server that is not a state in each round. It records a
// finding if the round goes on, twice, and begins again without a state.
func (t *T) PresentOtherText(what string, text func() string) {
	for _, o := range t.Oracles {
		for _, f := range o.Flow.Stages() {
			label := fmt.Sprintf("%s in round %d of %s", what, len(f.Rounds)+1, f.Target)
			if f.Last == nil || o.Presence || !t.Selected(label) {
				continue
			}
			state := ""
			goes := func() (client.Answer, bool) {
				state = text()
				a := t.Tried(t.Client.Present(t.Context, f, jsondoc.Quote(state), o.User))
				return a, a.Kind == client.Completed && o.Good.Kind == client.Completed && o.Alike(a) || a.Kind == client.Asked && a.Class() != o.Fresh.Class()
			}
			if a, is := goes(); is && t.Call(f.AnswersAlone(o.User)).Class() == o.Fresh.Class() {
				if _, again := goes(); again {
					t.Refute(Finding{Case: label, Severity: Critical, Issue: what + " is accepted in the place of a good one",
						Evidence: fmt.Sprintf("answers %s with the state %s -> %v; without a state: the first question", f.Last, client.Short(state, 160), a),
						Want:     "refused, or the first question", Got: a.Class(), Flow: &o.Flow})
					return
				}
			}
		}
	}
}
