package review

import (
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/fuzz/review/jsondoc"
)

// TestTextsFor checks which names of arguments have texts of their own.
func TestTextsFor(t *testing.T) {
	for name, want := range map[string]string{
		"amount": "20", "totalAmount": "20", "max_count": "20", "country": "probe", "account": "probe",
		"due_date": "2027-01-29", "birthday": "probe", "callbackUrl": "https://example.com/one", "topic": "probe",
	} {
		require.Equal(t, string(jsondoc.Quote(want)), string(textsFor(name)[0]), name)
	}
}

// TestDescribedValues reads values from descriptions, and none from remarks.
func TestDescribedValues(t *testing.T) {
	for description, want := range map[string][]string{
		"Parcel number, e.g. DE1234":                         {"DE1234"},
		"Tone of the letter (friendly, firm or plain)":       {"friendly", "firm", "plain"},
		`One of "daily", "weekly" or "monthly".`:             {"daily", "weekly", "monthly"},
		"Room, for example `server room`":                    {"server room"},
		"A branch such as main, or any other name":           {"main"},
		"Amount (optional, in cents)":                        nil,
		"Name of the file (at most 40 characters)":           nil,
		"A free text. Nobody reads it, e.g. in the evening.": nil,
		"Path (e.g. notes/a.txt)":                            {"notes/a.txt"},
	} {
		require.Equal(t, want, append([]string(nil), describedValues(description)...), description)
	}
	require.Equal(t, []string{"Adler", "Brandt", "Cohen"}, listedBehind("customer", "Letter to a customer (Adler, Brandt or Cohen) about an amount"))
	require.Empty(t, listedBehind("amount", "Letter to a customer (Adler, Brandt or Cohen) about an amount"))
}
