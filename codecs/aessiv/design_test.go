package aessiv_test

import (
	"testing"

	"sealab/codecs/aessiv"
	"sealab/codecs/codectest"
)

func TestConformance(t *testing.T) { codectest.Run(t, aessiv.Design) }
