package paseto_test

import (
	"testing"

	"sealab/codecs/codectest"
	"sealab/codecs/paseto"
)

func TestConformance(t *testing.T) {
	codectest.Run(t, paseto.Design)
}

func TestLibrary(t *testing.T) { codectest.Library(t, paseto.Design) }
