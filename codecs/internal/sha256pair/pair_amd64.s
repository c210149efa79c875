//go:build !purego

#include "textflag.h"

// The bytes of words in the opposite order.
DATA reverse<>+0(SB)/8, $0x0405060700010203
DATA reverse<>+8(SB)/8, $0x0c0d0e0f08090a0b
GLOBL reverse<>(SB), RODATA|NOPTR, $16

// LOAD loads 16 bytes of the texts at the same place.
#define LOAD(at, m, n) \
	MOVOU  at(SI), m \
	PSHUFB X15, m \
	MOVOU  at(DX), n \
	PSHUFB X15, n

// HALF does two rounds with the words in X0. The halves of the state change places.
#define HALF(from, to) SHA256RNDS2 X0, from, to

// ROUNDS does four rounds of both texts, for the words in m and n.
#define ROUNDS(at, m, n) \
	VPADDD at(AX), m, X0 \
	HALF(X1, X2) \
	PSHUFD $0x0e, X0, X0 \
	HALF(X2, X1) \
	VPADDD at(AX), n, X0 \
	HALF(X8, X9) \
	PSHUFD $0x0e, X0, X0 \
	HALF(X9, X8)

// NEXT makes the four words behind m3 in m0.
#define NEXT(m0, m1, m2, m3, t) \
	SHA256MSG1 m1, m0 \
	VPALIGNR $4, m2, m3, t \
	PADDL t, m0 \
	SHA256MSG2 m3, m0

// BOTH is ROUNDS and NEXT.
#define BOTH(at, m0, m1, m2, m3, n0, n1, n2, n3) \
	ROUNDS(at, m0, n0) \
	NEXT(m0, m1, m2, m3, X7) \
	NEXT(n0, n1, n2, n3, X14)

// ADD adds half a state to what its rounds made of it.
#define ADD(at, x) \
	VPADDD at, x, x \
	MOVOU  x, at

// func blocks(s, t *state, p, q *byte, n int, k *[64]uint32)
TEXT ·blocks(SB), NOSPLIT, $0-48
	MOVQ s+0(FP), DI
	MOVQ t+8(FP), R8
	MOVQ p+16(FP), SI
	MOVQ q+24(FP), DX
	MOVQ n+32(FP), CX
	MOVOU reverse<>(SB), X15
	MOVOU (DI), X1
	MOVOU 16(DI), X2
	MOVOU (R8), X8
	MOVOU 16(R8), X9

block:
	LOAD(0, X3, X10)
	LOAD(16, X4, X11)
	LOAD(32, X5, X12)
	LOAD(48, X6, X13)
	MOVQ k+40(FP), AX
	MOVL $3, BX

schedule:
	BOTH(0, X3, X4, X5, X6, X10, X11, X12, X13)
	BOTH(16, X4, X5, X6, X3, X11, X12, X13, X10)
	BOTH(32, X5, X6, X3, X4, X12, X13, X10, X11)
	BOTH(48, X6, X3, X4, X5, X13, X10, X11, X12)
	ADDQ $64, AX
	DECL BX
	JNE  schedule
	ROUNDS(0, X3, X10)
	ROUNDS(16, X4, X11)
	ROUNDS(32, X5, X12)
	ROUNDS(48, X6, X13)
	ADD(0(DI), X1)
	ADD(16(DI), X2)
	ADD(0(R8), X8)
	ADD(16(R8), X9)
	ADDQ $64, SI
	ADDQ $64, DX
	DECQ CX
	JNE  block
	RET

// func hasSHA() bool
TEXT ·hasSHA(SB), NOSPLIT, $0-1
	XORL AX, AX
	CPUID
	CMPL AX, $7
	JLT  none
	MOVL $7, AX
	XORL CX, CX
	CPUID
	SHRL $29, BX
	ANDL $1, BX
	MOVB BX, ret+0(FP)
	RET

none:
	MOVB $0, ret+0(FP)
	RET
