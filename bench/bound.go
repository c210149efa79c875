package bench

import (
	"time"

	"sealab/codecs"
)

// A scheme's tokens are minted and verified for one request at one time.
var (
	principal = `["client-1","https://as.example","alice"]`
	audience  = "releases"
	request   = codecs.Binding{
		Method: "tools/call", Target: "deploy_release",
		Arguments: []byte(`{"release":"2026.11.2","environment":"eu-west-1","canary":true}`),
		Principal: &principal, Audience: &audience,
	}
	now = time.Date(2026, time.November, 20, 12, 0, 0, 250e6, time.UTC)
)

// bound is a scheme as a codec: its states are the payloads, and its requests
// are always the same.
type bound struct{ codecs.Scheme }

func (b bound) Seal(dst, payload []byte) ([]byte, error) { return b.Mint(dst, payload, &request, now) }
func (b bound) Unseal(dst, token []byte) ([]byte, error) { return b.Verify(dst, token, &request, now) }
