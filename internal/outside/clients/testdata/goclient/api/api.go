// Package api is the place of the client that oapi-codegen generates for a test, with its defaults.
package api
