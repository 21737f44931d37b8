// Package housetest tests the size limits of the library: short functions and files, and few exported names per
// package. It also tests that every exported name has a comment.
package housetest
