package replays

import (
	"regexp"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
)

// receiptWord matches a word that looks like a receipt or another random identifier.
var receiptWord = regexp.MustCompile(`\b[0-9A-Z]{8,}\b|\b[0-9a-f]{12,}\b|\b[0-9A-Za-z_-]{16,}\b`)

// keepsReceipt reports whether every token of the user gets one result with a receipt, and every token of the other
// user another result with a receipt of the same length. A server that carries a call out once for each user
// keeps the result.
func keepsReceipt(t *review.T, one client.Answer) bool {
	if len(t.Options.Target.Second) == 0 {
		return false
	}
	own, ok := onlyReceipt(t, t.Oracle.User)
	if !ok || own != receiptWord.FindString(one.Text) {
		return false
	}
	user := client.SecondUser
	if t.Oracle.User == client.SecondUser {
		user = client.FirstUser
	}
	other, ok := onlyReceipt(t, user)
	return ok && own != other && len(own) == len(other)
}

// onlyReceipt carries out several tokens of a user. It returns the receipt in their results, and whether the
// results are equal and contain one.
func onlyReceipt(t *review.T, as client.User) (word string, ok bool) {
	text := ""
	for i := range review.Repetitions {
		a := t.Tried(t.Fresh(t.Oracle.Flow, as))
		if a.Kind != client.Completed || i > 0 && a.Text != text {
			return "", false
		}
		text = a.Text
	}
	word = receiptWord.FindString(text)
	return word, word != ""
}
