package fernet_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/codecs/codectest"
	"sealab/codecs/fernet"
)

func TestConformance(t *testing.T) {
	codectest.Run(t, fernet.Design)
}

func TestLibrary(t *testing.T) { codectest.Library(t, fernet.Design) }

func TestSharedKeyOfTheTag(t *testing.T) {
	one := bytes.Repeat([]byte("0123456789abcdef"), 2)
	two := append(bytes.Clone(one[:16]), "another half, 16"...)
	_, err := fernet.Design.OpenScheme(codecs.Config{Secrets: [][]byte{one, two}})
	require.ErrorContains(t, err, "the keys of the tags: secrets 1 and 2 of 2 are the same")
	_, err = fernet.Design.OpenScheme(codecs.Config{Secrets: [][]byte{one, two}, Options: map[string]string{"reading": "sdk"}})
	require.NoError(t, err, "Python's MultiFernet takes them")
}
