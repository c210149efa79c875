package attack

import "strings"

// A bomb is a kind of text that is cheap to make at any length.
type bomb struct {
	name string
	text func(n int) string // about n bytes, a token's length more at most
}

// bombs are the kinds of long texts that readers have been known to choke on.
func bombs(tok *Token, prefix string) []bomb {
	head, tail := string(tok.Text[:len(tok.Text)/2]), string(tok.Text[len(tok.Text)/2:])
	return []bomb{
		{"full stops", repeated("", ".")},
		{"letters", repeated("", "A")},
		{"letters after the prefix", repeated(prefix, "A")},
		{"full stops after the prefix", repeated(prefix, ".")},
		{"pieces of one letter", repeated(prefix, "A.")},
		{"padding", repeated(prefix, "=")},
		{"line breaks", repeated(prefix, "\n")},
		{"opening brackets", repeated("", "[")},
		{"an honest token and letters", repeated(string(tok.Text), "A")},
		{"an honest token in the middle", func(n int) string { return head + strings.Repeat("A", n) + tail }},
		{"opening braces, encoded", func(n int) string {
			return prefix + base64URL.encode([]byte(strings.Repeat(`{"a":`, n/8)))
		}},
		{"text that is not ASCII", repeated("", "\u00e9")},
	}
}

func repeated(head, what string) func(n int) string {
	return func(n int) string { return head + strings.Repeat(what, n/len(what)) }
}
