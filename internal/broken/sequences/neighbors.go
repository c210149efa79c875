package sequences

import (
	"fmt"

	"sealab/codecs"
	"sealab/internal/broken/skeleton"
)

// Neighbors returns sound designs that resemble the controls of kept states, by name.
func Neighbors() map[string]codecs.Design {
	return map[string]codecs.Design{
		"a random name": skeleton.NewWrappedScheme("nothing", "a token is the name of a state that the server keeps, of eight random bytes", nil, nil,
			namedTokens(func(uint32, []byte) string { return fmt.Sprintf("n1.%x", skeleton.RandomBytes(8)) })).Design,
	}
}
