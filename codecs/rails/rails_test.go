package rails_test

import (
	"testing"

	"sealab/codecs/codectest"
	"sealab/codecs/rails"
)

func TestConformance(t *testing.T) {
	codectest.Run(t, rails.Design)
}

func TestLibrary(t *testing.T) { codectest.Library(t, rails.Design) }
