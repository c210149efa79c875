package bench

import (
	"time"

	"sealab/codecs"
)

// A scheme's tokens are minted and verified for one request at one time.
var (
	principal = `["client-1","https://as.example","alice"]`
	audience  = "releases"
	request   = codecs.Context{
		Now:    time.Date(2026, time.November, 20, 12, 0, 0, 250e6, time.UTC),
		Method: "tools/call", Target: "deploy_release",
		Arguments: []byte(`{"release":"2026.11.2","environment":"eu-west-1","canary":true}`),
		Principal: &principal, Audience: &audience,
	}
)
