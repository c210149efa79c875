package xchacha_test

import (
	"testing"

	"sealab/codecs/codectest"
	"sealab/codecs/xchacha"
)

func TestConformance(t *testing.T) { codectest.Run(t, xchacha.Design) }
