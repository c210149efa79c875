package hpkesession_test

import (
	"testing"

	"sealab/codecs"
	"sealab/codecs/codectest"
	"sealab/codecs/hpkesession"
)

func TestConformance(t *testing.T) {
	for _, d := range []codecs.Design{hpkesession.Design, hpkesession.XWing} {
		t.Run(d.Name, func(t *testing.T) { codectest.Run(t, d) })
	}
}
