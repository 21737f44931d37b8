// Package importtest tests the library's imports. Each package has a layer and imports only packages of lower layers.
// In each package, files do not refer to each other in a circle.
package importtest
