// Package api is the place of the client that oapi-codegen generates, with its defaults.
package api

//go:generate go tool oapi-codegen -package api -generate types,client -o client.go openapi.json
