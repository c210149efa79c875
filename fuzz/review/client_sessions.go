package review

import (
	"context"
	"encoding/json"
	"fmt"

	"sealab/internal/rawmcp"
)

// older is the newest of the older revisions.
const older = "2025-11-25"

// A session is a session of an older revision; id "" if the server is stateless.
type session struct {
	id, version string
	answer      Answer
}

// initialized ends the handshake of the older revisions.
const initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`

// sessionCapabilities are those of every capability that a client may leave unused: a
// server that asks for the roots waits for them.
const sessionCapabilities = `{"elicitation":{"form":{},"url":{}},"sampling":{}}`

// initialization opens the handshake of a revision.
func initialization(id int, version string) ([]byte, error) {
	raw, err := json.Marshal(message{"2.0", id, "initialize", map[string]any{
		"protocolVersion": version,
		"capabilities":    json.RawMessage(sessionCapabilities),
		"clientInfo":      map[string]string{"name": "sealab-review", "version": "1"},
	}})
	if err != nil {
		return nil, fmt.Errorf("writing initialize: %w", err)
	}
	return raw, nil
}

// initialize opens the handshake of the older revisions.
func (c *client) initialize(ctx context.Context, version string, as user) Answer {
	c.id++
	body, err := initialization(c.id, version)
	if err != nil {
		return Answer{Kind: broken, Cause: err}
	}
	if c.http == nil {
		c.close() // the era can stick to the process
		return c.rawCall(ctx, nil, body)
	}
	headers := append(c.hostHeaders(as),
		rawmcp.Header{Name: "Content-Type", Value: "application/json"},
		rawmcp.Header{Name: "Accept", Value: "application/json, text/event-stream"})
	a := c.rawCall(ctx, headers, body)
	if a.Exchange != nil && a.Exchange.Header("Mcp-Session-Id") != "" {
		c.given = append(c.given, a.Exchange.Header("Mcp-Session-Id"))
	}
	return a
}

// begin makes all further calls in sessions of an older revision, the first of which is the
// one that an answer to initialize has opened.
func (c *client) begin(ctx context.Context, opened Answer, version string) {
	c.older = version
	if c.http != nil {
		c.opened[first] = c.initialized(ctx, opened, first)
	} else if c.process != nil {
		c.process.Do(ctx, []byte(initialized), nil)
	}
}

// initialized ends the handshake over HTTP that an answer has opened.
func (c *client) initialized(ctx context.Context, opened Answer, as user) session {
	s := session{id: opened.Exchange.Header("Mcp-Session-Id"), version: versionOf(opened), answer: opened}
	c.rawCall(ctx, c.sessionHeaders(s, as), []byte(initialized))
	return s
}

// sessionOf returns the session of a user in which calls are made. Without one the server
// refuses the call.
func (c *client) sessionOf(ctx context.Context, as user) session {
	s, ok := c.opened[as]
	if !ok {
		if a := c.initialize(ctx, c.older, as); a.Kind == completed {
			s = c.initialized(ctx, a, as)
			c.opened[as] = s
		} else {
			s.version = c.older
		}
	}
	return s
}

// handshake opens the session of a process. It returns the answer to initialize.
func (c *client) handshake(ctx context.Context, p *rawmcp.Process) Answer {
	c.id++
	body, err := initialization(c.id, c.older)
	if err != nil {
		return Answer{Kind: broken, Cause: err}
	}
	e := p.Do(ctx, body, isAnswer(c.id))
	c.kept(e)
	p.Do(ctx, []byte(initialized), nil)
	return read(e, c.id)
}

// idle is a request that every server answers.
func (c *client) idle() Call {
	if c.older != "" {
		return Call{Method: "ping"}
	}
	return Call{Method: "server/discover"}
}

// body returns the JSON-RPC request of a call in the revision of the server.
func (c *client) body(call Call, id int) ([]byte, error) {
	if c.older != "" {
		return call.olderBody(id)
	}
	return call.body(id)
}

// leftOpen reads the question that a server asks during a call in a session, and gives the
// call up: no question is answered.
func (c *client) leftOpen(ctx context.Context, call Call, id int, a Answer) Answer {
	a.Kind, a.Cause, a.Questions = asked, nil, map[string]Question{}
	for _, m := range a.Exchange.Messages {
		var q Question
		if isQuestion(m) && json.Unmarshal(m, &q) == nil {
			a.Questions[q.Method] = q
		}
	}
	if c.http == nil {
		c.close()
		return a
	}
	c.rawCall(ctx, c.sessionHeaders(c.opened[call.as], call.as), fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, id))
	return a
}

// sessionHeaders are the headers of requests in a session.
func (c *client) sessionHeaders(s session, as user) []rawmcp.Header {
	h := append(c.hostHeaders(as), rawmcp.Header{Name: "Content-Type", Value: "application/json"},
		rawmcp.Header{Name: "Accept", Value: "application/json, text/event-stream"}, rawmcp.Header{Name: "MCP-Protocol-Version", Value: s.version})
	if s.id != "" {
		h = append(h, rawmcp.Header{Name: "Mcp-Session-Id", Value: s.id})
	}
	return h
}
