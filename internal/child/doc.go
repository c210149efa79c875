// Package child ties processes to the one that starts them.
package child
