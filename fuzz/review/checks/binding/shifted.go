package binding

import (
	"regexp"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/jsondoc"
	"sealab/fuzz/review/tokens"
)

// shiftInStates moves a character from one argument to another, both in the call and in a readable token of
// it, and reports whether the token is accepted. Its tag then covers the values joined without borders. The
// unchanged token must be refused with the changed arguments.
func shiftInStates(t *review.T, o *review.Oracle, name string) bool {
	input := o.Flow.Offer.InputSchema()
	for _, pair := range jsondoc.ShiftedArguments(input, jsondoc.FullSample(input, 0)) {
		m := review.Move{Source: o.Flow.With(pair[0]), Target: o.Flow.With(pair[1]), SourceUser: o.User, TargetUser: o.User, Strict: true}
		token, _, err := t.Client.Mint(t.Context, m.Source, m.SourceUser)
		if err != nil || withValues(token, pair[0], pair[1]) == token || !refusedOrUnminted(t, o, m) {
			continue
		}
		m.Change = func(token string) string { return withValues(token, pair[0], pair[1]) }
		if refusedOrUnminted(t, o, m) {
			continue
		}
		evidence, is, _ := t.Moved(m)
		if !is {
			continue
		}
		refuteArguments(t, name, "changed from "+withoutTail(token)+" to "+withoutTail(m.Change(token))+": "+evidence, o.Flow)
		if len(t.Findings) > 0 {
			f := &t.Findings[len(t.Findings)-1]
			f.Issue = "a token is accepted in which a character moved from one value to another, as in the arguments"
		}
		return true
	}
	return false
}

// withoutTail returns the beginning of a token.
func withoutTail(token string) string { return token[:min(len(token), 120)] }

// withValues returns a token whose readable text has the arguments one replaced by two, or the token itself
// if it does not have all that differ.
func withValues(token string, one, two []byte) string {
	if text := rewritten(token, one, two); text != token {
		return text
	}
	segments := tokens.Segments(token)
	for _, i := range tokens.CodedSegments(segments) {
		if raw := string(segments[i].Raw()); rewritten(raw, one, two) != raw {
			return tokens.Replaced(segments, i, segments[i].Write([]byte(rewritten(raw, one, two))))
		}
	}
	return token
}

// rewritten returns a text with the values of one, each behind its name, replaced by those of two. It
// returns the text itself if one of them does not occur.
func rewritten(text string, one, two []byte) string {
	was, now := jsondoc.Members(one), jsondoc.Members(two)
	changed := text
	for name, raw := range jsondoc.InOrder(was) {
		old, other := scalarText(raw), scalarText(now[name])
		if old == other || old == "" || other == "" {
			continue
		}
		named := regexp.MustCompile(`(\b` + regexp.QuoteMeta(name) + `\b[\\"']{0,2}\s?[=:]\s?[\\"']{0,2})` + regexp.QuoteMeta(old) + `\b`)
		if !named.MatchString(changed) {
			return text
		}
		changed = named.ReplaceAllString(changed, "${1}"+strings.ReplaceAll(other, "$", "$$"))
	}
	return changed
}

// scalarText returns the text of a string or number.
func scalarText(raw []byte) string {
	if text, ok := jsondoc.Text(raw); ok {
		return text
	}
	return string(raw)
}
