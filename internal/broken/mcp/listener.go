package mcp

import (
	"bytes"
	"net"
)

// Listener returns the listener to serve on. With a fault the server recognizes a header name only
// in the case that the protocol uses.
func (s *Server) Listener(l net.Listener) net.Listener {
	if !s.has("names of headers with case") {
		return l
	}
	return asWritten{l}
}

type asWritten struct{ net.Listener }

func (l asWritten) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return asWrittenConn{c}, err
}

type asWrittenConn struct{ net.Conn }

// Read renames a lower-case Mcp-Method. It assumes that the header arrives in one read.
func (c asWrittenConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	return copy(b, bytes.ReplaceAll(b[:n], []byte("\nmcp-method:"), []byte("\nxcp-method:"))), err
}
