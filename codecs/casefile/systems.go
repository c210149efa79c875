package casefile

import (
	"encoding/json"
	"fmt"
	"strings"

	"sealab/codecs"
	"sealab/codecs/internal/rawjson"
	"sealab/internal/lab"
)

// A presentation is the question of a line: how a token was presented to a system.
type presentation struct {
	design  string // of the catalog
	config  codecs.Config
	context codecs.Context
	token   []byte
	// notText says that the token was no string. unread is the reason of a system
	// that refuses such tokens; "" if its lines have none.
	notText bool
	unread  string
	// sameState compares the state of an accepted token with the line.
	sameState func(line, []byte) (bool, error)
}

// systems read the lines of one SDK each: they name the design of the catalog that
// answers as the SDK does, and give the fields their meaning.
var systems = map[string]func(line) (presentation, error){
	"mcp-ts": typescript,
	"mcp-py": python,
	"mcp-d":  dlang,
	"mcp-rb": ruby,
}

// faithful ends the name of the design that answers exactly as an SDK does.
const faithful = "-faithful"

func typescript(l line) (p presentation, err error) {
	if p.context.Principal, err = l.optional("bind"); err != nil {
		return p, err
	}
	bind := "none"
	if p.context.Principal != nil {
		bind = "principal" // the callback returns the text of bind
	}
	p.config.Options = map[string]string{"bind": bind, "payload": "json"}
	p.sameState = samePayload
	return p, p.complete(l, "")
}

func python(l line) (p presentation, err error) {
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
	p.sameState, p.unread = sameText, "non-string requestState"
	return p, p.complete(l, "")
}

// request takes target and arguments from the raw params.
func (p *presentation) request(l line) error {
	params, err := l.field("params")
	if err != nil {
		return err
	}
	name := "name"
	if p.context.Method == "resources/read" {
		name = "uri"
	}
	if target := params.Lookup(name); target != nil {
		p.context.Target = str(target)
	}
	if arguments := params.Lookup("arguments"); arguments != nil {
		p.context.Arguments = json.RawMessage(arguments.Raw)
	}
	return nil
}

func dlang(l line) (p presentation, err error) {
	mode, err := l.text("mode")
	if err != nil {
		return p, err
	}
	variant, known := map[string]string{"signed": "", "encrypted": "-encrypted"}[mode]
	if !known {
		return p, fmt.Errorf("field \"mode\" is %q, want signed or encrypted", mode)
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
	p.sameState = sameText
	return p, p.complete(l, variant)
}

func ruby(l line) (p presentation, err error) {
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
	p.sameState = sameText
	return p, p.complete(l, "")
}

// complete names the design, a variant of the one that answers for the system, and
// reads the fields that all systems have.
func (p *presentation) complete(l line, variant string) error {
	name, err := l.text("system")
	if err != nil {
		return err
	}
	p.design = name + variant + faithful
	if p.config.Secrets == nil {
		if p.config.Secrets, err = l.secret("key"); err != nil {
			return err
		}
	}
	if p.context.Now, err = l.moment("now"); err != nil {
		return err
	}
	token, err := l.field("token")
	if err != nil {
		return err
	}
	p.token, p.notText = token.Text, token.Kind != rawjson.String
	if p.notText && p.unread == "" {
		return fmt.Errorf("field \"token\" is %.40s, want a string", token.Raw)
	}
	return nil
}

// ask presents the token to a design.
func (p *presentation) ask(d codecs.Design) (got Answer, err error) {
	if p.notText {
		return Answer{Reason: p.unread}, nil
	}
	in, err := lab.Open(d, p.config)
	if err != nil {
		return got, err
	}
	defer func() {
		if closed := in.Close(); err == nil {
			err = closed
		}
	}()
	state, err := in.Unseal(nil, p.token, &p.context)
	if refused := codecs.Rejected(err); refused != nil {
		return Answer{Reason: refused.Reason}, nil
	}
	return Answer{Accept: err == nil, State: state}, err
}

// agrees returns a function that compares an answer with the line's.
func (p *presentation) agrees(l line) (func(Answer) (bool, error), error) {
	accept, err := l.truth("accept")
	if err != nil {
		return nil, err
	}
	reason := ""
	if l.object.Lookup("reason") != nil {
		if reason, err = l.text("reason"); err != nil {
			return nil, err
		}
	}
	anyReason := reason == "" || strings.HasPrefix(reason, "crash:")
	return func(got Answer) (bool, error) {
		switch {
		case got.Accept != accept:
			return false, nil
		case accept:
			return p.sameState(l, got.State)
		default:
			return anyReason || reason == got.Reason, nil
		}
	}, nil
}
