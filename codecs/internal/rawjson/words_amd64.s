//go:build !purego

#include "textflag.h"

// BYTES sets each byte of a vector to the lowest byte of a value.
#define BYTES(value, vector) \
	MOVQ value, AX \
	VPBROADCASTB AX, vector

// SETUP sets Z10 to ", Z11 to \, Z12 to the first byte that is no control character, Z13 to
// extra, Z14 to high, and R10 to ones.
#define SETUP \
	ARGUMENTS \
	BYTES($0x22, Z10) \
	BYTES($0x5c, Z11) \
	BYTES($0x20, Z12) \
	BYTES(extra+48(FP), Z13) \
	BYTES(high+56(FP), Z14) \
	MOVQ $-1, R10

// ARGUMENTS takes the arguments. R8 is the end of dst, and CX the length of src.
#define ARGUMENTS \
	MOVQ dst_base+0(FP), DI \
	MOVQ dst_len+8(FP), R8 \
	ADDQ DI, R8 \
	MOVQ src_base+24(FP), SI \
	MOVQ src_len+32(FP), CX

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

// ESCAPERUNE writes the escape of a character of two or three bytes, and goes to next, or
// to end if there is none.
#define ESCAPERUNE(next, end) \
	LEAQ 8(DI), R12 \
	CMPQ R12, R8 \
	JHI  end \
	CMPQ CX, $4 \
	JLT  end \
	CMPQ high+56(FP), $0 \
	JEQ  end \
	MOVL (SI), AX \
	MOVL AX, BX \
	BSWAPL BX \
	MOVL AX, R12 \
	ANDL $0xc0c0f0, AX \
	CMPL AX, $0x8080e0 \
	JNE  escapeTwo \
	SHRL $8, BX \
	MOVL $0x0f3f3f, DX \
	PEXTL DX, BX, AX \
	CMPL AX, $0x800 \
	JLT  end \
	MOVL AX, BX \
	SHRL $11, BX \
	CMPL BX, $0x1b \
	JEQ  end \
	MOVL $3, DX \
	JMP  escapeDigits \
escapeTwo: \
	ANDL $0xc0e0, R12 \
	CMPL R12, $0x80c0 \
	JNE  end \
	SHRL $16, BX \
	MOVL $0x1f3f, DX \
	PEXTL DX, BX, AX \
	CMPL AX, $0x80 \
	JLT  end \
	MOVL $2, DX \
escapeDigits: \
	MOVL $0x0f0f0f0f, BX \
	PDEPL BX, AX, BX \
	BSWAPL BX \
	LEAL 0x06060606(BX), AX \
	SHRL $4, AX \
	ANDL $0x01010101, AX \
	IMULL $0x27, AX \
	LEAL 0x30303030(BX)(AX*1), AX \
	SHLQ $16, AX \
	ORQ  $0x755c, AX \
	MOVQ AX, (DI) \
	ADDQ $6, DI \
	ADDQ DX, SI \
	SUBQ DX, CX \
	JMP  next

// func escapeAVX512(dst, src []byte, extra, high uint64) (read, wrote int)
TEXT ·escapeAVX512(SB), NOSPLIT, $0-80
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

	ESCAPERUNE(escape, escaped)

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

// UNESCAPERUNE writes the character of two or three bytes of an escape of six, and goes to
// next, or to end if there is none.
#define UNESCAPERUNE(next, end) \
	LEAQ 4(DI), R12 \
	CMPQ R12, R8 \
	JHI  end \
	CMPQ CX, $6 \
	JLT  end \
	CMPW (SI), $0x755c \
	JNE  end \
	CMPQ high+56(FP), $0 \
	JEQ  end \
	LEAQ ·unhex(SB), R11 \
	MOVBLZX 2(SI), BX \
	MOVL (R11)(BX*4), AX \
	DIGIT(3) \
	DIGIT(4) \
	DIGIT(5) \
	CMPL AX, $0x80 \
	JLT  end \
	MOVL AX, BX \
	SHRL $11, BX \
	CMPL BX, $0x1b \
	JEQ  end \
	ADDQ $6, SI \
	SUBQ $6, CX \
	MOVL $0x0f3f3f, BX \
	PDEPL BX, AX, BX \
	BSWAPL BX \
	CMPL AX, $0x800 \
	JLT  unescapeTwo \
	SHRL $8, BX \
	ORL  $0x8080e0, BX \
	MOVL BX, (DI) \
	ADDQ $3, DI \
	JMP  next \
unescapeTwo: \
	SHRL $16, BX \
	ORL  $0x80c0, BX \
	MOVL BX, (DI) \
	ADDQ $2, DI \
	JMP  next

// func unescapeAVX512(dst, src []byte, extra, high uint64) (read, wrote int)
TEXT ·unescapeAVX512(SB), NOSPLIT, $0-80
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

unescapeRune:
	SUBQ R13, SI
	ADDQ R13, CX
	XORL R13, R13
	UNESCAPERUNE(unescape, unescaped)

unescaped:
	SUBQ R13, SI
	RETURN

// The same with AVX2 alone, for whole blocks. They end before the last bytes of src.

// BYTES2 is BYTES.
#define BYTES2(value, low, vector) \
	MOVQ value, AX \
	VMOVQ AX, low \
	VPBROADCASTB low, vector

// SETUP2 sets Y10 to ", Y11 to \, Y12 to the last control character, Y13 to extra, and
// Y14 to high.
#define SETUP2 \
	ARGUMENTS \
	BYTES2($0x22, X10, Y10) \
	BYTES2($0x5c, X11, Y11) \
	BYTES2($0x1f, X12, Y12) \
	BYTES2(extra+48(FP), X13, Y13) \
	BYTES2(high+56(FP), X14, Y14)

// COMPARE2 sets the masks of ", of \, and of the other bytes of v that stop.
#define COMPARE2(v, quotes, backslashes, stops) \
	VPCMPEQB Y10, v, Y2 \
	VPMOVMSKB Y2, quotes \
	VPCMPEQB Y11, v, Y3 \
	VPMOVMSKB Y3, backslashes \
	VPMINUB Y12, v, Y4 \
	VPCMPEQB v, Y4, Y4 \
	VPCMPEQB Y13, v, Y5 \
	VPAND Y14, v, Y6 \
	VPOR Y5, Y4, Y4 \
	VPOR Y6, Y4, Y4 \
	VPMOVMSKB Y4, stops

// EXPAND8 writes 8 bytes of src and a backslash before those of the lowest bits of BX, as
// the table at R9 shuffles them.
#define EXPAND8(at) \
	MOVBLZX BX, AX \
	SHRL $8, BX \
	VMOVQ at(SI), X2 \
	VPUNPCKLBW X2, X11, X2 \
	POPCNTL AX, R11 \
	SHLL $4, AX \
	VPSHUFB (R9)(AX*1), X2, X2 \
	VMOVDQU X2, (DI) \
	LEAQ 8(DI)(R11*1), DI

// func escapeAVX2(dst, src []byte, extra, high uint64) (read, wrote int)
TEXT ·escapeAVX2(SB), NOSPLIT, $0-80
	SETUP2
	LEAQ ·expanding(SB), R9

escape:
	WHOLE(32, escaped)
	VMOVDQU (SI), Y0
	COMPARE2(Y0, AX, BX, DX)
	ORL  AX, BX
	MOVL $32, R10 // the bytes before the first that stops
	TESTL DX, DX
	JEQ  escapeSome
	BSFL DX, R10
	BLSMSKL DX, DX
	SHRL $1, DX
	ANDL DX, BX

escapeSome:
	TESTL BX, BX
	JNE  escapeEach
	VMOVDQU Y0, (DI)
	ADDQ R10, DI
	JMP  escapeNext

escapeEach:
	POPCNTL BX, R12
	ADDQ R10, R12
	ADDQ DI, R12
	EXPAND8(0)
	EXPAND8(8)
	EXPAND8(16)
	EXPAND8(24)
	MOVQ R12, DI

escapeNext:
	ADDQ R10, SI
	SUBQ R10, CX
	CMPL R10, $32
	JEQ  escape
	ESCAPERUNE(escape, escaped)

escaped:
	RETURN

// COMPRESS8 writes 8 bytes of src without those of the lowest bits of BX, as the table at
// R9 shuffles them.
#define COMPRESS8(at) \
	MOVBLZX BX, AX \
	SHRQ $8, BX \
	VMOVQ at(SI), X2 \
	VMOVQ (R9)(AX*8), X3 \
	VPSHUFB X3, X2, X2 \
	VMOVQ X2, (DI) \
	POPCNTL AX, AX \
	SUBQ AX, DI \
	ADDQ $8, DI

// func unescapeAVX2(dst, src []byte, extra, high uint64) (read, wrote int)
TEXT ·unescapeAVX2(SB), NOSPLIT, $0-80
	SETUP2
	LEAQ ·compressing(SB), R9

unescape:
	WHOLE(64, unescaped)
	VMOVDQU (SI), Y0
	VMOVDQU 32(SI), Y1
	COMPARE2(Y1, AX, BX, DX)
	COMPARE2(Y0, R10, R11, R12)
	SHLQ $32, AX
	SHLQ $32, BX
	SHLQ $32, DX
	ORQ  R10, AX
	ORQ  R11, BX
	ORQ  R12, DX

	// Backslashes before another byte than ", and bare quotation marks. A backslash at
	// the end of the block begins the next one.
	LEAQ (BX)(BX*1), R11
	MOVQ AX, R12
	SHRQ $1, R12
	ANDNQ BX, R12, R12
	ORQ  R12, DX
	ANDNQ AX, R11, R11
	ORQ  R11, DX
	MOVL $64, R10 // the bytes before the first that stops
	TESTQ DX, DX
	JEQ  unescapeSome
	BSFQ DX, R10
	BLSMSKQ DX, DX
	SHRQ $1, DX
	ANDQ DX, BX

unescapeSome:
	TESTQ BX, BX
	JNE  unescapeEach
	VMOVDQU Y0, (DI)
	VMOVDQU Y1, 32(DI)
	ADDQ R10, DI
	JMP  unescapeNext

unescapeEach:
	POPCNTQ BX, R12
	NEGQ R12
	ADDQ R10, R12
	ADDQ DI, R12
	COMPRESS8(0)
	COMPRESS8(8)
	COMPRESS8(16)
	COMPRESS8(24)
	COMPRESS8(32)
	COMPRESS8(40)
	COMPRESS8(48)
	COMPRESS8(56)
	MOVQ R12, DI

unescapeNext:
	ADDQ R10, SI
	SUBQ R10, CX
	CMPL R10, $63 // a backslash at the end stops no next block
	JGE  unescape
	UNESCAPERUNE(unescape, unescaped)

unescaped:
	RETURN
