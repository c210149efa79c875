package worker

import (
	"errors"

	"sealab/codecs"
)

// done begins the answer that all went well.
func done() *line { return new(line).bool("ok", true) }

// failed answers that something did not come about: a refusal, something that
// cannot be done at all, or a fault.
func failed(err error) *line {
	l := new(line).bool("ok", false)
	switch r := codecs.Rejected(err); {
	case r != nil:
		return l.text("rejected", r.Stage.String()).text("reason", r.Reason)
	case errors.Is(err, codecs.ErrUnsupported):
		return l.bool("unsupported", true)
	default:
		return l.text("fault", err.Error())
	}
}

// refused answers an open whose configuration is wrong.
func refused(err error) *line {
	return new(line).bool("ok", false).text("refused", err.Error())
}
