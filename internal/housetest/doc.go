// Package housetest holds the house numbers of the library, as tests: short functions and files, narrow packages, and a
// comment on every exported name.
package housetest
