package jose

import "sealab/codecs"

// Neighbors returns sound designs that resemble the controls of signed JSON tokens, by name.
func Neighbors() map[string]codecs.Design {
	return map[string]codecs.Design{
		"a signed JSON token": aJWS("nothing", "signed JSON tokens", nil, "", func(*jws) {}).Design,
	}
}
