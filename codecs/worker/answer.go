package worker

import (
	"errors"
	"strings"

	"sealab/codecs"
)

// done begins the answer that all went well.
func (l *line) done() *line { return l.bool("ok", true) }

// failed answers that something did not come about: a refusal, something that
// cannot be done at all, or a fault.
func (l *line) failed(err error) *line {
	l.bool("ok", false)
	switch r := codecs.Rejected(err); {
	case r != nil:
		return l.text("rejected", r.Stage.String()).text("reason", r.Reason)
	case errors.Is(err, codecs.ErrUnsupported):
		return l.bool("unsupported", true)
	default:
		return l.text("fault", crossing(err))
	}
}

// refused answers an open whose configuration is wrong.
func (l *line) refused(err error) *line {
	return l.bool("ok", false).text("refused", crossing(err))
}

// crossing is an error's text for a person on the other side: whatever it
// quotes, it can cross.
func crossing(err error) string { return strings.ToValidUTF8(err.Error(), "\ufffd") }
