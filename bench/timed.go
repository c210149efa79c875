package bench

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"sealab/codecs"
)

// loop returns a Cell that runs op in this process.
func loop(op func() error, tokenSize int) Cell {
	run := func(n int) (time.Duration, error) {
		start := time.Now()
		for range n {
			if err := op(); err != nil {
				return 0, err
			}
		}
		return time.Since(start), nil
	}
	return Cell{Run: run, TokenSize: tokenSize, InProcess: true}
}

// refused returns op with a refusal as its success, and anything else as a
// fault.
func refused(op func() error) func() error {
	return func() error {
		err := op()
		if codecs.Rejected(err) != nil {
			return nil
		}
		if err == nil {
			return errors.New("sealab: a token that must be refused was accepted")
		}
		return err
	}
}

func sealing(c codecs.Codec, payload []byte, tokenSize int) Cell {
	dst := make([]byte, 0, roomFor(tokenSize))
	return loop(func() error {
		_, err := c.Seal(dst, payload)
		return err
	}, tokenSize)
}

func unsealing(c codecs.Codec, token, payload []byte) (Cell, error) {
	dst := make([]byte, 0, roomFor(len(payload)))
	got, err := c.Unseal(dst, token)
	if err != nil {
		return Cell{}, err
	}
	if !slices.Equal(got, payload) {
		return Cell{}, fmt.Errorf("sealab: a token of %d bytes came back as %d bytes that differ", len(payload), len(got))
	}
	return loop(func() error {
		_, err := c.Unseal(dst, token)
		return err
	}, len(token)), nil
}

func refusing(c codecs.Codec, token []byte) (Cell, error) {
	dst := make([]byte, 0, roomFor(len(token)))
	op := refused(func() error {
		_, err := c.Unseal(dst, token)
		return err
	})
	return loop(op, len(token)), op()
}

// roomFor returns the capacity of a buffer for n bytes, with slack as a caller
// who keeps one buffer has it.
func roomFor(n int) int { return n + 128 }
