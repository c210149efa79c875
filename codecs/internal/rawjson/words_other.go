//go:build !amd64 || purego

package rawjson

func (q *Quoting) appendBlocks(dst, text []byte) (out []byte, n int) { return q.appendWords(dst, text) }

func (q *Quoting) cutBlocks(dst, src []byte) (out []byte, n int) { return q.cutBytes(dst, src) }
