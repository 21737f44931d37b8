// Package importtest holds the law of the library's imports, as a test: packages stand on floors, and arrows go down.
package importtest
