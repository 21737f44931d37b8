//go:build regexp

package main

import (
	"fmt"
	"os"
	"regexp"
)

func init() { // links what the library uses of package regexp
	pattern := regexp.MustCompile(os.Args[0])
	fmt.Println(pattern.MatchString("a"), pattern.FindStringSubmatch("a"), pattern.ReplaceAllString("a", "b"))
}
