package hpkesession_test

import (
	"testing"

	"sealab/codecs/codectest"
	"sealab/codecs/hpkesession"
)

func TestConformance(t *testing.T) { codectest.Run(t, hpkesession.Design) }
