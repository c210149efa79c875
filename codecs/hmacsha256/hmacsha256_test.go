package hmacsha256_test

import (
	"testing"

	"sealab/codecs/codectest"
	"sealab/codecs/hmacsha256"
)

func TestConformance(t *testing.T) { codectest.Run(t, hmacsha256.Design) }
