package aegis_test

import (
	"testing"

	"sealab/codecs/aegis"
	"sealab/codecs/codectest"
)

func TestConformance(t *testing.T) { codectest.Run(t, aegis.Design) }
