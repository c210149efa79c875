package review

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSecretSetting(t *testing.T) {
	for page, want := range map[string]string{
		"SECRET_KEY=c2VjcmV0MTIzNDU2Nzg5MA\n":                                "SECRET_KEY",
		`{"env":{"STATE_KEY":{"value":"00112233445566778899aabbccddeeff"}}}`: "STATE_KEY",
		`{"stateKeyId":"0011223344556677","hmac_secret":"8899aabbccddeeff"}`: "hmac_secret",
		`{"signing_key_id":"0011223344556677"}`:                              "",
		`{"session_key_fingerprint":"00112233445566778899aabbccddeeff"}`:     "",
		`{"encryption_key":"configured-from-vault"}`:                         "",
		`{"status":"ok","uptime":"1234567890123456"}`:                        "",
	} {
		name, _ := secretSetting([]byte(page))
		require.Equal(t, want, name, page)
	}
}
