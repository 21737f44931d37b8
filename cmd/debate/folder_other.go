//go:build !unix

package main

import "os"

// openFlags opens a file of a folder.
const openFlags = os.O_RDONLY
