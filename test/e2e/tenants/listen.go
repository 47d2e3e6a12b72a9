package tenants

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// listeningSockets returns the number of sockets of a process that accept connections.
func listeningSockets(pid int) (int, error) {
	inodes := map[string]bool{}
	for _, table := range []string{"tcp", "tcp6"} {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/%s", pid, table))
		if err != nil {
			return 0, err
		}
		for line := range strings.Lines(string(b)) {
			if f := strings.Fields(line); len(f) > 9 && f[3] == "0A" {
				inodes["socket:["+f[9]+"]"] = true
			}
		}
	}
	open, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	if err != nil {
		return 0, err
	}
	n := 0
	for _, fd := range open {
		if target, err := os.Readlink(fd); err == nil && inodes[target] {
			n++
		}
	}
	return n, nil
}
