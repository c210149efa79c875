package mcp

import (
	"io"
	"net/http"
	"time"
)

// fetched opens a URL that a client supplies.
func (s *Server) fetched(uri string) (object, *failure) {
	client := http.Client{Timeout: 5 * time.Second}
	r, err := client.Get(uri)
	if err != nil {
		return nil, invalidParams("not reachable")
	}
	defer r.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(r.Body, 1<<16))
	return s.listed(object{"contents": []object{{"uri": uri, "text": string(body)}}}), nil
}
