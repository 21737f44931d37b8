//go:build !unix

package debatehttp

// maxConnections returns the largest number of connections of a server.
func maxConnections() int { return mostConnections }
