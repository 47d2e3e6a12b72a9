package main

import (
	"fmt"
	"os"
	"strings"
)

// An acceptance is a vulnerability in one module of this project. The same vulnerability in another module is not accepted.
type acceptance struct {
	module, id string
}

// readAccepted reads the file of accepted findings, and returns the reason of each.
func readAccepted(path string) (map[acceptance]string, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the accepted findings: %w", err)
	}
	out, number := map[acceptance]string{}, 0
	for line := range strings.Lines(string(content)) {
		number++
		fields := strings.Fields(line)
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		if len(fields) < 3 {
			return nil, fmt.Errorf("cannot read line %d of %s: want the folder of a module, an identifier and a reason", number, path)
		}
		a := acceptance{module: fields[0], id: fields[1]}
		if out[a] != "" {
			return nil, fmt.Errorf("cannot read line %d of %s: %s of %s is accepted twice", number, path, a.id, a.module)
		}
		out[a] = strings.Join(fields[2:], " ")
	}
	return out, nil
}
