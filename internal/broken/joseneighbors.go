package broken

import "sealab/codecs"

// joseNeighbors returns sound designs that resemble the controls of signed JSON tokens, by name.
func joseNeighbors() map[string]codecs.Design {
	return map[string]codecs.Design{
		"a signed JSON token": aJWS("nothing", "signed JSON tokens", nil, "", func(*jws) {}).Design,
	}
}
