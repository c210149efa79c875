package sequences

import (
	"fmt"

	"sealab/codecs"
	"sealab/internal/broken/skeleton"
	"sealab/internal/lab"
)

// Neighbors returns sound designs that resemble the controls of kept states, by name.
func Neighbors() map[string]codecs.Design {
	return map[string]codecs.Design{
		"one reason in batches": inBatches(skeleton.NewScheme("nothing", "single tokens and those of a batch are refused with one reason", nil, nil, func(*skeleton.SchemeParts) {}),
			func(inner codecs.Scheme) lab.BatchScheme {
				return batchedScheme{oneReason{inner}, func(token []byte, c *codecs.Context) ([]byte, error) { return oneReason{inner}.Verify(nil, token, c) }}
			}).Design,
		"a random name": skeleton.NewWrappedScheme("nothing", "a token is the name of a state that the server keeps, of eight random bytes", nil, nil,
			namedTokens(func(uint32, []byte) string { return fmt.Sprintf("n1.%x", skeleton.RandomBytes(8)) })).Design,
	}
}
