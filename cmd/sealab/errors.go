package main

import "strings"

// oneLine returns the text of err as one line that begins with "sealab: ", once.
func oneLine(err error) string {
	text := strings.Replace(err.Error(), "\n\nDid you mean this?\n", "; did you mean ", 1) // cobra's suggestion
	text = strings.Join(strings.Fields(text), " ")
	text = strings.NewReplacer(": sealab: ", ": ", "(sealab: ", "(").Replace(text)
	if !strings.HasPrefix(text, "sealab: ") {
		text = "sealab: " + text
	}
	return text
}
