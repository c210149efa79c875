package skeleton

import "sealab/codecs"

// The refusals of the skeletons, one of each stage.
var (
	ErrMalformed   = codecs.Reject(codecs.Malformed, "malformed")
	errUnknownKey  = codecs.Reject(codecs.UnknownKey, "unknown key")
	ErrUnauthentic = codecs.Reject(codecs.Unauthentic, "tag")
	errMisbound    = codecs.Reject(codecs.Misbound, "context")
	ErrExpired     = codecs.Reject(codecs.Expired, "time")
)

func refuseUnless(ok bool, refusal *codecs.RejectError) error {
	if ok {
		return nil
	}
	return refusal
}

// Authentic returns ErrUnauthentic unless the tag is right.
func Authentic(right bool) error { return refuseUnless(right, ErrUnauthentic) }
