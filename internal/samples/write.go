package samples

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"path/filepath"

	"sealab/internal/atomicfile"
)

const magic = "sealab samples 1\n"

// Write writes f into dir, whole or not at all, under its FileName.
func Write(dir string, f *File) error {
	text, err := Append(nil, f)
	if err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(dir, f.FileName()), text)
}

// Append appends the bytes of f's file to dst.
func Append(dst []byte, f *File) ([]byte, error) {
	if f.Blocks != len(f.Data) || len(f.Data) == 0 {
		return nil, fmt.Errorf("sealab: the header of %s announces %d blocks, and there are %d", f.FileName(), f.Blocks, len(f.Data))
	}
	header, err := json.Marshal(f.Header)
	if err != nil {
		return nil, fmt.Errorf("sealab: %w", err)
	}
	start := len(dst)
	dst = append(dst, magic...)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(header)))
	dst = append(dst, header...)
	for _, b := range f.Data {
		dst = binary.AppendUvarint(dst, uint64(b.A)<<1|order(b.BFirst))
		dst = binary.AppendUvarint(dst, uint64(b.B))
	}
	sum := sha256.Sum256(dst[start:])
	return append(dst, sum[:]...), nil
}

func order(bFirst bool) uint64 {
	if bFirst {
		return 1
	}
	return 0
}
