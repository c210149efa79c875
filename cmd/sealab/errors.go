package main

import "strings"

// oneLine returns the text of err as one line that begins with "sealab: ".
func oneLine(err error) string {
	text := strings.Join(strings.Fields(err.Error()), " ")
	if !strings.HasPrefix(text, "sealab: ") {
		text = "sealab: " + text
	}
	return text
}
