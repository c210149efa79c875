//go:build purego

package base64url

var vectors, fast = plain, plain
