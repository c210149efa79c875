//go:build valgrind && linux && amd64

#include "textflag.h"

// func clientRequest(code uintptr, address unsafe.Pointer, length, third, fourth, fifth uintptr) uintptr
//
// AX holds the address of the request's six words. DX holds the default result,
// which is returned outside valgrind. The rotations add up to 128 bits and leave DI
// unchanged; valgrind recognizes this instruction sequence.
TEXT ·clientRequest(SB), NOSPLIT, $0-56
	LEAQ code+0(FP), AX
	XORL DX, DX
	ROLQ $3, DI
	ROLQ $13, DI
	ROLQ $61, DI
	ROLQ $51, DI
	XCHGQ BX, BX
	MOVQ DX, ret+48(FP)
	RET
