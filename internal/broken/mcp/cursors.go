package mcp

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
)

// A position is the cursor of a list, as JSON in base64. Only a fault reads more of it than At.
type position struct {
	At     int    `json:"at"`
	Hidden bool   `json:"hidden"`
	User   string `json:"user,omitempty"`
}

func (p position) cursor() string {
	raw, _ := json.Marshal(p) // of these types it does not fail
	return base64.RawURLEncoding.EncodeToString(raw)
}

// positionAt reads a cursor that stands at one of n entries behind the first.
func positionAt(cursor string, n int) (p position, ok bool) {
	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	ok = err == nil && json.Unmarshal(raw, &p) == nil && p.At > 0 && p.At < n
	return p, ok
}

// toolsFrom lists the tools one a page, behind cursors that are objects.
func (s *Server) toolsFrom(cursor string) (object, *failure) {
	names := []string{"deploy", "echo", "remove"}
	var p position
	if cursor != "" {
		var ok bool
		if p, ok = positionAt(cursor, len(names)); !ok {
			return nil, &failure{code: s.or("unknown places are faults", -32603, -32602), status: 400, message: "unknown cursor"}
		}
	}
	tools := []object{s.entry(names[p.At])}
	if p.Hidden && s.has("cursors show hidden tools") {
		tools = append(tools, object{"name": "wipe", "description": "wipes everything", "inputSchema": object{"type": "object"}})
	}
	result := s.listed(object{"tools": tools})
	if p.At+1 < len(names) {
		result["nextCursor"] = position{At: p.At + 1}.cursor()
	}
	return result, nil
}

// ledger lists the entries of a user, one a page.
func (s *Server) ledger(r request, cursor string) object {
	all := []string{"chairs", "tables", "lamps"}
	p := position{User: r.user}
	if cursor != "" {
		var ok bool
		if p, ok = positionAt(cursor, len(all)); !ok || p.User != r.user && !s.has("ledgers of the cursor's user") {
			return s.complete(object{"isError": true, "content": text("unknown cursor")})
		}
	}
	found := object{"ledger": []string{fmt.Sprintf("%s of %s", all[p.At], p.User)}}
	if p.At+1 < len(all) {
		found["nextCursor"] = position{At: p.At + 1, User: r.user}.cursor()
	}
	if s.has("totals are booked") {
		found["booked"] = s.booked.Load()
	}
	raw, _ := json.Marshal(found) // of these types it does not fail
	return s.complete(object{"content": text("%s", raw), "structuredContent": found})
}

// optional are the tools that only a choice lists, by their names.
var optional = map[string][]string{
	"page":   {"pages by path"},
	"ledger": {"ledgers in pages", "totals are booked", "ledgers of the cursor's user"},
}

// offers reports whether the server has a tool.
func (s *Server) offers(name string) bool {
	choices, ok := optional[name]
	return schemas[name] != "" && (!ok || slices.ContainsFunc(choices, func(c string) bool { return s.has(c) }))
}
