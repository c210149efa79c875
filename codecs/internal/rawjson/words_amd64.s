//go:build !purego

#include "textflag.h"

// Every block of 16 bytes is compared with the special bytes:
// X10 holds ", X11 \, X12 0x1f, X13 extra, X14 the high mask, each 16 times.
#define CONSTANTS \
	MOVQ $0x2222222222222222, AX \
	MOVQ AX, X10 \
	PUNPCKLQDQ X10, X10 \
	MOVQ $0x5c5c5c5c5c5c5c5c, AX \
	MOVQ AX, X11 \
	PUNPCKLQDQ X11, X11 \
	MOVQ $0x1f1f1f1f1f1f1f1f, AX \
	MOVQ AX, X12 \
	PUNPCKLQDQ X12, X12 \
	MOVQ extra+48(FP), X13 \
	PUNPCKLQDQ X13, X13 \
	MOVQ high+56(FP), X14 \
	PUNPCKLQDQ X14, X14

// COMPARE loads a block into X0 and sets the masks of its ", \ and other bytes.
#define COMPARE(quotes, slashes, others) \
	MOVOU (SI), X0 \
	MOVO X0, X1 \
	PCMPEQB X10, X1 \
	PMOVMSKB X1, quotes \
	MOVO X0, X2 \
	PCMPEQB X11, X2 \
	PMOVMSKB X2, slashes \
	MOVO X0, X3 \
	PMINUB X12, X3 \
	PCMPEQB X0, X3 \
	MOVO X0, X4 \
	PCMPEQB X13, X4 \
	POR X4, X3 \
	MOVO X0, X5 \
	PAND X14, X5 \
	POR X5, X3 \
	PMOVMSKB X3, others

// BELOW clears the bits of a mask from bit CX on.
#define BELOW(mask) \
	MOVL $1, R12 \
	SHLL CX, R12 \
	DECL R12 \
	ANDL R12, mask

// ESCAPE writes the low 8 bytes of X0, of which mask are escaped, at DI.
#define ESCAPE(mask) \
	MOVQ mask, R11 \
	SHLQ $4, R11 \
	MOVOU (R10)(R11*1), X6 \
	MOVO X0, X7 \
	PSHUFB X6, X7 \
	PXOR X8, X8 \
	PCMPEQB X7, X8 \
	PAND X11, X8 \
	POR X8, X7 \
	MOVOU X7, (DI)

// func escapeBlocks(dst, src []byte, extra, high uint64, table *[256][16]byte) (read, wrote int)
TEXT ·escapeBlocks(SB), NOSPLIT, $0-88
	CONSTANTS
	MOVQ dst_base+0(FP), DI
	MOVQ dst_len+8(FP), R8
	LEAQ -32(DI)(R8*1), R8
	MOVQ src_base+24(FP), SI
	MOVQ src_len+32(FP), R9
	LEAQ -16(SI)(R9*1), R9
	MOVQ table+64(FP), R10

escape:
	CMPQ SI, R9
	JHI  escaped
	CMPQ DI, R8
	JHI  escaped
	COMPARE(AX, BX, DX)
	ORL  BX, AX
	TESTL DX, DX
	JNZ  escapeSome
	MOVBLZX AX, BX
	SHRL $8, AX
	ESCAPE(BX)
	POPCNTL BX, BX
	LEAQ 8(DI)(BX*1), DI
	PSRLDQ $8, X0
	ESCAPE(AX)
	POPCNTL AX, AX
	LEAQ 8(DI)(AX*1), DI
	ADDQ $16, SI
	JMP  escape

escapeSome:
	BSFL DX, CX
	BELOW(AX)
	MOVQ DI, R13
	POPCNTL AX, DX
	ADDQ CX, R13
	ADDQ DX, R13
	MOVBLZX AX, BX
	SHRL $8, AX
	ESCAPE(BX)
	POPCNTL BX, BX
	LEAQ 8(DI)(BX*1), DI
	PSRLDQ $8, X0
	ESCAPE(AX)
	MOVQ R13, DI
	ADDQ CX, SI

escaped:
	SUBQ src_base+24(FP), SI
	MOVQ SI, read+72(FP)
	SUBQ dst_base+0(FP), DI
	MOVQ DI, wrote+80(FP)
	RET

// LEAVEOUT writes the low 8 bytes of X0 without those of mask at DI.
#define LEAVEOUT(mask) \
	MOVQ (R10)(mask*8), X6 \
	MOVO X0, X7 \
	PSHUFB X6, X7 \
	MOVQ X7, (DI)

// func unescapeBlocks(dst, src []byte, extra, high uint64, table *[256][8]byte) (read, wrote int)
TEXT ·unescapeBlocks(SB), NOSPLIT, $0-88
	CONSTANTS
	MOVQ dst_base+0(FP), DI
	MOVQ dst_len+8(FP), R8
	LEAQ -16(DI)(R8*1), R8
	MOVQ src_base+24(FP), SI
	MOVQ src_len+32(FP), R9
	LEAQ -16(SI)(R9*1), R9
	MOVQ table+64(FP), R10
	XORL R13, R13 // 1 if the byte before the block is a backslash

unescape:
	CMPQ SI, R9
	JHI  unescaped
	CMPQ DI, R8
	JHI  unescaped
	COMPARE(AX, BX, DX)
	LEAL (R13)(BX*2), R11 // the bytes behind a backslash
	MOVL R11, R12
	XORL AX, R12          // a quotation mark has one, and no other byte does
	ANDL $0xffff, R12
	ORL  DX, R12
	JNZ  unescapeSome
	MOVL BX, R13
	SHRL $15, R13
	MOVBLZX BX, AX
	SHRL $8, BX
	LEAVEOUT(AX)
	POPCNTL AX, AX
	SUBQ AX, DI
	ADDQ $8, DI
	PSRLDQ $8, X0
	LEAVEOUT(BX)
	POPCNTL BX, BX
	SUBQ BX, DI
	ADDQ $8, DI
	ADDQ $16, SI
	JMP  unescape

unescapeSome:
	// The bytes to stop before: others, a bare quotation mark, a backslash before
	// something else.
	MOVL AX, R12
	NOTL R12
	ANDL R11, R12 // behind a backslash and not "
	TESTL $1, R12
	JNZ  unescaped
	SHRL $1, R12
	ORL  R12, DX
	NOTL R11
	ANDL R11, AX
	ORL  AX, DX
	BSFL DX, CX
	XORL R13, R13
	BELOW(BX)
	POPCNTL BX, DX
	MOVQ DI, R11
	ADDQ CX, R11
	SUBQ DX, R11
	MOVBLZX BX, AX
	SHRL $8, BX
	LEAVEOUT(AX)
	POPCNTL AX, AX
	SUBQ AX, DI
	ADDQ $8, DI
	PSRLDQ $8, X0
	LEAVEOUT(BX)
	MOVQ R11, DI
	ADDQ CX, SI

unescaped:
	SUBQ R13, SI
	SUBQ src_base+24(FP), SI
	MOVQ SI, read+72(FP)
	SUBQ dst_base+0(FP), DI
	MOVQ DI, wrote+80(FP)
	RET
