package dndk_test

import (
	"testing"

	"sealab/codecs/codectest"
	"sealab/codecs/dndk"
)

func TestConformance(t *testing.T) { codectest.Run(t, dndk.Design) }
