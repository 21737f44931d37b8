package vote

// Extractors exports the built-in extractors for tests.
var Extractors = extractors
