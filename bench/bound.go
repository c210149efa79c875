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

// bind returns a scheme as a codec whose requests are always the same.
func bind(s codecs.Scheme) codecs.Codec {
	return codecs.Bound{Scheme: s, Binding: &request, Now: now}
}
