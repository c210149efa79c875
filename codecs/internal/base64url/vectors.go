//go:build !purego

package base64url

import "github.com/segmentio/asm/base64"

// vectors uses the vector instructions that most processors have.
var vectors coder = library{base64.RawURLEncoding}

// fast is the fastest implementation on this processor.
var fast = fastest()
