package chachasiv_test

import (
	"testing"

	"sealab/codecs/chachasiv"
	"sealab/codecs/codectest"
)

func TestConformance(t *testing.T) { codectest.Run(t, chachasiv.Design) }
