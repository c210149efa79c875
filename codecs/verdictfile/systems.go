package verdictfile

import (
	"encoding/json"
	"fmt"

	"sealab/codecs"
	"sealab/codecs/internal/compactjson"
	"sealab/codecs/internal/rawjson"
)

// A presentation is what a system's line says of how its token was presented.
type presentation struct {
	design  string // of the catalog
	config  codecs.Config
	context codecs.Context // without its time
	// judge compares the state of an accepted token with the line.
	judge func(Line, []byte) (bool, error)
	// unread is the reason for which the system refuses a token that is no
	// string; "" where such lines cannot be.
	unread string
}

// A system reads the presentations of one SDK.
type system func(Line) (presentation, error)

// systems is the one table of the SDKs whose verdicts can be replayed: which
// design of the catalog answers as the SDK does, and what the fields mean to it.
var systems = map[string]system{
	"mcp-ts": typescript,
	"mcp-py": python,
	"mcp-d":  dlang,
	"mcp-rb": ruby,
}

// faithful ends the name of the design that answers exactly as an SDK does.
const faithful = "-faithful"

func typescript(l Line) (p presentation, err error) {
	if p.context.Principal, err = l.optional("bind"); err != nil {
		return p, err
	}
	bind := "none"
	if p.context.Principal != nil {
		bind = "principal" // the callback returns the text of bind
	}
	p.config.Options = map[string]string{"bind": bind, "payload": "json"}
	p.judge = samePayload
	return p, p.complete(l, "")
}

func python(l Line) (p presentation, err error) {
	if p.config.Secrets, err = l.ring("keys"); err != nil {
		return p, err
	}
	if p.context.Method, err = l.text("method"); err != nil {
		return p, err
	}
	if p.context.Principal, err = l.optional("principal"); err != nil {
		return p, err
	}
	if p.context.Audience, err = l.optional("audience"); err != nil {
		return p, err
	}
	if err := p.request(l); err != nil {
		return p, err
	}
	p.judge, p.unread = sameState, "non-string requestState"
	return p, p.complete(l, "")
}

// request takes target and arguments from the raw params.
func (p *presentation) request(l Line) error {
	params, err := l.field("params")
	if err != nil {
		return err
	}
	name := "name"
	if p.context.Method == "resources/read" {
		name = "uri"
	}
	if target := params.Lookup(name); target != nil {
		if p.context.Target, err = str(target); err != nil {
			return fmt.Errorf("sealab: params.%s: %w", name, err)
		}
	}
	if arguments := params.Lookup("arguments"); arguments != nil {
		p.context.Arguments = json.RawMessage(arguments.Raw)
	}
	return nil
}

// str returns what Python's str makes of a scalar.
func str(v *rawjson.Value) (string, error) {
	switch v.Kind {
	case rawjson.String:
		return string(v.Text), nil
	case rawjson.Number:
		return strNumber(v), nil
	case rawjson.True:
		return "True", nil
	case rawjson.False:
		return "False", nil
	case rawjson.Null:
		return "None", nil
	default:
		return "", fmt.Errorf("sealab: want text, got %.40s", v.Raw)
	}
}

// strNumber is what str makes of a number: what json.dumps does, but for the
// names of what is not finite.
func strNumber(v *rawjson.Value) string {
	text := string(compactjson.AppendNumber(nil, v.Text))
	switch text {
	case "NaN":
		return "nan"
	case "Infinity":
		return "inf"
	case "-Infinity":
		return "-inf"
	default:
		return text
	}
}

func dlang(l Line) (p presentation, err error) {
	mode, err := l.text("mode")
	if err != nil {
		return p, err
	}
	variant, known := map[string]string{"signed": "", "encrypted": "-encrypted"}[mode]
	if !known {
		return p, fmt.Errorf("sealab: field \"mode\" is %q, want signed or encrypted", mode)
	}
	bind, err := l.text("bind")
	if err != nil {
		return p, err
	}
	p.config.Options = map[string]string{"bind": bind}
	subject, err := l.text("subject")
	if err != nil {
		return p, err
	}
	p.context.Principal = &subject
	if p.context.Target, err = l.text("tool"); err != nil {
		return p, err
	}
	p.judge = sameState
	return p, p.complete(l, variant)
}

func ruby(l Line) (p presentation, err error) {
	if p.context.Method, err = l.text("method"); err != nil {
		return p, err
	}
	if p.context.Target, err = l.text("target"); err != nil {
		return p, err
	}
	if p.context.Audience, err = l.optional("audience"); err != nil {
		return p, err
	}
	digest, err := l.field("digest")
	if err != nil {
		return p, err
	}
	p.context.Arguments = json.RawMessage(digest.Raw)
	p.config.Options = map[string]string{"digest": "given"}
	p.judge = sameState
	return p, p.complete(l, "")
}

// complete names the design, a variant of what answers for the system, and
// reads the key where there is no ring.
func (p *presentation) complete(l Line, variant string) error {
	name, err := l.System()
	if err != nil {
		return err
	}
	p.design = name + variant + faithful
	if p.config.Secrets == nil {
		p.config.Secrets, err = l.secret("key")
	}
	return err
}
