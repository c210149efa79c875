// Package loopback keeps what has no authentication off the network.
package loopback

import (
	"fmt"
	"net"
)

// Check returns an error unless address, a host and a port, is on the loopback
// interface.
func Check(address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("sealab: %q: %w; want an address like 127.0.0.1:8080", address, err)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("sealab: %q is not on the loopback interface, and who connects is not authenticated; want an address like 127.0.0.1:8080", address)
	}
	return nil
}
