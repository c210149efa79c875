//go:build !purego

package base64url

import "github.com/segmentio/asm/base64"

var fast coder = base64.RawURLEncoding
