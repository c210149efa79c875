package client

import (
	"context"
	"encoding/json"
	"fmt"

	"sealab/internal/rawmcp"
)

// Older is the newest of the older revisions.
const Older = "2025-11-25"

// A Session is a session of an older revision. Its ID is "" if the server is stateless.
type Session struct {
	ID, Version string
	Answer      Answer
}

// InitializedNotice is the message that ends the handshake of older revisions.
const InitializedNotice = `{"jsonrpc":"2.0","method":"notifications/initialized"}`

// CancelNotice returns the notification that cancels a request.
func CancelNotice(id int) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, id)
}

// sessionCapabilities are the capabilities that a client may leave unused. They exclude roots: a
// server that asks for the roots waits for them.
const sessionCapabilities = `{"elicitation":{"form":{},"url":{}},"sampling":{}}`

// initializeRequest returns the first request of a handshake.
func initializeRequest(id int, version string) ([]byte, error) {
	raw, err := json.Marshal(Message{"2.0", id, "initialize", map[string]any{
		"protocolVersion": version,
		"capabilities":    json.RawMessage(sessionCapabilities),
		"clientInfo":      map[string]string{"name": "sealab-review", "version": "1"},
	}})
	if err != nil {
		return nil, fmt.Errorf("writing initialize: %w", err)
	}
	return raw, nil
}

// Initialize sends the first request of a handshake of an older revision.
func (c *Client) Initialize(ctx context.Context, version string, as User) Answer {
	c.ID++
	body, err := initializeRequest(c.ID, version)
	if err != nil {
		return Answer{Kind: Broken, Cause: err}
	}
	if c.HTTP == nil {
		c.Close() // some servers fix the era for the whole process
		return c.RawCall(ctx, nil, body)
	}
	a := c.RawCall(ctx, c.postHeaders(as), body)
	if a.Exchange != nil && a.Exchange.Header("Mcp-Session-Id") != "" {
		c.SessionIDs = append(c.SessionIDs, a.Exchange.Header("Mcp-Session-Id"))
	}
	return a
}

// Begin makes all further calls in sessions of an older revision. The first session is the one that
// an answer to initialize opened.
func (c *Client) Begin(ctx context.Context, opened Answer, version string) {
	c.Older = version
	if c.HTTP != nil {
		c.opened[FirstUser] = c.FinishHandshake(ctx, opened, FirstUser)
	} else if c.Process != nil {
		c.Process.Do(ctx, []byte(InitializedNotice), nil)
	}
}

// FinishHandshake completes the handshake that an answer opened over HTTP.
func (c *Client) FinishHandshake(ctx context.Context, opened Answer, as User) Session {
	s := Session{ID: opened.Exchange.Header("Mcp-Session-Id"), Version: VersionOf(opened), Answer: opened}
	c.RawCall(ctx, c.SessionHeaders(s, as), []byte(InitializedNotice))
	return s
}

// sessionOf returns the session for the calls of a user, and opens one if necessary. If that fails,
// the session has no ID and the server refuses the call.
func (c *Client) sessionOf(ctx context.Context, as User) Session {
	s, ok := c.opened[as]
	if !ok {
		if a := c.Initialize(ctx, c.Older, as); a.Kind == Completed {
			s = c.FinishHandshake(ctx, a, as)
			c.opened[as] = s
		} else {
			s.Version = c.Older
		}
	}
	return s
}

// Handshake opens a session with a process and returns the answer to initialize.
func (c *Client) Handshake(ctx context.Context, p *rawmcp.Process) Answer {
	c.ID++
	body, err := initializeRequest(c.ID, c.Older)
	if err != nil {
		return Answer{Kind: Broken, Cause: err}
	}
	e := p.Do(ctx, body, IsAnswer(c.ID))
	c.Keep(e)
	p.Do(ctx, []byte(InitializedNotice), nil)
	return ReadAnswer(e, c.ID)
}

// Idle returns a request that every server answers.
func (c *Client) Idle() Call {
	if c.Older != "" {
		return Call{Method: "ping"}
	}
	return Call{Method: "server/discover"}
}

// NextBody returns the JSON-RPC request of a call in the revision of the server, with the next ID, and
// the ID.
func (c *Client) NextBody(call Call) (body []byte, id int, err error) {
	c.ID++
	if c.Older != "" {
		body, err = call.olderBody(c.ID)
	} else {
		body, err = call.withMeta(c.ID, call.Meta())
	}
	return body, c.ID, err
}

// leftOpen reads the question that a server sends during a call in a session, and cancels the call.
// It answers no questions.
func (c *Client) leftOpen(ctx context.Context, call Call, id int, a Answer) Answer {
	a.Kind, a.Cause, a.Questions = Asked, nil, map[string]Question{}
	for _, m := range a.Exchange.Messages {
		var q Question
		if IsQuestion(m) && json.Unmarshal(m, &q) == nil {
			a.Questions[q.Method] = q
		}
	}
	if c.HTTP == nil {
		c.Close()
		return a
	}
	c.RawCall(ctx, c.SessionHeaders(c.opened[call.As], call.As), CancelNotice(id))
	return a
}

// ListenBody returns the next request that subscribes to notifications.
func (c *Client) ListenBody(notifications any) ([]byte, error) {
	c.ID++
	return json.Marshal(Message{Version: "2.0", ID: c.ID, Method: Listen.Method, Params: map[string]any{"_meta": Listen.Meta(), "notifications": notifications}})
}

// ListBody returns a request of an older revision for a list that the server has, with the next ID.
// For a server without lists it is a ping.
func (c *Client) ListBody() string {
	method := c.Listing.Method
	if method == "server/discover" {
		method = "ping"
	}
	return c.SessionBody(method, "")
}

// SessionBody returns a request of an older revision with the next ID. The members of its params are
// given as JSON.
func (c *Client) SessionBody(method, params string) string {
	c.ID++
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{%s}}`, c.ID, method, params)
}

// SessionHeaders returns the headers of requests in a session.
func (c *Client) SessionHeaders(s Session, as User) []rawmcp.Header {
	h := append(c.postHeaders(as), rawmcp.Header{Name: "MCP-Protocol-Version", Value: s.Version})
	if s.ID != "" {
		h = append(h, rawmcp.Header{Name: "Mcp-Session-Id", Value: s.ID})
	}
	return h
}
