//go:build valgrind && linux && amd64

package main

import "unsafe"

// clientRequest sends the request whose code, address and length are its
// arguments, in order, and returns valgrind's answer.
//
//go:noescape
func clientRequest(code uintptr, address unsafe.Pointer, length, third, fourth, fifth uintptr) uintptr

func request(code uintptr, b []byte) uintptr {
	return clientRequest(code, unsafe.Pointer(unsafe.SliceData(b)), uintptr(len(b)), 0, 0, 0)
}
