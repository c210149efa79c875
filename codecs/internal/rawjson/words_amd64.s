//go:build !purego

#include "textflag.h"

// BYTES sets each byte of a vector to the lowest byte of a value.
#define BYTES(value, vector) \
	MOVQ value, AX \
	VPBROADCASTB AX, vector

// SETUP takes the arguments, and sets Z10 to ", Z11 to \, Z12 to the first byte that
// is no control character, Z13 to extra, Z14 to high, and R10 to ones. R8 is the end
// of dst, and CX the length of src.
#define SETUP \
	MOVQ dst_base+0(FP), DI \
	MOVQ dst_len+8(FP), R8 \
	ADDQ DI, R8 \
	MOVQ src_base+24(FP), SI \
	MOVQ src_len+32(FP), CX \
	BYTES($0x22, Z10) \
	BYTES($0x5c, Z11) \
	BYTES($0x20, Z12) \
	BYTES(extra+48(FP), Z13) \
	BYTES(high+56(FP), Z14) \
	MOVQ $-1, R10

// WHOLE goes to part unless src has a block of so many bytes, and dst room for 64.
#define WHOLE(width, part) \
	LEAQ 64(DI), R12 \
	CMPQ R12, R8 \
	JHI  part \
	CMPQ CX, $width \
	JLT  part

// PART loads the bytes of a block that src has left, and zeros behind them. It ends
// if there is none.
#define PART(width, v0, end) \
	TESTQ CX, CX \
	JEQ  end \
	MOVQ $width, R12 \
	CMPQ CX, R12 \
	CMOVQLT CX, R12 \
	BZHIQ R12, R10, R12 \
	KMOVQ R12, K1 \
	VMOVDQU8.Z (SI), K1, v0

// COMPARE sets the masks of " (AX), of \ (BX), and of the other bytes that stop (DX),
// with those zeros.
#define COMPARE(v0, v10, v11, v12, v13, v14) \
	VPCMPEQB v10, v0, K2 \
	KMOVQ K2, AX \
	VPCMPEQB v11, v0, K3 \
	KMOVQ K3, BX \
	VPCMPUB $1, v12, v0, K4 \
	VPCMPEQB v13, v0, K5 \
	VPTESTMB v14, v0, K6 \
	KORQ K4, K5, K4 \
	KORQ K4, K6, K4 \
	KMOVQ K4, DX

// EXPAND makes a backslash and the byte of each byte of Y0 in Z1, and the mask of
// all bytes and of some backslashes in AX: of those in AX, before byte BX/2.
#define EXPAND \
	PDEPQ R9, AX, AX \
	ORQ  BX, AX \
	VPMOVZXBW Y0, Z1 \
	VPSLLW $8, Z1, Z1 \
	VPORQ Z15, Z1, Z1

// STORE writes the n bytes of v that are in the mask, or ends without room for them.
#define STORE(mask, v, n, end) \
	POPCNTQ mask, n \
	LEAQ (DI)(n*1), R12 \
	CMPQ R12, R8 \
	JHI  end \
	KMOVQ mask, K7 \
	VPCOMPRESSB.Z v, K7, Z1 \
	BZHIQ n, R10, R12 \
	KMOVQ R12, K1 \
	VMOVDQU8 Z1, K1, (DI) \
	ADDQ n, DI

// STOREWHOLE is STORE with room for 64 bytes.
#define STOREWHOLE(mask, v, n) \
	KMOVQ mask, K7 \
	VPCOMPRESSB.Z v, K7, Z1 \
	VMOVDQU64 Z1, (DI) \
	POPCNTQ mask, n \
	ADDQ n, DI

// RETURN returns how far both have come.
#define RETURN \
	SUBQ src_base+24(FP), SI \
	MOVQ SI, read+64(FP) \
	SUBQ dst_base+0(FP), DI \
	MOVQ DI, wrote+72(FP) \
	VZEROUPPER \
	RET

// func escapeBlocks(dst, src []byte, extra, high uint64) (read, wrote int)
TEXT ·escapeBlocks(SB), NOSPLIT, $0-80
	SETUP
	MOVQ $0x5555555555555555, R9
	MOVQ $0xaaaaaaaaaaaaaaaa, R11
	MOVL $0x005c005c, AX
	VPBROADCASTD AX, Z15

escape:
	WHOLE(32, escapePart)
	VMOVDQU8 (SI), Y0
	COMPARE(Y0, Y10, Y11, Y12, Y13, Y14)
	TESTL DX, DX
	JNE  escapeSome
	ORL  BX, AX
	MOVQ R11, BX
	EXPAND
	STOREWHOLE(AX, Z1, R13)
	ADDQ $32, SI
	SUBQ $32, CX
	JMP  escape

escapePart:
	PART(32, Y0, escaped)
	COMPARE(Y0, Y10, Y11, Y12, Y13, Y14)

escapeSome:
	TZCNTL DX, DX // bytes before the first that stops
	ORL  BX, AX
	BZHIL DX, AX, AX
	LEAQ (DX)(DX*1), BX
	BZHIQ BX, R11, BX
	EXPAND
	STORE(AX, Z1, R13, escaped)
	ADDQ DX, SI
	SUBQ DX, CX
	CMPL DX, $32
	JEQ  escape

	// A character of two or three bytes.
	LEAQ 8(DI), R12
	CMPQ R12, R8
	JHI  escaped
	CMPQ CX, $4
	JLT  escaped
	CMPQ high+56(FP), $0
	JEQ  escaped
	MOVL (SI), AX
	MOVL AX, BX
	BSWAPL BX
	MOVL AX, R12
	ANDL $0xc0c0f0, AX
	CMPL AX, $0x8080e0
	JNE  escapeTwo
	SHRL $8, BX
	MOVL $0x0f3f3f, DX
	PEXTL DX, BX, AX
	CMPL AX, $0x800
	JLT  escaped
	MOVL AX, BX
	SHRL $11, BX
	CMPL BX, $0x1b // a surrogate
	JEQ  escaped
	MOVL $3, DX
	JMP  escapeDigits

escapeTwo:
	ANDL $0xc0e0, R12
	CMPL R12, $0x80c0
	JNE  escaped
	SHRL $16, BX
	MOVL $0x1f3f, DX
	PEXTL DX, BX, AX
	CMPL AX, $0x80
	JLT  escaped
	MOVL $2, DX

escapeDigits: // of the number in AX
	MOVL $0x0f0f0f0f, BX
	PDEPL BX, AX, BX
	BSWAPL BX
	LEAL 0x06060606(BX), AX
	SHRL $4, AX
	ANDL $0x01010101, AX // the digits over 9
	IMULL $0x27, AX
	LEAL 0x30303030(BX)(AX*1), AX
	SHLQ $16, AX
	ORQ  $0x755c, AX
	MOVQ AX, (DI)
	ADDQ $6, DI
	ADDQ DX, SI
	SUBQ DX, CX
	JMP  escape

escaped:
	RETURN

// PAIRS leaves in R11 the bytes behind a backslash, adds to the bytes that stop the
// backslashes before another byte than ", and bare quotation marks. It ends if a
// backslash before the block stops. R13 is 1 if there is one.
#define PAIRS(end) \
	LEAQ (R13)(BX*2), R11 \
	ANDNQ R11, AX, R12 \
	TESTQ $1, R12 \
	JNE  end \
	SHRQ $1, R12 \
	ORQ  R12, DX \
	ANDNQ AX, R11, R12 \
	ORQ  R12, DX

// DIGIT adds a digit of an escape to the number in AX.
#define DIGIT(at) \
	SHLL $4, AX \
	MOVBLZX at(SI), BX \
	ORL  (R11)(BX*4), AX

// func unescapeBlocks(dst, src []byte, extra, high uint64) (read, wrote int)
TEXT ·unescapeBlocks(SB), NOSPLIT, $0-80
	SETUP
	XORL R13, R13

unescape:
	WHOLE(64, unescapePart)
	VMOVDQU8 (SI), Z0
	COMPARE(Z0, Z10, Z11, Z12, Z13, Z14)
	PAIRS(unescapeRune)
	TESTQ DX, DX
	JNE  unescapeSome
	MOVQ BX, R13
	SHRQ $63, R13
	NOTQ BX
	STOREWHOLE(BX, Z0, R11)
	ADDQ $64, SI
	SUBQ $64, CX
	JMP  unescape

unescapePart:
	PART(64, Z0, unescaped)
	COMPARE(Z0, Z10, Z11, Z12, Z13, Z14)
	PAIRS(unescapeRune)

unescapeSome:
	TZCNTQ DX, DX
	NOTQ BX
	BZHIQ DX, BX, AX
	STORE(AX, Z0, R11, unescaped)
	XORL R13, R13
	ADDQ DX, SI
	SUBQ DX, CX
	CMPQ DX, $64
	JNE  unescapeRune
	SHRQ $63, BX
	XORQ $1, BX
	MOVQ BX, R13
	JMP  unescape

unescapeRune: // of two or three bytes, from an escape of six
	SUBQ R13, SI
	ADDQ R13, CX
	XORL R13, R13
	LEAQ 4(DI), R12
	CMPQ R12, R8
	JHI  unescaped
	CMPQ CX, $6
	JLT  unescaped
	CMPW (SI), $0x755c
	JNE  unescaped
	CMPQ high+56(FP), $0
	JEQ  unescaped
	LEAQ ·unhex(SB), R11
	MOVBLZX 2(SI), BX
	MOVL (R11)(BX*4), AX
	DIGIT(3)
	DIGIT(4)
	DIGIT(5)
	CMPL AX, $0x80 // less if a byte is no digit
	JLT  unescaped
	MOVL AX, BX
	SHRL $11, BX
	CMPL BX, $0x1b // a surrogate
	JEQ  unescaped
	ADDQ $6, SI
	SUBQ $6, CX
	MOVL $0x0f3f3f, BX
	PDEPL BX, AX, BX
	BSWAPL BX
	CMPL AX, $0x800
	JLT  unescapeTwo
	SHRL $8, BX
	ORL  $0x8080e0, BX
	MOVL BX, (DI)
	ADDQ $3, DI
	JMP  unescape

unescapeTwo:
	SHRL $16, BX
	ORL  $0x80c0, BX
	MOVL BX, (DI)
	ADDQ $2, DI
	JMP  unescape

unescaped:
	SUBQ R13, SI
	RETURN
