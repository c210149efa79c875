//go:build !purego

package base64url

import "github.com/emmansun/base64"

// vectors uses the vector instructions that most processors have.
var vectors coder = library{base64.RawURLEncoding.Strict()}

// fast is the fastest implementation on this processor.
var fast = fastest()
