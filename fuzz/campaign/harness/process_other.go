//go:build !unix

package harness

import "errors"

func mapFile(string, []byte, int) ([]byte, error) { return nil, errors.ErrUnsupported }

func limitMemory(uint64) error { return errors.ErrUnsupported }
