package vote

// Extractors are the library's own, for tests.
var Extractors = extractors
