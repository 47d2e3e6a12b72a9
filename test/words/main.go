// Command words looks for names and sentences of the source that name neither an actor nor an action, and prints each place with the word and
// its replacement:
//
//	go run ./test/words [DIR]
//
// It reads Go files that are neither generated nor tests. It exits with 1 when it finds something.
package main

import (
	"fmt"
	"os"
)

func main() {
	root := "."
	if len(os.Args) > 1 {
		root = os.Args[1]
	}
	found, err := checkTree(root, pendingDirectories())
	if err != nil {
		fmt.Fprintln(os.Stderr, "words:", err)
		os.Exit(1)
	}
	for _, f := range found {
		fmt.Fprintln(os.Stdout, f)
	}
	if len(found) > 0 {
		os.Exit(1)
	}
}
