package tokens

import "slices"

// isHandle reports whether a token may be the handle of a state that a store keeps: it is
// long enough, and shows no state itself.
func isHandle(token string) bool { return len(token) >= 4 && len(Views(token)) == 0 }

// Expressions are texts that a careless store takes for a handle: a pattern of SQL or of
// file names, or the name of a member that every object has. None has the characters of
// the whole token, so that no reader takes one for a spelling of it.
func Expressions(token string) []Variant {
	if !isHandle(token) {
		return nil
	}
	half := len(token) / 2
	return other(token, []Variant{
		{Name: "a pattern of SQL for its second half", Text: token[:half] + "%"},
		{Name: "a pattern of SQL for a character", Text: token[:half] + "_" + token[half+1:]},
		{Name: "a pattern for its second half", Text: token[:half] + "*"},
		{Name: "a pattern for a character", Text: token[:half] + "?" + token[half+1:]},
		{Name: "a member of every object", Text: "constructor"},
		{Name: "the prototype of every object", Text: "__proto__"},
	})
}

// NoCondition is a text behind a handle that ends a text of SQL and is no condition. A
// reader that accepts it passes over all texts there.
const NoCondition = "' sealab"

// Conditions are a handle with a condition of SQL behind it.
func Conditions(token string) []Variant {
	if !isHandle(token) {
		return nil
	}
	return []Variant{
		{Name: "a condition of SQL", Text: token + "' or '1'='2"},
		{Name: "a condition of SQL in other quotes", Text: token + `" or "1"="2`},
	}
}

// Paths are paths that lead to a handle as the name of a file.
func Paths(token string) []Variant {
	if !isHandle(token) {
		return nil
	}
	return []Variant{
		{Name: "a path from this folder", Text: "./" + token},
		{Name: "a path by way of another folder", Text: "sealab/../" + token},
	}
}

// other leaves out the variants that are the token itself.
func other(token string, all []Variant) []Variant {
	return slices.DeleteFunc(all, func(v Variant) bool { return v.Text == token })
}
