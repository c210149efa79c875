//go:build !purego

package b64

import "github.com/segmentio/asm/base64"

var fast coder = base64.RawURLEncoding
