package mcp

import (
	"bytes"
	"net"
)

// Listener is what the server takes its connections from. With a fault it knows the names of
// headers as the protocol writes them alone.
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

// Read renames headers in lower case, which a request has in one read.
func (c asWrittenConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	return copy(b, bytes.ReplaceAll(b[:n], []byte("\nmcp-method:"), []byte("\nxcp-method:"))), err
}
