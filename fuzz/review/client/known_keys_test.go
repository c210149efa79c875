package client

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestUsedKey finds keys that may be used, and leaves out examples and masked ones.
func TestUsedKey(t *testing.T) {
	for text, want := range map[string]string{
		"key: SG.q4Tz9vKe2mWd7LpB of a@corp.example.":  "SG.q4Tz9vKe2mWd7LpB",
		"for example SG.q4Tz9vKe2mWd7LpB":              "",
		"key: SG.q4Tzxxxxxxxxxxxx":                     "",
		"AKIA" + "IOSFODNN7EXAMPLE":                    "",
		"https://ci:glpat-4kZq81mTw0cYb2Rd7f@git.corp": "glpat-4kZq81mTw0cYb2Rd7f",
		"-----BEGIN PRIVATE KEY-----\n...":             "",
		"-----BEGIN PRIVATE KEY-----\\nMIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgVq5mTzP8uKd3": "-----BEGIN PRIVATE KEY-----",
		"a token sk_live_abcdefghijklmnopqrst":                                                       "",
	} {
		require.Equal(t, want, UsedKey(text), text)
	}
}

func TestHeaderCredential(t *testing.T) {
	for text, want := range map[string]string{
		`{"headers":{"Authorization":"Bearer q4Tz9vKe2mWd7LpB-Xa"}}`:          "q4Tz9vKe2mWd7LpB-Xa",
		`{"data":"{\"proxy-authorization\":\"Basic dXNlcjpwYXNzd29yZA==\"}"}`: "dXNlcjpwYXNzd29yZA==",
		"Authorization: Bearer <redacted>":                                    "",
		"Authorization: Bearer ****************":                              "",
		"Authorization: Bearer YOUR_ACCESS_TOKEN_HERE":                        "",
		"Authorization: Bearer xxxxxxxxxxxxxxxxxxxxx":                         "",
		"authorization: required, bearer tokens of the portal":                "",
	} {
		require.Equal(t, want, HeaderCredential(text), text)
	}
}
