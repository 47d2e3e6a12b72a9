// Command extract copies the evaluators of Argo Rollouts and Flagger out of their modules into packages that compile without their controllers, which import
// all providers of metrics and meshes. The declarations are copied as they are, and nothing of them is kept in this repository.
package main

import (
	"fmt"
	"os"
)

func main() {
	for _, s := range sources() {
		if err := s.write(); err != nil {
			fmt.Fprintf(os.Stderr, "extract: %s: %v\n", s.output, err)
			os.Exit(1)
		}
	}
}
