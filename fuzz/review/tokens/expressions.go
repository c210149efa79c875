package tokens

import "slices"

// isHandle reports whether a token may be the handle of a stored state: it has at least 4
// characters and no readable object.
func isHandle(token string) bool { return len(token) >= 4 && len(Views(token)) == 0 }

// Expressions returns texts that a careless store accepts instead of a handle. These are patterns
// of SQL and of file names, and names of members that all JavaScript objects inherit. They omit
// part of the handle, so they are not merely other spellings of it.
func Expressions(token string) []Variant {
	if !isHandle(token) {
		return nil
	}
	half := len(token) / 2
	return withoutToken(token, []Variant{
		{Name: "a pattern of SQL for its second half", Text: token[:half] + "%"},
		{Name: "a pattern of SQL for a character", Text: token[:half] + "_" + token[half+1:]},
		{Name: "a pattern for its second half", Text: token[:half] + "*"},
		{Name: "a pattern for a character", Text: token[:half] + "?" + token[half+1:]},
		{Name: "a member of every object", Text: "constructor"},
		{Name: "the prototype of every object", Text: "__proto__"},
	})
}

// NoCondition ends a SQL string without adding a condition. A server that accepts it behind a
// handle ignores any text there.
const NoCondition = "' sealab"

// Conditions returns a handle followed by SQL conditions.
func Conditions(token string) []Variant {
	if !isHandle(token) {
		return nil
	}
	return []Variant{
		{Name: "a condition of SQL", Text: token + "' or '1'='2"},
		{Name: "a condition of SQL in other quotes", Text: token + `" or "1"="2`},
	}
}

// Paths returns paths to a file whose name is a handle.
func Paths(token string) []Variant {
	if !isHandle(token) {
		return nil
	}
	return []Variant{
		{Name: "a path from this folder", Text: "./" + token},
		{Name: "a path by way of another folder", Text: "sealab/../" + token},
	}
}

// withoutToken drops the variants that equal the token.
func withoutToken(token string, all []Variant) []Variant {
	return slices.DeleteFunc(all, func(v Variant) bool { return v.Text == token })
}
