package signedtext_test

import (
	"testing"

	"sealab/codecs/codectest"
	"sealab/codecs/signedtext"
)

func TestConformance(t *testing.T) {
	t.Run("Itsdangerous", func(t *testing.T) { codectest.Run(t, signedtext.Itsdangerous) })
	t.Run("Django", func(t *testing.T) { codectest.Run(t, signedtext.Django) })
}

func TestLibrary(t *testing.T) { codectest.Library(t, signedtext.Itsdangerous, signedtext.Django) }
