package gcmctx_test

import (
	"testing"

	"sealab/codecs/codectest"
	"sealab/codecs/gcmctx"
)

func TestConformance(t *testing.T) { codectest.Run(t, gcmctx.Design) }
