package aesgcm_test

import (
	"testing"

	"sealab/codecs/aesgcm"
	"sealab/codecs/codectest"
)

func TestConformance(t *testing.T) { codectest.Run(t, aesgcm.Design) }
