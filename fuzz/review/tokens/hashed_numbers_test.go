package tokens

import (
	"crypto/hmac"
	"crypto/md5"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHashedNumber(t *testing.T) {
	coded := base64.RawURLEncoding.EncodeToString
	state := func(hashed string) string {
		return coded(fmt.Appendf(nil, `{"for":["alice",{"zone":"north"}],"n":"3f9a","code":%q,"bind":"%064x"}`, hashed, 7)) + "." + coded(make([]byte, 32))
	}
	sum := sha256.Sum256([]byte("0482"))
	long := sha256.Sum256([]byte("904217"))
	salted := md5.Sum([]byte("3f9a:17"))
	mac := hmac.New(sha256.New, []byte("alice"))
	mac.Write([]byte("0482"))
	random := sha256.Sum256([]byte("sealab"))
	for hashed, want := range map[string]string{
		hex.EncodeToString(sum[:]): "0482", "sha256$" + coded(sum[:]): "0482", hex.EncodeToString(long[:]): "904217", hex.EncodeToString(salted[:]): "17",
		base64.StdEncoding.EncodeToString(mac.Sum(nil)): "0482", hex.EncodeToString(random[:]): "",
	} {
		require.Equal(t, want, HashedNumber(state(hashed), state("another")), hashed)
		require.Empty(t, HashedNumber(state(hashed), state(hashed)), "the same hash in both tokens")
	}
	require.Equal(t, "0482", HashedNumber(coded(fmt.Appendf(nil, "take&code=%x&exp=9", sum))+"."+coded(make([]byte, 20)), "another"))
}
