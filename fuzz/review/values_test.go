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
