// Package forktest tests forks of debates and the prompts of committed steps.
package forktest
