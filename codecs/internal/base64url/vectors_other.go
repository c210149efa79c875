//go:build !amd64 && !purego

package base64url

func fastest() coder { return vectors }
