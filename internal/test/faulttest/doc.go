// Package faulttest contains only tests. They make model calls fail at every step of a debate, and disturb debates at
// random. They generate the section on faults in docs/measured/faults.md.
package faulttest
