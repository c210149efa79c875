//go:build purego

package base64url

var fast = plain
