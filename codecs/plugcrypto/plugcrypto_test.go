package plugcrypto_test

import (
	"testing"

	"sealab/codecs/codectest"
	"sealab/codecs/plugcrypto"
)

func TestConformance(t *testing.T) { codectest.Run(t, plugcrypto.Design) }

func TestLibrary(t *testing.T) { codectest.Library(t, plugcrypto.Design) }
