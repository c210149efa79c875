package iron_test

import (
	"testing"

	"sealab/codecs/codectest"
	"sealab/codecs/iron"
)

func TestConformance(t *testing.T) {
	codectest.Run(t, iron.Design)
}

func TestLibrary(t *testing.T) { codectest.Library(t, iron.Design) }
