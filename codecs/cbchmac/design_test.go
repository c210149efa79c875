package cbchmac_test

import (
	"testing"

	"sealab/codecs/cbchmac"
	"sealab/codecs/codectest"
)

func TestConformance(t *testing.T) { codectest.Run(t, cbchmac.Design) }
