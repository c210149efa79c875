package mcp

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
)

// A listCursor is the cursor of a list, as JSON in base64. A sound server reads only At, and User to
// compare it.
type listCursor struct {
	At     int    `json:"at"`
	Hidden bool   `json:"hidden"`
	User   string `json:"user,omitempty"`
}

// listCursor returns the cursor for a place. To write the number alone is not a fault.
func (s *Server) listCursor(at int) string {
	if s.has(numberedCursors...) {
		return base64.RawURLEncoding.EncodeToString(strconv.AppendInt(nil, int64(at), 10))
	}
	return listCursor{At: at}.cursor()
}

// numberedCursors are the choices for cursors that are numbers. The second is a fault.
var numberedCursors = []string{"cursors as numbers", "negative places count from the end"}

// placeIn returns the place that a cursor names in a list of n entries after the first. With a fault
// it may be negative.
func (s *Server) placeIn(cursor string, n int) (p listCursor, ok bool) {
	if !s.has(numberedCursors...) {
		return positionAt(cursor, n)
	}
	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil {
		return p, false
	}
	p.At, err = strconv.Atoi(string(raw))
	return p, err == nil && p.At < n && (p.At > 0 || s.has("negative places count from the end"))
}

func (p listCursor) cursor() string {
	raw, _ := json.Marshal(p) // encoding these types does not fail
	return base64.RawURLEncoding.EncodeToString(raw)
}

// positionAt decodes a cursor for one of n entries after the first.
func positionAt(cursor string, n int) (p listCursor, ok bool) {
	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	ok = err == nil && json.Unmarshal(raw, &p) == nil && p.At > 0 && p.At < n
	return p, ok
}

// toolsFrom lists one tool per page, with cursors that are objects.
func (s *Server) toolsFrom(cursor string) (object, *failure) {
	names := []string{"deploy", "echo", "remove"}
	var p listCursor
	if cursor != "" {
		var ok bool
		if p, ok = s.placeIn(cursor, len(names)); !ok {
			return nil, &failure{code: s.or("unknown places are faults", -32603, -32602), status: 400, message: "unknown cursor"}
		}
	}
	tools := []object{s.entry(names[max(p.At, 0)])}
	if p.Hidden && s.has("cursors show hidden tools") || p.At < -1 {
		tools = append(tools, object{"name": "wipe", "description": "wipes everything", "inputSchema": object{"type": "object"}})
	}
	result := s.listed(object{"tools": tools})
	if p.At+1 < len(names) {
		result["nextCursor"] = s.listCursor(p.At + 1)
	}
	return result, nil
}

// ledger lists the entries of a user, one per page.
func (s *Server) ledger(r request, cursor string) object {
	all := []string{"chairs", "tables", "lamps"}
	p := listCursor{User: r.user}
	if cursor != "" {
		var ok bool
		if p, ok = positionAt(cursor, len(all)); !ok || p.User != r.user && !s.has("ledgers of the cursor's user") {
			return s.toolError("unknown cursor")
		}
	}
	found := object{"ledger": []string{fmt.Sprintf("%s of %s", all[p.At], p.User)}}
	if p.At+1 < len(all) {
		found["nextCursor"] = listCursor{At: p.At + 1, User: r.user}.cursor()
	}
	if s.has("totals are booked", "totals are counted") { // the second is not a fault
		found["booked"] = s.booked.Load()
	}
	if s.has("counts in ledgers") {
		found["carried"] = s.carried.Load()
	}
	raw, _ := json.Marshal(found) // encoding these types does not fail
	return s.complete(object{"content": textContent("%s", raw), "structuredContent": found})
}
