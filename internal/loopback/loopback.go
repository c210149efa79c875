// Package loopback keeps servers without authentication local. Check refuses to listen on other
// interfaces, and Guard refuses requests that pages of other sites send to this machine.
package loopback

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Check returns an error unless address, a host and a port, is on the loopback
// interface.
func Check(address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("address %q: %w; want an address like 127.0.0.1:8080", address, err)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("address %q is not on the loopback interface, and clients are not authenticated; want an address like 127.0.0.1:8080", address)
	}
	return nil
}

// names are the host names of this machine on the loopback interface.
var names = []string{"localhost", "127.0.0.1", "::1"}

// Guard returns a handler that passes a request to next if its Host, and its Origin if present, is this
// machine or among hosts. It forbids all other requests. This also stops pages of other sites that rebind
// their DNS name to this address.
func Guard(next http.Handler, hosts ...string) http.Handler {
	known := append(slices.Clone(names), hosts...)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !slices.Contains(known, hostname(r.Host)) {
			http.Error(w, "Forbidden: unknown Host", http.StatusForbidden)
			return
		}
		for _, origin := range r.Header.Values("Origin") {
			if !slices.Contains(known, originHost(origin)) {
				http.Error(w, "Forbidden: unknown Origin", http.StatusForbidden)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// hostname returns a host in lower case, without its port and brackets.
func hostname(host string) string {
	u := url.URL{Host: strings.ToLower(host)}
	return u.Hostname()
}

// originHost returns the host of an Origin, or "", as in "null".
func originHost(origin string) string {
	u, err := url.Parse(origin)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") {
		return ""
	}
	return hostname(u.Host)
}
