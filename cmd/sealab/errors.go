package main

import "strings"

// oneLine returns the text of err as one line that begins with "sealab: ", once.
func oneLine(err error) string {
	text := strings.Join(strings.Fields(err.Error()), " ")
	text = strings.ReplaceAll(text, ": sealab: ", ": ")
	if !strings.HasPrefix(text, "sealab: ") {
		text = "sealab: " + text
	}
	return text
}
