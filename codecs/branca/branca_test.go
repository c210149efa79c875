package branca_test

import (
	"testing"

	"sealab/codecs/branca"
	"sealab/codecs/codectest"
)

func TestConformance(t *testing.T) {
	codectest.Run(t, branca.Design)
}
