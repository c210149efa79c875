package casefile

import (
	"encoding/json"
	"errors"
	"strings"

	"sealab/codecs"
	"sealab/codecs/internal/rawjson"
	"sealab/internal/lab"
)

// A presentation is the input of a case: a token and how it was presented.
type presentation struct {
	design  string // name in the catalog
	config  codecs.Config
	context codecs.Context
	token   []byte
	// notText means that the token was not a string. unread is the reason of a
	// system that refuses such tokens, or "" for a system that has no such
	// lines.
	notText bool
	unread  string
	// sameState compares the state of an accepted token with that of the line.
	sameState func(line, []byte) (bool, error)
}

// systems maps each SDK to the function that reads its lines. The presentation
// names the design of the catalog that answers as the SDK does.
var systems = map[string]func(*line) presentation{
	"mcp-ts": typescript,
	"mcp-py": python,
	"mcp-d":  dlang,
	"mcp-rb": ruby,
}

// faithful is the suffix of designs that answer exactly as an SDK does.
const faithful = "-faithful"

func typescript(l *line) presentation {
	p := presentationOf(l, l.secret("key"))
	p.context.Principal = l.optional("bind")
	bind := "none"
	if p.context.Principal != nil {
		bind = "principal" // the callback returns the text of bind
	}
	p.config.Options = map[string]string{"bind": bind, "payload": "json"}
	p.sameState = samePayload
	return p
}

func python(l *line) presentation {
	p := presentationOf(l, l.ring("keys"))
	p.context.Method = l.text("method")
	p.context.Principal, p.context.Audience = l.optional("principal"), l.optional("audience")
	p.request(l.field("params"))
	p.unread = "non-string requestState"
	return p
}

// request reads the target and the arguments from the raw params.
func (p *presentation) request(params *rawjson.Value) {
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
}

func dlang(l *line) presentation {
	p := presentationOf(l, l.secret("key"))
	mode := l.text("mode")
	variant, known := map[string]string{"signed": "", "encrypted": "-encrypted"}[mode]
	if !known {
		l.fail("field \"mode\" is %q, want signed or encrypted", mode)
	}
	p.design = l.text("system") + variant + faithful
	p.config.Options = map[string]string{"bind": l.text("bind")}
	p.context.Principal, p.context.Target = new(l.text("subject")), l.text("tool")
	return p
}

func ruby(l *line) presentation {
	p := presentationOf(l, l.secret("key"))
	p.context.Method, p.context.Target, p.context.Audience = l.text("method"), l.text("target"), l.optional("audience")
	p.context.Arguments = json.RawMessage(l.field("digest").Raw)
	p.config.Options = map[string]string{"digest": "given"}
	return p
}

// presentationOf reads the fields that are common to all systems.
func presentationOf(l *line, ring [][]byte) presentation {
	now, token := l.moment("now"), l.field("token")
	return presentation{
		design: l.text("system") + faithful, config: codecs.Config{Secrets: ring}, context: codecs.Context{Now: now},
		token: token.Text, notText: token.Kind != rawjson.String, sameState: sameText,
	}
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
	defer func() { err = errors.Join(err, in.Close()) }()
	state, err := in.Unseal(nil, p.token, &p.context)
	if refused := codecs.Rejected(err); refused != nil {
		return Answer{Reason: refused.Reason}, nil
	}
	return Answer{Accept: err == nil, State: state}, err
}

// agrees returns a function that compares an answer with that of the line.
func (p *presentation) agrees(l *line) func(Answer) (bool, error) {
	if p.notText && p.unread == "" {
		l.fail("field \"token\" is %.40s, want a string", l.field("token").Raw)
	}
	accept, reason := l.truth("accept"), ""
	if l.object.Lookup("reason") != nil {
		reason = l.text("reason")
	}
	anyReason := reason == "" || strings.HasPrefix(reason, "crash:")
	return func(got Answer) (bool, error) {
		switch {
		case got.Accept != accept:
			return false, nil
		case accept:
			return p.sameState(*l, got.State)
		default:
			return anyReason || reason == got.Reason, nil
		}
	}
}
