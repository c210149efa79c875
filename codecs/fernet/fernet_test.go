package fernet_test

import (
	"testing"

	"sealab/codecs/codectest"
	"sealab/codecs/fernet"
)

func TestConformance(t *testing.T) {
	codectest.Run(t, fernet.Design)
}

func TestLibrary(t *testing.T) { codectest.Library(t, fernet.Design) }
