package tokens

// Expressions are texts that a careless store takes for the handle of a state: a pattern
// of SQL or of file names, a condition of SQL, a path, or the name of a member that every
// object has. Tokens in a text code have none: a reader that passes over characters outside
// of the code would take some of these for the token.
func Expressions(token string) []Variant {
	var all []Variant
	half := len(token) / 2
	if half < 2 || len(Views(token)) > 0 {
		return nil
	}
	for _, v := range []Variant{
		{Name: "a pattern of SQL for its second half", Text: token[:half] + "%"},
		{Name: "a pattern of SQL for a character", Text: token[:half] + "_" + token[half+1:]},
		{Name: "a pattern for its second half", Text: token[:half] + "*"},
		{Name: "a pattern for a character", Text: token[:half] + "?" + token[half+1:]},
		{Name: "a condition of SQL", Text: token + "' or '1'='2"},
		{Name: "a condition of SQL in other quotes", Text: token + `" or "1"="2`},
		{Name: "a path from this folder", Text: "./" + token},
		{Name: "a path by way of another folder", Text: "sealab/../" + token},
		{Name: "a member of every object", Text: "constructor"},
		{Name: "the prototype of every object", Text: "__proto__"},
	} {
		if v.Text != token {
			all = append(all, v)
		}
	}
	return all
}
