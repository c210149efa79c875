package ascon_test

import (
	"testing"

	"sealab/codecs/ascon"
	"sealab/codecs/codectest"
)

func TestConformance(t *testing.T) { codectest.Run(t, ascon.Design) }
