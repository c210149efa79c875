package jwe_test

import (
	"testing"

	"sealab/codecs/codectest"
	"sealab/codecs/jwe"
)

func TestConformance(t *testing.T) {
	t.Run("GCM", func(t *testing.T) { codectest.Run(t, jwe.GCM) })
	t.Run("CBC", func(t *testing.T) { codectest.Run(t, jwe.CBC) })
}

func TestLibrary(t *testing.T) { codectest.Library(t, jwe.GCM, jwe.CBC) }
