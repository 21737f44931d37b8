// Package toolstest tests debates whose participants and judges call tools.
package toolstest
