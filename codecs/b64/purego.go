//go:build purego

package b64

var fast = plain
