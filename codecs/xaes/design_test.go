package xaes_test

import (
	"testing"

	"sealab/codecs/codectest"
	"sealab/codecs/xaes"
)

func TestConformance(t *testing.T) { codectest.Run(t, xaes.Design) }
