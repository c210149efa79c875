//go:build !purego

#include "textflag.h"

// LOWBITS sets the low n bits of mask.
#define LOWBITS(n, mask) \
	MOVQ  $-1, AX \
	BZHIQ n, AX, AX \
	KMOVQ AX, mask

// ENCODE makes 64 characters of the 48 bytes in Z0.
#define ENCODE \
	VPERMB         Z0, Z10, Z0 \
	VPMULTISHIFTQB Z0, Z11, Z0 \
	VPERMB         Z12, Z0, Z0

// func encodeWide(dst, src []byte, t *[6][64]byte)
TEXT ·encodeWide(SB), NOSPLIT, $0-56
	MOVQ dst_base+0(FP), DI
	MOVQ src_base+24(FP), SI
	MOVQ src_len+32(FP), CX
	MOVQ t+48(FP), R8
	VMOVDQU64 (R8), Z10
	VMOVDQU64 64(R8), Z11
	VMOVDQU64 128(R8), Z12
	SUBQ $64, CX
	JLT  last

block: // reads 16 bytes more than it encodes
	VMOVDQU8 (SI), Z0
	ENCODE
	VMOVDQU8 Z0, (DI)
	ADDQ $48, SI
	ADDQ $64, DI
	SUBQ $48, CX
	JGE  block

last: // at most 63 bytes, in up to two blocks
	ADDQ $64, CX
	JEQ  encoded
	MOVQ $48, BX
	CMPQ CX, BX
	CMOVQLT CX, BX
	LOWBITS(BX, K1)
	VMOVDQU8.Z (SI), K1, Z0
	ENCODE
	LEAQ  2(BX*4), DX
	IMULQ $0xaaab, DX
	SHRQ  $17, DX // (4*BX+2)/3 characters
	LOWBITS(DX, K2)
	VMOVDQU8 Z0, K2, (DI)
	ADDQ $48, SI
	ADDQ $64, DI
	SUBQ BX, CX
	SUBQ $64, CX
	JMP  last

encoded:
	VZEROUPPER
	RET

// DECODE makes 48 bytes of the 64 characters in Z0, and keeps in Z15 the high bits
// of the foreign ones.
#define DECODE \
	VMOVDQA64  Z0, Z1 \
	VPERMI2B   Z11, Z10, Z1 \
	VPTERNLOGD $0xfe, Z0, Z1, Z15 \
	VPMADDUBSW Z13, Z1, Z1 \
	VPMADDWD   Z14, Z1, Z1 \
	VPERMB     Z1, Z12, Z1

// func decodeWide(dst, src []byte, t *[6][64]byte) (ok bool)
TEXT ·decodeWide(SB), NOSPLIT, $0-57
	MOVQ dst_base+0(FP), DI
	MOVQ src_base+24(FP), SI
	MOVQ src_len+32(FP), CX
	MOVQ t+48(FP), R8
	VMOVDQU64 192(R8), Z10
	VMOVDQU64 256(R8), Z11
	VMOVDQU64 320(R8), Z12
	MOVL $0x01400140, AX // a pair of values to 12 bits
	VPBROADCASTD AX, Z13
	MOVL $0x00011000, AX // two pairs to 24 bits
	VPBROADCASTD AX, Z14
	VPXORQ Z15, Z15, Z15
	SUBQ $64, CX
	JLT  rest

group:
	VMOVDQU8 (SI), Z0
	DECODE
	VMOVDQU Y1, (DI)
	VEXTRACTI32X4 $2, Z1, 32(DI)
	ADDQ $64, SI
	ADDQ $48, DI
	SUBQ $64, CX
	JGE  group

rest:
	XORL R9, R9 // bits behind the result
	ADDQ $64, CX
	JEQ  decoded
	MOVL $0x41414141, AX
	VPBROADCASTD AX, Z0
	LOWBITS(CX, K1)
	VMOVDQU8 (SI), K1, Z0
	DECODE
	LEAQ (CX)(CX*2), BX
	SHRQ $2, BX
	LOWBITS(BX, K2)
	VMOVDQU8 Z1, K2, (DI)
	VPTESTMB Z1, Z1, K3
	KANDNQ K3, K2, K3
	KMOVQ K3, R9

decoded:
	VPMOVB2M Z15, K4
	KMOVQ K4, AX
	ORQ  AX, R9
	SETEQ ok+56(FP)
	VZEROUPPER
	RET
