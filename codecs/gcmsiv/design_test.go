package gcmsiv_test

import (
	"testing"

	"sealab/codecs/codectest"
	"sealab/codecs/gcmsiv"
)

func TestConformance(t *testing.T) { codectest.Run(t, gcmsiv.Design) }
