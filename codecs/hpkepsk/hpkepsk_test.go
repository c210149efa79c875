package hpkepsk_test

import (
	"testing"

	"sealab/codecs/codectest"
	"sealab/codecs/hpkepsk"
)

func TestConformance(t *testing.T) { codectest.Run(t, hpkepsk.Design) }
